import type { FetcherPreference } from "../articles/index.ts";
import { Failure } from "../base/failure.ts";
import type { ExtractionOptions } from "../extraction/index.ts";
import { RANGES } from "../options/index.ts";
import { notPageUrl, type PageUrl, parsePageUrl, parseUrlPrefix } from "../urls/index.ts";

/** The scope and the settings of a crawl, checked by `createCrawlPlan`; without secrets, because it is stored and shown. */
export type CrawlPlan = {
  /** The start URLs, at depth 0, each once. */
  readonly seeds: readonly PageUrl[];
  /** URLs without credentials, or absolute paths. */
  readonly sitemaps: readonly string[];
  /** As `parseUrlPrefix` writes them; none admits the seeds' origins, and sitemap URLs of any origin. */
  readonly allowPrefixes: readonly string[];
  readonly denyPrefixes: readonly string[];
  /** The maximum number of fetched pages, 1–1 000 000; pages skipped without a request do not count. */
  readonly maxPages: number;
  /** The maximum number of links away from a seed or sitemap URL, 0–100. */
  readonly maxDepth: number;
  /** The maximum number of pages under way, 1–256. With a delay, each host has one of them at a time. */
  readonly concurrency: number;
  /** The delay between the starts of two requests to one host, in ms; robots.txt may ask for more. */
  readonly hostDelayMs: number;
  /** Lengthens a host's delay while it answers slowly, up to a minute. */
  readonly hasAdaptiveDelay: boolean;
  readonly followsLinks: boolean;
  readonly obeysRobots: boolean;
  /** Whether `noindex`, `nofollow` of pages (also of X-Robots-Tag) and of links count. */
  readonly respectsMetaRobots: boolean;
  /** Reads the sitemaps that the robots.txt of the seeds' origins name. */
  readonly discoversSitemaps: boolean;
  /** Does not request a stored page whose lastmod in the sitemap is unchanged since the last crawl. */
  readonly trustsLastModified: boolean;
  readonly preference: FetcherPreference;
  readonly extraction: ExtractionOptions;
};

/** A plan as a shell reads it, before it is checked. */
export type CrawlRequest = Omit<CrawlPlan, "seeds" | "allowPrefixes" | "denyPrefixes"> & {
  /** URLs without credentials. */
  readonly seeds: readonly string[];
  readonly allowPrefixes: readonly string[];
  readonly denyPrefixes: readonly string[];
};

const MAX_HOST_DELAY_MS = RANGES.rateLimitSeconds.max * 1000;

/**
 * Checks a request and canonicalises its URLs.
 * @throws Failure `invalid_usage` for a number out of its range, a prefix that is no URL, and a plan with
 *   neither seed nor sitemap; `invalid_url` for a seed that is not an http or https URL
 */
export function createCrawlPlan(request: CrawlRequest): CrawlPlan {
  if (request.seeds.length === 0 && request.sitemaps.length === 0)
    throw new Failure("invalid_usage", "a crawl needs at least one seed or sitemap");
  for (const name of ["maxPages", "maxDepth", "concurrency"] as const) {
    const [value, { min, max }] = [request[name], RANGES[name]];
    if (!Number.isInteger(value) || value < min || value > max)
      throw new Failure("invalid_usage", `${name} is ${value}, not a whole number from ${min} to ${max}`);
  }
  if (!(request.hostDelayMs >= 0 && request.hostDelayMs <= MAX_HOST_DELAY_MS))
    throw new Failure(
      "invalid_usage",
      `the delay between requests to a host is ${request.hostDelayMs} ms, not from 0 to ${MAX_HOST_DELAY_MS}`,
    );
  return {
    ...request,
    seeds: [...new Set(request.seeds.map(parseSeed))],
    sitemaps: [...new Set(request.sitemaps)],
    allowPrefixes: request.allowPrefixes.map(parsePrefix),
    denyPrefixes: request.denyPrefixes.map(parsePrefix),
  };
}

function parseSeed(written: string): PageUrl {
  const url = parsePageUrl(written);
  if (url) return url;
  throw new Failure("invalid_url", `the seed ${notPageUrl(written)}`);
}

function parsePrefix(written: string): string {
  const prefix = parseUrlPrefix(written);
  if (prefix !== null) return prefix;
  throw new Failure("invalid_usage", `the prefix ${notPageUrl(written)}`);
}
