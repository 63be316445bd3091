import type { LogFields } from "../base/log.ts";
import type { PageUrl } from "../urls/index.ts";

/** Response headers by lower-case name; repeated ones are joined by `, `. `set-cookie` is left out. */
export type FetchedHeaders = Readonly<Record<string, string | undefined>>;

/** What an earlier answer said about its version, to ask for the page only where it has changed. */
export type Validators = { readonly etag?: string | null; readonly lastModified?: string | null };

/** An answer to a request for a page, whatever its status. */
export type FetchedPage = {
  /** The URL that was asked for. */
  readonly url: PageUrl;
  /** The URL that answered, after redirects. */
  readonly finalUrl: PageUrl;
  /** The URLs that redirected, in order; empty without redirects. */
  readonly redirects: readonly PageUrl[];
  readonly status: number;
  /** The body's type without parameters, lower case; found by looking where the server gave none. */
  readonly contentType: string;
  /** The decoded body, also of plain text and Markdown; empty for 304 and for an error's body of another type. */
  readonly html: string;
  /** The encoding that the body was decoded from, as the Encoding Standard names it. */
  readonly encoding: string;
  readonly headers: FetchedHeaders;
  readonly fetchedBy: "http" | "browser";
  /** Sentences for whoever reads the page: what was doubtful or left out on the way to it. */
  readonly warnings: readonly string[];
  /** The decompressed body's length in bytes. */
  readonly bodyBytes: number;
  /** Tries that this answer took, from 1. */
  readonly tries: number;
  /** From the first try to the end of the body, waits included, in ms. */
  readonly durationMs: number;
};

/** Of one fetch; what is absent is as the fetcher was made. */
export type FetchOptions = {
  /** Calls the fetch off; the Failure is `cancelled`. */
  readonly signal?: AbortSignal;
  readonly validators?: Validators;
  /** Further facts for the log lines of this fetch. */
  readonly logFields?: LogFields;
  /** The value of an Authorization header; it goes to the origin of the URL and to no other. */
  readonly authorization?: string | null;
  /** Another origin led here: neither Authorization nor other headers that hold secrets are sent. */
  readonly isForeign?: boolean;
  /** For the whole fetch, retries and waits included, in ms. */
  readonly deadlineMs?: number;
  /** What earlier fetches for the same page have used of the deadline, in ms. */
  readonly spentMs?: number;
  /** Tries at most; 1 never retries, which suits a caller that schedules retries itself. */
  readonly tries?: number;
  /** Waited for before each request that goes out, retries and redirects included: a crawler's host slots. */
  readonly beforeRequest?: (url: URL, signal: AbortSignal) => Promise<void>;
};

/**
 * URL → page. An HTTP error status is an answer; no answer is a Failure: `egress_refused`, `network`,
 * `timeout`, `rate_limited`, `too_large`, `unsupported_content`, `cancelled`.
 */
export interface Fetcher extends AsyncDisposable {
  fetch(url: PageUrl, options?: FetchOptions): Promise<FetchedPage>;
}

/** An answer to a POST, whatever its status. */
export type PostAnswer = {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
};

/** Asks a configured service, the fallback extractor, through the same egress, retries and limits as pages. */
export interface Poster {
  /**
   * Sends a value as JSON. A redirect is `network`: what is posted goes to the URL that was named.
   * @throws Failure as a Fetcher; `too_large` past the limit of a page
   */
  post(url: PageUrl, options: FetchOptions & { readonly json: unknown }): Promise<PostAnswer>;
}

/** What a streamed resource is for; it decides size limit and accepted types. */
export type StreamPurpose = "robots" | "sitemap" | "feed";

export type FetchedStream = {
  readonly url: PageUrl;
  readonly finalUrl: PageUrl;
  readonly status: number;
  /** The type without parameters, lower case; empty when the server gave none. */
  readonly contentType: string;
  readonly headers: FetchedHeaders;
  /**
   * Decompressed bytes, a gzip file's too. Over the purpose's limit it fails with `too_large`, save for
   * robots.txt, which ends there (RFC 9309, 2.5). Read it to the end or cancel it.
   */
  readonly body: ReadableStream<Uint8Array>;
};

/** Fetches what is read piece by piece, through the same egress, retries and redirects as pages. */
export interface StreamFetcher {
  fetchStream(
    url: PageUrl,
    options: FetchOptions & { readonly purpose: StreamPurpose },
  ): Promise<FetchedStream>;
}
