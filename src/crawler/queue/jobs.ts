import type { FailureRecord } from "../../base/failure.ts";
import type { CrawlProgress } from "../types.ts";

/** The states of a crawl job (docs/server.md, "Jobs"). */
export const JOB_STATES = ["queued", "running", "completed", "failed"] as const;
type JobState = (typeof JOB_STATES)[number];

/** The public data of a job. */
export type JobRecord = {
  readonly id: string;
  readonly state: JobState;
  /** The place of its pages and its manifest, as text: the real path of a directory, equal for the same one. */
  readonly place: string;
  /** The parts of the request that the shell shows; no secrets. */
  readonly shown: Readonly<Record<string, unknown>>;
  /** ISO 8601, UTC, like the other times. */
  readonly createdAt: string;
  /** Null while queued. */
  readonly startedAt: string | null;
  /** Null until the job is completed or failed. */
  readonly completedAt: string | null;
  readonly counts: JobCounts;
  /** The failure of a failed job; `cancelled` when it was cancelled. */
  readonly error: FailureRecord | null;
  /** Sentences for a person, such as of a disk that is nearly full. */
  readonly warnings: readonly string[];
  /** Whether it was cancelled, and stops as soon as it can. */
  readonly isCancelled: boolean;
  /** The number of its last event; 0 without any. */
  readonly lastEvent: number;
};

type JobCounts = Pick<CrawlProgress, "progress" | "total" | "successful" | "failed" | "skipped">;

/** A time as an engine gives it; texts are ISO 8601, UTC. */
type Time = string | Date;

/** A job as a queue keeps it, with JSON as text. */
export type JobRow = Pick<JobRecord, "id" | "state" | "place"> & {
  readonly shown: string;
  readonly created_at: Time;
  readonly started_at: Time | null;
  readonly completed_at: Time | null;
  readonly error: string | null;
  readonly warnings: string | null;
  readonly is_cancelled: boolean | number;
  readonly last_event: number;
} & JobCounts;

const isoTime = (time: Time): string => (typeof time === "string" ? time : time.toISOString());

export const toRecord = (row: JobRow): JobRecord => ({
  id: row.id,
  state: row.state,
  place: row.place,
  shown: JSON.parse(row.shown),
  createdAt: isoTime(row.created_at),
  startedAt: row.started_at && isoTime(row.started_at),
  completedAt: row.completed_at && isoTime(row.completed_at),
  counts: {
    progress: row.progress,
    total: row.total,
    successful: row.successful,
    failed: row.failed,
    skipped: row.skipped,
  },
  error: row.error === null ? null : JSON.parse(row.error),
  warnings: row.warnings === null ? [] : JSON.parse(row.warnings),
  isCancelled: Boolean(row.is_cancelled),
  lastEvent: row.last_event,
});

/** The right to run a job, which reports renew. The fence tells the claims of one job by one process apart. */
export type JobLease = { readonly id: string; readonly fence: number };

/** A job that this process has taken. */
export type ClaimedJob<Spec> = JobLease & {
  readonly spec: Spec;
  /** Whether an earlier run got as far as its first event; then the job continues where that ended. */
  readonly hasBegun: boolean;
  /** The number of the last event of earlier runs; the holder numbers its own behind it. */
  readonly lastEvent: number;
};

export type JobEvent = { readonly kind: string; readonly body: unknown };

/** A stored event. The numbers of one job rise from 1, without gaps unless events were dropped. */
export type StoredEvent = {
  readonly number: number;
  readonly kind: string;
  /** The event as JSON. */
  readonly body: string;
};

export type JobReport = {
  readonly counts?: JobCounts | undefined;
  /** The time when the crawl started; given once it has. */
  readonly startedAt?: string | undefined;
  /** All warnings so far, when there are new ones. */
  readonly warnings?: readonly string[] | undefined;
  /** The number of the event before the first of `events`. An event that is reported again is kept once. */
  readonly after: number;
  readonly events: readonly JobEvent[];
};

export type JobEnd = JobReport & {
  readonly state: "completed" | "failed";
  readonly error: FailureRecord | null;
  /** When the crawl ended by its own clock; by default now. */
  readonly completedAt?: string | undefined;
};

/**
 * The crawl jobs from acceptance to their end, shared by all processes that open the same queue. Whatever ends a
 * process, each job reaches `completed` or `failed` as long as other processes run. Every call may be repeated by a
 * caller that does not know whether it was carried out.
 */
export interface JobQueue<Spec> extends AsyncDisposable {
  /** How often a caller asks for what other processes did, in ms. */
  readonly beatMs: number;
  /** Whether processes of several machines run its jobs together, so that their crawls are shared. */
  readonly isShared: boolean;
  /** @returns `full` when as many jobs wait as may; `in_use` where an unfinished job has the place */
  submit(job: NewJob<Spec>): Promise<JobRecord | "full" | "in_use">;
  get(id: string): Promise<JobRecord | null>;
  /** Returns the existing jobs among the given ids, in any order. */
  find(ids: readonly string[]): Promise<JobRecord[]>;
  /** Lists jobs, the newest first. */
  list(options: JobListOptions): Promise<JobRecord[]>;
  counts(): Promise<{ readonly queued: number; readonly running: number }>;
  /** Counts what waits in the crawls that processes share: pages, and hosts that have any; absent where none do. */
  waiting?(): Promise<{ readonly pages: number; readonly hosts: number }>;
  /** Counts the processes that run jobs; absent where the jobs are of one machine. */
  runners?(): Promise<number>;
  /** Whether its database has all that this program needs; absent where nobody else changes it. Fails soon. */
  isWhole?(): Promise<boolean>;
  /** Ends a waiting job, or tells a running one to stop; does nothing for one that has ended. */
  cancel(id: string): Promise<JobRecord | null>;
  /** Claims the next job, unless enough are running; jobs whose process has ended go first. */
  claim(): Promise<ClaimedJob<Spec> | null>;
  /** Returns a running job, any of them, whose crawl this process may help with; null when there is none. */
  joinable(): Promise<Pick<ClaimedJob<Spec>, "id" | "spec"> | null>;
  /** Reports on a job and renews its lease. `lost` means that another process has the job: stop at once. */
  report(lease: JobLease, report: JobReport): Promise<"go_on" | "cancelled" | "lost">;
  /** Closes a job; does nothing when another process has it. */
  finish(lease: JobLease, end: JobEnd): Promise<void>;
  /** Puts a job back at the front of the queue; does nothing when another process has it. */
  handBack(lease: JobLease, delayMs: number): Promise<void>;
  /** Returns the stored events after that number, oldest first; the first ones after it may be dropped by now. */
  eventsAfter(id: string, number: number, limit: number): Promise<StoredEvent[]>;
  /**
   * Calls back when a process may have changed a job, or any of them (null). It is a hint that may get lost, or never
   * come, so callers also ask at every beat.
   */
  onChange(listener: (id: string | null, isCancelled: boolean) => void): Disposable;
}

export type JobListOptions = { readonly limit: number; readonly state: JobState | null };

export type NewJob<Spec> = {
  readonly place: string;
  readonly shown: Readonly<Record<string, unknown>>;
  readonly spec: Spec;
};

export type JobQueueLimits = {
  readonly maxQueued: number;
  /** The maximum number of running jobs in all processes together. */
  readonly maxRunning: number;
  /** A job without a report for this long counts as abandoned by its process, in ms. */
  readonly leaseMs: number;
};

/** The maximum number of finished jobs that are kept. */
export const MAX_FINISHED = 1000;
/** The newest events of a job are kept whatever their age, this many, for a page that is opened late. */
export const MIN_EVENTS = 500;
/** Older ones are kept for this long besides, in ms: a reader who comes back after a burst has missed none. */
export const EVENT_AGE_MS = 120_000;
/** The maximum number of events that are kept of a job, whatever their age. */
export const MAX_EVENTS = 20_000;
/** How often a process that runs jobs says so, and for how long it counts, in ms. */
export const PRESENCE_MS = { every: 3_000, lasts: 15_000 };
/** How often a queue looks for ended jobs with more events than the newest ones, in ms. */
export const TRIM_MS = 60_000;
/** The longest time that a job waits after it was handed back, in ms. */
export const MAX_HAND_BACK_MS = 600_000;
/** A job that crashes its process this often without a page of progress between is not tried again. */
export const MAX_CRASHES = 5;

export const CALLED_OFF: FailureRecord = { code: "cancelled", message: "the job was cancelled" };
export const CRASHED: FailureRecord = {
  code: "internal",
  message: `the server's process ended ${MAX_CRASHES} times while it ran this job`,
};
