import { Database } from "bun:sqlite";
import type { CrawlPlan } from "../../src/crawler/index.ts";

/** The tables of a crawl's memory as version 0.1.0 of the program made them. */
const VERSION_1 = `
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

/** Writes the memory of a finished crawl of one page that was stored, as 0.1.0 left it. */
export function makeVersion1(path: string, plan: CrawlPlan): void {
  using db = new Database(path, { create: true });
  db.run(VERSION_1);
  db.run("PRAGMA user_version = 1");
  db.run(
    "INSERT INTO crawl (id, plan, job_id, started_at, run, is_finished, is_seeded) VALUES (1, ?, 'old', '2026-01-01T00:00:00.000Z', 3, 1, 1)",
    [JSON.stringify(plan)],
  );
  db.run("INSERT INTO host (id, name) VALUES (1, 'h.test')");
  db.run(
    "INSERT INTO page (id, url, host, depth, source, state, run) VALUES (1, 'https://h.test/', 1, 0, 0, 3, 3)",
  );
  db.run(
    "INSERT INTO outcome (seq, page, run, status, file_path, content_hash, etag) VALUES (1, 1, 3, 0, 'h.md', 'sha256:1', '\"1\"')",
  );
}

/** The tables of version 4, which kept URLs, names and hashes in full. */
const VERSION_4 = `
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
  told_seq INTEGER NOT NULL DEFAULT 0,
  seen_at INTEGER NOT NULL DEFAULT 0
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

/** Writes the memory of an interrupted crawl: two pages that were stored, one that is gone, and one that waits and was stored before. */
export function makeVersion4(path: string, plan: CrawlPlan): void {
  using db = new Database(path, { create: true });
  db.run(VERSION_4);
  db.run("PRAGMA user_version = 4");
  const hash = `sha256:${"a1".repeat(32)}`;
  db.run(
    `INSERT INTO crawl (id, plan, job_id, started_at, run, is_seeded, successful, skipped, fetched, queued)
      VALUES (1, ?, 'old', '2026-01-01T00:00:00.000Z', 2, 1, 2, 1, 3, 1)`,
    [JSON.stringify(plan)],
  );
  db.run(
    "INSERT INTO host (id, name, queued, head_depth) VALUES (1, 'h.test', 1, 1), (2, 'h.test:81', 0, NULL)",
  );
  db.run(`INSERT INTO page (id, url, host, depth, parent, source, state, run) VALUES
    (1, 'https://h.test/', 1, 0, NULL, 0, 3, 2), (2, 'http://h.test:81/a/b?q=1', 2, 1, 1, 2, 3, 2),
    (3, 'http://h.test/gone', 1, 1, 1, 2, 3, 2), (4, 'http://h.test/next', 1, 1, 2, 2, 0, 2)`);
  db.run(`INSERT INTO outcome VALUES
    (1, 1, 2, 0, NULL, NULL, NULL, 'h.md', 'Home', 7, 200, 'https://h.test/', 5, '${hash}', '["thin"]', 'changed', 'http'),
    (2, 2, 2, 0, NULL, NULL, NULL, 'h.test_81__a__b?q=1.md', NULL, 8, 200, 'https://h.test/b', 6, 'sha256:1', NULL, 'unchanged', 'browser'),
    (3, 3, 2, 2, 'gone', NULL, NULL, 'gone/g.md', NULL, NULL, 410, 'http://h.test/gone', 2, NULL, NULL, 'gone', NULL)`);
  db.run(`INSERT INTO stored (page, run, file_path, title, word_count, content_hash, told_hash, warnings, etag) VALUES
    (1, 2, 'h.md', 'Home', 7, '${hash}', 'sha256:0', '["thin"]', '"1"'),
    (2, 2, 'h.test_81__a__b?q=1.md', NULL, 8, 'sha256:1', 'sha256:1', NULL, NULL),
    (4, 1, 'n.md', NULL, 8, 'sha256:2', 'sha256:0', NULL, NULL)`);
}
