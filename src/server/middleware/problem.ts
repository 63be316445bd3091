import { type Block, FAILURE_OUTCOMES, Failure } from "../../base/failure.ts";
import type { Log, LogFields } from "../../base/log.ts";

/** One wrong field of a request. */
export type InvalidField = { readonly path: string; readonly message: string };

type ProblemExtras = {
  readonly errors?: readonly InvalidField[];
  readonly headers?: Readonly<Record<string, string>>;
  /** More members of the answer (RFC 9457, section 3.2). */
  readonly members?: Readonly<Record<string, boolean | number | string | Block>>;
};

/** A problem of the request itself, in contrast to a Failure of the work; thrown to answer with it. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly status: number;
  readonly code: string;
  readonly extras: ProblemExtras;

  /** @param code a stable one for programs @param detail for people, shown unchanged */
  constructor(status: number, code: string, detail: string, extras: ProblemExtras = {}) {
    super(detail);
    this.status = status;
    this.code = code;
    this.extras = extras;
  }
}

/** An answer in the form of RFC 9457, `application/problem+json`. */
export function problemResponse(problem: ProblemError, requestId: string): Response {
  const { status, code, message: detail, extras } = problem;
  const { errors, headers, members } = extras;
  const title = TITLES[status] ?? "Error";
  const body = {
    ...members,
    type: "about:blank",
    title,
    status,
    detail,
    code,
    request_id: requestId,
    errors,
  };
  return Response.json(body, {
    status,
    headers: { ...headers, "content-type": "application/problem+json" },
  });
}

/** Translates an error for clients: a Failure with its message, a bug without any detail. */
export function toProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  if (!(error instanceof Failure) || error.code === "internal")
    return new ProblemError(
      500,
      "internal",
      "a fault inside the server; its log has the rest under the request id",
    );
  const { code, message, targetStatus, block } = error;
  return new ProblemError(FAILURE_OUTCOMES[code].httpStatus, code, message, {
    // A database or a store usually comes back soon, or after a person has acted.
    headers: code === "database_unavailable" || code === "store_unavailable" ? { "retry-after": "5" } : {},
    members: {
      ...(targetStatus !== null && { http_status: targetStatus, target_status: targetStatus }),
      ...(block !== null && { block }),
    },
  });
}

/** Logs a bug, whose details the client never sees. */
export const logFault = (log: Log, error: unknown, fields: LogFields = {}): void =>
  log.error("fault", { ...fields, error: describe(error) });

/** An error for the log. */
export const describe = (error: unknown): string =>
  (error instanceof Error ? (error.stack ?? error.message) : String(error)).slice(0, 4000);

// These are the reason phrases of RFC 9110, section 15, which `about:blank` requires as titles.
const TITLES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  421: "Misdirected Request",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};
