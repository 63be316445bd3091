import { FAILURE_OUTCOMES, Failure, type FailureCode } from "../../base/failure.ts";
import type { Log, LogFields } from "../../base/log.ts";

/** One wrong field of a request. */
export type InvalidField = { readonly path: string; readonly message: string };

/** A problem of the request itself, in contrast to a Failure of the work. */
export type RequestProblem = {
  readonly status: number;
  /** A stable code for programs. */
  readonly code: string;
  /** A message for people, shown unchanged. */
  readonly detail: string;
  readonly errors?: readonly InvalidField[];
  readonly headers?: Readonly<Record<string, string>>;
  /** More members of the answer (RFC 9457, section 3.2). */
  readonly members?: Readonly<Record<string, boolean | number | string>>;
};

/** Thrown by handlers to answer with a problem. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly problem: RequestProblem;

  constructor(problem: RequestProblem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** An answer in the form of RFC 9457, `application/problem+json`. */
export function problemResponse(problem: RequestProblem, requestId: string): Response {
  const { status, code, detail, errors, headers, members } = problem;
  const body = {
    ...members,
    type: "about:blank",
    title: TITLES[status] ?? "Error",
    status,
    detail,
    code,
    request_id: requestId,
    ...(errors === undefined ? {} : { errors }),
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...headers, "content-type": "application/problem+json" },
  });
}

/** Translates an error for clients: a Failure with its message, a bug without any detail. */
export function toProblem(error: unknown): RequestProblem {
  if (error instanceof ProblemError) return error.problem;
  if (!(error instanceof Failure) || error.code === "internal") return INTERNAL;
  const { code, message, targetStatus } = error;
  const members =
    targetStatus === null ? {} : { members: { http_status: targetStatus, target_status: targetStatus } };
  // Whoever waits for a database or a store finds it again soon, or after a person has acted.
  const headers = code === "database_unavailable" || code === "store_unavailable" ? RETRY_SOON : {};
  return { status: FAILURE_OUTCOMES[code].httpStatus, code, detail: message, ...headers, ...members };
}

/** Writes a bug into the log, since the client is told nothing of it. */
export function logFault(log: Log, error: unknown, fields: LogFields = {}): void {
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  log.error("fault", { ...fields, error: cause.slice(0, 4000) });
}

const RETRY_SOON = { headers: { "retry-after": "5" } };

const INTERNAL: RequestProblem & { readonly code: FailureCode } = {
  status: 500,
  code: "internal",
  detail: "a fault inside the server; its log has the rest under the request id",
};

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
