import type { FailureRecord } from "../../base/failure.ts";
import type { CrawlProgress } from "../types.ts";

/** The states of a crawl job (docs/server.md, "Jobs"). */
export const JOB_STATES = ["queued", "running", "completed", "failed"] as const;
export type JobState = (typeof JOB_STATES)[number];

/** The public data of a job. */
export type JobRecord = {
  readonly id: string;
  readonly state: JobState;
  /** The output directory of its pages; the text is equal for the same directory. */
  readonly directory: string;
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
};

export type JobCounts = Pick<CrawlProgress, "progress" | "total" | "successful" | "failed" | "skipped">;

/** A job that this process has taken, under a lease that reports renew. */
export type ClaimedJob<Spec> = {
  readonly id: string;
  readonly spec: Spec;
  /**
   * Whether an earlier run got as far as its first event; then the job continues and does not start afresh.
   */
  readonly hasBegun: boolean;
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
  readonly events: readonly JobEvent[];
};

export type JobEnd = JobReport & {
  readonly state: "completed" | "failed";
  readonly error: FailureRecord | null;
};

/**
 * The crawl jobs from acceptance to their end, shared by all processes that open the same file. Whatever ends a
 * process, each job reaches `completed` or `failed` as long as other processes run.
 */
export interface JobQueue<Spec> extends Disposable {
  /** @returns `full` when as many jobs wait as may; `in_use` where an unfinished job has the directory */
  submit(job: NewJob<Spec>): JobRecord | "full" | "in_use";
  get(id: string): JobRecord | null;
  /** Lists jobs, the newest first. */
  list(options: { readonly limit: number; readonly state: JobState | null }): JobRecord[];
  counts(): { readonly queued: number; readonly running: number };
  /** Ends a waiting job, or tells a running one to stop; does nothing for one that has ended. */
  cancel(id: string): JobRecord | null;
  /** Claims the next job, unless enough are running; jobs whose process has ended go first. */
  claim(): ClaimedJob<Spec> | null;
  /** Reports on a job and renews the lease. `lost` means that another process has the job: stop at once. */
  report(id: string, report: JobReport): "go_on" | "cancelled" | "lost";
  /** Closes a job that this process holds. */
  finish(id: string, end: JobEnd): void;
  /** Puts a job that this process holds back at the front of the queue. */
  handBack(id: string, delayMs: number): void;
  /** Returns the stored events after that number, oldest first. */
  eventsAfter(id: string, number: number, limit: number): StoredEvent[];
  /** Returns the number of a job's last event; 0 without any. */
  lastEvent(id: string): number;
}

export type NewJob<Spec> = {
  readonly directory: string;
  readonly shown: Readonly<Record<string, unknown>>;
  readonly spec: Spec;
};

/** Raised when the tables change; a file of another version is refused. */
export const QUEUE_VERSION = 1;

/**
 * There is one row for each job, in the order of acceptance, and the newest events of each, for watchers in other
 * processes. `spec` may contain credentials and is emptied when the job ends.
 */
export const QUEUE_SCHEMA = `
CREATE TABLE job (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'completed', 'failed')),
  directory TEXT NOT NULL,
  shown TEXT NOT NULL,
  spec TEXT,
  created_at TEXT NOT NULL,
  started_at TEXT,
  completed_at TEXT,
  progress INTEGER NOT NULL DEFAULT 0,
  total INTEGER NOT NULL DEFAULT 0,
  successful INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  skipped INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  has_begun INTEGER NOT NULL DEFAULT 0,
  crashes INTEGER NOT NULL DEFAULT 0,
  not_before INTEGER NOT NULL DEFAULT 0,
  is_cancelled INTEGER NOT NULL DEFAULT 0,
  owner TEXT,
  lease_until INTEGER,
  warnings TEXT
);
CREATE INDEX job_by_state ON job (state, number);
CREATE TABLE event (
  job INTEGER NOT NULL,
  number INTEGER NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (job, number)
) WITHOUT ROWID;
`;
