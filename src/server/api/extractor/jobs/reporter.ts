import { pause } from "../../../../base/abort.ts";
import { Failure } from "../../../../base/failure.ts";
import type { Log } from "../../../../base/log.ts";
import type { Metrics } from "../../../../base/metrics.ts";
import {
  type ClaimedJob,
  type CrawlEvent,
  type CrawlProgress,
  type JobEnd,
  type JobEvent,
  type JobQueue,
  type JobReport,
  manifestEntry,
  warningOf,
} from "../../../../crawler/index.ts";
import { describe } from "../../../middleware/problem.ts";
import type { CrawlSpec } from "./spec.ts";

/** A report without news renews the lease only this often, in ms. */
const RENEWAL_MS = 3000;

/** How soon a report is repeated that somebody waits for, in ms. */
const RETRY_MS = 50;

export type End = Pick<JobEnd, "state" | "error" | "completedAt"> & {
  /** Null repeats the last report. */
  readonly progress: CrawlProgress | null;
  readonly warnings: readonly string[] | null;
};

/** How a running job is stopped. */
export type JobStop = {
  /** Ends the job in all processes. */
  readonly cancel: AbortController;
  /** Ends this process's run; the job continues elsewhere or later. */
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

/** An event of a running crawl. */
type RunningEvent = Exclude<CrawlEvent, { kind: "finished" }>;

/** Collects a job's events and records them at each beat, renewing the lease, until `stop`, `finish` or `handBack`. */
export class Reporter {
  readonly #job: ClaimedJob<CrawlSpec>;
  readonly #queue: JobQueue<CrawlSpec>;
  readonly #parts: ReporterParts;
  readonly #events: JobEvent[] = [];
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #hints: Disposable;
  #after: number;
  #progress: CrawlProgress | undefined;
  #startedAt: string | undefined;
  #warnings: readonly string[] = [];
  #lastReport = Number.NEGATIVE_INFINITY;
  #reporting: Promise<void> | null = null;

  constructor(job: ClaimedJob<CrawlSpec>, queue: JobQueue<CrawlSpec>, parts: ReporterParts) {
    this.#job = job;
    this.#queue = queue;
    this.#parts = parts;
    this.#after = job.lastEvent;
    this.#timer = setInterval(() => void this.#report(), queue.beatMs);
    this.#hints = queue.onChange((id, isCancelled) => {
      if ((id === job.id && isCancelled) || id === null) void this.#report();
    });
  }

  /** Resolves once the job counts as begun. */
  async take(event: RunningEvent): Promise<void> {
    const { told, paths } = this.#parts;
    if (event.kind === "started") this.#startedAt = event.startedAt;
    if (event.kind === "notice") {
      const warning = warningOf(event.notice);
      if (warning !== null) this.#warnings = [...this.#warnings, warning];
    } else this.#progress = event.progress;
    if (event.kind !== "page" || !told.has(event.outcome.url))
      this.#events.push(toJobEvent(event, paths.shown));
    if (event.kind !== "started") return;
    await this.#reporting;
    await this.#report();
  }

  /** Resolves once the queue has all events so far. @throws Failure `cancelled` when this run ends before that */
  async keepTold(): Promise<void> {
    const { signal } = this.#parts.stop.leave;
    while (this.#events.length > 0) {
      if (signal.aborted) throw new Failure("cancelled", "the job continues elsewhere");
      await this.#report();
      if (this.#events.length > 0) await pause(RETRY_MS, signal);
    }
  }

  isCancelled(): boolean {
    return this.#parts.stop.cancel.signal.aborted;
  }

  async finish({ state, error, progress, warnings, completedAt }: End): Promise<void> {
    this.stop();
    await this.#reporting;
    const now = this.#present();
    await this.#queue.finish(this.#job, {
      ...now,
      state,
      completedAt,
      error: error && { ...error, message: this.#asWritten(error.message) },
      counts: progress ?? this.#progress,
      // An empty list replaces what was told while the job waited.
      warnings: warnings?.map((text) => this.#asWritten(text)) ?? now.warnings,
    });
  }

  /** @param why a sentence for whoever wonders why the job waits */
  async handBack(delayMs: number, why?: string): Promise<void> {
    this.stop();
    await this.#reporting;
    await this.#queue.report(this.#job, {
      ...this.#present(),
      ...(why !== undefined && { warnings: [why] }),
    });
    await this.#queue.handBack(this.#job, delayMs);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#hints[Symbol.dispose]();
  }

  #report(): Promise<void> {
    this.#reporting ??= this.#send()
      .catch((error: unknown) => {
        // The database itself reports that it cannot be reached.
        if (isAway(error)) return;
        const reason = describe(error);
        this.#parts.log.error("a job's progress cannot be written", { job_id: this.#job.id, reason });
      })
      .finally(() => {
        this.#reporting = null;
      });
    return this.#reporting;
  }

  async #send(): Promise<void> {
    const { stop, log, metrics } = this.#parts;
    const { id } = this.#job;
    const now = performance.now();
    const hasNews = this.#events.length > 0 || this.#progress !== undefined || this.#startedAt !== undefined;
    if (!hasNews && now - this.#lastReport < RENEWAL_MS) {
      if ((await this.#queue.get(id))?.isCancelled) stop.cancel.abort();
      return;
    }
    const report = this.#present();
    const answer = await this.#queue.report(this.#job, report);
    this.#lastReport = now;
    this.#events.splice(0, report.events.length);
    this.#after += report.events.length;
    // The next report covers any change made meanwhile.
    if (this.#progress === report.counts) this.#progress = undefined;
    if (this.#startedAt === report.startedAt) this.#startedAt = undefined;
    if (answer === "cancelled") stop.cancel.abort();
    else if (answer === "lost" && !stop.leave.signal.aborted) {
      // Another process continues the job, and two must not write into one directory.
      log.warning("job lost", { job_id: id });
      metrics.count("jobs_lost", {});
      stop.leave.abort();
    }
  }

  #present(): JobReport {
    return {
      counts: this.#progress,
      startedAt: this.#startedAt,
      warnings: this.#warnings.length === 0 ? undefined : this.#warnings.map((text) => this.#asWritten(text)),
      after: this.#after,
      events: [...this.#events],
    };
  }

  #asWritten(text: string): string {
    const { directory, shown } = this.#parts.paths;
    return text.replaceAll(directory, () => shown);
  }
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

function toJobEvent(event: RunningEvent, shownDirectory: string): JobEvent {
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
