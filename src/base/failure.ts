/** How the shells report a failure. */
export type FailureOutcome = {
  readonly httpStatus: number;
  /** The exit code of the process. */
  readonly exitCode: number;
  readonly meaning: string;
};

/**
 * The closed list of failure codes with their outcomes, one table for every shell. Exit code 2 means wrong
 * usage or configuration, 1 means that the work failed.
 */
export const FAILURE_OUTCOMES = {
  invalid_usage: {
    httpStatus: 422,
    exitCode: 2,
    meaning: "an option, argument or combination of them is wrong",
  },
  crawl_conflict: {
    httpStatus: 409,
    exitCode: 2,
    meaning: "the directory holds the pages of another crawl: other seeds, rules or version",
  },
  invalid_settings: {
    httpStatus: 500,
    exitCode: 2,
    meaning: "a setting of the environment or of a configuration file is wrong",
  },
  invalid_url: { httpStatus: 422, exitCode: 2, meaning: "not an absolute http or https URL" },
  unreadable_input: {
    httpStatus: 422,
    exitCode: 1,
    meaning: "a local file or stream is missing, unreadable or empty",
  },
  unwritable_output: { httpStatus: 500, exitCode: 1, meaning: "a result could not be written" },
  store_unavailable: {
    httpStatus: 503,
    exitCode: 1,
    meaning: "the bucket for pages does not answer, or not in time",
  },
  egress_refused: { httpStatus: 403, exitCode: 1, meaning: "the egress policy refuses the address" },
  network: { httpStatus: 502, exitCode: 1, meaning: "no HTTP answer: DNS, connection, TLS or protocol" },
  http_status: { httpStatus: 502, exitCode: 1, meaning: "the target answered with an HTTP error status" },
  rate_limited: {
    httpStatus: 502,
    exitCode: 1,
    meaning: "the target asks to wait longer than the deadline allows",
  },
  timeout: {
    httpStatus: 504,
    exitCode: 1,
    meaning: "a deadline passed, of a fetch or a search",
  },
  too_large: { httpStatus: 422, exitCode: 1, meaning: "a body or page is over its limit" },
  too_complex: {
    httpStatus: 422,
    exitCode: 1,
    meaning: "a page needs more time or memory than one page is given",
  },
  unsupported_content: {
    httpStatus: 422,
    exitCode: 1,
    meaning: "the body is of a type that holds no article",
  },
  no_content: {
    httpStatus: 422,
    exitCode: 1,
    meaning: "the page, or what a selector takes of it, holds no words",
  },
  unknown_tenant: { httpStatus: 404, exitCode: 1, meaning: "no tenant has this codename" },
  unknown_document: { httpStatus: 404, exitCode: 1, meaning: "the tenant has no document with this address" },
  search_disabled: { httpStatus: 409, exitCode: 1, meaning: "search is switched off for the tenant" },
  foreign_state: {
    httpStatus: 409,
    exitCode: 2,
    meaning: "an index or other state on the disk belongs to another deployment or source",
  },
  index_missing: { httpStatus: 503, exitCode: 1, meaning: "there is no search index yet" },
  index_outdated: {
    httpStatus: 503,
    exitCode: 1,
    meaning: "the search index is of another version, or was built for another analysis",
  },
  index_corrupt: { httpStatus: 503, exitCode: 1, meaning: "the search index's file is damaged" },
  database_unavailable: {
    httpStatus: 503,
    exitCode: 1,
    meaning: "the shared database is away for longer than the caller can wait",
  },
  cancelled: { httpStatus: 503, exitCode: 130, meaning: "the work was called off by its caller" },
  internal: {
    httpStatus: 500,
    exitCode: 1,
    meaning: "a fault of ours, an extraction worker's crash included",
  },
} as const satisfies Record<string, FailureOutcome>;

export type FailureCode = keyof typeof FAILURE_OUTCOMES;

/** A failure as plain data, which crosses worker boundaries and is recorded by batches. */
export type FailureRecord = { readonly code: FailureCode; readonly message: string };

export type FailureOptions = ErrorOptions & {
  /** The HTTP status of the answer that the failure is about. */
  readonly targetStatus?: number;
};

/**
 * The one error class that the product throws on purpose. The message says what was tried, on what, and
 * against which limit. Users see it unchanged, so it never holds a secret.
 */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly code: FailureCode;
  /** The HTTP status of the answer; null when none came, or the failure is about something else. */
  readonly targetStatus: number | null;

  constructor(code: FailureCode, message: string, options?: FailureOptions) {
    super(message, options);
    this.code = code;
    this.targetStatus = options?.targetStatus ?? null;
  }

  /** The failure that a record is of. */
  static of({ code, message }: FailureRecord): Failure {
    return new Failure(code, message);
  }

  /** The same failure with this status, unless it already has one. */
  aboutStatus(status: number | null): Failure {
    if (status === null || this.targetStatus !== null) return this;
    return new Failure(this.code, this.message, { cause: this.cause, targetStatus: status });
  }

  toRecord(): FailureRecord {
    return { code: this.code, message: this.message };
  }
}
