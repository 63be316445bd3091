import { FAILURE_OUTCOMES, Failure, type FailureCode } from "../../base/failure.ts";

/** One field of a request that is wrong. */
export type InvalidField = { readonly path: string; readonly message: string };

/** What an answer says that is no Failure of the work: problems of the request itself. */
export type RequestProblem = {
  readonly status: number;
  /** Stable, for programs. */
  readonly code: string;
  /** For people; shown as it is. */
  readonly detail: string;
  readonly errors?: readonly InvalidField[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the answer, which RFC 9457 allows in its section 3.2. */
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

/** What an error means outside: our own message for a Failure, nothing of the inside for a fault. */
export function toProblem(error: unknown): RequestProblem {
  if (error instanceof ProblemError) return error.problem;
  if (!(error instanceof Failure) || error.code === "internal") return INTERNAL;
  const { code, message, targetStatus } = error;
  const members = targetStatus === null ? {} : { members: { target_status: targetStatus } };
  return { status: FAILURE_OUTCOMES[code].httpStatus, code, detail: message, ...members };
}

const INTERNAL: RequestProblem & { readonly code: FailureCode } = {
  status: 500,
  code: "internal",
  detail: "a fault inside the server; its log has the rest under the request id",
};

// Reason phrases of RFC 9110, section 15, which `about:blank` asks to be the title.
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
