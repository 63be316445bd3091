import { Failure } from "../../base/failure.ts";
import { systemCode } from "../../base/system-error.ts";

/**
 * A kind of database failure, which decides how to handle it.
 * - `away`: the database cannot serve now but may later; callers that can wait should wait
 * - `settings`: it refuses the URL's user, password, database or security; a person has to act
 * - `conflict`: another transaction got in the way; the same work is repeated at once
 * - `stale`: the connection relies on something outdated; another connection works
 */
export type Fault = {
  readonly kind: "away" | "settings" | "conflict" | "stale";
  /** Why in words, as the end of "the database …: ". */
  readonly reason: string;
};

/**
 * The database did not serve a call, for no fault of whoever called. `judged` makes it of all that the driver throws,
 * unless it is known to be an answer.
 */
export class DatabaseFault extends Error {
  readonly kind: Fault["kind"];

  constructor({ kind, reason }: Fault, options?: ErrorOptions) {
    super(reason, options);
    this.kind = kind;
  }
}

/** A statement or connection took longer than it may. */
export class DatabaseSilence extends DatabaseFault {
  constructor(what: string, limitMs: number) {
    super(away(`${what} took longer than ${Math.round(limitMs)} ms`));
  }
}

const away = (reason: string): Fault => ({ kind: "away", reason });
const settings = (reason: string): Fault => ({ kind: "settings", reason });

/** SQLSTATEs (PostgreSQL, appendix A) and codes of the system and of TLS; without a reason the server's own words. */
const FAULTS: Readonly<Record<string, Fault>> = {
  "40001": { kind: "conflict", reason: "another transaction changed the same rows" },
  "40P01": { kind: "conflict", reason: "two transactions waited for each other" },
  "0A000": { kind: "stale", reason: "a table has changed" },
  "26000": { kind: "stale", reason: "a prepared statement is unknown there" },
  "25P03": away("it closed a transaction that was idle for too long"),
  "53100": away("its disk is full"),
  "53300": away("it has no connection left (max_connections)"),
  "25006": away("it is read-only"),
  "28P01": settings("it refuses the user or the password"),
  "28000": settings("it lets this user in neither from here nor in this way"),
  "42501": settings("the user lacks a right"),
  "3D000": settings("there is no database of this name"),
  ECONNREFUSED: away("nothing listens there"),
  ETIMEDOUT: away("it does not answer"),
  EHOSTUNREACH: away("the host cannot be reached"),
  ENETUNREACH: away("the network cannot be reached"),
  EADDRNOTAVAIL: away("the network cannot be reached"),
  ENOENT: away("there is no such socket"),
  EMFILE: away("too many files are open"),
  EAI_AGAIN: away("the host's name could not be looked up"),
  ENOTFOUND: settings("there is no host of this name"),
  EACCES: settings("permission denied"),
  CERT_HAS_EXPIRED: settings("its certificate has expired"),
  CERT_NOT_YET_VALID: settings("its certificate is not valid yet"),
  ERR_TLS_CERT_ALTNAME_INVALID: settings("its certificate is for another host"),
};

/** The form of the codes that the server gives; no code of the system begins so. */
const SQLSTATE = /^[0-9FHPX][0-9A-Z]{4}$/;

/** The classes of answers that blame the statement, its values or a function: sent again, it gets the same one. */
const ANSWERS = /^(?:0A|2[0-35BDF]|3[489BF]|42|44|54|P0)/;

/** Certificates that no known authority vouches for have many codes. */
const UNTRUSTED = /SELF_SIGNED|UNABLE_TO_|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE|INVALID_CA/;

/** pg gives these no code. */
const UNCODED: readonly (readonly [RegExp, Fault])[] = [
  [/timeout expired/, away("it does not answer")],
  [/password must be a non-empty string/, settings("it wants a password, and the URL has none")],
  [
    /^SASL: /,
    settings("it asks for a login that is not known here, or does not prove that it knows the password"),
  ],
  [/does not support SSL/, settings("it offers no TLS, and sslmode demands it")],
  [/error establishing an SSL connection/, settings("it does not speak PostgreSQL's protocol")],
];

/** Converts an error of the driver for callers: an answer of the server stays as it is, anything else becomes a fault. */
export function judged(error: unknown): unknown {
  if (error instanceof DatabaseFault || error instanceof Failure) return error;
  const fault = faultOf(error);
  return fault === null ? error : new DatabaseFault(fault, { cause: error });
}

function faultOf(error: unknown): Fault | null {
  const code = systemCode(error) ?? "";
  const message = error instanceof Error ? error.message : "";
  if (code === "0A000" && !message.includes("cached plan")) return null;
  const fault = FAULTS[code] ?? UNCODED.find(([pattern]) => pattern.test(message))?.[1];
  // An administrator also gets the server's own words; they contain no password.
  if (fault?.kind === "settings" && SQLSTATE.test(code)) return settings(`${fault.reason} (${message})`);
  if (fault !== undefined) return fault;
  if (SQLSTATE.test(code)) return ANSWERS.test(code) ? null : away(message);
  if (UNTRUSTED.test(code))
    return settings("its certificate is of no authority that is trusted here (sslrootcert)");
  return away(`the connection was lost${code && ` (${code})`}`);
}
