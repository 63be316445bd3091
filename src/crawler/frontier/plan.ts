import { isDeepStrictEqual } from "node:util";
import { Failure } from "../../base/failure.ts";
import type { ExtractionOptions } from "../../extraction/index.ts";
import type { CrawlPlan } from "../plan.ts";
import type { ClaimedPage } from "./frontier.ts";

/** Options that open any kind of frontier. */
export type FrontierOptions = {
  /** The name of the place in messages: the output directory. */
  readonly place: string;
  readonly plan: CrawlPlan;
  /** The maximum number of requests for one page. */
  readonly tries: number;
  /** The job's id; null generates one for a new crawl. */
  readonly jobId: string | null;
  readonly isFresh: boolean;
  readonly freshName: string;
  readonly now: () => Date;
};

/** Options that open the frontier of a crawl which several processes share. */
export type SharedFrontierOptions = Omit<FrontierOptions, "now"> & {
  /** Whether this process may lead the crawl; one that may not only helps where others are at work. */
  readonly canLead: boolean;
};

/** The failure for a place that holds pages of another scope. */
export function otherScope(
  changes: PlanChanges,
  { place, freshName }: Pick<FrontierOptions, "place" | "freshName">,
  isFinished: boolean,
): Failure {
  const state = isFinished ? "a finished crawl" : "an unfinished crawl";
  return new Failure(
    "crawl_conflict",
    `${place} holds ${state} with another plan (${changes.scope.join(", ")}): choose another output directory, or begin anew with ${freshName}, which forgets that crawl`,
  );
}

/** Decisive for continuing a crawl's memory: the plan, and the number of requests for a page. */
type MemorisedPlan = { readonly plan: CrawlPlan; readonly tries: number };

/** How the current plan differs from the one that a memory was made with. */
export type PlanChanges = {
  /** The settings that change which URLs belong to the crawl, by their names for a person. */
  readonly scope: readonly string[];
  /** Whether the limits of pages or depth differ. */
  readonly limits: boolean;
  readonly isDeeper: boolean;
  /** Whether more requests are allowed for one page. */
  readonly tries: boolean;
  /** Whether the fetcher, or the number of words to warn below, differs. */
  readonly reading: boolean;
  /** Whether the extracted content differs, so that stored pages are not what is wanted now. */
  readonly contents: boolean;
  /** Whether pages are asked for again because their ids were not kept. */
  readonly ids: boolean;
};

/** The rest of a plan only decides its speed. */
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

/** The rest of what a memory keeps of a plan, by its names for a person. */
const LIMITS = {
  maxPages: "maximum of pages",
  maxDepth: "maximum depth",
  preference: "fetcher",
  extraction: "extraction",
  tries: "tries",
} as const;

/** Returns the names of all settings that differ, for processes that work on one crawl at the same time. */
export function planDifferences(text: string, now: MemorisedPlan): readonly string[] {
  const before: Memorised = JSON.parse(text);
  const wanted: Memorised = JSON.parse(planText(now));
  return Object.entries({ ...SCOPE, ...LIMITS })
    .filter(([key]) => !isDeepStrictEqual(before[key as keyof Memorised], wanted[key as keyof Memorised]))
    .map(([, name]) => name);
}

/** The behaviour of versions without these options. */
const EARLIER_EXTRACTION: Partial<ExtractionOptions> = {
  favor: "balanced",
  engine: "article-extractor",
  failsOnHttpError: false,
};

const contentsOf = ({ minWordCount: _, renderings = [], ...rest }: Partial<ExtractionOptions>) => ({
  ...rest,
  renderings: renderings.filter((rendering) => rendering !== "anchors"),
});

const hasIds = ({ renderings }: Partial<ExtractionOptions>): boolean =>
  renderings?.includes("anchors") ?? false;

/** @param text as `planText` wrote it, in this version or an earlier one, which knew fewer fields */
export function comparePlans(text: string, now: MemorisedPlan): PlanChanges {
  const before: Memorised = JSON.parse(text);
  const wanted: Memorised = JSON.parse(planText(now));
  const differs = (a: unknown, b: unknown): boolean =>
    a !== undefined && JSON.stringify(a) !== JSON.stringify(b);
  const earlier = { ...EARLIER_EXTRACTION, ...before.extraction };
  const { extraction } = now.plan;
  return {
    scope: Object.entries(SCOPE)
      .filter(([key]) => differs(before[key as keyof Memorised], wanted[key as keyof Memorised]))
      .map(([, name]) => name),
    limits: differs(before.maxPages, wanted.maxPages) || differs(before.maxDepth, wanted.maxDepth),
    isDeeper: now.plan.maxDepth > (before.maxDepth ?? now.plan.maxDepth),
    tries: now.tries > (before.tries ?? now.tries),
    reading:
      differs(before.preference, wanted.preference) || differs(earlier.minWordCount, extraction.minWordCount),
    contents:
      before.extraction !== undefined && !isDeepStrictEqual(contentsOf(earlier), contentsOf(extraction)),
    ids: hasIds(extraction) && !hasIds(earlier),
  };
}

/**
 * Whether a page counts towards `maxPages` before it is claimed. One that a lost process had under way does: it is the
 * one that is asked for again, and no other takes its place.
 */
export const isCounted = ({ tries, isTakenOver }: ClaimedPage): boolean => tries > 0 || isTakenOver;

/** Number of pages towards `maxPages` that a settlement adds. */
export const countedBy = (page: ClaimedPage, isFetched: boolean): number => {
  if (isFetched) return isCounted(page) ? 0 : 1;
  return page.tries === 0 && page.isTakenOver ? -1 : 0;
};
