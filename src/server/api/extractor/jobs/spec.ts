import type { NetworkOptions } from "../../../../app/index.ts";
import type { CrawlPlan, JobRecord } from "../../../../crawler/index.ts";
import type { EgressCaller } from "../../../../fetching/index.ts";
import type { ArticleWish } from "../wish.ts";

/** Everything needed to run a job, as decided when it was accepted; kept until the job ends. */
export type CrawlSpec = {
  readonly plan: CrawlPlan;
  readonly network: NetworkOptions;
  /** Values of Authorization headers by origin. */
  readonly authorizations: readonly (readonly [origin: string, value: string])[];
  /** The place; see `CrawlPlaces`. */
  readonly directory: string;
  /** The path as the request wrote it. */
  readonly shownDirectory: string;
  readonly sitemapFiles: readonly string[];
  readonly isFresh: boolean;
  readonly caller: EgressCaller;
  /** What of each article a batch wants; absent for crawls. */
  readonly batch?: ArticleWish | undefined;
};

/** The part of a request that a job's record shows. */
type ShownCrawl = {
  readonly output_dir: string;
  readonly seeds: readonly string[];
  readonly sitemaps: readonly string[];
  /** Whether it is a batch, whose articles stand beside its pages. */
  readonly is_batch?: true;
};

/** How many seeds and sitemaps a record names; the manifest has all of them. */
const MAX_SHOWN = 20;
/** The most characters of each list after its first: a thousand records are listed at once, four times a second. */
const MAX_SHOWN_CHARACTERS = 2000;

export const shownCrawl = (outputDirectory: string, plan: CrawlPlan): ShownCrawl => ({
  output_dir: outputDirectory,
  seeds: beginningOf(plan.seeds),
  sitemaps: beginningOf(plan.sitemaps),
});

function beginningOf(urls: readonly string[]): readonly string[] {
  const [first, ...rest] = urls.slice(0, MAX_SHOWN);
  if (first === undefined) return [];
  let room = MAX_SHOWN_CHARACTERS;
  const end = rest.findIndex((url) => {
    room -= url.length;
    return room < 0;
  });
  return [first, ...(end < 0 ? rest : rest.slice(0, end))];
}

export const isBatch = ({ shown }: JobRecord): boolean => (shown as ShownCrawl).is_batch === true;

export const isOver = ({ state }: JobRecord): boolean => state === "completed" || state === "failed";

/** Translates a job to its status record, the answer of `GET /crawl/{job_id}`. */
export function jobStatus({ id, state, counts, shown, ...job }: JobRecord) {
  return {
    job_id: id,
    status: state,
    progress: counts.progress,
    total: counts.total,
    successful: counts.successful,
    failed: counts.failed,
    skipped: counts.skipped,
    created_at: job.createdAt,
    started_at: job.startedAt,
    completed_at: job.completedAt,
    cancel_requested: job.isCancelled,
    // `shownCrawl` wrote this.
    ...(shown as ShownCrawl),
    warnings: job.warnings.length > 0 ? job.warnings : null,
    error: job.error,
  };
}
