import { mkdirSync } from "node:fs";
import type { Database } from "../../base/database/index.ts";
import { Failure } from "../../base/failure.ts";
import { systemReason } from "../../base/system-error.ts";
import { type JobRecord, type JobRow, toRecord } from "./jobs.ts";

/** Raised when the tables change; a file of another version is refused. */
const QUEUE_VERSION = 1;

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
  warnings TEXT
);
CREATE INDEX job_by_state ON job (state, number);
CREATE TABLE event (
  job INTEGER NOT NULL,
  number INTEGER NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  told_at INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (job, number)
) WITHOUT ROWID;
`;

/** @throws Failure `unwritable_output` */
export function makeQueueDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    const why = `could not make the state directory ${directory}: ${systemReason(error)}`;
    throw new Failure("unwritable_output", why, { cause: error });
  }
}

/**
 * Makes the tables, or brings those of an earlier version up to date.
 * @throws Failure `invalid_usage` for a file of another version
 */
export function makeQueueTables(database: Database, path: string): void {
  const version = database.prepare<{ user_version: number }>("PRAGMA user_version").get()?.user_version ?? 0;
  if (version === QUEUE_VERSION) {
    addColumn(database, "job", "warnings TEXT");
    addColumn(database, "event", "told_at INTEGER NOT NULL DEFAULT 0");
    return;
  }
  if (version !== 0)
    throw new Failure("invalid_usage", `${path} holds the jobs of another version of this program`);
  database.run(QUEUE_SCHEMA);
  database.run(`PRAGMA user_version = ${QUEUE_VERSION}`);
}

/** Adds a column of a later version; processes of the earlier version work without it. */
function addColumn(database: Database, table: string, column: string): void {
  const columns = database.prepare<{ name: string }>(`PRAGMA table_info(${table})`).all();
  if (!columns.some(({ name }) => column.startsWith(`${name} `)))
    database.run(`ALTER TABLE ${table} ADD COLUMN ${column}`);
}

/** A row of `job`, with the number of its last event. */
export type Row = Omit<JobRow, "place" | "is_cancelled"> & {
  readonly number: number;
  readonly directory: string;
  readonly spec: string | null;
  readonly has_begun: number;
  readonly crashes: number;
  readonly is_cancelled: number;
  readonly owner: string | null;
  readonly lease_until: number | null;
};

export const recordOf = (row: Row): JobRecord =>
  toRecord({ ...row, place: row.directory, is_cancelled: row.is_cancelled === 1 });
