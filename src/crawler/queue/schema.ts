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
