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
  /** When the last crawl began, in ISO 8601, for `since: last`; null before the first. Absent where nobody knows. */
  readonly lastCrawlAt?: string | null;
};

/** A plan as a shell reads it, before it is checked: options that it leaves out have their defaults. */
export type CrawlRequest = Partial<Values<typeof CRAWL>> &
  Pick<CrawlPlan, "preference" | "extraction" | "lastCrawlAt">;

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
  requireForms(all);
  return {
    ...all,
    seeds: [...new Set(all.seeds.map(parseSeed))],
    sitemaps: [...new Set(all.sitemaps)],
    allowPrefixes: all.allowPrefixes.map(parsePrefix),
    denyPrefixes: all.denyPrefixes.map(parsePrefix),
  };
}

/** What a language, a version and a date look like. */
const FORMS = {
  oneLanguage: [/^[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}$/i, "the tag of a language, such as en or pt-BR"],
  oneVersion: [/^[\w.+-]+$/, "latest or a version as addresses have it, such as 2.1"],
  since: [/^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d))?$/, "a date, such as 2026-11-30"],
} as const;

/** Stands for the date of the last crawl. */
export const LAST = "last";

function requireForms(plan: Values<typeof CRAWL> & Pick<CrawlPlan, "lastCrawlAt">): void {
  for (const [name, [form, meaning]] of Object.entries(FORMS)) {
    const value = plan[name as keyof typeof FORMS];
    if (value === LAST && plan.lastCrawlAt !== undefined) continue;
    if (value === null || (form.test(value) && (name !== "since" || !Number.isNaN(Date.parse(value)))))
      continue;
    const { flag, field } = CRAWL[name as keyof typeof FORMS];
    throw new Failure(
      "invalid_usage",
      `${flag.split(" ")[0]} (${field}) must be ${meaning}, not ${JSON.stringify(value)}`,
    );
  }
}

/**
 * Whether a page is left out for its date. The date of the last crawl leaves out only what is stored: other pages may
 * have failed in that crawl, or been too many for it.
 */
export function isTooOld({ since, lastCrawlAt }: CrawlPlan, date: string | null, isStored: boolean): boolean {
  const earliest = since === LAST ? (isStored ? lastCrawlAt : null) : since;
  return date !== null && Boolean(earliest) && isBefore(date, earliest!);
}

/** Whether a date is before another; one without a time means its whole day. */
const isBefore = (date: string, other: string): boolean =>
  Date.parse(date.length === 10 ? `${date}T23:59:59.999Z` : date) < Date.parse(other);

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
