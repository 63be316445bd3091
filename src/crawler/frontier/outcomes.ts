import type { Database } from "../../base/database/index.ts";
import { yieldToEventLoop } from "../../base/event-loop.ts";
import type { FailureCode } from "../../base/failure.ts";
import type { PageUrl } from "../../urls/index.ts";
import type { PageChange, PageOutcome, SkipReason } from "../types.ts";
import type { FrontierTallies, Settlement } from "./frontier.ts";
import { STATE, STATUSES } from "./schema.ts";

/** An outcome with its page, as both engines keep it. */
export type OutcomeRow = {
  readonly url: string;
  readonly depth: number;
  readonly parent: string | null;
  readonly status: number;
  readonly reason: string | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
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
  readonly #sql: ReturnType<typeof prepare>;
  #lastSeq: number;
  #lastTaken: number;

  constructor(db: Database, run: number) {
    this.#run = run;
    this.#sql = prepare(db);
    this.#lastSeq = this.#sql.lastSeq.get()?.seq ?? 0;
    this.#lastTaken = this.#lastSeq;
  }

  /** Takes outcomes recorded since this object was created that were not taken yet, oldest first. */
  take(limit: number): PageOutcome[] {
    if (this.#lastTaken === this.#lastSeq) return [];
    const rows = this.#sql.recorded.all(this.#lastTaken, limit);
    this.#lastTaken = rows.at(-1)?.seq ?? this.#lastSeq;
    return rows.map(toPageOutcome);
  }

  put(pageId: number, { outcome }: Settlement): void {
    this.#sql.put.run(
      ++this.#lastSeq,
      pageId,
      this.#run,
      STATUSES.indexOf(outcome.status),
      outcome.reason,
      outcome.error?.code ?? null,
      outcome.error?.message ?? null,
      outcome.filePath,
      outcome.title,
      outcome.wordCount,
      outcome.httpStatus,
      outcome.finalUrl,
      outcome.durationMs,
      outcome.contentHash,
      outcome.warnings.length > 0 ? JSON.stringify(outcome.warnings) : null,
      outcome.change,
      outcome.fetcher,
    );
  }

  /** @param owner the page that it is a duplicate of */
  putSkipped(pageId: number, reason: SkipReason, owner: number | null): void {
    this.#sql.putSkipped.run(++this.#lastSeq, pageId, this.#run, SKIPPED, reason, owner);
  }

  isSuccess(pageId: number): boolean {
    const row = this.#sql.status.get(pageId, this.#run);
    return row?.status === SUCCESS;
  }

  /** Closes the queue, so that no queued page can be claimed. */
  closeQueue(): number {
    this.#sql.emptyHosts.run();
    return this.#sql.lastPage.get()?.id ?? 0;
  }

  /** Drops the queued pages with these numbers, excluding the last. */
  dropQueued(
    from: number,
    to: number,
  ): { readonly entries: number; readonly links: number; readonly takenOver: number } {
    const entries = this.#sql.dropEntries.run(this.#lastSeq, this.#run, SKIPPED, from, to).changes;
    this.#lastSeq += entries;
    const takenOver = this.#sql.countTakenOver.get(from, to)?.count ?? 0;
    const all = this.#sql.settleQueued.run(from, to).changes;
    return { entries, links: all - entries, takenOver };
  }

  /** Counts for a summary. It yields in between: counting 200 000 outcomes blocks the thread for 0.3 s. */
  async tallies(): Promise<Omit<FrontierTallies, "skippedLinks">> {
    const failures: Counts<FailureCode> = {};
    const skips: Counts<SkipReason> = {};
    const changes: Counts<PageChange> = {};
    let transient404 = 0;
    const last = this.#sql.lastPage.get()?.id ?? 0;
    for (let from = 0; from <= last; from += COUNTED_AT_ONCE) {
      for (const row of this.#sql.tallies.all(this.#run, from, from + COUNTED_AT_ONCE)) {
        const { status, error_code, reason, change, is_gone, count } = row;
        if (status === FAILED && error_code !== null) add(failures, error_code, count);
        if (status === SKIPPED && reason !== null) add(skips, reason, count);
        if (change !== null) add(changes, change, count);
        if (status === SUCCESS && is_gone === 1) transient404 += count;
      }
      await yieldToEventLoop();
    }
    return { failures, skips, changes, transient404 };
  }

  all(): AsyncGenerator<PageOutcome> {
    const { list } = this.#sql;
    return listed(0, (last) => list.all(last, this.#run, LISTED_AT_ONCE), "page");
  }

  /** Yields the new, changed and gone pages since the last finished crawl, in the order of recording. */
  changes(): AsyncGenerator<PageOutcome> {
    const { listChanges, toldSeq } = this.#sql;
    return listed(toldSeq.get()?.seq ?? 0, (last) => listChanges.all(last, this.#run, LISTED_AT_ONCE), "seq");
  }

  /** Withdraws the entry of a left-over page that will be crawled after all. */
  takeBackLeft(pageId: number): boolean {
    return this.#sql.takeBackLeft.run(pageId, this.#run).changes > 0;
  }

  /** Notes that everything that was recorded has been reported. */
  finish(): void {
    this.#sql.setToldSeq.run(this.#lastSeq);
  }

  seedTargets(): PageUrl[] {
    return this.#sql.seedTargets.all(this.#run).map(({ url }) => url as PageUrl); // stored as PageUrls
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
      : { code: row.error_code as FailureCode, message: row.error_message ?? "" },
  reason: row.reason as SkipReason | null,
  change: row.change as PageChange | null,
  fetcher: row.fetcher as PageOutcome["fetcher"],
});

type Counts<K extends string> = { [key in K]?: number };

function add<K extends string>(counts: Counts<K>, key: K, count: number): void {
  counts[key] = (counts[key] ?? 0) + count;
}

type TallyRow = {
  readonly status: number;
  readonly error_code: FailureCode | null;
  readonly reason: SkipReason | null;
  readonly change: PageChange | null;
  readonly is_gone: number | null;
  readonly count: number;
};

/** The columns of an outcome with its page; what follows names the rows. */
const LISTED = `SELECT outcome.*, page.url, page.depth, parent.url AS parent
  FROM outcome JOIN page ON page.id = outcome.page LEFT JOIN page AS parent ON parent.id = page.parent`;

function prepare(db: Database) {
  return {
    put: db.prepare<unknown, (string | number | null)[]>(
      `INSERT OR REPLACE INTO outcome (seq, page, run, status, reason, error_code, error_message, file_path, title,
        word_count, http_status, final_url, duration_ms, content_hash, warnings, change, fetcher)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)`,
    ),
    putSkipped: db.prepare<unknown, [number, number, number, number, string, number | null]>(
      `INSERT OR REPLACE INTO outcome (seq, page, run, status, reason, final_url)
        VALUES (?1, ?2, ?3, ?4, ?5, (SELECT url FROM page WHERE id = ?6))`,
    ),
    status: db.prepare<{ status: number }, [number, number]>(
      "SELECT status FROM outcome WHERE page = ?1 AND run = ?2",
    ),
    dropEntries: db.prepare<unknown, [number, number, number, number, number]>(
      `INSERT OR REPLACE INTO outcome (seq, page, run, status, reason)
        SELECT ?1 + row_number() OVER (ORDER BY id), id, ?2, ?3, 'max_pages'
        FROM page WHERE state IN (0, 2) AND source < 2 AND id >= ?4 AND id < ?5`,
    ),
    settleQueued: db.prepare<unknown, [number, number]>(
      `UPDATE page SET state = ${STATE.left}, ready_at = 0 WHERE state IN (0, 2) AND id >= ?1 AND id < ?2`,
    ),
    countTakenOver: db.prepare<{ count: number }, [number, number]>(
      "SELECT count(*) AS count FROM page WHERE state = 2 AND ready_at < 0 AND id >= ?1 AND id < ?2",
    ),
    lastPage: db.prepare<{ id: number }>("SELECT ifnull(max(id), 0) AS id FROM page"),
    emptyHosts: db.prepare("UPDATE host SET queued = 0, head_depth = NULL WHERE queued > 0"),
    tallies: db.prepare<TallyRow, [number, number, number]>(
      `SELECT status, error_code, reason, change, http_status IN (404, 410) AS is_gone, count(*) AS count FROM outcome
        WHERE run = ?1 AND page >= ?2 AND page < ?3 GROUP BY status, error_code, reason, change, is_gone`,
    ),
    lastSeq: db.prepare<{ seq: number }>("SELECT ifnull(max(seq), 0) AS seq FROM outcome"),
    recorded: db.prepare<ListedRow, [number, number]>(
      `${LISTED} WHERE outcome.seq > ?1 ORDER BY outcome.seq LIMIT ?2`,
    ),
    list: db.prepare<ListedRow, [number, number, number]>(
      `${LISTED} WHERE outcome.page > ?1 AND outcome.run = ?2 AND page.run = ?2 ORDER BY outcome.page LIMIT ?3`,
    ),
    toldSeq: db.prepare<{ seq: number }>("SELECT told_seq AS seq FROM crawl"),
    setToldSeq: db.prepare<unknown, [number]>("UPDATE crawl SET told_seq = ?1"),
    listChanges: db.prepare<ListedRow, [number, number, number]>(
      `${LISTED} WHERE outcome.seq > ?1 AND outcome.run = ?2 AND change IN ('new', 'changed', 'gone')
        ORDER BY outcome.seq LIMIT ?3`,
    ),
    takeBackLeft: db.prepare<unknown, [number, number]>(
      "DELETE FROM outcome WHERE page = ?1 AND run = ?2 AND reason = 'max_pages'",
    ),
    seedTargets: db.prepare<{ url: string }, [number]>(
      `SELECT final_url AS url FROM page JOIN outcome ON outcome.page = page.id
        WHERE page.source = 0 AND outcome.run = ?1 AND final_url IS NOT NULL`,
    ),
  };
}
