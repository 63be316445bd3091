import { clockFrom, steadyNow } from "../../base/clock.ts";
import { Failure, type FailureRecord } from "../../base/failure.ts";
import type { CrawlState, Frontier } from "../../crawler/index.ts";
import {
  asksAnew,
  comparePlans,
  nextCrawl,
  otherScope,
  type PlanChanges,
  planDifferences,
  planText,
  type SharedFrontierOptions,
} from "../../crawler/index.ts";
import type { Postgres, Queries } from "../postgres/postgres.ts";
import { PostgresFrontier } from "./frontier.ts";
import { originsOf } from "./rows.ts";
import { newWorker, type OpenCrawl, type Pace } from "./worker.ts";

export type PostgresFrontierOptions = SharedFrontierOptions & {
  readonly db: Postgres;
  readonly pace?: Partial<Pace>;
};

const PACE: Pace = { beatMs: 1000, deadMs: 15_000, idleMs: 1000, leaveMs: 1000 };
/** Rows of forgotten crawls that are deleted at once. */
const SWEPT_AT_ONCE = 5000;

/**
 * Opens the frontier of a place, which is its identity as text. It joins other processes that are at work; otherwise it
 * continues the crawl of the place, as a frontier in a file does. A finished crawl is over at once, unless the limits
 * admit more now, or another job repeats it.
 * @throws Failure `crawl_conflict` if pages of another scope are stored, or if processes are at work with another plan or
 *   for another job
 */
export async function openPostgresFrontier(options: PostgresFrontierOptions): Promise<Frontier> {
  const { db, canLead } = options;
  const pace = { ...PACE, ...options.pace };
  const worker = newWorker();
  const crawl = await db.transaction((queries) => takeUp(queries, { ...options, pace, worker }));
  const origins = await originsOf(db, crawl.id);
  const frontier = new PostgresFrontier(crawl, { db, canLead, pace, worker, origins });
  await frontier.start();
  void sweep(db).catch(() => {}); // whoever opens a frontier next goes on
  return frontier;
}

/** Counts what waits in all crawls that processes work on: pages, and hosts that have any. */
export async function waitingCounts(db: Queries) {
  const [row] = await db.query<{ pages: number; hosts: number }>(
    `SELECT coalesce(sum(t.open - k.claimed), 0) AS pages, coalesce(sum(h.hosts), 0) AS hosts FROM crawl c
      CROSS JOIN LATERAL (SELECT coalesce(sum(open), 0) AS open FROM crawl_tally WHERE crawl = c.id) t
      CROSS JOIN LATERAL (SELECT count(*) AS claimed FROM crawl_claim WHERE crawl = c.id) k
      CROSS JOIN LATERAL (SELECT count(*) AS hosts FROM crawl_turn
        WHERE crawl = c.id AND head_depth IS NOT NULL) h
      WHERE EXISTS (SELECT FROM crawl_worker w
        WHERE w.crawl = c.id AND w.seen_at > clock_timestamp() - $1 * interval '1 ms')`,
    [PACE.deadMs],
  );
  return row ?? { pages: 0, hosts: 0 };
}

/** Deletes, little by little, what crawls hold that were begun afresh. */
async function sweep(db: Postgres): Promise<void> {
  for (let isMore = true; isMore; ) {
    const [row] = await db.query<{ more: boolean }>("SELECT crawl_sweep($1) AS more", [SWEPT_AT_ONCE]);
    isMore = row?.more ?? false;
  }
}

type CrawlRow = {
  readonly id: number;
  readonly plan: string;
  readonly job_id: string;
  readonly started_at: Date;
  readonly mode: OpenCrawl["mode"];
  readonly run: number;
  readonly asks_anew: number;
  readonly session: number;
  readonly is_seeded: boolean;
  readonly is_finished: boolean;
  readonly stopped: string | null;
  readonly is_live: boolean;
  readonly now: number;
};

type Opening = Omit<PostgresFrontierOptions, "pace"> & { readonly pace: Pace; readonly worker: number };

const COLUMNS = `id, plan, job_id, started_at, mode, run, asks_anew, session, is_seeded, is_finished, stopped,
  extract(epoch FROM clock_timestamp())::float8 * 1000 AS now, EXISTS (SELECT FROM crawl_worker w WHERE w.crawl = crawl.id
    AND w.seen_at > clock_timestamp() - $2 * interval '1 ms') AS is_live`;

const LOCK_WORKERS = `SELECT FROM crawl_worker WHERE crawl = (SELECT id FROM crawl WHERE place = $1)
  ORDER BY id FOR UPDATE`;

/** Takes up what a place holds, in a transaction that may run again after it has had its effect. */
async function takeUp(queries: Queries, opening: Opening): Promise<OpenCrawl> {
  const { place, canLead, pace } = opening;
  const isMade = canLead && (await insert(queries, opening)) > 0;
  // A worker with a statement under way could not be ended below.
  await queries.query(LOCK_WORKERS, [place]);
  await queries.query("SELECT FROM crawl WHERE place = $1 FOR UPDATE", [place]);
  // A statement of its own: it sees the workers of whoever had the lock before.
  const found = `SELECT ${COLUMNS} FROM crawl WHERE place = $1`;
  const [row] = await queries.query<CrawlRow>(found, [place, pace.deadMs]);
  if (!row) {
    if (!canLead) return nobody(opening);
    throw new Failure("internal", `the crawl of ${place} vanished while it was opened`);
  }
  if (isMade) return enter(queries, row, opening);
  return row.is_live && !isOtherRun(row, opening)
    ? join(queries, row, opening)
    : resume(queries, row, opening);
}

/** Tells whether the crawl is over for its workers, and another job begins the next. */
const isOtherRun = ({ is_finished, stopped, job_id }: CrawlRow, { jobId, canLead }: Opening): boolean =>
  (is_finished || stopped !== null) && canLead && jobId !== null && jobId !== job_id;

const insert = (queries: Queries, { place, plan, tries, jobId }: Opening): Promise<number> =>
  queries.run(
    `INSERT INTO crawl (place, plan, job_id, started_at, mode, max_pages, run, asks_anew)
      VALUES ($1, $2, $3, date_trunc('milliseconds', clock_timestamp()), 'new', $4, 1, 0) ON CONFLICT DO NOTHING`,
    [place, planText({ plan, tries }), jobId ?? crypto.randomUUID(), plan.maxPages],
  );

/** Begins to work on the crawl, as one of its processes. */
async function enter(queries: Queries, row: CrawlRow, { worker }: Opening): Promise<OpenCrawl> {
  await queries.query("SELECT crawl_join($1, $2, $3)", [row.id, worker, row.session]);
  return opened(row, row.is_finished ? "finished" : null);
}

const opened = (row: CrawlRow, end: CrawlState["end"]): OpenCrawl => ({
  id: row.id,
  jobId: row.job_id,
  startedAt: row.started_at.toISOString(),
  mode: row.mode,
  now: clockFrom(Math.max(row.now, row.started_at.getTime())),
  run: row.run,
  session: row.session,
  isSeeded: row.is_seeded,
  end,
});

const CANCELLED: FailureRecord = { code: "cancelled", message: "no process leads the crawl" };

/** The crawl for a process that may only help, where nobody is at work. */
const nobody = ({ jobId }: Opening): OpenCrawl => ({
  id: 0,
  jobId: jobId ?? "",
  startedAt: new Date().toISOString(),
  mode: "new",
  now: steadyNow,
  run: 0,
  session: 0,
  isSeeded: false,
  end: CANCELLED,
});

function join(queries: Queries, row: CrawlRow, opening: Opening): Promise<OpenCrawl> | OpenCrawl {
  const { place, plan, tries, jobId } = opening;
  const differing = planDifferences(row.plan, { plan, tries });
  if (differing.length > 0)
    throw new Failure(
      "crawl_conflict",
      `processes are crawling into ${place} with another plan (${differing.join(", ")}); the same command joins them`,
    );
  if (jobId !== null && jobId !== row.job_id)
    throw new Failure("crawl_conflict", `processes are crawling into ${place} for the job ${row.job_id}`);
  // `stop` wrote it.
  if (row.stopped !== null) return opened(row, JSON.parse(row.stopped) as FailureRecord);
  return enter(queries, row, opening);
}

/** Goes on where nobody is at work. */
async function resume(queries: Queries, row: CrawlRow, opening: Opening): Promise<OpenCrawl> {
  if (!opening.canLead) return opened(row, row.is_finished ? "finished" : CANCELLED);
  const changes = comparePlans(row.plan, opening);
  const isOther = changes.scope.length > 0;
  if (isOther && !opening.isFresh && (await holdsPages(queries, row)))
    throw otherScope(changes, opening, row.is_finished);
  if (isOther || opening.isFresh) {
    await queries.run("UPDATE crawl SET place = NULL WHERE id = $1", [row.id]);
    return takeUp(queries, { ...opening, isFresh: false });
  }
  const isFinished = row.is_finished;
  const hasMore = isFinished && (await admitsMore(queries, row, { opening, changes }));
  const next = nextCrawl(changes, isFinished, hasMore);
  if (next === "over" && !isOtherRun(row, opening)) return opened(row, "finished");
  // Workers that are dead, or that a new job finds at the end of the last one.
  await queries.query("SELECT crawl_bury($1, w.id, true) FROM crawl_worker w WHERE w.crawl = $1", [row.id]);
  return (next === "go_on" ? goOn : repeat)(queries, row, { opening, changes });
}

/** Tells whether a crawl of this memory has ever stored a page; if not, there is nothing to lose. */
const holdsPages = async (queries: Queries, { id }: CrawlRow): Promise<boolean> =>
  (await queries.query("SELECT FROM crawl_stored WHERE crawl = $1 LIMIT 1", [id])).length > 0;

type Changed = { readonly opening: Opening; readonly changes: PlanChanges };

/** Tells whether the current limits admit something that those of a finished crawl left out. */
async function admitsMore(queries: Queries, row: CrawlRow, { opening, changes }: Changed): Promise<boolean> {
  const { maxPages, maxDepth } = opening.plan;
  const parameters = [row.id, row.run, changes.tries, maxPages, maxDepth];
  const [found] = await queries.query<{ more: boolean }>(HAS_MORE, parameters);
  return found?.more ?? false;
}

const HAS_MORE = `SELECT
  ($3 AND EXISTS (SELECT FROM crawl_outcome WHERE crawl = $1 AND run = $2 AND status = 1))
  OR ((SELECT sum(fetched) < $4 FROM crawl_tally WHERE crawl = $1) AND (
    EXISTS (SELECT FROM crawl_page WHERE crawl = $1 AND run = $2 AND kind >= 5 AND depth <= $5)
    OR EXISTS (SELECT FROM crawl_link l JOIN crawl_page p ON p.crawl = $1 AND p.id = l.page
      WHERE l.crawl = $1 AND l.run = $2 AND l.too_deep > 0 AND p.depth < $5))) AS more`;

async function goOn(queries: Queries, row: CrawlRow, { opening, changes }: Changed): Promise<OpenCrawl> {
  const { plan, tries, jobId } = opening;
  const isTriedAgain = changes.tries || changes.reading;
  const [updated] = await queries.query<CrawlRow>(
    `UPDATE crawl SET plan = $3, job_id = coalesce($4, job_id), max_pages = $5, mode = 'resumed',
      session = session + (plan <> $3 OR job_id <> coalesce($4, job_id))::int,
      is_finished = false, stopped = NULL, leader_until = '-infinity' WHERE id = $1 RETURNING ${COLUMNS}`,
    [row.id, opening.pace.deadMs, planText({ plan, tries }), jobId, plan.maxPages],
  );
  await queries.query("SELECT crawl_go_on($1, $2, $3)", [row.id, isTriedAgain, plan.maxDepth]);
  return enter(queries, updated ?? row, opening);
}

async function repeat(queries: Queries, row: CrawlRow, { opening, changes }: Changed): Promise<OpenCrawl> {
  const { plan, tries, jobId, pace } = opening;
  await queries.query("SELECT crawl_repeat($1)", [row.id]);
  const [updated] = await queries.query<CrawlRow>(
    `UPDATE crawl SET plan = $3, job_id = $4, max_pages = $5, mode = 'repeated', session = session + 1,
      started_at = date_trunc('milliseconds', clock_timestamp()), run = run + 1,
      asks_anew = CASE WHEN $6 THEN run + 1 ELSE asks_anew END, is_finished = false, is_seeded = false, stopped = NULL,
      leader_until = '-infinity' WHERE id = $1 RETURNING ${COLUMNS}`,
    [
      row.id,
      pace.deadMs,
      planText({ plan, tries }),
      jobId ?? crypto.randomUUID(),
      plan.maxPages,
      asksAnew(changes),
    ],
  );
  return enter(queries, updated ?? row, opening);
}
