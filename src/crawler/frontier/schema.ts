import type { Database, Query } from "../../base/database/index.ts";

/** Raised when the tables change; a file of another version is refused. */
export const SCHEMA_VERSION = 6;

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
export const CHANGES = ["new", "changed", "unchanged", "gone"] as const;
export const FETCHERS = ["http", "browser"] as const;

/**
 * This is when a page may be tried that counts as fetched without a try: a process that had it was lost. It stays until
 * the page has been tried.
 */
export const TAKEN_OVER = -1;

/** This is the time of a host that is handed out exclusively, until `freeHost` sets another. */
export const NEVER = 8_640_000_000_000_000;

/** No crawl waits longer for a host; its pages fail instead, without another request. */
export const MAX_PAUSE_MS = 60 * 60 * 1000;

/** The name of most pages' files, which is not that of every output, and belongs to the format of this file. */
const PLAIN_NAME =
  "(SELECT replace(replace(substr(url, instr(url, '//') + 2), '/', '__'), ':', '_') || '.md' FROM address WHERE id = page)";
const hashText = (hash: string): string =>
  `iif(typeof(${hash}) = 'blob', 'sha256:' || lower(hex(${hash})), ${hash})`;

export const nameOf = (code: string, names: readonly string[]): string =>
  `CASE ${code} ${names.map((name, index) => `WHEN ${index} THEN '${name}'`).join(" ")} END`;

/**
 * Rows of an earlier run are what an earlier crawl into the same place stored; this run does not know them until it
 * finds them again. An alias is another URL of the page in `parent`, not yet found by itself.
 *
 * The queue is a partial index, so claimed and settled pages cost it nothing: a page leaves it when its state
 * changes. Every transaction that changes the queue also updates `host.queued` and `host.head_depth` (of the
 * shallowest queued page). `crawl.seen_at` is the latest time by the clock of the times of hosts and pages.
 *
 * `page.path` begins with a colon where the scheme is `http` (`pathOf`), and `address` has whole URLs; `key` is a hash of
 * the URL (`urlKey`). An empty text stands for what other columns tell: for a `told_hash` that equals `content_hash`, for the name
 * above, for a `final_url` that is the page's own. Hashes are bytes. `kept` is `stored` in full; a successful outcome has
 * its title, file, words, hash and warnings there.
 *
 * `link.urls` contains the links of a page within the crawl's scope, for an answer "not modified" and, where
 * `too_deep` counts them as not followed, for a larger limit of depth. `stored` is what is kept of each page,
 * whatever happens to the page in later runs; it outlives them. `told_hash` is the content of the last finished
 * crawl, which decides what is new or changed. `missed_in` is the run whose answer was HTTP 404. `is_transient` marks
 * pages that were extracted although their status was 404 or 410. Rows of gone pages stay until the crawl that
 * reported them has finished; after that `departed` knows that they once existed.
 */
export const SCHEMA = `
CREATE TABLE crawl (
  id INTEGER PRIMARY KEY CHECK (id = 1), plan TEXT NOT NULL, job_id TEXT NOT NULL, started_at TEXT NOT NULL,
  run INTEGER NOT NULL, is_finished INTEGER NOT NULL DEFAULT 0, is_seeded INTEGER NOT NULL DEFAULT 0,
  successful INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0, skipped INTEGER NOT NULL DEFAULT 0,
  fetched INTEGER NOT NULL DEFAULT 0, queued INTEGER NOT NULL DEFAULT 0, asks_anew INTEGER NOT NULL DEFAULT 0,
  told_seq INTEGER NOT NULL DEFAULT 0, seen_at INTEGER NOT NULL DEFAULT 0,
  key_seed INTEGER NOT NULL DEFAULT (abs(random()) % 4294967296)
);
CREATE TABLE host (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, next_at INTEGER NOT NULL DEFAULT 0,
  queued INTEGER NOT NULL DEFAULT 0, head_depth INTEGER
);
CREATE INDEX host_by_depth ON host (head_depth, next_at) WHERE queued > 0;
CREATE INDEX host_by_time ON host (next_at) WHERE queued > 0;
CREATE TABLE page (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL, key INTEGER NOT NULL, host INTEGER NOT NULL, depth INTEGER NOT NULL,
  parent INTEGER, source INTEGER NOT NULL, state INTEGER NOT NULL, run INTEGER NOT NULL, last_modified TEXT,
  tries INTEGER NOT NULL DEFAULT 0, spent_ms INTEGER NOT NULL DEFAULT 0, ready_at INTEGER NOT NULL DEFAULT 0, owner INTEGER
);
CREATE INDEX page_key ON page (key);
CREATE INDEX page_queue ON page (host, depth) WHERE state = 0;
CREATE INDEX page_leased ON page (host, depth) WHERE state = 1;
CREATE INDEX page_waiting ON page (ready_at) WHERE state = 2;
CREATE INDEX page_left ON page (depth) WHERE state >= 5;
CREATE TABLE outcome (
  seq INTEGER PRIMARY KEY, page INTEGER NOT NULL UNIQUE, run INTEGER NOT NULL, status INTEGER NOT NULL, reason TEXT,
  error_code TEXT, error_message TEXT, file_path TEXT, title TEXT, word_count INTEGER, http_status INTEGER,
  final_url TEXT, duration_ms INTEGER, content_hash TEXT, warnings TEXT, change INTEGER, fetcher INTEGER, error_block TEXT
);
CREATE VIEW address AS
  SELECT page.id, iif(path >= ':', 'http://' || name || substr(path, 2), 'https://' || name || path) AS url
    FROM page JOIN host ON host.id = page.host;
CREATE VIEW kept AS
  SELECT page, run, title, word_count, warnings, etag, last_modified, sitemap_modified, missed_in, is_transient,
    iif(file_path = '', ${PLAIN_NAME}, file_path) AS file_path, ${hashText("content_hash")} AS content_hash,
    iif(told_hash = '', ${hashText("content_hash")}, ${hashText("told_hash")}) AS told_hash,
    (SELECT ${nameOf("fetcher", FETCHERS)} FROM outcome WHERE outcome.page = stored.page) AS fetcher FROM stored;
CREATE TABLE skipped_link (reason TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE warning (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE link (page INTEGER PRIMARY KEY, run INTEGER NOT NULL, too_deep INTEGER NOT NULL, urls BLOB NOT NULL);
CREATE TABLE stored (
  page INTEGER PRIMARY KEY, run INTEGER NOT NULL, file_path TEXT, title TEXT, word_count INTEGER, content_hash TEXT,
  told_hash TEXT, warnings TEXT, etag TEXT, last_modified TEXT, sitemap_modified TEXT, missed_in INTEGER,
  is_transient INTEGER NOT NULL DEFAULT 0, is_gone INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE departed (page INTEGER PRIMARY KEY);
CREATE TABLE origin (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE INDEX link_too_deep ON link (page) WHERE too_deep > 0;
`;

/** All tables, for emptying a memory. */
export const TABLES = "crawl host page outcome skipped_link warning link stored departed origin".split(" ");

/** Returns the part of a URL after its host, with a colon before it that stands for `http`. */
export const pathOf = (url: string): string =>
  (url.startsWith("https:") ? "" : ":") + url.slice(url.indexOf("/", url.indexOf("//") + 2));

/**
 * Hashes a URL to three bytes. Host and path distinguish pages with equal keys; `crawl.key_seed` keeps a site from making
 * the keys of all of its URLs equal.
 */
export const urlKey = (url: string, seed: number): number => (Bun.hash.xxHash32(url, seed) | 0) >> 8;

export const keySeed = (sql: Statements): number =>
  sql.get<{ key_seed: number }>`SELECT key_seed FROM crawl`?.key_seed ?? 0;

/** Statements for one file, with their values in place; each is prepared at its first use. */
export class Statements {
  readonly #db: Database;
  // Every place in the sources has its own array of texts, which stays the same.
  readonly #prepared = new WeakMap<TemplateStringsArray, Query<unknown, Value[]>>();

  constructor(db: Database) {
    this.#db = db;
  }

  get<Row>(sql: TemplateStringsArray, ...values: Value[]): Row | null {
    return this.#prepare(sql).get(...values) as Row | null; // the caller knows what the statement yields
  }

  all<Row>(sql: TemplateStringsArray, ...values: Value[]): Row[] {
    return this.#prepare(sql).all(...values) as Row[]; // as above
  }

  /** @returns how many rows have changed */
  run(sql: TemplateStringsArray, ...values: Value[]): number {
    return this.#prepare(sql).run(...values).changes;
  }

  #prepare(sql: TemplateStringsArray): Query<unknown, Value[]> {
    const known = this.#prepared.get(sql);
    if (known) return known;
    // With a bare parameter as LIMIT, SQLite plans again at each call: 40 µs for an outcome that is read in 4 µs.
    const prepared = this.#db.prepare<unknown, Value[]>(sql.join("?").replaceAll("LIMIT ?", "LIMIT 0 + ?"));
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

type Value = string | number | Uint8Array | null;
