import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { sinceSetMs } from "../../base/clock.ts";
import type { Damage } from "../../base/damaged.ts";
import {
  type Database,
  type LeaseOwner,
  openDatabase,
  openLeaseOwner,
  type Query,
} from "../../base/database/index.ts";
import { systemFailure } from "../../base/system-error.ts";
import type { FinishedJob } from "./finished.ts";
import type { JobQueue, JobQueueLimits } from "./jobs.ts";
import { type QueueEngine, type QueueWords, type RunSql, SqlJobQueue } from "./queue.ts";

type SqliteQueueOptions = JobQueueLimits & {
  /** The directory of the queue; it is created for this user alone if it does not exist. */
  readonly directory: string;
  readonly now: () => number;
  /** Called when the file was damaged and put aside; without it, a damaged file is refused. */
  readonly onDamaged?: ((damage: Damage) => void) | undefined;
};

const FILE_NAME = "jobs.sqlite";

/** Raised when the tables change; a file of an earlier version counts as damaged, and one of a later is refused. */
const QUEUE_VERSION = 2;

/**
 * There is one row for each job, in the order of acceptance, and the newest events of each, for watchers in other
 * processes. `spec` may contain credentials and is emptied when the job ends. `told_at` is in ms since 1970.
 */
const QUEUE_SCHEMA = `
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
  warnings TEXT,
  fence INTEGER NOT NULL DEFAULT 0,
  last_event INTEGER NOT NULL DEFAULT 0,
  has_surplus INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX job_by_state ON job (state, number);
CREATE TABLE event (
  job INTEGER NOT NULL,
  number INTEGER NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  told_at INTEGER NOT NULL,
  PRIMARY KEY (job, number)
) WITHOUT ROWID;
`;

/** A queue whose file may be lost, but not what its jobs wrote. */
type RestorableQueue<Spec> = JobQueue<Spec> & {
  /** Adds finished jobs, the oldest first; jobs that it knows stay as they are. */
  restore(jobs: readonly FinishedJob[]): Promise<void>;
};

const RESTORE = `INSERT OR IGNORE INTO job (id, state, directory, shown, created_at, started_at, completed_at,
  progress, total, successful, failed, skipped, error, warnings)
  VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $7, $8, $9, $10, $11, $12)`;

/**
 * Opens the queue of a state directory, or creates it.
 * @throws Failure as `openDatabase`
 */
export function openSqliteJobQueue<Spec>(options: SqliteQueueOptions): RestorableQueue<Spec> {
  const { directory, onDamaged } = options;
  const path = join(directory, FILE_NAME);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw systemFailure(error, "unwritable_output", `could not make the state directory ${directory}`);
  }
  const database = openDatabase({
    path,
    name: "the server's jobs",
    access: { kind: "shared" },
    format: { version: QUEUE_VERSION, tables: QUEUE_SCHEMA },
    onDamaged,
  });
  try {
    // Waiting jobs may contain credentials, which are erased from the file's free pages when their job ends.
    database.run("PRAGMA secure_delete = ON");
    return new SqliteJobQueue<Spec>(new SqliteEngine(database, options), options);
  } catch (error) {
    database.close();
    throw error;
  }
}

class SqliteJobQueue<Spec> extends SqlJobQueue<Spec> {
  readonly beatMs = 250;
  readonly isShared = false;
  readonly #file: SqliteEngine;

  constructor(engine: SqliteEngine, limits: JobQueueLimits) {
    super(engine, limits);
    this.#file = engine;
  }

  restore(jobs: readonly FinishedJob[]): Promise<void> {
    return this.#file.transaction(async (run) => {
      for (const { id, state, place, shown, startedAt, completedAt, counts, error, warnings } of jobs)
        await run(RESTORE, [
          ...[id, state, place, JSON.stringify(shown), startedAt, completedAt],
          ...[counts.progress, counts.successful, counts.failed, counts.skipped],
          ...[error && JSON.stringify(error), JSON.stringify(warnings)],
        ]);
    }, true);
  }

  onChange(): Disposable {
    // A file sends no notice of changes, and polling costs little.
    return { [Symbol.dispose]() {} };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file[Symbol.asyncDispose]();
  }
}

type Parameter = string | number | null;

/**
 * This process's last transaction on each file. SQLite would wait for a lock on the thread that has to release it, so a
 * transaction of one connection must be over before another begins.
 */
const turns = new Map<string, Promise<unknown>>();

/** Jobs in a SQLite file, which all processes of the directory have open. */
class SqliteEngine implements QueueEngine {
  readonly words: QueueWords;
  readonly #db: Database;
  readonly #now: () => number;
  readonly #leaseMs: number;
  readonly #self: LeaseOwner;
  readonly #statements = new Map<string, Query<unknown, Parameter[]>>();

  constructor(db: Database, { now, leaseMs }: Pick<SqliteQueueOptions, "now" | "leaseMs">) {
    this.#db = db;
    this.#now = now;
    this.#leaseMs = leaseMs;
    this.#self = openLeaseOwner(db);
    const ofOthers = (name: string): string => `(owner IS NULL OR owner NOT LIKE '${name}%')`;
    const self = this.#self;
    this.words = {
      place: "directory",
      claim: "owner",
      events: "event",
      stamp: (ms = 0) => `strftime('%Y-%m-%dT%H:%M:%fZ', (:now + ${ms}) / 1000.0, 'unixepoch')`,
      now: (ms = 0) => `(:now + ${ms})`,
      lease: (ms) => `lease_until = :now + ${ms}`,
      values: (json) => `json_each(${json})`,
      pairs: (json) =>
        `(SELECT key + 1 AS nth, value ->> 0 AS kind, value ->> 1 AS body FROM json_each(${json}))`,
      // The names are asked for late, since the first use of one makes its file.
      get mayBeLeft() {
        return ofOthers(self.name);
      },
    };
  }

  run: RunSql = async <Row>(sql: string, parameters: readonly Parameter[] = []) =>
    await this.#inTurn(async () => this.#query<Row>(sql, parameters));

  transaction<T>(work: (run: RunSql) => Promise<T>, isDurable = false): Promise<T> {
    return this.#inTurn(async () => {
      // A result that was reported to a caller must survive a power cut, which costs a flush of the disk.
      if (isDurable) this.#db.run("PRAGMA synchronous = FULL");
      try {
        this.#db.run("BEGIN IMMEDIATE");
        const result = await work(async <Row>(sql: string, parameters: readonly Parameter[] = []) =>
          this.#query<Row>(sql, parameters),
        );
        this.#db.run("COMMIT");
        return result;
      } catch (error) {
        this.#rollBack();
        throw error;
      } finally {
        if (isDurable) this.#db.run("PRAGMA synchronous = NORMAL");
      }
    });
  }

  async takeTurn(): Promise<void> {
    // A transaction begins with the lock of the file.
  }

  async tell(): Promise<void> {}

  /** SQLite's log still contains a job's request after its row has been emptied. */
  erase(): void {
    try {
      this.#db.run("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // On a full disk the log stays until there is room; the job's end is written nevertheless.
    }
  }

  /** Begins with the name of this process, so that the others can see that it lives. */
  newClaim(): string {
    return `${this.#self.name}/${crypto.randomUUID()}`;
  }

  isLeft({ claim, lease_until: until }: Parameters<QueueEngine["isLeft"]>[0]): boolean {
    if (claim === null || this.#self.hasDied(claim)) return true;
    const leftMs = Number(until ?? 0) - this.#now();
    // The next report renews what seems to have run out, or to be longer than any lease, since the clock was set.
    return (leftMs < 0 || leftMs > this.#leaseMs) && sinceSetMs() > this.#leaseMs;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await turns.get(this.#db.path)?.catch(() => {});
    this.#self[Symbol.dispose]();
    this.#db.close();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const { path } = this.#db;
    const done = (turns.get(path) ?? Promise.resolve()).then(work, work);
    turns.set(path, done);
    return done;
  }

  #query<Row>(sql: string, parameters: readonly Parameter[]): Row[] {
    const text = sql
      .replaceAll(/\$(\d+)/g, "?$1")
      .replaceAll(/::\w+/g, "")
      .replaceAll(":now", `?${parameters.length + 1}`)
      .replace(/FOR UPDATE(?: SKIP LOCKED)?/, "")
      .replaceAll("greatest(", "max(");
    const known = this.#statements.get(text);
    const statement = known ?? this.#db.prepare<unknown, Parameter[]>(text);
    if (!known) this.#statements.set(text, statement);
    const values = sql.includes(":now") ? [...parameters, this.#now()] : parameters;
    return statement.all(...values) as Row[]; // the caller knows what the statement yields
  }

  #rollBack(): void {
    try {
      this.#db.run("ROLLBACK");
    } catch {
      // The transaction had not begun, or SQLite has ended it itself.
    }
  }
}
