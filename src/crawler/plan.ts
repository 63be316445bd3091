import { Failure } from "../base/failure.ts";
import { notPageUrl, type PageUrl, parsePageUrl, parseUrlPrefix } from "../urls/index.ts";
import type { CrawlPlan, CrawlRequest } from "./types.ts";

/** The ranges of the numbers in a plan. */
export const CRAWL_RANGES = {
  maxPages: { min: 1, max: 1_000_000 },
  maxDepth: { min: 0, max: 100 },
  concurrency: { min: 1, max: 256 },
} as const;

/** A longer delay is a typing mistake. */
const MAX_HOST_DELAY_MS = 24 * 60 * 60 * 1000;

/**
 * Checks a request and canonicalises its URLs.
 * @throws Failure `invalid_usage` for a number out of its range, a prefix that is no URL, and a plan with
 *   neither seed nor sitemap; `invalid_url` for a seed that is no http or https URL
 */
export function createCrawlPlan(request: CrawlRequest): CrawlPlan {
  if (request.seeds.length === 0 && request.sitemaps.length === 0)
    throw new Failure("invalid_usage", "a crawl needs at least one seed or sitemap");
  for (const [name, { min, max }] of Object.entries(CRAWL_RANGES)) {
    const value = request[name as keyof typeof CRAWL_RANGES]; // keys of the table are fields of the request
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
