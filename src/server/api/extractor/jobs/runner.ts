import { Failure, type FailureRecord } from "../../../../base/failure.ts";
import { systemCode } from "../../../../base/system-error.ts";
import type { ClaimedJob, CrawlSummary } from "../../../../crawler/index.ts";
import { type JobParts, runCrawl } from "./crawl.ts";
import { startHelper } from "./helper.ts";
import { OtherStore } from "./places.ts";
import { describe, isAway, type JobStop, type Reporter, startReporting, toldPages } from "./reporter.ts";
import type { CrawlSpec } from "./spec.ts";

/**
 * Runs jobs of the queue in this process until it is disposed of; then it returns running jobs to the queue. While it
 * has none of its own, it helps with a crawl of another process where crawls are shared.
 */
export interface JobRunner extends AsyncDisposable {
  /** Checks the queue now instead of at the next beat. */
  wake(): void;
}

/** How long a job waits when another process still crawls its directory, or has its store, in ms. */
const BUSY_DELAY_MS = 5000;
const FOREIGN = "a worker with another store handed the job back; it waits for one that has its own";
/** How long shared jobs may take to be handed back, in ms; the program has to end within ten seconds. */
const DRAIN_MS = 5000;
/** How often to retry when a job's end cannot be recorded, in ms. */
const SETTLE_MS = 500;

type RunningJob = {
  readonly id: string;
  readonly leave: AbortController;
  readonly done: Promise<void>;
};

export function startJobRunner(options: JobParts): JobRunner {
  const { app, log, queue } = options;
  const running = new Map<string, RunningJob>();
  let isEnding = false;
  let claiming: Promise<void> | null = null;
  let isAskedAgain = false;
  const helper = queue.isShared ? startHelper(options) : null;
  const foreign = new Set<string>();
  const start = (job: ClaimedJob<CrawlSpec>): void => {
    helper?.leave();
    const stop = { cancel: new AbortController(), leave: new AbortController() };
    const { id } = job;
    app.metrics.count("jobs_claimed", {});
    if (!foreign.has(id)) log.info("job taken", { job_id: id });
    const done = runJob(job, { ...options, id, stop, foreign, isEnding: () => isEnding }).finally(() => {
      running.delete(id);
      wake();
    });
    running.set(id, { id, leave: stop.leave, done });
  };
  const claimAll = async (): Promise<void> => {
    while (isAskedAgain && !isEnding) {
      isAskedAgain = false;
      for (let job = await takeNext(); job; job = isEnding ? null : await takeNext()) start(job);
    }
    if (running.size === 0 && !isEnding) await helper?.help();
  };
  const wake = (): void => {
    isAskedAgain = true;
    claiming ??= claimAll().finally(() => {
      claiming = null;
    });
  };
  const takeNext = async (): Promise<ClaimedJob<CrawlSpec> | null> => {
    try {
      return await queue.claim();
    } catch (error) {
      // A queue that is busy for seconds is checked again at the next beat.
      if (!isAway(error)) log.error("the job queue cannot be read", { reason: describe(error) });
      return null;
    }
  };
  const timer = setInterval(wake, queue.beatMs);
  const hints = queue.onChange((id) => {
    if (id === null) wake();
  });
  wake();
  return {
    wake,
    async [Symbol.asyncDispose]() {
      isEnding = true;
      clearInterval(timer);
      hints[Symbol.dispose]();
      await claiming;
      const all = [...running.values()];
      for (const { id, leave } of all) {
        log.info("job handed back", { job_id: id });
        leave.abort();
      }
      const drained = Promise.all([helper?.[Symbol.asyncDispose](), ...all.map(({ done }) => done)]);
      // A database that is away would be waited for; what is not handed back then is free when its leases run out.
      await (queue.isShared ? Promise.race([drained, Bun.sleep(DRAIN_MS)]) : drained);
    },
  };
}

type RunParts = JobParts & {
  readonly id: string;
  readonly stop: JobStop;
  /** Jobs that belong to another store; each is told once. */
  readonly foreign: Set<string>;
  readonly isEnding: () => boolean;
};

/** Runs a job and never rejects: whatever happens becomes the job's end, or another try. */
async function runJob(job: ClaimedJob<CrawlSpec>, parts: RunParts): Promise<void> {
  const { app, queue, log, stop } = parts;
  const { directory, shownDirectory = "the output directory" } = job.spec;
  const paths = { directory, shown: shownDirectory };
  // A queue that cannot be read now tells a few pages twice at worst.
  const told = await toldPages(job, queue).catch(() => new Set());
  const reporter = startReporting(job, queue, { stop, log, metrics: app.metrics, paths, told });
  try {
    const write = await crawl(job, reporter, parts).then(
      (summary) => whatBecame(summary, reporter, parts),
      (error: unknown) => whatFailed(error, reporter, parts),
    );
    await writeDown(write, parts);
  } finally {
    reporter.stop();
  }
}

async function crawl(job: ClaimedJob<CrawlSpec>, reporter: Reporter, parts: RunParts): Promise<CrawlSummary> {
  // The work of an earlier run of this job must not be forgotten.
  const isFresh = job.spec.isFresh && !job.hasBegun;
  const { keepTold } = reporter;
  for await (const event of runCrawl(job, { ...parts, isFresh, canLead: true, keepTold })) {
    if (event.kind === "finished") return event.summary;
    await reporter.take(event);
  }
  throw new Failure("internal", "the crawl ended without a result");
}

/** Records what became of a job. */
type Write = () => Promise<void>;

function whatBecame(summary: CrawlSummary, reporter: Reporter, parts: RunParts): Write {
  const isHandedBack = summary.state === "cancelled" && parts.isEnding() && !reporter.isCancelled();
  if (isHandedBack) return () => reporter.handBack(0);
  if (summary.error?.code === "store_unavailable") return waitForStore(summary.error, reporter, parts);
  const state = summary.state === "completed" ? "completed" : "failed";
  const { progress, warnings } = summary;
  return () => reporter.finish({ state, error: endError(summary), progress, warnings });
}

function whatFailed(error: unknown, reporter: Reporter, parts: RunParts): Write {
  const { id, log, queue, foreign, isEnding } = parts;
  if (isDirectoryBusy(error)) return () => reporter.handBack(BUSY_DELAY_MS);
  if (isEnding() && isCancelled(error)) return () => reporter.handBack(0);
  if (error instanceof Failure && error.code === "store_unavailable")
    return waitForStore(error, reporter, { id, log });
  if (error instanceof OtherStore && queue.isShared) {
    if (!foreign.has(id)) log.warning("job of another store", { job_id: id });
    foreign.add(id);
    return () => reporter.handBack(BUSY_DELAY_MS, FOREIGN);
  }
  if (error instanceof Failure)
    log.warning("job failed", { job_id: id, code: error.code, reason: error.message });
  else log.error("fault", { job_id: id, error: describe(error) });
  return () => reporter.finish({ state: "failed", error: toRecord(error), progress: null, warnings: null });
}

/** A job whose store is away goes on when it is back: nobody has to submit it again. */
function waitForStore(
  { message }: Pick<FailureRecord, "message">,
  reporter: Reporter,
  { id, log }: Pick<RunParts, "id" | "log">,
): Write {
  log.warning("job waits for its store", { job_id: id, reason: message });
  return () => reporter.handBack(BUSY_DELAY_MS);
}

/**
 * Retries until the end is recorded, since nobody else takes over a job whose process lives. When the server
 * shuts down it gives up: whoever comes next finds a job without a process.
 */
async function writeDown(write: Write, { id, log, isEnding }: RunParts): Promise<void> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isAway(error)) log.error("a job's end cannot be written", { job_id: id, reason: describe(error) });
    }
    if (isEnding()) return;
    await Bun.sleep(SETTLE_MS);
  }
}

const endError = ({ state, error }: CrawlSummary): FailureRecord | null =>
  state === "cancelled" ? { code: "cancelled", message: "the job was cancelled" } : error;

const toRecord = (error: unknown): FailureRecord =>
  error instanceof Failure
    ? error.toRecord()
    : { code: "internal", message: "a fault inside the server; its log has the rest under the job's id" };

const isCancelled = (error: unknown): boolean => error instanceof Failure && error.code === "cancelled";

/** Whether a stalled process, whose lease has run out, may still hold the crawl's memory. */
const isDirectoryBusy = (error: unknown): boolean =>
  error instanceof Failure && systemCode(error.cause)?.startsWith("SQLITE_BUSY") === true;
