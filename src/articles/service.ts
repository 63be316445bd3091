import { LRUCache } from "lru-cache";
import { orAborted } from "../base/abort.ts";
import { FAILURE_OUTCOMES, Failure } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import { notPageUrl, parsePageUrl } from "../urls/index.ts";
import type { ErrorPages } from "./error-pages.ts";
import type { FetchedArticle } from "./fetched-article.ts";
import type { MarkdownAlternates } from "./site-markdown.ts";
import { contentOfVisit, type FromUrlParts, type VisitRequest, visitPage } from "./visit.ts";

export type ArticleServiceParts = FromUrlParts & {
  readonly cache: ArticleCache;
  readonly errorPages: ErrorPages;
  readonly markdownAlternates: MarkdownAlternates;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The shell whose extractions are counted: `cli` or `server`. */
  readonly shell: string;
  /** The extractions that this session started; others may wait for them after its own caller has gone. */
  readonly loads: Set<Promise<unknown>>;
  /** Whether the log line of each page names the fetcher, the use of the cache and the timings. */
  readonly hasDiagnostics: boolean;
};

type ServiceRequest = FromUrlRequest & {
  /** The session's network options, which change the result as the URL and the options do. */
  readonly cacheScope: string;
  readonly requestId: string;
  /** Whether the page is fetched now, without looking into the cache. */
  readonly isFresh?: boolean | undefined;
};

/**
 * Does what `articleFromUrl` does, with the cache, counters and log lines around it.
 * @throws what `articleFromUrl` throws
 */
export async function serveArticle(
  request: ServiceRequest,
  parts: ArticleServiceParts,
): Promise<FetchedArticle> {
  const { cache, metrics, shell } = parts;
  const started = performance.now();
  try {
    const load = (signal: AbortSignal): Promise<FetchedArticle> => {
      const loading = loadArticle(request, parts, signal);
      const forget = (): void => void parts.loads.delete(loading);
      parts.loads.add(loading);
      loading.then(forget, forget);
      return loading;
    };
    const { fetched, origin } = request.isFresh
      ? { fetched: await load(request.fetch.signal ?? NEVER), origin: "miss" as const }
      : await cache.take(cacheKey(request), load, request.fetch.signal);
    metrics.count("cache_lookups", { outcome: origin });
    metrics.count("article_requests", { shell, outcome: "success" });
    logArticle(request, parts, { fetched, origin });
    // The cache's article may come from another spelling of the URL (a fragment, tracking parameters).
    return fetched.url === request.url ? fetched : { ...fetched, url: request.url };
  } catch (error) {
    const code = error instanceof Failure ? error.code : "internal";
    metrics.count("article_requests", { shell, outcome: "failure" });
    metrics.count("failures", { code });
    if (FAILURE_OUTCOMES[code].exitCode !== 130) logFailure(request, parts, error);
    throw error;
  } finally {
    metrics.time("article_request_duration", { shell }, performance.now() - started);
  }
}

async function loadArticle(
  request: ServiceRequest,
  parts: ArticleServiceParts,
  signal: AbortSignal,
): Promise<FetchedArticle> {
  const logFields = parts.hasDiagnostics ? { request_id: request.requestId } : {};
  const fetch = { ...request.fetch, signal, logFields, acceptsFiles: true };
  const errorPages: ErrorPages = {
    take: (site, look) => parts.errorPages.take(`${request.cacheScope} ${site}`, look),
  };
  const fetched = await articleFromUrl(
    { ...request, fetch, errorPages, markdownAlternates: parts.markdownAlternates },
    parts,
  );
  const { fetcher } = fetched;
  parts.metrics.count("fetches", { fetcher });
  parts.metrics.time("fetch_duration", { fetcher }, fetched.timings.fetchMs);
  parts.metrics.time("extraction_duration", {}, fetched.timings.extractionMs);
  return fetched;
}

const NEVER = new AbortController().signal;

const cacheKey = ({ url, options, preference, fetch, cacheScope, keepsBody }: ServiceRequest): string =>
  JSON.stringify([url, options, preference, fetch.authorization ?? null, cacheScope, keepsBody ?? false]);

function logArticle(
  { requestId, url }: ServiceRequest,
  { log, hasDiagnostics }: ArticleServiceParts,
  { fetched, origin }: { readonly fetched: FetchedArticle; readonly origin: string },
): void {
  const diagnostics = hasDiagnostics
    ? {
        request_id: requestId,
        cache: origin,
        fetcher: fetched.fetcher,
        fetch_ms: Math.round(fetched.timings.fetchMs),
        extraction_ms: Math.round(fetched.timings.extractionMs),
      }
    : {};
  log.info("extracted", {
    url,
    status: fetched.statusCode,
    word_count: fetched.article.wordCount,
    ...diagnostics,
  });
}

function logFailure(
  { requestId, url }: ServiceRequest,
  { log, hasDiagnostics }: ArticleServiceParts,
  error: unknown,
): void {
  const failure = error instanceof Failure ? error.toRecord() : { code: "internal", message: String(error) };
  log.warning("extraction failed", {
    url,
    code: failure.code,
    reason: failure.message,
    request_id: hasDiagnostics ? requestId : undefined,
  });
}

type FromUrlRequest = VisitRequest & {
  /** The URL as the caller wrote it, without credentials. */
  readonly url: string;
  /** Whether the page's own body is given, too. */
  readonly keepsBody?: boolean | undefined;
};

/**
 * Fetches a page and extracts its article.
 * @throws Failure `invalid_url`; `http_status` and `rate_limited` for an error status whose body holds no
 * page; `no_content`; `blocked`; and what the fetchers and the extractor throw
 */
export async function articleFromUrl(request: FromUrlRequest, parts: FromUrlParts): Promise<FetchedArticle> {
  const url = parsePageUrl(request.url);
  if (!url) throw new Failure("invalid_url", notPageUrl(request.url));
  const visit = await visitPage(url, request, parts);
  const fetched = contentOfVisit(request.url, visit);
  return request.keepsBody ? { ...fetched, body: visit.page.html } : fetched;
}

/** Extracted articles by request, and the extractions that are under way. */
export interface ArticleCache {
  readonly size: number;
  readonly maxSize: number;
  /**
   * Returns the article for a key: from the cache, from an extraction of the same key that is under way, or
   * by loading it. Failures are not kept. A shared extraction is cancelled when nobody waits for it any more.
   * @param signal of this caller alone
   */
  take(
    key: string,
    load: (signal: AbortSignal) => Promise<FetchedArticle>,
    signal?: AbortSignal,
  ): Promise<{ readonly fetched: FetchedArticle; readonly origin: "hit" | "shared" | "miss" }>;
}

/** Memory of an object besides its texts, in bytes. */
const OBJECT_BYTES = 100;

/** Estimates what a value takes in memory: its texts in UTF-8, and a fixed amount for each object. */
function bytesOf(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return 0;
  let bytes = OBJECT_BYTES;
  for (const part of Object.values(value)) bytes += bytesOf(part);
  return bytes;
}

type UnderWay = {
  readonly promise: Promise<FetchedArticle>;
  readonly controller: AbortController;
  waiting: number;
};

type ArticleCacheLimits = {
  /**
   * The number of articles to keep; the least recently used is dropped first. 0 keeps none, but requests
   * still share an extraction that is under way.
   */
  readonly maxSize: number;
  /** The bytes of text that all kept articles may have together; a larger article is not kept. At least 1. */
  readonly maxBytes: number;
};

/** Makes a cache. Its key holds everything that changes the result: the URL and every option. */
export function createArticleCache({ maxSize, maxBytes }: ArticleCacheLimits): ArticleCache {
  const kept =
    maxSize > 0
      ? new LRUCache<string, FetchedArticle>({
          max: maxSize,
          maxSize: maxBytes,
          sizeCalculation: (fetched, key) => key.length + bytesOf(fetched),
        })
      : null;
  const underWay = new Map<string, UnderWay>();

  const start = (key: string, load: (signal: AbortSignal) => Promise<FetchedArticle>): UnderWay => {
    const controller = new AbortController();
    const promise = load(controller.signal).then((fetched) => {
      kept?.set(key, fetched);
      return fetched;
    });
    const work: UnderWay = { promise, controller, waiting: 0 };
    underWay.set(key, work);
    const forget = (): void => {
      if (underWay.get(key) === work) underWay.delete(key);
    };
    promise.then(forget, forget);
    return work;
  };

  return {
    get size() {
      return kept?.size ?? 0;
    },
    maxSize,
    async take(key, load, signal) {
      if (signal?.aborted) throw cancelled();
      const hit = kept?.get(key);
      if (hit) return { fetched: hit, origin: "hit" };
      const shared = underWay.get(key);
      const work = shared ?? start(key, load);
      const leave = (): void => {
        work.waiting--;
        if (work.waiting > 0) return;
        // Nobody waits any more, so the next request must start anew.
        if (underWay.get(key) === work) underWay.delete(key);
        work.controller.abort(signal?.reason);
      };
      work.waiting++;
      return {
        fetched: await orAborted(work.promise, signal, () => {
          leave();
          return cancelled();
        }),
        origin: shared ? "shared" : "miss",
      };
    },
  };
}

const cancelled = (): Failure => new Failure("cancelled", "the request was cancelled by its caller");
