import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../../failure.ts";
import type { CrawlPlan } from "../types.ts";
import { type FrontierDatabase, openDatabase } from "./database.ts";
import type { Frontier } from "./frontier.ts";
import { SCHEMA, SCHEMA_VERSION } from "./schema.ts";
import { type OpenCrawl, SqliteFrontier } from "./sqlite.ts";

export type OpenFrontierOptions = {
  /** Made where it does not exist. */
  readonly directory: string;
  /** What messages call the place: the output directory. */
  readonly place: string;
  readonly plan: CrawlPlan;
  /** Null makes one up for a new crawl. */
  readonly jobId: string | null;
  readonly isFresh: boolean;
  /** What messages call `isFresh`. */
  readonly freshName: string;
  readonly now: () => Date;
};

const FILE_NAME = "frontier.sqlite";

/**
 * Opens the frontier of a directory: of a new crawl, of the one that was cut off there, or, where one is
 * finished, of the next one, which knows what that stored.
 * @throws Failure `invalid_usage` where another process crawls, or another plan is under way;
 *   `unreadable_input`, `unwritable_output`
 */
export function openSqliteFrontier(options: OpenFrontierOptions): Frontier {
  const { directory, isFresh } = options;
  makeDirectory(directory);
  const path = join(directory, FILE_NAME);
  if (isFresh) removeDatabase(path);
  const db = openDatabase(path);
  try {
    const record = db.transaction(() => takeUp(db, options));
    return new SqliteFrontier(db, record);
  } catch (error) {
    db.close();
    throw error;
  }
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    const why = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new Failure("unwritable_output", `could not make the directory ${directory}: ${why}`, {
      cause: error,
    });
  }
}

// Opened first, so that the memory of a crawl that is running is not taken from under it.
function removeDatabase(path: string): void {
  try {
    openDatabase(path).close();
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "unreadable_input") throw error;
  }
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
}

type CrawlRow = {
  readonly plan: string;
  readonly job_id: string;
  readonly started_at: string;
  readonly run: number;
  readonly is_finished: number;
  readonly is_seeded: number;
};

function takeUp(db: FrontierDatabase, options: OpenFrontierOptions): OpenCrawl {
  const version = db.prepare<{ user_version: number }>("PRAGMA user_version").get()?.user_version ?? 0;
  if (version === 0) return create(db, options);
  if (version !== SCHEMA_VERSION) {
    throw new Failure(
      "invalid_usage",
      `${options.place} holds the crawl of another version of this program; ${options.freshName} forgets it`,
    );
  }
  const row = db.prepare<CrawlRow>("SELECT * FROM crawl").get();
  if (!row) return create(db, options);
  requireSamePlan(row, options);
  if (row.is_finished) return repeat(db, row.run + 1, options);
  // Whoever held leases is gone, or this would not have opened.
  db.run("UPDATE page SET state = iif(tries > 0, 2, 0) WHERE state = 1");
  db.run(
    "UPDATE host SET queued = (SELECT count(*) FROM page WHERE state = 0 AND page.host = host.id), next_at = iif(next_at > 8e15, 0, next_at)",
  );
  db.run(
    "UPDATE host SET head_depth = (SELECT min(depth) FROM page WHERE state = 0 AND page.host = host.id)",
  );
  db.run("UPDATE crawl SET queued = (SELECT count(*) FROM page WHERE state IN (0, 2))");
  const { job_id, started_at, run, is_seeded } = row;
  return { jobId: job_id, startedAt: started_at, run, mode: "resumed", isSeeded: is_seeded === 1 };
}

function create(db: FrontierDatabase, options: OpenFrontierOptions): OpenCrawl {
  db.run(SCHEMA);
  db.run(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  const jobId = options.jobId ?? crypto.randomUUID();
  const startedAt = options.now().toISOString();
  db.prepare<unknown, [string, string, string]>(
    "INSERT INTO crawl (id, plan, job_id, started_at, run) VALUES (1, ?1, ?2, ?3, 1)",
  ).run(planText(options.plan), jobId, startedAt);
  return { jobId, startedAt, run: 1, mode: "new", isSeeded: false };
}

function repeat(db: FrontierDatabase, run: number, options: OpenFrontierOptions): OpenCrawl {
  const jobId = options.jobId ?? crypto.randomUUID();
  const startedAt = options.now().toISOString();
  db.prepare<unknown, [string, string, number]>(
    `UPDATE crawl SET job_id = ?1, started_at = ?2, run = ?3, is_finished = 0, is_seeded = 0,
      successful = 0, failed = 0, skipped = 0, fetched = 0, queued = 0`,
  ).run(jobId, startedAt, run);
  db.run("DELETE FROM skipped_link");
  db.run("DELETE FROM warning");
  db.run("UPDATE host SET next_at = 0 WHERE next_at > 8e15");
  return { jobId, startedAt, run, mode: "repeated", isSeeded: false };
}

/** What makes a crawl another one: everything but how fast it goes. */
const PLAN_FIELDS = {
  seeds: "seeds",
  sitemaps: "sitemaps",
  allowPrefixes: "allow prefixes",
  denyPrefixes: "deny prefixes",
  maxPages: "the page cap",
  maxDepth: "the depth cap",
  followsLinks: "following links",
  obeysRobots: "obeying robots.txt",
  respectsMetaRobots: "respecting meta robots",
  discoversSitemaps: "discovering sitemaps",
  extraction: "extraction options",
} as const satisfies Partial<Record<keyof CrawlPlan, string>>;

const planText = (plan: CrawlPlan): string =>
  JSON.stringify(
    Object.fromEntries(Object.keys(PLAN_FIELDS).map((key) => [key, plan[key as keyof CrawlPlan]])),
  );

function requireSamePlan(row: CrawlRow, { plan, place, freshName }: OpenFrontierOptions): void {
  const wanted: Record<string, unknown> = JSON.parse(planText(plan));
  const stored: Record<string, unknown> = JSON.parse(row.plan);
  const differing = Object.entries(PLAN_FIELDS)
    .filter(([key]) => JSON.stringify(wanted[key]) !== JSON.stringify(stored[key]))
    .map(([, name]) => name);
  if (differing.length === 0) return;
  const state = row.is_finished ? "a finished crawl" : "an unfinished crawl";
  throw new Failure(
    "invalid_usage",
    `${place} holds ${state} with another plan (${differing.join(", ")}): ${freshName} forgets it, or choose another output directory`,
  );
}
