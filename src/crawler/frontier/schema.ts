/** Changes when a file of an earlier version could not be gone on with. */
export const SCHEMA_VERSION = 1;

/** What a page row can be. */
export const STATE = { queued: 0, leased: 1, waiting: 2, settled: 3, alias: 4 } as const;

export const SOURCES = ["seed", "sitemap", "link"] as const;
export const STATUSES = ["success", "failed", "skipped"] as const;

/** A host that is handed out exclusively has this for its time, until `freeHost` sets another. */
export const NEVER = 8_640_000_000_000_000;

/**
 * Rows of an earlier run are what the crawl into the same place stored before: unknown to this run until it
 * finds them again. An alias is another URL of the page in `parent`, not found by itself yet.
 *
 * The queue is a partial index, so claimed and settled pages cost it nothing: a page leaves it when its state
 * changes. `host.queued` and `host.head_depth` (of the shallowest queued page) are kept by every transaction
 * that changes the queue.
 */
export const SCHEMA = `
CREATE TABLE crawl (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  plan TEXT NOT NULL,
  job_id TEXT NOT NULL,
  started_at TEXT NOT NULL,
  run INTEGER NOT NULL,
  is_finished INTEGER NOT NULL DEFAULT 0,
  is_seeded INTEGER NOT NULL DEFAULT 0,
  successful INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  skipped INTEGER NOT NULL DEFAULT 0,
  fetched INTEGER NOT NULL DEFAULT 0,
  queued INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE host (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  next_at INTEGER NOT NULL DEFAULT 0,
  queued INTEGER NOT NULL DEFAULT 0,
  head_depth INTEGER
);
CREATE INDEX host_by_depth ON host (head_depth, next_at) WHERE queued > 0;
CREATE INDEX host_by_time ON host (next_at) WHERE queued > 0;
CREATE TABLE page (
  id INTEGER PRIMARY KEY,
  url TEXT NOT NULL UNIQUE,
  host INTEGER NOT NULL,
  depth INTEGER NOT NULL,
  parent INTEGER,
  source INTEGER NOT NULL,
  state INTEGER NOT NULL,
  run INTEGER NOT NULL,
  last_modified TEXT,
  tries INTEGER NOT NULL DEFAULT 0,
  spent_ms INTEGER NOT NULL DEFAULT 0,
  ready_at INTEGER NOT NULL DEFAULT 0,
  owner INTEGER
);
CREATE INDEX page_queue ON page (host, depth, id) WHERE state = 0;
CREATE INDEX page_leased ON page (host, depth) WHERE state = 1;
CREATE INDEX page_waiting ON page (ready_at) WHERE state = 2;
CREATE TABLE outcome (
  seq INTEGER PRIMARY KEY,
  page INTEGER NOT NULL UNIQUE,
  run INTEGER NOT NULL,
  status INTEGER NOT NULL,
  reason TEXT,
  error_code TEXT,
  error_message TEXT,
  file_path TEXT,
  title TEXT,
  word_count INTEGER,
  http_status INTEGER,
  final_url TEXT,
  duration_ms INTEGER,
  content_hash TEXT,
  warnings TEXT,
  is_unchanged INTEGER NOT NULL DEFAULT 0,
  etag TEXT,
  last_modified TEXT,
  sitemap_modified TEXT,
  links BLOB
);
CREATE TABLE skipped_link (reason TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE warning (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
`;
