import type { LogFields } from "../base/log.ts";
import type { PageUrl } from "../urls/index.ts";

/** Response headers by lower-case name. Repeated headers are joined by `, `, and `set-cookie` is left out. */
export type FetchedHeaders = Readonly<Record<string, string | undefined>>;

/** Validators of an earlier answer, so that the server sends the page only when it has changed. */
export type Validators = { readonly etag?: string | null; readonly lastModified?: string | null };

/** An answer to a request for a page, whatever its status. */
export type FetchedPage = {
  readonly url: PageUrl;
  /** The URL that answered, after redirects. */
  readonly finalUrl: PageUrl;
  /** The URLs that redirected or refreshed, in order. */
  readonly redirects: readonly PageUrl[];
  readonly status: number;
  /** The body's type without parameters, in lower case; guessed from the body when the server sent none. */
  readonly contentType: string;
  /** The decoded body, also of plain text and Markdown; empty for 304 and for errors of another type. */
  readonly html: string;
  /** The bytes of a document that is a file, such as a PDF; `html` is empty then. */
  readonly file?: Uint8Array | undefined;
  /** The encoding of the body, as the Encoding Standard names it. */
  readonly encoding: string;
  readonly headers: FetchedHeaders;
  readonly fetchedBy: "http" | "browser";
  /** Sentences for the reader about what was doubtful or left out while fetching. */
  readonly warnings: readonly string[];
  /** The length of the decompressed body in bytes. */
  readonly bodyBytes: number;
  /** The number of tries that this answer took, from 1. */
  readonly tries: number;
  /** The time from the first try to the end of the body, waits included, in ms. */
  readonly durationMs: number;
  /** URLs that the page's scripts read data from in the browser, sorted, each once; absent without a browser. */
  readonly asked?: readonly string[];
};

/**
 * Awaited before each request, retry and redirect; crawls wait for their host slots here.
 * @returns what is called when the answer has begun, or will not come
 */
// A hook that has nothing to do at the end returns nothing.
// biome-ignore lint/suspicious/noConfusingVoidType: a function without a result is one of those
export type BeforeRequest = (url: URL, signal: AbortSignal) => Promise<(() => void) | void>;

/** Options of one fetch; the fetcher's own options apply where one is absent. */
export type FetchOptions = {
  /** Cancels the fetch; the Failure is `cancelled`. */
  readonly signal?: AbortSignal;
  readonly validators?: Validators | undefined;
  /** More fields for the log lines of this fetch. */
  readonly logFields?: LogFields;
  /** The value of an Authorization header, which is sent only to the origin of the URL. */
  readonly authorization?: string | null;
  /** Whether another origin led here; then Authorization and other headers with secrets stay unsent. */
  readonly isForeign?: boolean;
  /** The time limit of the whole fetch, retries and waits included, in ms. */
  readonly deadlineMs?: number;
  /** How much of the deadline earlier fetches of the same page have used, in ms. */
  readonly spentMs?: number;
  /** The most tries; 1 never retries, which suits a caller that schedules retries itself. */
  readonly tries?: number;
  readonly beforeRequest?: BeforeRequest | undefined;
  /** The types to ask for, instead of those of pages. */
  readonly accept?: string;
  /** Whether PDF, DOCX, ODT and EPUB are pages; otherwise they are `unsupported_content`. */
  readonly acceptsFiles?: boolean;
  /** The answer that the plain client got: a browser renders its document instead of requesting one. */
  readonly received?: FetchedPage;
};

/**
 * Fetches a URL as a page. An HTTP error status is an answer; without an answer it throws a Failure:
 * `egress_refused`, `network`, `timeout`, `rate_limited`, `too_large`, `unsupported_content`, `cancelled`.
 */
export interface Fetcher extends AsyncDisposable {
  fetch(url: PageUrl, options?: FetchOptions): Promise<FetchedPage>;
}

/** An answer to a POST, whatever its status. */
export type PostResponse = {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** The wait that `Retry-After` asks for, in ms; null when it is absent. */
  readonly retryAfterMs: number | null;
};

/** Asks a configured service (the fallback extractor) with the same egress, retries and limits as for pages. */
export interface Poster {
  /**
   * Sends a value as JSON. A redirect is a `network` failure, because the value may only go to the named URL.
   * @throws Failure as a Fetcher; `too_large` beyond the limit of a page
   */
  post(url: PageUrl, options: FetchOptions & { readonly json: unknown }): Promise<PostResponse>;
  /**
   * Connects to the service, or to the proxy before it, and sends nothing.
   * @throws Failure as a Fetcher
   */
  reach(url: PageUrl, options: Pick<FetchOptions, "signal" | "deadlineMs">): Promise<void>;
}

/** The purpose of a stream, which decides the size limit and the accepted types. */
export type StreamPurpose = "robots" | "sitemap" | "feed" | "picture" | "documents";

export type FetchedStream = {
  readonly url: PageUrl;
  readonly finalUrl: PageUrl;
  readonly status: number;
  /** The type without parameters, in lower case; empty when the server sent none. */
  readonly contentType: string;
  readonly headers: FetchedHeaders;
  /**
   * The decompressed bytes, also of a gzip file. Beyond the size limit of the purpose the stream fails with
   * `too_large`, except that a robots.txt simply ends there (RFC 9309, 2.5). Read it to the end or cancel it.
   */
  readonly body: ReadableStream<Uint8Array>;
};

/** Fetches resources that are read piece by piece, with the same egress, retries and redirects as for pages. */
export interface StreamFetcher {
  fetchStream(
    url: PageUrl,
    options: FetchOptions & { readonly purpose: StreamPurpose },
  ): Promise<FetchedStream>;
}

/** The limits of fetching; sizes count decompressed bytes. */
export type FetchLimits = {
  readonly pageBytes: number;
  readonly robotsBytes: number;
  /** Of a file of documents, as it is sent. */
  readonly documentsBytes: number;
  readonly sitemapBytes: number;
  readonly feedBytes: number;
  readonly pictureBytes: number;
  /** The most redirects of one request; a page with more fails with `network`, and is not tried again. */
  readonly maxRedirects: number;
  /** The time limit of a request with headers and a page's body; for a stream, of the wait for a piece. */
  readonly requestTimeoutMs: number;
  /** The time limit of one fetch with its redirects, retries and waits. */
  readonly deadlineMs: number;
  /** The most requests for one page, the first included; redirects are not counted. */
  readonly tries: number;
};

/** The default limits, which the settings pass on when nobody set others. */
export const DEFAULT_FETCH_LIMITS: FetchLimits = {
  pageBytes: 20 * 1024 * 1024,
  robotsBytes: 500 * 1024,
  documentsBytes: 4 * 1024 ** 3,
  sitemapBytes: 50 * 1024 * 1024,
  feedBytes: 20 * 1024 * 1024,
  pictureBytes: 20 * 1024 * 1024,
  maxRedirects: 10,
  requestTimeoutMs: 30_000,
  deadlineMs: 60_000,
  tries: 4,
};

/** The rest of a fetch's deadline in ms, at least 1. */
export const deadlineOf = (
  { deadlineMs, spentMs = 0 }: Pick<FetchOptions, "deadlineMs" | "spentMs">,
  limits: FetchLimits,
): number => Math.max(1, Math.round((deadlineMs ?? limits.deadlineMs) - spentMs));
