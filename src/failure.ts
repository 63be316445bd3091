/** What a failure means to the shells: the HTTP status and the process exit code that it becomes. */
export type FailureOutcome = { readonly httpStatus: number; readonly exitCode: number };

/**
 * The closed list of failure codes, each with what it becomes outside (one table for every shell;
 * DECISIONS sections 3–5). Exit 2 is wrong usage or configuration, 1 is work that failed.
 */
export const FAILURE_OUTCOMES = {
  /** An option, argument or combination of them is wrong. */
  invalid_usage: { httpStatus: 422, exitCode: 2 },
  /** A setting of the environment or of a configuration file is wrong. */
  invalid_settings: { httpStatus: 500, exitCode: 2 },
  /** Not an absolute http or https URL. */
  invalid_url: { httpStatus: 422, exitCode: 2 },
  /** A local file or stream is missing, unreadable or empty. */
  unreadable_input: { httpStatus: 422, exitCode: 1 },
  /** A result could not be written. */
  unwritable_output: { httpStatus: 500, exitCode: 1 },
  /** The egress policy refuses the address. */
  egress_refused: { httpStatus: 403, exitCode: 1 },
  /** No HTTP answer: DNS, connection, TLS or protocol. */
  network: { httpStatus: 502, exitCode: 1 },
  /** The target answered with an HTTP error status. */
  http_status: { httpStatus: 502, exitCode: 1 },
  /** The target asks to wait longer than the deadline allows. */
  rate_limited: { httpStatus: 502, exitCode: 1 },
  /** A deadline passed, of a fetch or of an extraction. */
  timeout: { httpStatus: 504, exitCode: 1 },
  /** A body or page is over its limit. */
  too_large: { httpStatus: 422, exitCode: 1 },
  /** The body is of a type that holds no article. */
  unsupported_content: { httpStatus: 422, exitCode: 1 },
  /** The page holds no words of content. */
  no_content: { httpStatus: 422, exitCode: 1 },
  /** The work was called off by its caller. */
  cancelled: { httpStatus: 503, exitCode: 130 },
  /** A fault of ours, an extraction worker's crash included. */
  internal: { httpStatus: 500, exitCode: 1 },
} as const satisfies Record<string, FailureOutcome>;

export type FailureCode = keyof typeof FAILURE_OUTCOMES;

/** A failure as plain data: what crosses a worker boundary and what batches record. */
export type FailureRecord = { readonly code: FailureCode; readonly message: string };

/**
 * The one error class that the product throws on purpose. The message says what was tried, on what,
 * and against which limit; it is shown to users as it is, so it never holds a secret.
 */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  toRecord(): FailureRecord {
    return { code: this.code, message: this.message };
  }
}
