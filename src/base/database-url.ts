import { readFileSync } from "node:fs";
import { Failure } from "./failure.ts";
import { didYouMean } from "./nearest.ts";
import { systemReason } from "./system-error.ts";

/** The place of a database and the way to reach it. Only `place` may be shown. */
export type Target = {
  /** A host, or the directory of a socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string;
  /** Null: not encrypted. */
  readonly tls: Tls | null;
  /** Whether a server without TLS is talked to in the clear, as libpq's `prefer` does. */
  readonly isTlsOptional: boolean;
  /** Host, port and database as one text for messages. */
  readonly place: string;
};

/** How a connection is encrypted, as `node:tls` takes it; certificates and the key are PEM texts. */
type Tls = {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly rejectUnauthorized: boolean;
  readonly checkServerIdentity?: () => undefined;
};

const DEFAULT_PORT = 5432;
const TLS_MODES = ["disable", "prefer", "require", "verify-ca", "verify-full"] as const;
const PARAMETERS = ["sslmode", "sslrootcert", "sslcert", "sslkey"] as const;
type Parameters = Partial<Record<(typeof PARAMETERS)[number], string>>;

/**
 * Checks the URL of a database: `postgres://user:password@host:port/database`, with `sslmode`, `sslrootcert`,
 * `sslcert` and `sslkey` as libpq reads them. No message repeats a part of the URL that may hold a secret.
 * @throws Failure `invalid_settings`
 */
export function parseDatabaseUrl(written: string): Omit<Target, "tls"> & { readonly parameters: Parameters } {
  const url = URL.parse(written);
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol))
    throw wrong("it has to look like postgres://user:password@host:5432/database");
  if (url.hostname.includes(",")) throw wrong("it may name one host only");
  if (url.hash !== "") throw wrong("a # in the password is written %23");
  const part = (text: string, name: string): string => {
    try {
      return decodeURIComponent(text);
    } catch {
      throw wrong(`its ${name} has a % that begins no escape; a % itself is written %25`);
    }
  };
  const host = part(url.hostname, "host").replace(/^\[(.*)\]$/, "$1");
  const database = part(url.pathname.slice(1), "database");
  const user = part(url.username, "user");
  if (host === "") throw wrong("it names no host");
  if (user === "") throw wrong("it names no user");
  if (database === "") throw wrong("it names no database, as in postgres://user@host/database");
  const port = url.port === "" ? DEFAULT_PORT : Number(url.port);
  const parameters = readParameters(url.searchParams);
  return {
    host,
    port,
    database,
    user,
    password: part(url.password, "password"),
    isTlsOptional: (parameters.sslmode ?? "prefer") === "prefer",
    place: `${host.includes(":") ? `[${host}]` : host}:${port}/${database}`,
    parameters,
  };
}

/** Reads the URL with the certificates that it names. @throws Failure `invalid_settings` */
export function readTarget(url: string): Target {
  const { parameters, ...target } = parseDatabaseUrl(url);
  return { ...target, tls: readTls(parameters, target.host) };
}

function readParameters(written: URLSearchParams): Parameters {
  const names: readonly string[] = PARAMETERS;
  for (const name of new Set(written.keys())) {
    if (!names.includes(name))
      throw wrong(`it has no parameter ${name.slice(0, 50)}${didYouMean(name, names)}`);
    if (written.getAll(name).length > 1) throw wrong(`${name} stands in it twice`);
  }
  const parameters: Parameters = Object.fromEntries(written);
  const mode = parameters.sslmode;
  const modes: readonly string[] = TLS_MODES;
  if (mode !== undefined && !modes.includes(mode))
    throw wrong(`sslmode is one of ${TLS_MODES.join(", ")}${didYouMean(mode, modes)}`);
  if ((parameters.sslcert === undefined) !== (parameters.sslkey === undefined))
    throw wrong("sslcert and sslkey go together");
  return parameters;
}

function readTls(parameters: Parameters, host: string): Tls | null {
  const { sslmode: mode = "prefer", sslrootcert, sslcert, sslkey } = parameters;
  // libpq never encrypts what goes through a socket of the file system.
  if (mode === "disable" || host.startsWith("/")) return null;
  const read = (name: string, path: string): string => {
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      throw wrong(`${name} ${path} could not be read: ${systemReason(error)}`);
    }
  };
  const ca = sslrootcert === undefined || sslrootcert === "system" ? null : read("sslrootcert", sslrootcert);
  return {
    ...(ca === null ? {} : { ca }),
    ...(sslcert === undefined ? {} : { cert: read("sslcert", sslcert) }),
    ...(sslkey === undefined ? {} : { key: read("sslkey", sslkey) }),
    // As in libpq, a named authority is believed and no other, also where only `require` was asked for.
    rejectUnauthorized: mode.startsWith("verify-") || (mode === "require" && ca !== null),
    ...(mode === "verify-full" ? {} : { checkServerIdentity: () => undefined }),
  };
}

const wrong = (why: string): Failure =>
  new Failure("invalid_settings", `not the URL of a PostgreSQL database: ${why}`);

/** Names that need no quotes in SQL, and leave room in PostgreSQL's 63 bytes for names that begin with them. */
const SCHEMA = /^[a-z_][a-z0-9_]{0,39}$/;

/** @throws Failure `invalid_settings` for a name that no schema can have */
export function checkSchema(name: string): void {
  if (!SCHEMA.test(name) || name.startsWith("pg_"))
    throw new Failure(
      "invalid_settings",
      "the database's schema has to be 1 to 40 lower-case letters, digits and _, not beginning with a digit or pg_",
    );
}
