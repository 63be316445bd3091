import { pause } from "../../../../base/abort.ts";
import { Failure, type FailureRecord } from "../../../../base/failure.ts";
import type { Log } from "../../../../base/log.ts";
import type { Metrics } from "../../../../base/metrics.ts";
import {
  type ClaimedJob,
  type CrawlEvent,
  type CrawlProgress,
  type JobEvent,
  type JobQueue,
  type JobReport,
  manifestEntry,
  warningOf,
} from "../../../../crawler/index.ts";
import type { CrawlSpec } from "./spec.ts";

/** A report without news renews the lease only this often, in ms. */
const RENEWAL_MS = 3000;

/** How soon a report is repeated that somebody waits for, in ms. */
const RETRY_MS = 50;

/** Collects the events of a running job and records them at every beat, which also renews the lease. */
export type Reporter = {
  /** Resolves once the job counts as begun. */
  take(event: Exclude<CrawlEvent, { kind: "finished" }>): Promise<void>;
  /**
   * Resolves once the queue has all events so far.
   * @throws Failure `cancelled` when this run ends before that
   */
  keepTold(): Promise<void>;
  isCancelled(): boolean;
  finish(end: End): Promise<void>;
  /** @param why a sentence for whoever wonders why the job waits */
  handBack(delayMs: number, why?: string): Promise<void>;
  stop(): void;
};

export type End = {
  readonly state: "completed" | "failed";
  readonly error: FailureRecord | null;
  /** Null repeats the last report. */
  readonly progress: CrawlProgress | null;
  readonly warnings: readonly string[] | null;
};

/** How a running job is stopped. */
export type JobStop = {
  /** Ends the job in all processes. */
  readonly cancel: AbortController;
  /** Ends this process's run; the job goes on elsewhere or later. */
  readonly leave: AbortController;
};

type ReporterParts = {
  readonly stop: JobStop;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The directory's real path, which callers do not learn, and the path as the caller wrote it. */
  readonly paths: { readonly directory: string; readonly shown: string };
  /** URLs of pages that an earlier run told of, which a shared crawl tells its next leader again. */
  readonly told: ReadonlySet<unknown>;
};

/** Starts reporting until `stop`; `finish` and `handBack` stop it too. */
export function startReporting(
  job: ClaimedJob<CrawlSpec>,
  queue: JobQueue<CrawlSpec>,
  { stop: { cancel, leave }, log, metrics, paths, told }: ReporterParts,
): Reporter {
  const events: JobEvent[] = [];
  let after = job.lastEvent;
  let progress: CrawlProgress | undefined;
  let startedAt: string | undefined;
  let warnings: readonly string[] = [];
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
      if ((await queue.get(job.id))?.isCancelled) cancel.abort();
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
    if (answer === "cancelled") cancel.abort();
    else if (answer === "lost" && !leave.signal.aborted) {
      // Another process continues the job, and two must not write into one directory.
      log.warning("job lost", { job_id: job.id });
      metrics.count("jobs_lost", {});
      leave.abort();
    }
  };
  const report = (): Promise<void> => {
    reporting ??= send()
      .catch((error: unknown) => {
        // The database itself tells that it is away.
        if (isAway(error)) return;
        log.error("a job's progress cannot be written", { job_id: job.id, reason: describe(error) });
      })
      .finally(() => {
        reporting = null;
      });
    return reporting;
  };
  const asWritten = (text: string): string => text.replaceAll(paths.directory, () => paths.shown);
  const toldOf = (all: readonly string[]): readonly string[] | undefined =>
    all.length === 0 ? undefined : all.map(asWritten);
  const timer = setInterval(() => void report(), queue.beatMs);
  const hints = queue.onChange((id, isCancelled) => {
    if ((id === job.id && isCancelled) || id === null) void report();
  });
  const stopBeating = (): void => {
    clearInterval(timer);
    hints[Symbol.dispose]();
  };
  const stop = async (): Promise<void> => {
    stopBeating();
    await reporting;
  };
  return {
    async take(event) {
      if (event.kind === "started") startedAt = event.startedAt;
      if (event.kind === "notice") {
        const warning = warningOf(event.notice);
        if (warning !== null) warnings = [...warnings, warning];
      } else progress = event.progress;
      if (event.kind !== "page" || !told.has(event.outcome.url)) events.push(toJobEvent(event, paths.shown));
      if (event.kind !== "started") return;
      await reporting;
      await report();
    },
    async keepTold() {
      while (events.length > 0) {
        if (leave.signal.aborted) throw new Failure("cancelled", "the job goes on elsewhere");
        await report();
        if (events.length > 0) await pause(RETRY_MS, leave.signal);
      }
    },
    isCancelled: () => cancel.signal.aborted,
    async finish(end) {
      await stop();
      const { state, error } = end;
      await queue.finish(job, {
        ...present(),
        state,
        error: error && { ...error, message: asWritten(error.message) },
        counts: end.progress ?? progress,
        // An empty list replaces what was told while the job waited.
        warnings: end.warnings?.map(asWritten) ?? toldOf(warnings),
      });
    },
    async handBack(delayMs, why) {
      await stop();
      await queue.report(job, { ...present(), ...(why !== undefined && { warnings: [why] }) });
      await queue.handBack(job, delayMs);
    },
    stop: stopBeating,
  };
}

/** The URLs of the pages in a job's kept events, more than a leader that dies leaves unacknowledged. */
export async function toldPages(
  job: ClaimedJob<CrawlSpec>,
  queue: JobQueue<CrawlSpec>,
): Promise<Set<unknown>> {
  if (!queue.isShared || job.lastEvent === 0) return new Set();
  const events = await queue.eventsAfter(job.id, 0, job.lastEvent);
  return new Set(events.flatMap(({ kind, body }) => (kind === "page" ? JSON.parse(body).url : [])));
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

/** Whether the queue's database cannot be used now. */
export const isAway = (error: unknown): boolean =>
  error instanceof Failure && error.code === "database_unavailable";

/** An error for the log. */
export const describe = (error: unknown): string =>
  (error instanceof Error ? (error.stack ?? error.message) : String(error)).slice(0, 4000);
