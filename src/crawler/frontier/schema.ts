import type { Database } from "../../base/database/index.ts";
import type { FrontierCounts } from "./frontier.ts";

/** The version changes with the tables; `takeUp` migrates files of earlier versions. */
export const SCHEMA_VERSION = 3;

/** The states of a page row. */
export const STATE = {
  queued: 0,
  claimed: 1,
  waiting: 2,
  settled: 3,
  alias: 4,
  /** The page was left over when `maxPages` was reached. */
  left: 5,
  /** The page would be queued under a larger limit of depth. */
  deep: 6,
} as const;

export const SOURCES = ["seed", "sitemap", "link", "memory"] as const;
export const STATUSES = ["success", "failed", "skipped"] as const;

/**
 * This is when a page may be tried that counts as fetched without a try: a process that had it was lost. It stays until
 * the page has been tried.
 */
export const TAKEN_OVER = -1;

/** This is the time of a host that is handed out exclusively, until `freeHost` sets another. */
export const NEVER = 8_640_000_000_000_000;

/**
 * `link.urls` contains the links of a page within the crawl's scope, for an answer "not modified" and, where
 * `too_deep` counts them as not followed, for a larger limit of depth. `stored` is what is kept of each page,
 * whatever happens to the page in later runs; it outlives them. `told_hash` is the content of the last finished
 * crawl, which decides what is new or changed. `missed_in` is the run whose answer was HTTP 404. `is_transient` marks
 * pages that were extracted although their status was 404 or 410. Rows of gone pages stay until the crawl that
 * reported them has finished; after that `departed` knows that they once existed.
 */
const MEMORY_TABLES = `
CREATE TABLE link (
  page INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  too_deep INTEGER NOT NULL,
  urls BLOB NOT NULL
);
CREATE TABLE stored (
  page INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  file_path TEXT,
  title TEXT,
  word_count INTEGER,
  content_hash TEXT,
  told_hash TEXT,
  warnings TEXT,
  etag TEXT,
  last_modified TEXT,
  sitemap_modified TEXT,
  missed_in INTEGER,
  is_transient INTEGER NOT NULL DEFAULT 0,
  is_gone INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE departed (page INTEGER PRIMARY KEY);
CREATE TABLE origin (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE INDEX link_too_deep ON link (page) WHERE too_deep > 0;
CREATE INDEX page_left ON page (depth) WHERE state >= 5;
`;

/**
 * Rows of an earlier run are what an earlier crawl into the same place stored; this run does not know them until it
 * finds them again. An alias is another URL of the page in `parent`, not yet found by itself.
 *
 * The queue is a partial index, so claimed and settled pages cost it nothing: a page leaves it when its state
 * changes. Every transaction that changes the queue also updates `host.queued` and `host.head_depth` (of the
 * shallowest queued page).
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
  queued INTEGER NOT NULL DEFAULT 0,
  asks_anew INTEGER NOT NULL DEFAULT 0,
  told_seq INTEGER NOT NULL DEFAULT 0
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
  change TEXT,
  fetcher TEXT
);
CREATE TABLE skipped_link (reason TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE warning (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
${MEMORY_TABLES}`;

/** All tables, for emptying a memory. */
export const TABLES = "crawl host page outcome skipped_link warning link stored departed origin".split(" ");

/**
 * The migration from version 1, which kept no links that were too deep and forgot what it had stored when a page
 * failed. Pages of those crawls are requested unconditionally once, so that the links of all are known.
 */
export const FROM_VERSION_1 = `
${MEMORY_TABLES}
INSERT INTO stored
  (page, run, file_path, title, word_count, content_hash, told_hash, warnings, is_transient)
  SELECT page, run, file_path, title, word_count, content_hash, content_hash, warnings,
    ifnull(http_status IN (404, 410), 0) FROM outcome WHERE status = 0;
ALTER TABLE crawl ADD COLUMN asks_anew INTEGER NOT NULL DEFAULT 0;
ALTER TABLE crawl ADD COLUMN told_seq INTEGER NOT NULL DEFAULT 0;
UPDATE crawl SET asks_anew = run + 1;
ALTER TABLE outcome ADD COLUMN change TEXT;
UPDATE outcome SET change = iif(is_unchanged, 'unchanged', 'new') WHERE status = 0;
ALTER TABLE outcome DROP COLUMN is_unchanged;
ALTER TABLE outcome DROP COLUMN etag;
ALTER TABLE outcome DROP COLUMN last_modified;
ALTER TABLE outcome DROP COLUMN sitemap_modified;
ALTER TABLE outcome DROP COLUMN links;
`;

/** The migration from version 2, which did not know how a page came. */
export const FROM_VERSION_2 = "ALTER TABLE outcome ADD COLUMN fetcher TEXT";

/** A page's row, as found by its URL. */
export type KnownRow = {
  readonly id: number;
  readonly state: number;
  readonly run: number;
  readonly depth: number;
  readonly parent: number | null;
};

type LeftRow = { readonly id: number; readonly host: number; readonly depth: number; readonly state: number };

/** Prepares the statements of a frontier for pages, counts, links and warnings. */
export function prepare(db: Database) {
  return {
    counts: db.prepare<Omit<FrontierCounts, "underway" | "untried">>(
      "SELECT successful, failed, skipped, fetched, queued FROM crawl",
    ),
    setCounts: db.prepare<unknown, [number, number, number, number, number]>(
      "UPDATE crawl SET successful = ?1, failed = ?2, skipped = ?3, fetched = ?4, queued = ?5",
    ),
    find: db.prepare<KnownRow, [string]>("SELECT id, state, run, depth, parent FROM page WHERE url = ?1"),
    insert: db.prepare<
      { id: number },
      [string, number, number, number | null, number, number, number, string | null]
    >(
      `INSERT INTO page (url, host, depth, parent, source, state, run, last_modified)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        ON CONFLICT (url) DO UPDATE SET depth = ?3, parent = ?4, source = ?5, state = ?6, run = ?7,
          last_modified = ?8, tries = 0, spent_ms = 0, ready_at = 0, owner = NULL
        RETURNING id`,
    ),
    found: db.prepare<unknown, [number, number, number | null, number]>(
      "UPDATE page SET depth = ?2, parent = ?3, source = ?4 WHERE id = ?1",
    ),
    lower: db.prepare<unknown, [number, number, number | null]>(
      "UPDATE page SET depth = ?2, parent = ?3 WHERE id = ?1",
    ),
    raise: db.prepare<unknown, [number, number, number | null]>(
      "UPDATE page SET state = 0, depth = ?2, parent = ?3 WHERE id = ?1",
    ),
    requeueLeft: db.prepare<LeftRow, [number, number]>(
      `UPDATE page SET state = iif(tries > 0, 2, 0)
        WHERE id IN (SELECT id FROM page WHERE state >= 5 AND depth <= ?1 LIMIT ?2) RETURNING id, host, depth, state`,
    ),
    queueUnmet: db.prepare<{ host: number; depth: number }, [number, number, number]>(
      `UPDATE page SET state = 0, run = ?2, source = ?3, last_modified = NULL, tries = 0, spent_ms = 0, ready_at = 0,
        owner = NULL WHERE id = ?1 RETURNING host, depth`,
    ),
    origins: db.prepare<{ name: string }>("SELECT name FROM origin"),
    addOrigin: db.prepare<unknown, [string]>("INSERT OR IGNORE INTO origin (name) VALUES (?1)"),
    setLastModified: db.prepare<unknown, [number, string]>(
      "UPDATE page SET last_modified = ?2 WHERE id = ?1",
    ),
    setOwner: db.prepare<unknown, [number, number]>("UPDATE page SET owner = ?2 WHERE id = ?1"),
    owner: db.prepare<{ owner: number | null }, [number]>("SELECT owner FROM page WHERE id = ?1"),
    settle: db.prepare<unknown, [number]>("UPDATE page SET state = 3 WHERE id = ?1"),
    settleClaimed: db.prepare<unknown, [number]>("UPDATE page SET state = 3 WHERE id = ?1 AND state = 1"),
    skipLinks: db.prepare<unknown, [string, number]>(
      `INSERT INTO skipped_link VALUES (?1, ?2)
        ON CONFLICT (reason) DO UPDATE SET count = count + excluded.count`,
    ),
    skippedLinks: db.prepare<{ reason: string; count: number }>("SELECT reason, count FROM skipped_link"),
    addWarning: db.prepare<unknown, [string]>(
      "INSERT INTO warning (text) SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM warning WHERE text = ?1)",
    ),
    warnings: db.prepare<{ text: string }>("SELECT text FROM warning ORDER BY id"),
  };
}

/** A chain of pages under way cannot be longer than their number. */
const MAX_OWNERS = 1000;

/**
 * Tells whether a page gives way to another. Pages under way may name each other as the original; the page at the end
 * of the chain is the original.
 */
export function isOwnedBy(
  sql: Pick<ReturnType<typeof prepare>, "owner">,
  id: number,
  other: number,
): boolean {
  let owner = sql.owner.get(id)?.owner ?? null;
  for (let steps = 0; owner !== null && steps < MAX_OWNERS; steps++) {
    if (owner === other) return true;
    owner = sql.owner.get(owner)?.owner ?? null;
  }
  return false;
}
