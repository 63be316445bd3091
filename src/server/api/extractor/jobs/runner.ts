import type { App } from "../../../../app/index.ts";
import { Failure, type FailureRecord } from "../../../../base/failure.ts";
import type { Log } from "../../../../base/log.ts";
import { systemCode } from "../../../../base/system-error.ts";
import {
  type ClaimedJob,
  type CrawlEvent,
  type CrawlProgress,
  type CrawlSummary,
  type JobEvent,
  type JobQueue,
  type JobReport,
  manifestEntry,
  warningOf,
} from "../../../../crawler/index.ts";
import { openConfinedDirectory, requireNoLink, requireSameFile } from "../paths.ts";
import type { CrawlSpec } from "./spec.ts";

export type JobRunnerOptions = {
  readonly app: App;
  readonly queue: JobQueue<CrawlSpec>;
  readonly log: Log;
};

/**
 * Runs jobs of the queue in this process until it is disposed of; then it returns running jobs to the queue.
 */
export interface JobRunner extends AsyncDisposable {
  /** Checks the queue now instead of at the next beat. */
  wake(): void;
}

/** A report without news renews the lease only this often, in ms. */
const RENEWAL_MS = 3000;
/** How long a job waits when another process still crawls its directory, in ms. */
const BUSY_DELAY_MS = 5000;
/** How often to retry when a job's end cannot be recorded, in ms. */
const SETTLE_MS = 500;

type RunningJob = {
  readonly id: string;
  readonly controller: AbortController;
  readonly done: Promise<void>;
};

export function startJobRunner(options: JobRunnerOptions): JobRunner {
  const { log, queue } = options;
  const running = new Map<string, RunningJob>();
  let isEnding = false;
  let claiming: Promise<void> | null = null;
  let isAskedAgain = false;
  const start = (job: ClaimedJob<CrawlSpec>): void => {
    const controller = new AbortController();
    const { id } = job;
    const done = runJob(job, controller, { ...options, id, isEnding: () => isEnding }).finally(() => {
      running.delete(id);
      wake();
    });
    running.set(id, { id, controller, done });
  };
  const claimAll = async (): Promise<void> => {
    while (isAskedAgain && !isEnding) {
      isAskedAgain = false;
      for (let job = await takeNext(); job; job = isEnding ? null : await takeNext()) start(job);
    }
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
      log.error("the job queue cannot be read", { reason: describe(error) });
      return null;
    }
  };
  const timer = setInterval(wake, queue.beatMs);
  wake();
  return {
    wake,
    async [Symbol.asyncDispose]() {
      isEnding = true;
      clearInterval(timer);
      await claiming;
      const all = [...running.values()];
      for (const { id, controller } of all) {
        log.info("job handed back", { job_id: id });
        controller.abort();
      }
      await Promise.all(all.map(({ done }) => done));
    },
  };
}

type RunParts = JobRunnerOptions & { readonly id: string; readonly isEnding: () => boolean };

/** Runs a job and never rejects: whatever happens becomes the job's end, or another try. */
async function runJob(
  job: ClaimedJob<CrawlSpec>,
  controller: AbortController,
  parts: RunParts,
): Promise<void> {
  const { app, queue, log } = parts;
  const { directory, shownDirectory = "the output directory" } = job.spec;
  const paths = { directory, shown: shownDirectory };
  const reporter = startReporting(job, queue, { controller, log, paths });
  try {
    const write = await crawl(job, { app, reporter, signal: controller.signal }).then(
      (summary) => whatBecame(summary, reporter, parts),
      (error: unknown) => whatFailed(error, reporter, parts),
    );
    await writeDown(write, parts);
  } finally {
    reporter.stop();
  }
}

/** Records what became of a job. */
type Write = () => Promise<void>;

function whatBecame(summary: CrawlSummary, reporter: Reporter, { isEnding }: RunParts): Write {
  const isHandedBack = summary.state === "cancelled" && isEnding() && !reporter.isCancelled();
  if (isHandedBack) return () => reporter.handBack(0);
  const state = summary.state === "completed" ? "completed" : "failed";
  const { progress, warnings } = summary;
  return () => reporter.finish({ state, error: endError(summary), progress, warnings });
}

function whatFailed(error: unknown, reporter: Reporter, { id, log, isEnding }: RunParts): Write {
  if (isDirectoryBusy(error)) return () => reporter.handBack(BUSY_DELAY_MS);
  if (isEnding() && isCancelled(error)) return () => reporter.handBack(0);
  if (!(error instanceof Failure)) log.error("fault", { job_id: id, error: describe(error) });
  return () => reporter.finish({ state: "failed", error: toRecord(error), progress: null, warnings: null });
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
      log.error("a job's end cannot be written", { job_id: id, reason: describe(error) });
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

const describe = (error: unknown): string =>
  (error instanceof Error ? (error.stack ?? error.message) : String(error)).slice(0, 4000);

type CrawlParts = { readonly app: App; readonly reporter: Reporter; readonly signal: AbortSignal };

async function crawl(
  { id, spec, hasBegun }: ClaimedJob<CrawlSpec>,
  { app, reporter, signal }: CrawlParts,
): Promise<CrawlSummary> {
  await openConfinedDirectory(spec.directory);
  for (const path of spec.sitemapFiles) await requireSameFile(path);
  if (spec.network.storageState !== null) await requireNoLink(spec.network.storageState);
  await using session = app.openSession(spec.network, spec.caller, { client: `job ${id}` });
  const options = {
    output: { kind: "directory", path: spec.directory },
    jobId: id,
    // The work of an earlier run of this job must not be forgotten.
    isFresh: spec.isFresh && !hasBegun,
    freshName: '"fresh": true',
    shellSettings: { output_dir: spec.shownDirectory ?? null },
    authorizations: new Map(spec.authorizations),
  } as const;
  for await (const event of session.crawl(spec.plan, options, signal)) {
    if (event.kind === "finished") return event.summary;
    await reporter.take(event);
  }
  throw new Failure("internal", "the crawl ended without a result");
}

type Reporter = {
  /** Resolves once the job counts as begun. */
  take(event: Exclude<CrawlEvent, { kind: "finished" }>): Promise<void>;
  isCancelled(): boolean;
  finish(end: End): Promise<void>;
  handBack(delayMs: number): Promise<void>;
  stop(): void;
};

type End = {
  readonly state: "completed" | "failed";
  readonly error: FailureRecord | null;
  /** Null repeats the last report. */
  readonly progress: CrawlProgress | null;
  readonly warnings: readonly string[] | null;
};

type ReporterParts = {
  readonly controller: AbortController;
  readonly log: Log;
  /** The directory's real path, which callers do not learn, and the path as the caller wrote it. */
  readonly paths: { readonly directory: string; readonly shown: string };
};

/** Collects the events of a crawl and records them at every beat, which also renews the lease. */
function startReporting(
  job: ClaimedJob<CrawlSpec>,
  queue: JobQueue<CrawlSpec>,
  { controller, log, paths }: ReporterParts,
): Reporter {
  const events: JobEvent[] = [];
  let after = job.lastEvent;
  let progress: CrawlProgress | undefined;
  let startedAt: string | undefined;
  let warnings: readonly string[] = [];
  let wasCancelled = false;
  let lastReport = Number.NEGATIVE_INFINITY;
  let reporting: Promise<void> | null = null;

  const present = (): JobReport => ({
    counts: progress,
    startedAt,
    warnings: toldOf(warnings),
    after,
    events: [...events],
  });
  const send = async (): Promise<void> => {
    const now = performance.now();
    const hasNews = events.length > 0 || progress !== undefined || startedAt !== undefined;
    if (!hasNews && now - lastReport < RENEWAL_MS) {
      if ((await queue.get(job.id))?.isCancelled) cancel();
      return;
    }
    const report = present();
    const answer = await queue.report(job, report);
    lastReport = now;
    events.splice(0, report.events.length);
    after += report.events.length;
    // What came up meanwhile is told by the next report.
    if (progress === report.counts) progress = undefined;
    if (startedAt === report.startedAt) startedAt = undefined;
    if (answer === "cancelled") cancel();
    // Another process continues the job, and two must not write into one directory.
    else if (answer === "lost") controller.abort();
  };
  const report = (): Promise<void> => {
    reporting ??= send()
      .catch((error: unknown) =>
        log.error("a job's progress cannot be written", { job_id: job.id, reason: describe(error) }),
      )
      .finally(() => {
        reporting = null;
      });
    return reporting;
  };
  const asWritten = (text: string): string => text.replaceAll(paths.directory, () => paths.shown);
  const toldOf = (all: readonly string[]): readonly string[] | undefined =>
    all.length === 0 ? undefined : all.map(asWritten);
  const cancel = (): void => {
    wasCancelled = true;
    controller.abort();
  };
  const timer = setInterval(() => void report(), queue.beatMs);
  const stop = async (): Promise<void> => {
    clearInterval(timer);
    await reporting;
  };
  return {
    async take(event) {
      if (event.kind === "started") startedAt = event.startedAt;
      if (event.kind === "notice") {
        const warning = warningOf(event.notice);
        if (warning !== null) warnings = [...warnings, warning];
      } else progress = event.progress;
      events.push(toJobEvent(event, paths.shown));
      if (event.kind !== "started") return;
      await reporting;
      await report();
    },
    isCancelled: () => wasCancelled,
    async finish(end) {
      await stop();
      const { state, error } = end;
      await queue.finish(job, {
        ...present(),
        state,
        error: error && { ...error, message: asWritten(error.message) },
        counts: end.progress ?? progress,
        warnings: toldOf(end.warnings ?? warnings),
      });
    },
    async handBack(delayMs) {
      await stop();
      await queue.report(job, present());
      await queue.handBack(job, delayMs);
    },
    stop: () => clearInterval(timer),
  };
}

function toJobEvent(event: Exclude<CrawlEvent, { kind: "finished" }>, shownDirectory: string): JobEvent {
  if (event.kind === "page") return { kind: "page", body: manifestEntry(event.outcome) };
  if (event.kind === "started")
    return { kind: "started", body: { mode: event.mode, started_at: event.startedAt } };
  const { kind, ...notice } = event.notice;
  const fields = Object.entries(notice).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    name === "directory" ? shownDirectory : value,
  ]);
  return { kind: "notice", body: { notice: kind, ...Object.fromEntries(fields) } };
}
