import type { FetcherPreference } from "../articles/index.ts";
import { Failure } from "../base/failure.ts";
import type { ExtractionOptions } from "../extraction/index.ts";
import { CRAWL, defaultsOf, type Option, problemOf, toOutside, type Values } from "../options/index.ts";
import { notPageUrl, type PageUrl, parsePageUrl, parseUrlPrefix } from "../urls/index.ts";

/** The scope and the settings of a crawl, checked by `createCrawlPlan`; without secrets, because it is stored and shown. */
export type CrawlPlan = Omit<Values<typeof CRAWL>, "seeds"> & {
  /** The start URLs, at depth 0, each once. */
  readonly seeds: readonly PageUrl[];
  readonly preference: FetcherPreference;
  readonly extraction: ExtractionOptions;
};

/** A plan as a shell reads it, before it is checked: options that it leaves out have their defaults. */
export type CrawlRequest = Partial<Values<typeof CRAWL>> & Pick<CrawlPlan, "preference" | "extraction">;

/**
 * Checks a request and canonicalises its URLs.
 * @throws Failure `invalid_usage` for a number out of its range, a prefix that is no URL, and a plan with
 *   neither seed nor sitemap; `invalid_url` for a seed that is not an http or https URL
 */
export function createCrawlPlan(request: CrawlRequest): CrawlPlan {
  const all = { ...defaultsOf(CRAWL), ...request };
  if (all.seeds.length === 0 && all.sitemaps.length === 0)
    throw new Failure("invalid_usage", "a crawl needs at least one seed or sitemap");
  for (const [name, option] of Object.entries(CRAWL)) requireInRange(option, all[name as keyof typeof CRAWL]);
  return {
    ...all,
    seeds: [...new Set(all.seeds.map(parseSeed))],
    sitemaps: [...new Set(all.sitemaps)],
    allowPrefixes: all.allowPrefixes.map(parsePrefix),
    denyPrefixes: all.denyPrefixes.map(parsePrefix),
  };
}

function requireInRange({ kind, means }: Option, value: unknown): void {
  if (kind.type !== "whole" && kind.type !== "seconds") return;
  const outside = toOutside(kind, value);
  const expected = problemOf(kind, outside);
  if (expected !== null)
    throw new Failure("invalid_usage", `a crawl's option (${means}) must ${expected}, not ${outside}`);
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
