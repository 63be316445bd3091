import { FAILURE_OUTCOMES, Failure } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import { notPageUrl, parsePageUrl } from "../urls/index.ts";
import type { ArticleCache } from "./cache.ts";
import type { FetchedArticle } from "./fetched-article.ts";
import { articleOfVisit, type FromUrlParts, type VisitRequest, visitPage } from "./visit.ts";

export type ArticleServiceParts = FromUrlParts & {
  readonly cache: ArticleCache;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The shell whose extractions are counted: `cli` makes `cli_extractions.success`. */
  readonly shell: string;
  /** The extractions that this session started; others may wait for them after its own caller has gone. */
  readonly loads: Set<Promise<unknown>>;
  /** Whether the log line of each page names the fetcher, the use of the cache and the timings. */
  readonly hasDiagnostics: boolean;
};

export type ServiceRequest = FromUrlRequest & {
  /** The session's network options, which change the result as the URL and the options do. */
  readonly cacheScope: string;
  readonly requestId: string;
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
    const { fetched, origin } = await cache.take(cacheKey(request), load, request.fetch.signal);
    metrics.count(`cache.${origin}`);
    metrics.count(`${shell}_extractions.success`);
    logArticle(request, parts, { fetched, origin });
    // The cache's article may come from another spelling of the URL (a fragment, tracking parameters).
    return fetched.url === request.url ? fetched : { ...fetched, url: request.url };
  } catch (error) {
    const code = error instanceof Failure ? error.code : "internal";
    metrics.count(`${shell}_extractions.failure`);
    metrics.count(`failures.${code}`);
    if (FAILURE_OUTCOMES[code].exitCode !== 130) logFailure(request, parts, error);
    throw error;
  } finally {
    metrics.time(`${shell}_extractions.duration`, performance.now() - started);
  }
}

async function loadArticle(
  request: ServiceRequest,
  parts: ArticleServiceParts,
  signal: AbortSignal,
): Promise<FetchedArticle> {
  const logFields = parts.hasDiagnostics ? { request_id: request.requestId } : {};
  const fetched = await articleFromUrl({ ...request, fetch: { ...request.fetch, signal, logFields } }, parts);
  parts.metrics.count(`fetches.${fetched.fetcher}`);
  parts.metrics.time("fetches.duration", fetched.timings.fetchMs);
  parts.metrics.time("extraction.duration", fetched.timings.extractionMs);
  return fetched;
}

const cacheKey = ({ url, options, preference, fetch, cacheScope }: ServiceRequest): string =>
  JSON.stringify([url, options, preference, fetch.authorization ?? null, cacheScope]);

type Outcome = { readonly fetched: FetchedArticle; readonly origin: string };

function logArticle(
  { requestId, url }: ServiceRequest,
  { log, hasDiagnostics }: ArticleServiceParts,
  { fetched, origin }: Outcome,
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
    ...(hasDiagnostics ? { request_id: requestId } : {}),
  });
}

type FromUrlRequest = VisitRequest & {
  /** The URL as the caller wrote it, without credentials. */
  readonly url: string;
};

/**
 * Fetches a page and extracts its article.
 * @throws Failure `invalid_url`; `http_status` and `rate_limited` for an error status whose body holds no
 * page; `no_content`; and what the fetchers and the extractor throw
 */
export async function articleFromUrl(request: FromUrlRequest, parts: FromUrlParts): Promise<FetchedArticle> {
  const url = parsePageUrl(request.url);
  if (!url) throw new Failure("invalid_url", notPageUrl(request.url));
  return articleOfVisit(request.url, await visitPage(url, request, parts));
}
