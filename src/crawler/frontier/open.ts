import { rmSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type Database, makePrivateDirectory, openDatabase as openFile } from "../../base/database/index.ts";
import { Failure } from "../../base/failure.ts";
import type { ExtractionOptions } from "../../extraction/index.ts";
import {
  type Change,
  CRAWL,
  defaultsOf,
  EXTRACTION,
  type Option,
  type OptionTable,
} from "../../options/index.ts";
import type { CrawlPlan } from "../plan.ts";
import type { Frontier } from "./frontier.ts";
import {
  MAX_PAUSE_MS,
  SCHEMA,
  SCHEMA_VERSION,
  STATE,
  STATUSES,
  Statements,
  TABLES,
  TAKEN_OVER,
} from "./schema.ts";
import { type OpenCrawl, SqliteFrontier } from "./sqlite.ts";

/** The name of the file in its directory. */
export const FRONTIER_FILE = "frontier.sqlite";

/**
 * Opens the frontier of a directory: for a new crawl, for a crawl that was interrupted there or has other limits now, or
 * after a finished crawl, for the next crawl, which knows the stored pages.
 * @throws Failure `invalid_usage` if another process crawls; `crawl_conflict` if pages of another scope are stored;
 *   `unreadable_input`, `unwritable_output`
 */
export function openSqliteFrontier(options: SqliteFrontierOptions): Frontier {
  const { directory, isFresh } = options;
  makePrivateDirectory(directory);
  const path = join(directory, FRONTIER_FILE);
  if (isFresh) removeFrontier(path);
  const db = openDatabase(path);
  try {
    const record = db.transaction(() => takeUp(db, options));
    // The machine's clock may have been set back since the crawl began.
    const aheadMs = Math.max(0, Date.parse(record.startedAt) - options.now());
    const now = (): number => options.now() + aheadMs;
    mendWaits(db, now());
    return new SqliteFrontier(db, record, options.plan.maxPages, now);
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Restores the length of waits after the clock was set back, and ends waits longer than the longest possible. */
function mendWaits(db: Database, now: number): void {
  const sql = new Statements(db);
  const behindMs = (sql.get<{ seen_at: number }>`SELECT seen_at FROM crawl`?.seen_at ?? 0) - now;
  if (behindMs > 0) {
    sql.run`UPDATE page SET ready_at = ready_at - ${behindMs} WHERE state = 2 AND ready_at > 0`;
    sql.run`UPDATE host SET next_at = next_at - ${behindMs}`;
    sql.run`UPDATE crawl SET seen_at = ${now}`;
  }
  const longest = now + MAX_PAUSE_MS;
  sql.run`UPDATE page SET ready_at = 0 WHERE state = 2 AND ready_at > ${longest}`;
  sql.run`UPDATE host SET next_at = 0 WHERE next_at > ${longest}`;
}

/**
 * Removes a frontier's file, which is opened first, so that the memory of a running crawl stays.
 * @throws Failure `invalid_usage` where another process crawls
 */
export function removeFrontier(path: string): void {
  try {
    openDatabase(path).close();
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "unreadable_input") throw error;
  }
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
}

/**
 * Opens or creates the file, and locks it for as long as it is open.
 * @throws Failure `invalid_usage` where another process (or crawl of this one) has it open,
 *   `unreadable_input` when it is not a database, `unwritable_output`
 */
const openDatabase = (path: string): Database =>
  openFile({
    path,
    name: "a crawl's memory",
    access: { kind: "exclusive", refusal: "another crawl is running there" },
  });

type SqliteFrontierOptions = FrontierOptions & {
  /** The directory, which is created if it does not exist. */
  readonly directory: string;
  /** Whether to request only failed pages again, and pages that an interruption left. */
  readonly retriesFailed?: boolean;
};

type CrawlRow = {
  readonly plan: string;
  readonly job_id: string;
  readonly started_at: string;
  readonly run: number;
  readonly is_finished: number;
  readonly is_seeded: number;
  readonly fetched: number;
  readonly asks_anew: number;
};

/**
 * Takes up what a memory holds, in a transaction: nothing, a crawl that continues (interrupted, or finished under
 * limits that left something out), or a finished one that is repeated.
 * @throws Failure `crawl_conflict` where it holds pages of another scope, or of another version of the program
 */
function takeUp(db: Database, options: SqliteFrontierOptions): OpenCrawl {
  const sql = new Statements(db);
  const version = db.prepare<{ user_version: number }>("PRAGMA user_version").get()?.user_version ?? 0;
  const isNew = version === 0 && sql.get`SELECT 1 FROM sqlite_schema` === null;
  if (isNew) {
    db.run(SCHEMA);
    db.run(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    return begin(sql, options);
  }
  if (version !== SCHEMA_VERSION) throw otherVersion(version, options);
  const row = db.prepare<CrawlRow>("SELECT * FROM crawl").get();
  if (!row) return begin(sql, options);
  const changes = comparePlans(row.plan, options);
  if (options.retriesFailed) return retry(sql, row, options, changes);
  if (changes.scope.length > 0) {
    // A crawl that has never stored a page has nothing to lose.
    if (sql.get`SELECT page FROM stored LIMIT 1` !== null)
      throw otherScope(changes, options, row.is_finished === 1);
    for (const table of TABLES) db.run(`DELETE FROM ${table}`);
    return begin(sql, options);
  }
  sql.run`UPDATE crawl SET plan = ${planText(options)}`;
  const isFinished = row.is_finished === 1;
  const next = nextCrawl(changes, isFinished, isFinished && hasMore(sql, row, changes, options.plan));
  return next === "go_on" ? goOn(sql, row, options, changes) : repeat(db, row, options, asksAnew(changes));
}

function begin(sql: Statements, options: SqliteFrontierOptions): OpenCrawl {
  if (options.retriesFailed) throw nothingToRetry(options);
  const jobId = options.jobId ?? crypto.randomUUID();
  const startedAt = new Date(options.now()).toISOString();
  sql.run`INSERT INTO crawl (id, plan, job_id, started_at, run)
    VALUES (1, ${planText(options)}, ${jobId}, ${startedAt}, 1)`;
  return { jobId, startedAt, run: 1, asksAnew: 0, mode: "new", isSeeded: false };
}

/** Tells whether the current limits admit something that those of the crawl left out. */
function hasMore(sql: Statements, row: CrawlRow, { tries }: PlanChanges, plan: CrawlPlan): boolean {
  const found = sql.get<{ more: number }>`SELECT
    iif(${Number(tries)}, EXISTS (SELECT 1 FROM outcome WHERE run = ${row.run} AND status = ${FAILED}), 0)
    OR iif(${row.fetched} < ${plan.maxPages},
      EXISTS (SELECT 1 FROM page WHERE state >= 5 AND depth <= ${plan.maxDepth})
      OR EXISTS (SELECT 1 FROM link JOIN page ON page.id = link.page
        WHERE link.run = ${row.run} AND too_deep > 0 AND page.depth < ${plan.maxDepth}), 0) AS more`;
  return found?.more === 1;
}

function goOn(
  sql: Statements,
  row: CrawlRow,
  options: SqliteFrontierOptions,
  changes: PlanChanges,
): OpenCrawl {
  // The process that had claimed pages is gone; otherwise this file could not have been opened.
  const { maxDepth } = options.plan;
  sql.run`UPDATE crawl SET fetched = fetched +
    (SELECT count(*) FROM page WHERE state = 1 AND tries = 0 AND ready_at <> ${TAKEN_OVER})`;
  sql.run`UPDATE page SET state = 2, ready_at = iif(tries > 0, ready_at, ${TAKEN_OVER}) WHERE state = 1`;
  if (changes.tries || changes.reading) requeueFailed(sql, row.run);
  sql.run`UPDATE crawl SET fetched = fetched -
    (SELECT count(*) FROM page WHERE state = 2 AND tries = 0 AND depth > ${maxDepth})`;
  sql.run`UPDATE page SET state = ${STATE.deep}, ready_at = 0 WHERE state IN (0, 2, 5) AND depth > ${maxDepth}`;
  sql.run`UPDATE host SET queued = (SELECT count(*) FROM page WHERE state = 0 AND page.host = host.id),
    next_at = iif(next_at > 8e15, 0, next_at)`;
  sql.run`UPDATE host SET head_depth = (SELECT min(depth) FROM page WHERE state = 0 AND page.host = host.id)`;
  sql.run`UPDATE crawl SET is_finished = 0, queued = (SELECT count(*) FROM page WHERE state IN (0, 2))`;
  const { started_at: startedAt, run, is_seeded, asks_anew: asksAnew } = row;
  const jobId = options.jobId ?? row.job_id;
  sql.run`UPDATE crawl SET job_id = ${jobId}`;
  return { jobId, startedAt, run, asksAnew, mode: "resumed", isSeeded: is_seeded === 1 };
}

/** Goes on with the failed pages. The plan stays that of the crawl, which may be repeated with it. */
function retry(
  sql: Statements,
  row: CrawlRow,
  options: SqliteFrontierOptions,
  changes: PlanChanges,
): OpenCrawl {
  const scope = changes.contents ? [...changes.scope, "extraction"] : changes.scope;
  if (scope.length > 0) throw otherScope({ ...changes, scope }, options, row.is_finished === 1);
  return goOn(sql, row, options, { ...changes, tries: true });
}

const FAILED = STATUSES.indexOf("failed");

/** Failed pages get another try, because the changed settings may help. */
function requeueFailed(sql: Statements, run: number): void {
  // A requested page has a duration, and counted as fetched.
  sql.run`UPDATE crawl SET
    failed = failed - (SELECT count(*) FROM outcome WHERE run = ${run} AND status = ${FAILED}),
    fetched = fetched - (SELECT count(duration_ms) FROM outcome WHERE run = ${run} AND status = ${FAILED})`;
  sql.run`UPDATE page SET state = 0, tries = 0, spent_ms = 0, ready_at = 0
    WHERE id IN (SELECT page FROM outcome WHERE run = ${run} AND status = ${FAILED})`;
  sql.run`DELETE FROM outcome WHERE run = ${run} AND status = ${FAILED}`;
}

function repeat(db: Database, row: CrawlRow, options: SqliteFrontierOptions, isAsked: boolean): OpenCrawl {
  const run = row.run + 1;
  const jobId = options.jobId ?? crypto.randomUUID();
  const startedAt = new Date(options.now()).toISOString();
  // After the clock was set back, the times of hosts say nothing.
  const farthest = row.started_at > startedAt ? 0 : 8e15;
  const trustedFrom = isAsked ? run : row.asks_anew;
  new Statements(db).run`UPDATE crawl SET job_id = ${jobId}, started_at = ${startedAt}, run = ${run},
    asks_anew = ${trustedFrom}, is_finished = 0, is_seeded = 0, successful = 0, failed = 0, skipped = 0,
    fetched = 0, queued = 0`;
  for (const table of ["skipped_link", "warning", "origin"]) db.run(`DELETE FROM ${table}`);
  db.run(`UPDATE page SET state = ${STATE.settled} WHERE state NOT IN (${STATE.settled}, ${STATE.alias})`);
  db.run(`UPDATE host SET queued = 0, head_depth = NULL, next_at = iif(next_at > ${farthest}, 0, next_at)`);
  return { jobId, startedAt, run, asksAnew: trustedFrom, mode: "repeated", isSeeded: false };
}

const nothingToRetry = ({ place }: SqliteFrontierOptions): Failure =>
  new Failure(
    "invalid_usage",
    `${place} holds no memory of a crawl whose failed pages could be tried again (that of --join is in its database)`,
  );

const otherVersion = (version: number, { directory, place, freshName }: SqliteFrontierOptions): Failure =>
  new Failure(
    "crawl_conflict",
    `${place} holds the crawl of another version of this program (${join(directory, FRONTIER_FILE)} has format ${version}, this version reads ${SCHEMA_VERSION}): choose another output directory, or begin anew with ${freshName}, which forgets that crawl`,
  );

/** Options that open any kind of frontier. */
export type FrontierOptions = {
  /** The name of the place in messages: the output directory. */
  readonly place: string;
  readonly plan: CrawlPlan;
  /** The maximum number of requests for one page. */
  readonly tries: number;
  /** The job's id; null generates one for a new crawl. */
  readonly jobId: string | null;
  readonly isFresh: boolean;
  readonly freshName: string;
  /** A clock that is never set. */
  readonly now: () => number;
};

/** Options that open the frontier of a crawl which several processes share. */
export type SharedFrontierOptions = Omit<FrontierOptions, "now"> & {
  /** Whether this process may lead the crawl; one that may not only helps where others are at work. */
  readonly canLead: boolean;
};

/** The failure for a place that holds pages of another scope. */
export function otherScope(
  changes: PlanChanges,
  { place, freshName }: Pick<FrontierOptions, "place" | "freshName">,
  isFinished: boolean,
): Failure {
  const state = isFinished ? "a finished crawl" : "an unfinished crawl";
  return new Failure(
    "crawl_conflict",
    `${place} holds ${state} with another plan (${changes.scope.join(", ")}): choose another output directory, or begin anew with ${freshName}, which forgets that crawl`,
  );
}

/** Decisive for continuing a crawl's memory: the plan, and the number of requests for a page. */
type MemorisedPlan = Pick<FrontierOptions, "plan" | "tries">;

/** How the current plan differs from the one that a memory was made with. */
export type PlanChanges = {
  /** The settings that change which URLs belong to the crawl, by their names for a person. */
  readonly scope: readonly string[];
  /** Whether the limits of pages or depth differ. */
  readonly limits: boolean;
  /** Whether more requests are allowed for one page. */
  readonly tries: boolean;
  /** Whether the fetcher, the number of words to warn below, or what is saved beside the pages differs. */
  readonly reading: boolean;
  /** Whether the extracted content differs, so that stored pages are not what is wanted now. */
  readonly contents: boolean;
  /** Whether pages are asked for again because their ids were not kept. */
  readonly ids: boolean;
};

/** The options of a table whose other value has this effect on a crawl, with their names for a person. */
const changing = (what: Change, table: OptionTable): readonly (readonly [key: string, name: string])[] =>
  Object.entries(table).flatMap(([key, { changed }]) =>
    changed?.[0] === what ? [[key, changed[1]] as const] : [],
  );

const FETCHER = ["preference", "fetcher"] as const;
const SCOPE = changing("scope", CRAWL);
const READING = changing("reading", CRAWL);
/** The rest of what a memory keeps of a plan; what is not kept only decides the crawl's speed. */
const LIMITS = [
  ...changing("limits", CRAWL),
  ...READING,
  ...([FETCHER, ["extraction", "extraction"], ["tries", "tries"]] as const),
];

type Memorised = Partial<CrawlPlan & { readonly tries: number }>;

export function planText({ plan, tries }: MemorisedPlan): string {
  const all: Readonly<Record<string, unknown>> = { ...plan, tries };
  return JSON.stringify(Object.fromEntries([...SCOPE, ...LIMITS].map(([key]) => [key, all[key]])));
}

/** Returns the names of all settings that differ, for processes that work on one crawl at the same time. */
export function planDifferences(text: string, now: MemorisedPlan): readonly string[] {
  const before: Memorised = JSON.parse(text);
  const wanted: Memorised = JSON.parse(planText(now));
  return [...SCOPE, ...LIMITS]
    .filter(([key]) => !isDeepStrictEqual(before[key as keyof Memorised], wanted[key as keyof Memorised]))
    .map(([, name]) => name);
}

/** An option that a memory does not know had its default when it was made. */
const DEFAULTS = defaultsOf(EXTRACTION);
const CRAWL_DEFAULTS = defaultsOf(CRAWL);

const renderingsOf = ({ renderings = [] }: Partial<ExtractionOptions>) =>
  renderings.filter((rendering) => rendering !== "anchors");

const hasIds = ({ renderings }: Partial<ExtractionOptions>): boolean =>
  renderings?.includes("anchors") ?? false;

/**
 * What becomes of a crawl whose scope is the same; one that is over may be repeated.
 * @param hasMore whether the current limits admit something that those of the crawl left out
 */
export function nextCrawl(changes: PlanChanges, isFinished: boolean, hasMore: boolean) {
  const { contents, limits, tries, reading } = changes;
  if (contents) return "repeat";
  if (!isFinished || (hasMore && (limits || tries) && !reading)) return "go_on";
  return reading ? "repeat" : "over";
}

/** Tells whether the next crawl asks for stored pages without a condition. */
export const asksAnew = ({ contents, reading, ids }: PlanChanges): boolean => contents || reading || ids;

/** @param text as `planText` wrote it, in this version or an earlier one, which knew fewer fields */
export function comparePlans(text: string, now: MemorisedPlan): PlanChanges {
  const before: Memorised = JSON.parse(text);
  const wanted: Memorised = JSON.parse(planText(now));
  const isReadOtherwise = READING.some(([key]) => {
    const name = key as keyof typeof CRAWL_DEFAULTS; // a name of the table
    return !isDeepStrictEqual(before[name] ?? CRAWL_DEFAULTS[name], wanted[name]);
  });
  const isOther = ([key]: readonly [key: string, name: string]): boolean =>
    before[key as keyof Memorised] !== undefined &&
    !isDeepStrictEqual(before[key as keyof Memorised], wanted[key as keyof Memorised]);
  const earlier = { ...DEFAULTS, ...before.extraction };
  const { extraction } = now.plan;
  const known = before.extraction !== undefined;
  const others = Object.entries<Option>(EXTRACTION).filter(([key]) => {
    const name = key as keyof typeof DEFAULTS; // a name of the table
    return known && !isDeepStrictEqual(earlier[name], extraction[name]);
  });
  return {
    scope: SCOPE.filter(isOther).map(([, name]) => name),
    limits: changing("limits", CRAWL).some(isOther),
    tries: now.tries > (before.tries ?? now.tries),
    reading:
      isReadOtherwise || isOther(FETCHER) || others.some(([, { changed }]) => changed?.[0] === "reading"),
    contents:
      others.some(([, { changed }]) => changed?.[0] !== "reading") ||
      (known && !isDeepStrictEqual(renderingsOf(earlier), renderingsOf(extraction))),
    ids: hasIds(extraction) && !hasIds(earlier),
  };
}
