import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  type Database,
  type LeaseOwner,
  openDatabase,
  openLeaseOwner,
  type Query,
} from "../../base/database/index.ts";
import { Failure, type FailureRecord } from "../../base/failure.ts";
import { systemReason } from "../../base/system-error.ts";
import {
  type ClaimedJob,
  type JobCounts,
  type JobEnd,
  type JobEvent,
  type JobQueue,
  type JobRecord,
  type JobReport,
  type JobState,
  type NewJob,
  QUEUE_SCHEMA,
  QUEUE_VERSION,
  type StoredEvent,
} from "./jobs.ts";

export type JobQueueOptions = {
  /** The directory of the queue; it is created for this user alone if it does not exist. */
  readonly directory: string;
  readonly maxQueued: number;
  /** The maximum number of running jobs in all processes together. */
  readonly maxRunning: number;
  /** A job without a report for this long counts as abandoned by its process, in ms. */
  readonly leaseMs: number;
  readonly now: () => number;
};

/** The maximum number of finished jobs that are kept. */
const MAX_FINISHED = 1000;
/** The maximum number of events that are kept of a job, for a page that is opened late. */
const MAX_EVENTS = 500;
/** A job that crashes its process this often is not tried again. */
const MAX_CRASHES = 5;
const FILE_NAME = "jobs.sqlite";

/**
 * Opens the queue of a state directory, or creates it.
 * @throws Failure as `openDatabase`; `invalid_usage` for a file of another version
 */
export function openJobQueue<Spec>(options: JobQueueOptions): JobQueue<Spec> {
  const path = join(options.directory, FILE_NAME);
  makeDirectory(options.directory);
  const database = openDatabase({ path, name: "the server's jobs", access: { kind: "shared" } });
  try {
    // Waiting jobs may contain credentials, which are erased from the file's free pages when their job ends.
    database.run("PRAGMA secure_delete = ON");
    database.transaction(() => makeTables(database, path));
    return new SqliteJobQueue<Spec>(database, options);
  } catch (error) {
    database.close();
    throw error;
  }
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    const why = systemReason(error);
    throw new Failure("unwritable_output", `could not make the state directory ${directory}: ${why}`, {
      cause: error,
    });
  }
}

function makeTables(database: Database, path: string): void {
  const version = database.prepare<{ user_version: number }>("PRAGMA user_version").get()?.user_version ?? 0;
  if (version === QUEUE_VERSION) {
    addWarnings(database);
    return;
  }
  if (version !== 0)
    throw new Failure("invalid_usage", `${path} holds the jobs of another version of this program`);
  database.run(QUEUE_SCHEMA);
  database.run(`PRAGMA user_version = ${QUEUE_VERSION}`);
}

/** Adds a column of a later version; processes of the earlier version work without it. */
function addWarnings(database: Database): void {
  const columns = database.prepare<{ name: string }>("PRAGMA table_info(job)").all();
  if (!columns.some(({ name }) => name === "warnings"))
    database.run("ALTER TABLE job ADD COLUMN warnings TEXT");
}

type Row = {
  readonly number: number;
  readonly id: string;
  readonly state: JobState;
  readonly directory: string;
  readonly shown: string;
  readonly spec: string | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly completed_at: string | null;
  readonly error: string | null;
  readonly warnings: string | null;
  readonly has_begun: number;
  readonly crashes: number;
  readonly is_cancelled: number;
  readonly owner: string | null;
  readonly lease_until: number | null;
} & JobCounts;

class SqliteJobQueue<Spec> implements JobQueue<Spec> {
  readonly #db: Database;
  readonly #statements = new Map<string, unknown>();
  readonly #options: JobQueueOptions;
  readonly #self: LeaseOwner;

  constructor(db: Database, options: JobQueueOptions) {
    this.#db = db;
    this.#options = options;
    this.#self = openLeaseOwner(db);
  }

  submit(job: NewJob<Spec>): JobRecord | "full" | "in_use" {
    return this.#durably(() => {
      const { queued } = this.counts();
      if (queued >= this.#options.maxQueued) return "full";
      const isInUse = this.#query(
        "SELECT 1 FROM job WHERE state IN ('queued', 'running') AND directory = ?1",
      ).get(job.directory);
      if (isInUse) return "in_use";
      const id = crypto.randomUUID();
      this.#query("INSERT INTO job (id, directory, shown, spec, created_at) VALUES (?1, ?2, ?3, ?4, ?5)").run(
        id,
        job.directory,
        JSON.stringify(job.shown),
        JSON.stringify(job.spec),
        this.#timestamp(),
      );
      this.#forgetOldest();
      return toRecord(this.#row(id) as Row); // just inserted
    });
  }

  get(id: string): JobRecord | null {
    const row = this.#row(id);
    return row && toRecord(row);
  }

  list({ limit, state }: { readonly limit: number; readonly state: JobState | null }): JobRecord[] {
    return this.#query<Row, [string | null, number]>(
      "SELECT * FROM job WHERE ?1 IS NULL OR state = ?1 ORDER BY number DESC LIMIT ?2",
    )
      .all(state, limit)
      .map(toRecord);
  }

  counts(): { readonly queued: number; readonly running: number } {
    const rows = this.#query<{ state: JobState; count: number }, []>(
      "SELECT state, count(*) AS count FROM job WHERE state IN ('queued', 'running') GROUP BY state",
    ).all();
    const of = (wanted: JobState): number => rows.find(({ state }) => state === wanted)?.count ?? 0;
    return { queued: of("queued"), running: of("running") };
  }

  cancel(id: string): JobRecord | null {
    const record = this.#durably(() => {
      const row = this.#row(id);
      if (row?.state === "queued") this.#close(row, { state: "failed", error: CALLED_OFF, events: [] });
      else if (row?.state === "running")
        this.#query("UPDATE job SET is_cancelled = 1 WHERE number = ?1").run(row.number);
      return row && this.get(id);
    });
    this.#emptyLog();
    return record;
  }

  claim(): ClaimedJob<Spec> | null {
    // It is checked without the lock first, because most of the time there is nothing to do.
    const { queued, running } = this.counts();
    if (queued + running === 0) return null;
    return this.#transaction(() => {
      this.#takeBackLeft();
      if (this.counts().running >= this.#options.maxRunning) return null;
      const row = this.#query<Row, [number]>(
        "SELECT * FROM job WHERE state = 'queued' AND not_before <= ?1 ORDER BY number LIMIT 1",
      ).get(this.#options.now());
      if (!row) return null;
      this.#query(
        "UPDATE job SET state = 'running', owner = ?2, lease_until = ?3, started_at = ?4 WHERE number = ?1",
      ).run(row.number, this.#self.name, this.#leaseEnd(), this.#timestamp());
      // `submit` wrote it, and it stays until the job ends.
      return { id: row.id, spec: JSON.parse(row.spec ?? "null") as Spec, hasBegun: row.has_begun === 1 };
    });
  }

  report(id: string, report: JobReport): "go_on" | "cancelled" | "lost" {
    return this.#transaction(() => {
      const row = this.#row(id);
      if (row?.state !== "running" || row.owner !== this.#self.name) return "lost";
      this.#write(row, report);
      this.#query("UPDATE job SET lease_until = ?2, has_begun = has_begun OR ?3 WHERE number = ?1").run(
        row.number,
        this.#leaseEnd(),
        report.startedAt === undefined ? 0 : 1,
      );
      return row.is_cancelled === 1 ? "cancelled" : "go_on";
    });
  }

  finish(id: string, end: JobEnd): void {
    this.#durably(() => {
      const row = this.#row(id);
      if (row?.state === "running" && row.owner === this.#self.name) this.#close(row, end);
    });
    this.#emptyLog();
  }

  handBack(id: string, delayMs: number): void {
    this.#transaction(() => {
      const row = this.#row(id);
      if (row?.state !== "running" || row.owner !== this.#self.name) return;
      if (row.is_cancelled === 1) this.#close(row, { state: "failed", error: CALLED_OFF, events: [] });
      else this.#requeue(row, { crashes: row.crashes, notBefore: this.#options.now() + delayMs });
    });
  }

  eventsAfter(id: string, number: number, limit: number): StoredEvent[] {
    return this.#query<StoredEvent, [string, number, number]>(
      `SELECT event.number, kind, body FROM event JOIN job ON job.number = event.job
         WHERE id = ?1 AND event.number > ?2 ORDER BY event.number LIMIT ?3`,
    ).all(id, number, limit);
  }

  lastEvent(id: string): number {
    return (
      this.#query<{ last: number | null }, [string]>(
        "SELECT max(event.number) AS last FROM event JOIN job ON job.number = event.job WHERE id = ?1",
      ).get(id)?.last ?? 0
    );
  }

  [Symbol.dispose](): void {
    this.#self[Symbol.dispose]();
    this.#db.close();
  }

  /** Requeues jobs whose process is gone; one that was cancelled, or crashes each process, is ended. */
  #takeBackLeft(): void {
    const rows = this.#query<Row, []>("SELECT * FROM job WHERE state = 'running'").all();
    for (const row of rows) {
      const { owner, lease_until: until } = row;
      if (owner === this.#self.name) continue;
      const isLeft = (until ?? 0) < this.#options.now() || owner === null || this.#self.hasDied(owner);
      if (!isLeft) continue;
      const crashes = row.crashes + 1;
      if (row.is_cancelled === 1) this.#close(row, { state: "failed", error: CALLED_OFF, events: [] });
      else if (crashes >= MAX_CRASHES) this.#close(row, { state: "failed", error: CRASHED, events: [] });
      else this.#requeue(row, { crashes, notBefore: 0 });
    }
  }

  #requeue(row: Row, { crashes, notBefore }: { readonly crashes: number; readonly notBefore: number }): void {
    this.#query(
      `UPDATE job SET state = 'queued', owner = NULL, lease_until = NULL, started_at = NULL,
         crashes = ?2, not_before = ?3 WHERE number = ?1`,
    ).run(row.number, crashes, notBefore);
  }

  #close(row: Row, end: JobEnd): void {
    this.#write(row, end);
    this.#query(
      // Pages that were not reached are taken out of the total, so that an ended job is seen to be complete.
      `UPDATE job SET state = ?2, error = ?3, completed_at = ?4, owner = NULL, lease_until = NULL,
         spec = NULL, total = progress WHERE number = ?1`,
    ).run(row.number, end.state, end.error && JSON.stringify(end.error), this.#timestamp());
    this.#addEvents(row.number, [{ kind: "end", body: { status: end.state, error: end.error } }]);
  }

  #write(row: Row, { counts, startedAt, warnings, events }: JobReport): void {
    if (warnings)
      this.#query("UPDATE job SET warnings = ?2 WHERE number = ?1").run(row.number, JSON.stringify(warnings));
    if (counts)
      this.#query(
        `UPDATE job SET progress = ?2, total = ?3, successful = ?4, failed = ?5, skipped = ?6
           WHERE number = ?1`,
      ).run(row.number, counts.progress, counts.total, counts.successful, counts.failed, counts.skipped);
    if (startedAt !== undefined)
      this.#query("UPDATE job SET started_at = ?2 WHERE number = ?1").run(row.number, startedAt);
    this.#addEvents(row.number, events);
  }

  #addEvents(job: number, events: readonly JobEvent[]): void {
    if (events.length === 0) return;
    const last =
      this.#query<{ last: number | null }, [number]>(
        "SELECT max(number) AS last FROM event WHERE job = ?1",
      ).get(job)?.last ?? 0;
    const insert = this.#query("INSERT INTO event (job, number, kind, body) VALUES (?1, ?2, ?3, ?4)");
    // Events older than the newest ones would be deleted at once.
    const first = Math.max(0, events.length - MAX_EVENTS);
    for (const [index, { kind, body }] of events.entries())
      if (index >= first) insert.run(job, last + index + 1, kind, JSON.stringify(body));
    this.#query("DELETE FROM event WHERE job = ?1 AND number <= ?2").run(
      job,
      last + events.length - MAX_EVENTS,
    );
  }

  #forgetOldest(): void {
    const old = `SELECT number FROM job WHERE state IN ('completed', 'failed')
      ORDER BY number DESC LIMIT -1 OFFSET ${MAX_FINISHED}`;
    this.#db.run(`DELETE FROM event WHERE job IN (${old})`);
    this.#db.run(`DELETE FROM job WHERE number IN (${old})`);
  }

  #row(id: string): Row | null {
    return this.#query<Row, [string]>("SELECT * FROM job WHERE id = ?1").get(id);
  }

  /** Prepares each statement once. */
  #query<Row, Parameters extends (string | number | null)[] = (string | number | null)[]>(
    sql: string,
  ): Query<Row, Parameters> {
    const known = this.#statements.get(sql);
    const statement = known ?? this.#db.prepare<Row, Parameters>(sql);
    if (!known) this.#statements.set(sql, statement);
    return statement as Query<Row, Parameters>; // one text has one form of rows
  }

  #transaction<T>(work: () => T): T {
    return this.#db.transaction(work);
  }

  /** A result that was reported to a caller must survive a power cut, which costs a flush of the disk. */
  #durably<T>(work: () => T): T {
    this.#db.run("PRAGMA synchronous = FULL");
    try {
      return this.#transaction(work);
    } finally {
      this.#db.run("PRAGMA synchronous = NORMAL");
    }
  }

  /** SQLite's log still contains a job's request after its row has been emptied. */
  #emptyLog(): void {
    try {
      this.#db.run("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // On a full disk the log stays until there is room; the job's end is written nevertheless.
    }
  }

  #timestamp(): string {
    return new Date(this.#options.now()).toISOString();
  }

  #leaseEnd(): number {
    return this.#options.now() + this.#options.leaseMs;
  }
}

const CALLED_OFF: FailureRecord = { code: "cancelled", message: "the job was cancelled" };
const CRASHED: FailureRecord = {
  code: "internal",
  message: `the server's process ended ${MAX_CRASHES} times while it ran this job`,
};

const toRecord = (row: Row): JobRecord => ({
  id: row.id,
  state: row.state,
  directory: row.directory,
  shown: JSON.parse(row.shown),
  createdAt: row.created_at,
  startedAt: row.started_at,
  completedAt: row.completed_at,
  counts: {
    progress: row.progress,
    total: row.total,
    successful: row.successful,
    failed: row.failed,
    skipped: row.skipped,
  },
  error: row.error === null ? null : JSON.parse(row.error),
  warnings: row.warnings === null ? [] : JSON.parse(row.warnings),
  isCancelled: row.is_cancelled === 1,
});
