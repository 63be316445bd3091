import type { App } from "../../../../app/index.ts";
import type { Log } from "../../../../base/log.ts";
import type { ClaimedJob, CrawlEvent, JobQueue } from "../../../../crawler/index.ts";
import { requireNoLink, requireSameFile } from "../paths.ts";
import type { CrawlPlaces } from "./places.ts";
import type { JobStop } from "./reporter.ts";
import type { CrawlSpec } from "./spec.ts";

/** What runs jobs. */
export type JobParts = {
  readonly app: App;
  readonly queue: JobQueue<CrawlSpec>;
  readonly places: CrawlPlaces;
  readonly log: Log;
};

type CrawlParts = Omit<JobParts, "log"> & {
  readonly stop: JobStop;
  /** Whether to forget what an earlier crawl remembers of the place. */
  readonly isFresh: boolean;
  /** Whether this process has the job's lease; others only help. */
  readonly canLead: boolean;
  readonly keepTold?: () => Promise<void>;
};

/** Runs this process's part of a job's crawl. @throws Failure as `runCrawlJob`, and for what has changed meanwhile */
export async function* runCrawl(
  { id, spec }: Pick<ClaimedJob<CrawlSpec>, "id" | "spec">,
  { app, queue, places, stop, isFresh, canLead, keepTold }: CrawlParts,
): AsyncGenerator<CrawlEvent, void> {
  const { cancel, leave } = stop;
  for (const path of spec.sitemapFiles) await requireSameFile(path);
  if (spec.network.storageState !== null) await requireNoLink(spec.network.storageState);
  const output = await places.open(spec.directory);
  await using session = app.openSession(spec.network, spec.caller, { client: `job ${id}` });
  const options = {
    output,
    jobId: id,
    isFresh,
    freshName: '"fresh": true',
    shellSettings: { output_dir: spec.shownDirectory ?? null },
    authorizations: new Map(spec.authorizations),
    ...(queue.isShared && { shared: { canLead, leave: leave.signal, ...(keepTold && { keepTold }) } }),
  };
  const signal = queue.isShared ? cancel.signal : AbortSignal.any([cancel.signal, leave.signal]);
  yield* session.crawl(spec.plan, options, signal);
}
