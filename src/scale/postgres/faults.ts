import { systemCode } from "../../base/system-error.ts";

/**
 * What went wrong with the database, and so what helps.
 * - `away`: it cannot serve now, and later it can; whoever can wait waits
 * - `settings`: it refuses the URL's user, password, database or security; a person has to act
 * - `conflict`: another transaction was in the way; the same work is done again at once
 * - `stale`: the connection knows something that is no longer so; another connection does
 */
export type Fault = {
  readonly kind: "away" | "settings" | "conflict" | "stale";
  /** Why in words, as the end of "the database …: ". */
  readonly reason: string;
};

/** A statement or connection took longer than it may. */
export class DatabaseSilence extends Error {
  constructor(what: string, limitMs: number) {
    super(`${what} took longer than ${Math.round(limitMs)} ms`);
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
  "57P01": away("it was told to shut down"),
  "57P02": away("it crashed"),
  "57P03": away("it is starting up or shutting down"),
  "57P05": away("it closed an idle connection"),
  "25P03": away("it closed a transaction that was idle for too long"),
  "57014": away("a statement took too long"),
  "53000": away("it lacks resources"),
  "53100": away("its disk is full"),
  "53200": away("it is out of memory"),
  "53300": away("it has no connection left (max_connections)"),
  "25006": away("it is read-only"),
  "28P01": settings("it refuses the user or the password"),
  "28000": settings("it lets this user in neither from here nor in this way"),
  "42501": settings("the user lacks a right"),
  "3D000": settings("there is no database of this name"),
  ECONNREFUSED: away("nothing listens there"),
  ECONNRESET: away("the connection was lost"),
  EPIPE: away("the connection was lost"),
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

/** The form of the codes that the server gives. */
export const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Certificates that no known authority vouches for have many codes. */
const UNTRUSTED = /SELF_SIGNED|UNABLE_TO_|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE|INVALID_CA/;

/** pg gives these no code. */
const UNCODED: readonly (readonly [RegExp, Fault])[] = [
  [/^Connection terminated|^Client has encountered a connection error/, away("the connection was lost")],
  [/timeout expired/, away("it does not answer")],
  [/password must be a non-empty string/, settings("it wants a password, and the URL has none")],
  [
    /^SASL: /,
    settings("it asks for a login that is not known here, or does not prove that it knows the password"),
  ],
  [/does not support SSL/, settings("it offers no TLS, and sslmode demands it")],
  [/error establishing an SSL connection/, settings("it does not speak PostgreSQL's protocol")],
];

/** The fault that an error of the database tells; null for any other error, which is a bug or an answer. */
export function faultOf(error: unknown): Fault | null {
  if (error instanceof DatabaseSilence) return away(error.message);
  if (!(error instanceof Error)) return null;
  const code = systemCode(error);
  if (code === null) return UNCODED.find(([message]) => message.test(error.message))?.[1] ?? null;
  if (code === "0A000" && !error.message.includes("cached plan")) return null;
  const fault = FAULTS[code];
  // What an administrator has to mend is said in the server's words too; they hold no password.
  if (fault?.kind === "settings" && SQLSTATE.test(code))
    return settings(`${fault.reason} (${error.message})`);
  if (fault !== undefined) return fault;
  // Class 08 is the connection's; poolers use it for whatever they cannot do, and only their text says what.
  if (/^(?:08|53)[0-9A-Z]{3}$/.test(code)) return away(error.message);
  if (UNTRUSTED.test(code))
    return settings("its certificate is of no authority that is trusted here (sslrootcert)");
  return null;
}
