import { isDeepStrictEqual } from "node:util";
import type { ExtractionOptions } from "../../extraction/index.ts";
import type { CrawlPlan } from "../types.ts";

/** What decides how a crawl's memory is taken up: the plan, and the requests that a page may take. */
export type MemorisedPlan = { readonly plan: CrawlPlan; readonly tries: number };

/** How the plan of now differs from the one that a memory was made with. */
export type PlanChanges = {
  /** What changes which URLs belong to the crawl, as a person calls it. */
  readonly scope: readonly string[];
  /** Other limits of pages or depth. */
  readonly limits: boolean;
  readonly isDeeper: boolean;
  /** More requests for one page. */
  readonly tries: boolean;
  /** Another fetcher, or another count of words to warn below. */
  readonly reading: boolean;
  /** What is taken from each page: those that are stored are not what is asked for any more. */
  readonly contents: boolean;
};

/** The rest of a plan is how fast it goes. */
const SCOPE = {
  seeds: "seeds",
  sitemaps: "sitemaps",
  allowPrefixes: "allow prefixes",
  denyPrefixes: "deny prefixes",
  followsLinks: "following links",
  obeysRobots: "obeying robots.txt",
  respectsMetaRobots: "respecting meta robots",
  discoversSitemaps: "discovering sitemaps",
} as const satisfies Partial<Record<keyof CrawlPlan, string>>;

type Memorised = Partial<CrawlPlan & { readonly tries: number }>;

/** The plan as it is kept in the memory. */
export function planText({ plan, tries }: MemorisedPlan): string {
  const names = [
    ...Object.keys(SCOPE),
    "maxPages",
    "maxDepth",
    "preference",
    "extraction",
  ] as (keyof CrawlPlan)[];
  return JSON.stringify({ ...Object.fromEntries(names.map((name) => [name, plan[name]])), tries });
}

/** What versions did that did not ask. */
const EARLIER_EXTRACTION: Partial<ExtractionOptions> = { favor: "balanced", engine: "article-extractor" };

/** @param text as `planText` wrote it, in this version or an earlier one, which knew fewer fields */
export function comparePlans(text: string, now: MemorisedPlan): PlanChanges {
  const before: Memorised = JSON.parse(text);
  const wanted: Memorised = JSON.parse(planText(now));
  const differs = (a: unknown, b: unknown): boolean =>
    a !== undefined && JSON.stringify(a) !== JSON.stringify(b);
  const { minWordCount: wordsBefore, ...contentsBefore } = { ...EARLIER_EXTRACTION, ...before.extraction };
  const { minWordCount: wordsNow, ...contentsNow } = now.plan.extraction;
  return {
    scope: Object.entries(SCOPE)
      .filter(([key]) => differs(before[key as keyof Memorised], wanted[key as keyof Memorised]))
      .map(([, name]) => name),
    limits: differs(before.maxPages, wanted.maxPages) || differs(before.maxDepth, wanted.maxDepth),
    isDeeper: now.plan.maxDepth > (before.maxDepth ?? now.plan.maxDepth),
    tries: now.tries > (before.tries ?? now.tries),
    reading: differs(before.preference, wanted.preference) || differs(wordsBefore, wordsNow),
    contents: before.extraction !== undefined && !isDeepStrictEqual(contentsBefore, contentsNow),
  };
}
