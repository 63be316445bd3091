import type { Database } from "../../base/database/index.ts";
import { yieldToEventLoop } from "../../base/event-loop.ts";
import type { Block, FailureCode } from "../../base/failure.ts";
import type { PageUrl } from "../../urls/index.ts";
import type { PageChange, PageOutcome, SkipReason } from "../types.ts";
import type { FrontierTallies, Settlement } from "./frontier.ts";
import { CHANGES, FETCHERS, nameOf, STATE, STATUSES, Statements } from "./schema.ts";

/** An outcome with its page, as both engines keep it. */
export type OutcomeRow = {
  readonly url: string;
  readonly depth: number;
  readonly parent: string | null;
  readonly status: number;
  readonly reason: string | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  /** JSON. */
  readonly error_block: string | null;
  readonly file_path: string | null;
  readonly title: string | null;
  readonly word_count: number | null;
  readonly http_status: number | null;
  readonly final_url: string | null;
  readonly duration_ms: number | null;
  readonly content_hash: string | null;
  readonly warnings: string | null;
  readonly change: string | null;
  readonly fetcher: string | null;
};

type Seq = { readonly seq: number };
type ListedRow = OutcomeRow & { readonly seq: number; readonly page: number };

const SUCCESS = STATUSES.indexOf("success");
const SKIPPED = STATUSES.indexOf("skipped");
const FAILED = STATUSES.indexOf("failed");
/** The number of pages whose outcomes are counted in one query. */
const COUNTED_AT_ONCE = 5000;
/** The number of outcomes read at once while they are listed. */
const LISTED_AT_ONCE = 500;

/** The outcomes of pages, in this run and in the previous one. */
export class OutcomeTable {
  readonly #run: number;
  readonly #sql: Statements;
  readonly #lists: ReturnType<typeof prepareLists>;
  #lastSeq: number;
  #lastTaken: number;

  constructor(db: Database, run: number) {
    this.#run = run;
    this.#sql = new Statements(db);
    this.#lists = prepareLists(db);
    this.#lastSeq = this.#sql.get<Seq>`SELECT ifnull(max(seq), 0) AS seq FROM outcome`?.seq ?? 0;
    this.#lastTaken = this.#lastSeq;
  }

  /** Takes outcomes recorded since this object was created that were not taken yet, oldest first. */
  take(limit: number): PageOutcome[] {
    if (this.#lastTaken === this.#lastSeq) return [];
    const rows = this.#lists.recorded.all(this.#lastTaken, limit);
    this.#lastTaken = rows.at(-1)?.seq ?? this.#lastSeq;
    return rows.map(toPageOutcome);
  }

  put(pageId: number, { page, outcome }: Settlement): void {
    const { error, finalUrl } = outcome;
    // `stored` has the rest of a page that succeeded.
    const own = outcome.status === "success" ? NOT_REPEATED : outcome;
    this.#sql.run`INSERT OR REPLACE INTO outcome (seq, page, run, status, reason, error_code, error_message,
        file_path, title, word_count, http_status, final_url, duration_ms, content_hash, warnings, change, fetcher, error_block)
      VALUES (${++this.#lastSeq}, ${pageId}, ${this.#run}, ${STATUSES.indexOf(outcome.status)}, ${outcome.reason},
        ${error?.code ?? null}, ${error?.message ?? null}, ${own.filePath}, ${own.title},
        ${own.wordCount}, ${outcome.httpStatus}, ${finalUrl === page.url ? "" : finalUrl}, ${outcome.durationMs},
        ${own.contentHash}, ${own.warnings.length > 0 ? JSON.stringify(own.warnings) : null},
        ${codeOf(CHANGES, outcome.change)}, ${codeOf(FETCHERS, outcome.fetcher)}, ${error?.block ? JSON.stringify(error.block) : null})`;
  }

  /** @param owner the page that it is a duplicate of */
  putSkipped(pageId: number, reason: SkipReason, owner: number | null): void {
    this.#sql.run`INSERT OR REPLACE INTO outcome (seq, page, run, status, reason, final_url)
      VALUES (${++this.#lastSeq}, ${pageId}, ${this.#run}, ${SKIPPED}, ${reason},
        (SELECT url FROM address WHERE id = ${owner}))`;
  }

  /** Closes the queue, so that no queued page can be claimed. */
  closeQueue(): number {
    this.#sql.run`UPDATE host SET queued = 0, head_depth = NULL WHERE queued > 0`;
    return this.#lastPage();
  }

  #lastPage(): number {
    return this.#sql.get<{ id: number }>`SELECT ifnull(max(id), 0) AS id FROM page`?.id ?? 0;
  }

  /** Drops the queued pages with these numbers, excluding the last. */
  dropQueued(from: number, to: number) {
    const entries = this.#sql.run`INSERT OR REPLACE INTO outcome (seq, page, run, status, reason)
      SELECT ${this.#lastSeq} + row_number() OVER (ORDER BY id), id, ${this.#run}, ${SKIPPED}, 'max_pages'
        FROM page WHERE state IN (0, 2) AND source < 2 AND id >= ${from} AND id < ${to}`;
    this.#lastSeq += entries;
    const takenOver = this.#sql.get<{ count: number }>`
      SELECT count(*) AS count FROM page WHERE state = 2 AND ready_at < 0 AND id >= ${from} AND id < ${to}`;
    const all = this.#sql.run`UPDATE page SET state = ${STATE.left}, ready_at = 0
      WHERE state IN (0, 2) AND id >= ${from} AND id < ${to}`;
    return { entries, links: all - entries, takenOver: takenOver?.count ?? 0 };
  }

  /** Counts for a summary. It yields in between: counting 200 000 outcomes blocks the thread for 0.3 s. */
  async tallies(): Promise<TallyRow[]> {
    const rows: TallyRow[] = [];
    const last = this.#lastPage();
    for (let from = 0; from <= last; from += COUNTED_AT_ONCE) {
      rows.push(...this.#lists.tallies.all(this.#run, from, from + COUNTED_AT_ONCE));
      await yieldToEventLoop();
    }
    return rows;
  }

  all(): AsyncGenerator<PageOutcome> {
    return listed(0, (last) => this.#lists.all.all(last, this.#run, LISTED_AT_ONCE), "page");
  }

  /** Yields the new, changed and gone pages since the last finished crawl, in the order of recording. */
  changes(): AsyncGenerator<PageOutcome> {
    const told = this.#sql.get<Seq>`SELECT told_seq AS seq FROM crawl`?.seq ?? 0;
    return listed(told, (last) => this.#lists.changes.all(last, this.#run, LISTED_AT_ONCE), "seq");
  }

  /** Withdraws the entry of a left-over page that will be crawled after all. */
  takeBackLeft(pageId: number): boolean {
    const taken = this.#sql.run`
      DELETE FROM outcome WHERE page = ${pageId} AND run = ${this.#run} AND reason = 'max_pages'`;
    return taken > 0;
  }

  /** Notes that everything that was recorded has been reported. */
  finish(): void {
    this.#sql.run`UPDATE crawl SET told_seq = ${this.#lastSeq}`;
  }

  seedTargets(): PageUrl[] {
    const rows = this.#sql.all<{ url: PageUrl }>`
      SELECT iif(final_url = '', (SELECT url FROM address WHERE address.id = page.id), final_url) AS url
        FROM page JOIN outcome ON outcome.page = page.id
        WHERE page.source = 0 AND outcome.run = ${this.#run} AND final_url IS NOT NULL`;
    return rows.map(({ url }) => url);
  }
}

/**
 * Yields the outcomes of a table, some at a time.
 * @param read the rows after the last one, which is known by its `key`
 */
async function* listed(
  start: number,
  read: (last: number) => readonly ListedRow[],
  key: "page" | "seq",
): AsyncGenerator<PageOutcome> {
  for (let last = start; ; ) {
    const rows = read(last);
    for (const row of rows) yield toPageOutcome(row);
    last = rows.at(-1)?.[key] ?? last;
    if (rows.length < LISTED_AT_ONCE) return;
  }
}

// The table's texts have these types, because nothing else writes it.
export const toPageOutcome = (row: OutcomeRow): PageOutcome => ({
  url: row.url as PageUrl,
  depth: row.depth,
  parent: row.parent as PageUrl | null,
  status: STATUSES[row.status] ?? "failed",
  filePath: row.file_path,
  wordCount: row.word_count,
  title: row.title,
  httpStatus: row.http_status,
  finalUrl: row.final_url as PageUrl | null,
  durationMs: row.duration_ms,
  contentHash: row.content_hash,
  warnings: row.warnings === null ? [] : JSON.parse(row.warnings),
  error:
    row.error_code === null
      ? null
      : {
          code: row.error_code as FailureCode,
          message: row.error_message ?? "",
          ...(row.error_block !== null && { block: JSON.parse(row.error_block) as Block }),
        },
  reason: row.reason as SkipReason | null,
  change: row.change as PageChange | null,
  fetcher: row.fetcher as PageOutcome["fetcher"],
});

/** How many outcomes of a run are alike. */
export type TallyRow = Pick<OutcomeRow, "status" | "error_code" | "reason" | "change"> & {
  /** Whether the status was 404 or 410. */
  readonly is_gone: boolean | number | null;
  readonly count: number;
};

/** The counts of a summary from those of outcomes, and of links that were not followed. */
export function toTallies(
  rows: readonly TallyRow[],
  links: readonly { readonly reason: string; readonly count: number }[],
): FrontierTallies {
  const tallies = { failures: {}, skips: {}, changes: {}, skippedLinks: {}, transient404: 0 };
  const add = (counts: Record<string, number>, name: string | null, count: number): void => {
    if (name !== null) counts[name] = (counts[name] ?? 0) + count;
  };
  for (const { status, error_code, reason, change, is_gone, count } of rows) {
    if (status === FAILED) add(tallies.failures, error_code, count);
    if (status === SKIPPED) add(tallies.skips, reason, count);
    if (status === SUCCESS && is_gone) tallies.transient404 += count;
    add(tallies.changes, change, count);
  }
  for (const { reason, count } of links) add(tallies.skippedLinks, reason, count);
  return tallies;
}

const codeOf = <Name>(names: readonly Name[], name: Name | null): number | null =>
  name === null ? null : names.indexOf(name);
const NOT_REPEATED = { filePath: null, title: null, wordCount: null, contentHash: null, warnings: [] };
const REPEATED = ["file_path", "title", "word_count", "content_hash", "warnings"]
  .map((name) => `ifnull(kept.${name}, outcome.${name}) AS ${name}`)
  .join(", ");

/** The columns of an outcome with its page; what follows names the rows. */
const LISTED = `SELECT seq, outcome.page, status, reason, error_code, error_message, error_block, ${REPEATED}, http_status,
    iif(final_url = '', address.url, final_url) AS final_url, duration_ms, ${nameOf("change", CHANGES)} AS change,
    ${nameOf("outcome.fetcher", FETCHERS)} AS fetcher, address.url, page.depth,
    (SELECT url FROM address WHERE address.id = page.parent) AS parent
  FROM outcome JOIN page ON page.id = outcome.page JOIN address ON address.id = page.id
    LEFT JOIN kept ON kept.page = outcome.page AND status = ${SUCCESS}`;

const prepareLists = (db: Database) => ({
  recorded: db.prepare<ListedRow, [number, number]>(
    `${LISTED} WHERE outcome.seq > ?1 ORDER BY outcome.seq LIMIT 0 + ?2`,
  ),
  all: db.prepare<ListedRow, [number, number, number]>(
    `${LISTED} WHERE outcome.page > ?1 AND outcome.run = ?2 AND page.run = ?2 ORDER BY outcome.page LIMIT 0 + ?3`,
  ),
  tallies: db.prepare<TallyRow, [number, number, number]>(
    `SELECT status, error_code, reason, ${nameOf("change", CHANGES)} AS change, http_status IN (404, 410) AS is_gone,
      count(*) AS count FROM outcome WHERE run = ?1 AND page >= ?2 AND page < ?3 GROUP BY 1, 2, 3, 4, 5`,
  ),
  changes: db.prepare<ListedRow, [number, number, number]>(
    `${LISTED} WHERE outcome.seq > ?1 AND outcome.run = ?2 AND outcome.change <> ${CHANGES.indexOf("unchanged")}
      ORDER BY outcome.seq LIMIT 0 + ?3`,
  ),
});
