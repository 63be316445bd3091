import { Failure } from "../../../../base/failure.ts";
import type { ClaimedJob } from "../../../../crawler/index.ts";
import { type JobParts, runCrawl } from "./crawl.ts";
import { describe, isAway } from "./reporter.ts";
import type { CrawlSpec } from "./spec.ts";

/** Helps with crawls that other processes lead, one at a time. */
export interface Helper extends AsyncDisposable {
  /** Joins a running job unless it helps with one already. */
  help(): Promise<void>;
  /** Leaves the job that it helps with; its pages under way go back. */
  leave(): void;
}

type HelpedJob = Pick<ClaimedJob<CrawlSpec>, "id" | "spec">;

/** A job that was left is not joined again for so long, in ms: its crawl may be at its end, or cannot be helped. */
const REST_MS = 5000;

export function startHelper(options: JobParts): Helper {
  const { app, queue, log } = options;
  let helping: { readonly leave: AbortController; readonly done: Promise<void> } | null = null;
  let left = { id: "", until: 0 };
  const join = async (job: HelpedJob, leave: AbortController): Promise<void> => {
    log.info("joins a job", { job_id: job.id });
    app.metrics.count("jobs_helped", {});
    using _ = watchEnd(job.id, leave, options);
    const stop = { cancel: new AbortController(), leave };
    try {
      // What comes of it is told by the process that leads.
      for await (const _ of runCrawl(job, { ...options, stop, isFresh: false, canLead: false }));
    } catch (error) {
      const reason = error instanceof Failure ? error.message : describe(error);
      if (!isAway(error)) log.warning("a job cannot be helped", { job_id: job.id, reason });
    }
    left = { id: job.id, until: performance.now() + REST_MS };
    log.info("leaves a job", { job_id: job.id });
  };
  return {
    async help() {
      if (helping) return;
      const job = await queue.joinable().catch(() => null);
      if (!job || (job.id === left.id && performance.now() < left.until)) return;
      const leave = new AbortController();
      const done = join(job, leave).finally(() => {
        helping = null;
      });
      helping = { leave, done };
    },
    leave: () => helping?.leave.abort(),
    async [Symbol.asyncDispose]() {
      helping?.leave.abort();
      await helping?.done;
    },
  };
}

/** Leaves a job that is no longer run or going to be, whatever its crawl says. */
function watchEnd(id: string, leave: AbortController, { queue }: Pick<JobParts, "queue">): Disposable {
  const look = async (): Promise<void> => {
    const job = await queue.get(id);
    if (job?.state !== "running" && job?.state !== "queued") leave.abort();
    if (job?.isCancelled) leave.abort();
  };
  // While the queue cannot be read, it is as it was.
  const timer = setInterval(() => void look().catch(() => {}), queue.beatMs);
  const hints = queue.onChange((changed, isCancelled) => {
    if (changed === id && isCancelled) leave.abort();
  });
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      hints[Symbol.dispose]();
    },
  };
}
