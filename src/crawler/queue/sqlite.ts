import { join } from "node:path";
import {
  type Database,
  type LeaseOwner,
  openDatabase,
  openLeaseOwner,
  type Query,
} from "../../base/database/index.ts";
import type { FailureRecord } from "../../base/failure.ts";
import {
  CALLED_OFF,
  type ClaimedJob,
  CRASHED,
  EVENT_AGE_MS,
  type JobEnd,
  type JobLease,
  type JobListOptions,
  type JobQueue,
  type JobQueueLimits,
  type JobRecord,
  type JobReport,
  type JobState,
  MAX_CRASHES,
  MAX_EVENTS,
  MAX_FINISHED,
  MIN_EVENTS,
  type NewJob,
  type StoredEvent,
  TRIM_MS,
} from "./jobs.ts";
import { makeQueueDirectory, makeQueueTables, type Row, recordOf } from "./sqlite-tables.ts";

type SqliteQueueOptions = JobQueueLimits & {
  /** The directory of the queue; it is created for this user alone if it does not exist. */
  readonly directory: string;
  readonly now: () => number;
};

const FILE_NAME = "jobs.sqlite";

/**
 * Opens the queue of a state directory, or creates it.
 * @throws Failure as `openDatabase`; `invalid_usage` for a file of another version
 */
export function openSqliteJobQueue<Spec>(options: SqliteQueueOptions): JobQueue<Spec> {
  const path = join(options.directory, FILE_NAME);
  makeQueueDirectory(options.directory);
  const database = openDatabase({ path, name: "the server's jobs", access: { kind: "shared" } });
  try {
    // Waiting jobs may contain credentials, which are erased from the file's free pages when their job ends.
    database.run("PRAGMA secure_delete = ON");
    database.transaction(() => makeQueueTables(database, path));
    return new SqliteJobQueue<Spec>(database, options);
  } catch (error) {
    database.close();
    throw error;
  }
}

const LAST_EVENT =
  "(SELECT coalesce(max(event.number), 0) FROM event WHERE event.job = job.number) AS last_event";

class SqliteJobQueue<Spec> implements JobQueue<Spec> {
  readonly beatMs = 250;
  readonly isShared = false;
  readonly #db: Database;
  readonly #statements = new Map<string, unknown>();
  readonly #options: SqliteQueueOptions;
  readonly #self: LeaseOwner;
  #claims = 0;
  #trimmedAt = Number.NEGATIVE_INFINITY;

  constructor(db: Database, options: SqliteQueueOptions) {
    this.#db = db;
    this.#options = options;
    this.#self = openLeaseOwner(db);
  }

  async submit(job: NewJob<Spec>): Promise<JobRecord | "full" | "in_use"> {
    return this.#durably(() => {
      const { queued } = this.#counts();
      if (queued >= this.#options.maxQueued) return "full";
      const isInUse = this.#query(
        "SELECT 1 FROM job WHERE state IN ('queued', 'running') AND directory = ?1",
      ).get(job.place);
      if (isInUse) return "in_use";
      const id = crypto.randomUUID();
      this.#query("INSERT INTO job (id, directory, shown, spec, created_at) VALUES (?1, ?2, ?3, ?4, ?5)").run(
        id,
        job.place,
        JSON.stringify(job.shown),
        JSON.stringify(job.spec),
        this.#timestamp(),
      );
      this.#forgetOldest();
      return recordOf(this.#row(id) as Row); // just inserted
    });
  }

  async get(id: string): Promise<JobRecord | null> {
    const row = this.#row(id);
    return row && recordOf(row);
  }

  async find(ids: readonly string[]): Promise<JobRecord[]> {
    return this.#query<Row, [string]>(
      `SELECT *, ${LAST_EVENT} FROM job WHERE id IN (SELECT value FROM json_each(?1))`,
    )
      .all(JSON.stringify(ids))
      .map(recordOf);
  }

  async list({ limit, state }: JobListOptions): Promise<JobRecord[]> {
    return this.#query<Row, [string | null, number]>(
      `SELECT *, ${LAST_EVENT} FROM job WHERE ?1 IS NULL OR state = ?1 ORDER BY number DESC LIMIT ?2`,
    )
      .all(state, limit)
      .map(recordOf);
  }

  async counts(): Promise<{ readonly queued: number; readonly running: number }> {
    return this.#counts();
  }

  async cancel(id: string): Promise<JobRecord | null> {
    this.#durably(() => {
      const row = this.#row(id);
      if (row?.state === "queued") this.#close(row, endOf(row, CALLED_OFF));
      else if (row?.state === "running")
        this.#query("UPDATE job SET is_cancelled = 1 WHERE number = ?1").run(row.number);
    });
    this.#emptyLog();
    return this.get(id);
  }

  async claim(): Promise<ClaimedJob<Spec> | null> {
    this.#trimEnded();
    // It is checked without the lock first, because most of the time there is nothing to do.
    const { queued, running } = this.#counts();
    if (queued + running === 0) return null;
    return this.#db.transaction(() => {
      this.#takeBackLeft();
      if (this.#counts().running >= this.#options.maxRunning) return null;
      const row = this.#query<Row, [number]>(
        `SELECT *, ${LAST_EVENT} FROM job WHERE state = 'queued' AND not_before <= ?1 ORDER BY number LIMIT 1`,
      ).get(this.#options.now());
      if (!row) return null;
      const fence = ++this.#claims;
      this.#query(
        "UPDATE job SET state = 'running', owner = ?2, lease_until = ?3, started_at = ?4 WHERE number = ?1",
      ).run(row.number, this.#owner(fence), this.#leaseEnd(), this.#timestamp());
      const { id, last_event: lastEvent } = row;
      // `submit` wrote it, and it stays until the job ends.
      const spec = JSON.parse(row.spec ?? "null") as Spec;
      return { id, fence, spec, hasBegun: row.has_begun === 1, lastEvent };
    });
  }

  async joinable(): Promise<null> {
    // A crawl's frontier belongs to one process.
    return null;
  }

  async report(lease: JobLease, report: JobReport): Promise<"go_on" | "cancelled" | "lost"> {
    return this.#db.transaction(() => {
      const row = this.#held(lease);
      if (!row) return "lost";
      this.#write(row, report);
      this.#query("UPDATE job SET lease_until = ?2, has_begun = has_begun OR ?3 WHERE number = ?1").run(
        row.number,
        this.#leaseEnd(),
        report.startedAt === undefined ? 0 : 1,
      );
      return row.is_cancelled === 1 ? "cancelled" : "go_on";
    });
  }

  async finish(lease: JobLease, end: JobEnd): Promise<void> {
    this.#durably(() => {
      const row = this.#held(lease);
      if (row) this.#close(row, end);
    });
    this.#emptyLog();
  }

  async handBack(lease: JobLease, delayMs: number): Promise<void> {
    this.#db.transaction(() => {
      const row = this.#held(lease);
      if (!row) return;
      if (row.is_cancelled === 1) this.#close(row, endOf(row, CALLED_OFF));
      else this.#requeue(row, { crashes: row.crashes, notBefore: this.#options.now() + delayMs });
    });
  }

  async eventsAfter(id: string, number: number, limit: number): Promise<StoredEvent[]> {
    return this.#query<StoredEvent, [string, number, number]>(
      `SELECT event.number, kind, body FROM event JOIN job ON job.number = event.job
         WHERE id = ?1 AND event.number > ?2 ORDER BY event.number LIMIT ?3`,
    ).all(id, number, limit);
  }

  onChange(): Disposable {
    // Nobody tells of changes to a file, and asking costs little.
    return { [Symbol.dispose]() {} };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#self[Symbol.dispose]();
    this.#db.close();
  }

  #counts(): { readonly queued: number; readonly running: number } {
    const rows = this.#query<{ state: JobState; count: number }, []>(
      "SELECT state, count(*) AS count FROM job WHERE state IN ('queued', 'running') GROUP BY state",
    ).all();
    const of = (wanted: JobState): number => rows.find(({ state }) => state === wanted)?.count ?? 0;
    return { queued: of("queued"), running: of("running") };
  }

  /** The owner's name for one claim, so that an earlier run in this same process is told apart. */
  #owner(fence: number): string {
    return `${this.#self.name}/${fence}`;
  }

  #held({ id, fence }: JobLease): Row | null {
    const row = this.#row(id);
    return row?.state === "running" && row.owner === this.#owner(fence) ? row : null;
  }

  /** Requeues jobs whose process is gone; one that was cancelled, or crashes each process, is ended. */
  #takeBackLeft(): void {
    const rows = this.#query<Row, []>(`SELECT *, ${LAST_EVENT} FROM job WHERE state = 'running'`).all();
    for (const row of rows) {
      const { owner, lease_until: until } = row;
      if (owner?.startsWith(this.#self.name)) continue;
      const isLeft = (until ?? 0) < this.#options.now() || owner === null || this.#self.hasDied(owner);
      if (!isLeft) continue;
      const crashes = row.crashes + 1;
      if (row.is_cancelled === 1) this.#close(row, endOf(row, CALLED_OFF));
      else if (crashes >= MAX_CRASHES) this.#close(row, endOf(row, CRASHED));
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
    const events = [{ kind: "end", body: { status: end.state, error: end.error } }];
    this.#addEvents(row.number, { after: end.after + end.events.length, events });
  }

  #write(row: Row, { counts, startedAt, warnings, after, events }: JobReport): void {
    if (warnings)
      this.#query("UPDATE job SET warnings = ?2 WHERE number = ?1").run(row.number, JSON.stringify(warnings));
    if (counts)
      this.#query(
        `UPDATE job SET progress = ?2, total = ?3, successful = ?4, failed = ?5, skipped = ?6
           WHERE number = ?1`,
      ).run(row.number, counts.progress, counts.total, counts.successful, counts.failed, counts.skipped);
    if (startedAt !== undefined)
      this.#query("UPDATE job SET started_at = ?2 WHERE number = ?1").run(row.number, startedAt);
    this.#addEvents(row.number, { after, events });
  }

  #addEvents(job: number, { after, events }: Pick<JobReport, "after" | "events">): void {
    if (events.length === 0) return;
    const insert = this.#query(
      "INSERT OR IGNORE INTO event (job, number, kind, body, told_at) VALUES (?1, ?2, ?3, ?4, ?5)",
    );
    const now = this.#options.now();
    // Events older than the newest ones would be deleted at once.
    const first = Math.max(0, events.length - MAX_EVENTS);
    for (const [index, { kind, body }] of events.entries())
      if (index >= first) insert.run(job, after + index + 1, kind, JSON.stringify(body), now);
    const last = after + events.length;
    this.#query(
      `DELETE FROM event WHERE job = ?1 AND number <= ?2 AND number < max(?3, coalesce(
         (SELECT number FROM event WHERE job = ?1 AND told_at > ?4 ORDER BY number LIMIT 1), ?2 + 1))`,
    ).run(job, last - MIN_EVENTS, last - MAX_EVENTS + 1, now - EVENT_AGE_MS);
  }

  /** Drops the events of ended jobs that nothing but their age has kept. */
  #trimEnded(): void {
    const now = this.#options.now();
    if (now - this.#trimmedAt < TRIM_MS) return;
    this.#trimmedAt = now;
    this.#query(
      `DELETE FROM event WHERE (job, number) IN (
         SELECT event.job, event.number FROM job CROSS JOIN event ON event.job = job.number
           WHERE state IN ('completed', 'failed') AND completed_at < ?1
             AND event.number <= (SELECT max(number) FROM event WHERE job = job.number) - ${MIN_EVENTS})`,
    ).run(new Date(now - EVENT_AGE_MS).toISOString());
  }

  #forgetOldest(): void {
    const old = `SELECT number FROM job WHERE state IN ('completed', 'failed')
      ORDER BY number DESC LIMIT -1 OFFSET ${MAX_FINISHED}`;
    this.#db.run(`DELETE FROM event WHERE job IN (${old})`);
    this.#db.run(`DELETE FROM job WHERE number IN (${old})`);
  }

  #row(id: string): Row | null {
    return this.#query<Row, [string]>(`SELECT *, ${LAST_EVENT} FROM job WHERE id = ?1`).get(id);
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

  /** A result that was reported to a caller must survive a power cut, which costs a flush of the disk. */
  #durably<T>(work: () => T): T {
    this.#db.run("PRAGMA synchronous = FULL");
    try {
      return this.#db.transaction(work);
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

const endOf = ({ last_event: after }: Row, error: FailureRecord): JobEnd => ({
  state: "failed",
  error,
  after,
  events: [],
});
