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
