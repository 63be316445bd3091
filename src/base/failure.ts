/** How the shells report a failure: in an answer over HTTP, as the exit code of the process, and in words. */
const outcome = <const Status extends number>(httpStatus: Status, exitCode: number, meaning: string) => ({
  httpStatus,
  exitCode,
  meaning,
});

/**
 * The closed list of failure codes with their outcomes, one table for every shell. Exit code 2 means wrong
 * usage or configuration, 1 means that the work failed.
 */
export const FAILURE_OUTCOMES = {
  invalid_usage: outcome(422, 2, "an option, argument or combination of them is wrong"),
  crawl_conflict: outcome(
    409,
    2,
    "the directory holds the pages of another crawl: other seeds, rules or version",
  ),
  invalid_settings: outcome(500, 2, "a setting of the environment or of a configuration file is wrong"),
  invalid_url: outcome(422, 2, "not an absolute http or https URL"),
  unreadable_input: outcome(422, 1, "a local file or stream is missing, unreadable or empty"),
  unwritable_output: outcome(500, 1, "a result could not be written"),
  store_unavailable: outcome(503, 1, "the bucket for pages does not answer, or not in time"),
  egress_refused: outcome(403, 1, "the egress policy refuses the address"),
  network: outcome(
    502,
    1,
    "no HTTP answer: DNS, connection, TLS, protocol or a proxy; or too many redirects",
  ),
  http_status: outcome(502, 1, "the target answered with an HTTP error status"),
  blocked: outcome(
    502,
    1,
    "the site shows something else instead of the page: a challenge, a consent wall, a login page, a paywall, a block of the region, or that requests are too many",
  ),
  rate_limited: outcome(502, 1, "the target asks to wait longer than the deadline allows"),
  timeout: outcome(504, 1, "a deadline passed, of a fetch or a search"),
  too_large: outcome(422, 1, "a body or page is over its limit"),
  too_complex: outcome(422, 1, "a page needs more time or memory than one page is given"),
  unsupported_content: outcome(422, 1, "the body is of a type that holds no article"),
  encrypted_document: outcome(422, 1, "a document is encrypted, and its text needs a password"),
  no_text_layer: outcome(422, 1, "a PDF holds pictures of its pages, and no text"),
  damaged_document: outcome(422, 1, "a document is damaged, or is not of the format that it begins like"),
  no_content: outcome(422, 1, "the page, or what a selector takes of it, holds no words"),
  unknown_tenant: outcome(404, 1, "no tenant has this codename"),
  unknown_document: outcome(404, 1, "the tenant has no document with this address"),
  search_disabled: outcome(409, 1, "search is switched off for the tenant"),
  foreign_state: outcome(
    409,
    2,
    "an index or other state on the disk belongs to another deployment or source",
  ),
  pages_lost: outcome(502, 1, "a sync failed for more pages or files than `max_failed_percent` allows"),
  index_missing: outcome(503, 1, "there is no search index yet"),
  index_outdated: outcome(
    503,
    1,
    "the search index is of another version, or was built for another analysis",
  ),
  index_corrupt: outcome(503, 1, "the search index's file is damaged"),
  database_unavailable: outcome(
    503,
    1,
    "the shared database cannot be reached for longer than the caller can wait",
  ),
  cancelled: outcome(503, 130, "the work was cancelled by its caller"),
  internal: outcome(500, 1, "a fault of ours, an extraction worker's crash included"),
} as const;

export type FailureCode = keyof typeof FAILURE_OUTCOMES;

/** What a site may show instead of a page. */
export const BLOCK_KINDS = ["challenge", "consent", "login", "paywall", "region", "rate"] as const;
export type BlockKind = (typeof BLOCK_KINDS)[number];

/** A page that stands in for the one asked for, and the signs that show it, as words of a message. */
export type Block = { readonly kind: BlockKind; readonly signs: readonly string[] };

/** A failure as plain data, which crosses worker boundaries and is recorded by batches. */
export type FailureRecord = { readonly code: FailureCode; readonly message: string; readonly block?: Block };

type FailureOptions = ErrorOptions & { readonly targetStatus?: number; readonly block?: Block | undefined };

/**
 * The one error class that the product throws on purpose. The message says what was tried, on what, and
 * against which limit. Users see it unchanged, so it never holds a secret.
 */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly code: FailureCode;
  /** The HTTP status of the answer; null when none came, or the failure is about something else. */
  readonly targetStatus: number | null;
  /** What a page is `blocked` by; null for other failures. */
  readonly block: Block | null;

  constructor(code: FailureCode, message: string, options?: FailureOptions) {
    super(message, options);
    this.code = code;
    this.targetStatus = options?.targetStatus ?? null;
    this.block = options?.block ?? null;
  }

  /** The failure that a record is of. */
  static of({ code, message, block }: FailureRecord): Failure {
    return new Failure(code, message, { block });
  }

  /** The same failure with this status, unless it already has one. */
  aboutStatus(status: number | null): Failure {
    if (status === null || this.targetStatus !== null) return this;
    const { code, message, cause, block } = this;
    return new Failure(code, message, { cause, targetStatus: status, block: block ?? undefined });
  }

  toRecord(): FailureRecord {
    const { code, message, block } = this;
    return block === null ? { code, message } : { code, message, block };
  }
}

/**
 * A store or a database does not serve now. That is no page's failure: whoever records what a page failed with passes
 * it on, as it does what is no `Failure` at all.
 */
export class Away extends Failure {}

/** Returns the work's result, or null when it throws a `Failure`. Any other error is a bug and is thrown on. */
export const orNull = <T>(work: Promise<T>): Promise<T | null> =>
  work.catch((error: unknown) => {
    if (error instanceof Failure) return null;
    throw error;
  });
