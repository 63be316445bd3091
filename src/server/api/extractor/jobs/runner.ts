import type { App } from "../../../../app/index.ts";
import { Failure, type FailureRecord } from "../../../../base/failure.ts";
import type { Log } from "../../../../base/log.ts";
import { systemCode } from "../../../../base/system-error.ts";
import type {
  ClaimedJob,
  CrawlEvent,
  CrawlJobParts,
  CrawlSummary,
  JobQueue,
} from "../../../../crawler/index.ts";
import { describe, logFault } from "../../../middleware/problem.ts";
import { requireNoLink, requireSameFile } from "../paths.ts";
import { fieldsOf, readWish } from "../wish.ts";
import { articlePath } from "./download.ts";
import { type CrawlPlaces, OtherStore } from "./places.ts";
import { isAway, type JobStop, Reporter, toldPages } from "./reporter.ts";
import type { CrawlSpec } from "./spec.ts";

/** How long a job waits when another process still crawls its directory, or has its store, in ms. */
const BUSY_DELAY_MS = 5000;
const FOREIGN = "a worker with another store handed the job back; it waits for one that has its own";
/** How long shared jobs may take to be handed back, in ms; the program has to end within ten seconds. */
const DRAIN_MS = 5000;
/** How often to retry when a job's end cannot be recorded, in ms. */
const SETTLE_MS = 500;

/**
 * Runs jobs of the queue in this process until it is disposed of; then it returns running jobs to the queue. While it
 * has none of its own, it helps with a crawl of another process where crawls are shared.
 */
export class JobRunner implements AsyncDisposable {
  readonly #options: JobParts;
  readonly #helper: Helper | null;
  readonly #running = new Map<string, { readonly leave: AbortController; readonly done: Promise<void> }>();
  readonly #foreign = new Set<string>();
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #hints: Disposable;
  #isEnding = false;
  #claiming: Promise<void> | null = null;
  #isAskedAgain = false;

  constructor(options: JobParts) {
    const { queue } = options;
    this.#options = options;
    this.#helper = queue.isShared ? new Helper(options) : null;
    this.#timer = setInterval(() => this.wake(), queue.beatMs);
    this.#hints = queue.onChange((id) => {
      if (id === null) this.wake();
    });
    this.wake();
  }

  /** Checks the queue now instead of at the next beat. */
  wake(): void {
    this.#isAskedAgain = true;
    this.#claiming ??= this.#claimAll().finally(() => {
      this.#claiming = null;
    });
  }

  async #claimAll(): Promise<void> {
    while (this.#isAskedAgain && !this.#isEnding) {
      this.#isAskedAgain = false;
      for (let job = await this.#next(); job; job = this.#isEnding ? null : await this.#next())
        this.#start(job);
    }
    if (this.#running.size === 0 && !this.#isEnding) await this.#helper?.help();
  }

  async #next(): Promise<ClaimedJob<CrawlSpec> | null> {
    const { queue, log } = this.#options;
    try {
      return await queue.claim();
    } catch (error) {
      // A queue that is busy for seconds is checked again at the next beat.
      if (!isAway(error)) log.error("the job queue cannot be read", { reason: describe(error) });
      return null;
    }
  }

  #start(job: ClaimedJob<CrawlSpec>): void {
    const { app, log } = this.#options;
    this.#helper?.leave();
    const stop = { cancel: new AbortController(), leave: new AbortController() };
    const { id } = job;
    const foreign = this.#foreign;
    app.metrics.count("jobs_claimed", {});
    if (!foreign.has(id)) log.info("job taken", { job_id: id });
    const parts = { ...this.#options, id, stop, foreign, isEnding: () => this.#isEnding };
    const done = runJob(job, parts).finally(() => {
      this.#running.delete(id);
      this.wake();
    });
    this.#running.set(id, { leave: stop.leave, done });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    clearInterval(this.#timer);
    this.#hints[Symbol.dispose]();
    await this.#claiming;
    const jobs = [...this.#running].map(([id, { leave, done }]) => {
      this.#options.log.info("job handed back", { job_id: id });
      leave.abort();
      return done;
    });
    const drained = Promise.all([this.#helper?.[Symbol.asyncDispose](), ...jobs]);
    // Without the database this would wait; jobs not handed back by then are free when their leases expire.
    await (this.#options.queue.isShared ? Promise.race([drained, Bun.sleep(DRAIN_MS)]) : drained);
  }
}

type RunParts = JobParts & {
  readonly id: string;
  readonly stop: JobStop;
  /** Jobs that belong to another store; each is reported once. */
  readonly foreign: Set<string>;
  readonly isEnding: () => boolean;
};

/** Runs a job and never rejects: whatever happens becomes the job's end, or another try. */
async function runJob(job: ClaimedJob<CrawlSpec>, parts: RunParts): Promise<void> {
  const { app, queue, log, stop } = parts;
  const { directory, shownDirectory } = job.spec;
  const paths = { directory, shown: shownDirectory };
  // A queue that cannot be read now tells a few pages twice at worst.
  const told = await toldPages(job, queue).catch(() => new Set());
  const reporter = new Reporter(job, queue, { stop, log, metrics: app.metrics, paths, told });
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
  const keepTold = (): Promise<void> => reporter.keepTold();
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
  const { progress, warnings, completedAt } = summary;
  const error =
    summary.state === "cancelled"
      ? ({ code: "cancelled", message: "the job was cancelled" } as const)
      : summary.error;
  return () => reporter.finish({ state, error, progress, warnings, completedAt });
}

function whatFailed(error: unknown, reporter: Reporter, parts: RunParts): Write {
  const { id, log, queue, foreign, isEnding } = parts;
  const fail = (record: FailureRecord): Write => {
    return () => reporter.finish({ state: "failed", error: record, progress: null, warnings: null });
  };
  if (!(error instanceof Failure)) {
    logFault(log, error, { job_id: id });
    const message = "a fault inside the server; its log has the rest under the job's id";
    return fail({ code: "internal", message });
  }
  // A stalled process, whose lease has run out, may still hold the crawl's memory.
  const isDirectoryBusy = systemCode(error.cause)?.startsWith("SQLITE_BUSY") === true;
  if (isDirectoryBusy) return () => reporter.handBack(BUSY_DELAY_MS);
  if (isEnding() && error.code === "cancelled") return () => reporter.handBack(0);
  if (error.code === "store_unavailable") return waitForStore(error, reporter, parts);
  if (error instanceof OtherStore && queue.isShared) {
    if (!foreign.has(id)) log.warning("job of another store", { job_id: id });
    foreign.add(id);
    return () => reporter.handBack(BUSY_DELAY_MS, FOREIGN);
  }
  log.warning("job failed", { job_id: id, code: error.code, reason: error.message });
  return fail(error.toRecord());
}

/** Hands back a job whose store cannot be reached, so that it continues by itself when the store is back. */
function waitForStore(
  { message }: FailureRecord | Failure,
  reporter: Reporter,
  { id, log }: RunParts,
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

type HelpedJob = Pick<ClaimedJob<CrawlSpec>, "id" | "spec">;

/** A job that was left is not joined again within this time, in ms: its crawl may be ending, or cannot be helped. */
const REST_MS = 5000;

/** Helps with crawls that other processes lead, one at a time. */
class Helper implements AsyncDisposable {
  readonly #options: JobParts;
  #helping: { readonly leave: AbortController; readonly done: Promise<void> } | null = null;
  #left = { id: "", until: 0 };

  constructor(options: JobParts) {
    this.#options = options;
  }

  /** Joins a running job unless it helps with one already. */
  async help(): Promise<void> {
    if (this.#helping) return;
    const job = await this.#options.queue.joinable().catch(() => null);
    if (!job || (job.id === this.#left.id && performance.now() < this.#left.until)) return;
    const leave = new AbortController();
    const done = this.#join(job, leave).finally(() => {
      this.#helping = null;
    });
    this.#helping = { leave, done };
  }

  async #join(job: HelpedJob, leave: AbortController): Promise<void> {
    const { app, log } = this.#options;
    log.info("joins a job", { job_id: job.id });
    app.metrics.count("jobs_helped", {});
    using _ = watchEnd(job.id, leave, this.#options);
    const stop = { cancel: new AbortController(), leave };
    try {
      // The leading process reports the outcomes.
      for await (const _ of runCrawl(job, { ...this.#options, stop, isFresh: false, canLead: false }));
    } catch (error) {
      const reason = error instanceof Failure ? error.message : describe(error);
      if (!isAway(error)) log.warning("a job cannot be helped", { job_id: job.id, reason });
    }
    this.#left = { id: job.id, until: performance.now() + REST_MS };
    log.info("leaves a job", { job_id: job.id });
  }

  /** Leaves the job that it helps with; its pages under way go back. */
  leave(): void {
    this.#helping?.leave.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.leave();
    await this.#helping?.done;
  }
}

/** Leaves a job that is no longer run or going to be, whatever its crawl says. */
function watchEnd(id: string, leave: AbortController, { queue }: JobParts): Disposable {
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

/** The parts that running jobs needs. */
type JobParts = {
  readonly app: App;
  readonly queue: JobQueue<CrawlSpec>;
  readonly places: CrawlPlaces;
  readonly log: Log;
};

type CrawlParts = JobParts & {
  readonly stop: JobStop;
  /** Whether to forget what an earlier crawl remembers of the place. */
  readonly isFresh: boolean;
  /** Whether this process has the job's lease; others only help. */
  readonly canLead: boolean;
  readonly keepTold?: () => Promise<void>;
};

/** Runs this process's part of a job's crawl. @throws Failure as `runCrawlJob`, and for what has changed meanwhile */
async function* runCrawl(
  { id, spec }: HelpedJob,
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
    shellSettings: { output_dir: spec.shownDirectory },
    authorizations: new Map(spec.authorizations),
    ...(queue.isShared && { shared: { canLead, leave: leave.signal, ...(keepTold && { keepTold }) } }),
  };
  const signal = queue.isShared ? cancel.signal : AbortSignal.any([cancel.signal, leave.signal]);
  yield* session.crawl(spec.plan, options, signal, (parts) => ({ ...parts, ...batchPart(spec, places) }));
}

/** The part of a batch's crawl that keeps the wanted fields of each article beside its page. */
function batchPart({ batch, directory }: CrawlSpec, places: CrawlPlaces): Pick<CrawlJobParts, "takeEach"> {
  if (!batch) return {};
  return {
    takeEach: async ({ article }, filePath, signal) => {
      if (filePath === null) return;
      const fields = await fieldsOf(article, readWish(batch));
      await places.put(directory, articlePath(filePath), JSON.stringify(fields), signal);
    },
  };
}
