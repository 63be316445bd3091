import type { FailureRecord } from "../../base/failure.ts";

/** The states of a crawl job (docs/server.md, "Jobs"). */
export const JOB_STATES = ["queued", "running", "completed", "failed"] as const;
export type JobState = (typeof JOB_STATES)[number];

/** What anybody may know about a job. */
export type JobRecord = {
  readonly id: string;
  readonly state: JobState;
  /** Where its pages go: the same text for the same directory. */
  readonly directory: string;
  /** What the shell shows of what was asked for; no secrets. */
  readonly shown: Readonly<Record<string, unknown>>;
  /** ISO 8601, UTC, as the others. */
  readonly createdAt: string;
  /** Null while queued. */
  readonly startedAt: string | null;
  /** Null until it is completed or failed. */
  readonly completedAt: string | null;
  readonly counts: JobCounts;
  /** Of a failed job; `cancelled` when it was called off. */
  readonly error: FailureRecord | null;
  /** Sentences for a person, such as of a disk that is nearly full. */
  readonly warnings: readonly string[];
  /** Whether it was called off, and stops as soon as it can. */
  readonly isCancelled: boolean;
};

export type JobCounts = {
  readonly progress: number;
  readonly total: number;
  readonly successful: number;
  readonly failed: number;
  readonly skipped: number;
};

/** A job that this process has taken, under a lease that reports renew. */
export type ClaimedJob<Spec> = {
  readonly id: string;
  readonly spec: Spec;
  /** Whether an earlier run of it got as far as its first event: then it goes on, and does not start afresh. */
  readonly hasBegun: boolean;
};

export type JobEvent = { readonly kind: string; readonly body: unknown };

/** An event as it is kept: numbers of one job rise from 1, without gaps where none were dropped. */
export type StoredEvent = {
  readonly number: number;
  readonly kind: string;
  /** JSON. */
  readonly body: string;
};

export type JobReport = {
  readonly counts?: JobCounts | undefined;
  /** Since when the crawl runs; given once it does. */
  readonly startedAt?: string | undefined;
  /** All so far, where there are new ones. */
  readonly warnings?: readonly string[] | undefined;
  readonly events: readonly JobEvent[];
};

export type JobEnd = JobReport & {
  readonly state: "completed" | "failed";
  readonly error: FailureRecord | null;
};

/**
 * Crawl jobs on their way from being accepted to their end, shared by all processes that open the same file.
 * Whatever ends a process, each job reaches `completed` or `failed` once others go on.
 */
export interface JobQueue<Spec> extends Disposable {
  /** @returns `full` when as many jobs wait as may; `in_use` where an unfinished job has the directory */
  submit(job: NewJob<Spec>): JobRecord | "full" | "in_use";
  get(id: string): JobRecord | null;
  /** The newest first. */
  list(options: { readonly limit: number; readonly state: JobState | null }): JobRecord[];
  counts(): { readonly queued: number; readonly running: number };
  /** Ends a job that waits, and tells the one that runs; nothing for one that has ended. */
  cancel(id: string): JobRecord | null;
  /** The next job, unless enough run; jobs whose process has ended go first. */
  claim(): ClaimedJob<Spec> | null;
  /** Renews the lease. `lost`: another process has it, so stop at once. */
  report(id: string, report: JobReport): "go_on" | "cancelled" | "lost";
  /** Closes a job that this process holds. */
  finish(id: string, end: JobEnd): void;
  /** Puts a job that this process holds back into the queue, in front. */
  handBack(id: string, delayMs: number): void;
  /** Kept events after that number, oldest first. */
  eventsAfter(id: string, number: number, limit: number): StoredEvent[];
  /** The number of a job's last event, 0 without any. */
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
 * One row a job, in the order in which they were accepted; the newest events of each, for those who watch
 * from other processes. `spec` may hold credentials and is emptied when the job ends.
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
