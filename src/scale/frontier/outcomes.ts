import type { FrontierTallies, PageOutcome } from "../../crawler/index.ts";
import { type TallyRow, toTallies } from "../../crawler/index.ts";
import type { Postgres } from "../postgres/postgres.ts";
import { OUTCOME_COLUMNS, OUTCOME_TABLES, type OutcomeValues, toOutcome } from "./rows.ts";

/** An outcome with its number, in whose order they are listed. */
type ListedRow = { readonly n: number; readonly outcome: OutcomeValues };
type ChangeRow = ListedRow & { readonly at: Date };

const LISTED_AT_ONCE = 500;

/** Reads the outcomes of a shared crawl. */
export class SharedOutcomes {
  readonly #db: Postgres;
  readonly #crawl: number;
  readonly #run: number;

  constructor(db: Postgres, crawl: number, run: number) {
    this.#db = db;
    this.#crawl = crawl;
    this.#run = run;
  }

  async *all(): AsyncGenerator<PageOutcome> {
    for await (const { outcome } of this.#list(LIST, [])) yield toOutcome(outcome);
  }

  /** Merges the workers' outcomes by time; the outcomes of each worker keep their order. */
  async *changes(): AsyncGenerator<PageOutcome> {
    const workers = await this.#db.query<{ worker: number }>(
      "SELECT worker FROM crawl_tally WHERE crawl = $1 AND recorded > 0",
      [this.#crawl],
    );
    const lists = workers.map(({ worker }) => this.#list<ChangeRow>(LIST_CHANGES, [worker]));
    const heads = await Promise.all(lists.map(async (rows) => ({ rows, next: await rows.next() })));
    for (;;) {
      let first: { readonly head: (typeof heads)[number]; readonly row: ChangeRow } | null = null;
      for (const head of heads) {
        if (head.next.done) continue;
        const row = head.next.value;
        if (first === null || row.at < first.row.at) first = { head, row };
      }
      if (first === null) return;
      yield toOutcome(first.row.outcome);
      first.head.next = await first.head.rows.next();
    }
  }

  /** Yields what a statement lists, some rows at a time. */
  async *#list<Row extends ListedRow>(sql: string, which: readonly number[]): AsyncGenerator<Row, void> {
    for (let last = 0; ; ) {
      const parameters = [this.#crawl, this.#run, ...which, last, LISTED_AT_ONCE];
      const rows = await this.#db.query<Row>(sql, parameters);
      yield* rows;
      last = rows.at(-1)?.n ?? last;
      if (rows.length < LISTED_AT_ONCE) return;
    }
  }

  async tallies(): Promise<FrontierTallies> {
    const run = [this.#crawl, this.#run];
    const rows = await this.#db.query<TallyRow>(TALLIES, run);
    return toTallies(rows, await this.#db.query<{ reason: string; count: number }>(LEFT_LINKS, run));
  }
}

const LIST = `SELECT o.page AS n, ${OUTCOME_COLUMNS} AS outcome FROM ${OUTCOME_TABLES}
  WHERE o.crawl = $1 AND o.run = $2 AND p.run = $2 AND o.page > $3 ORDER BY o.page LIMIT $4`;
const LIST_CHANGES = `SELECT o.n, o.recorded_at AS at, ${OUTCOME_COLUMNS} AS outcome FROM ${OUTCOME_TABLES}
  WHERE o.crawl = $1 AND o.run = $2 AND o.worker = $3 AND o.n > $4 AND o.change IN ('new', 'changed', 'gone')
    AND o.epoch = (SELECT epoch FROM crawl WHERE id = $1) ORDER BY o.n LIMIT $5`;
const TALLIES = `SELECT status, error_code, reason, change, http_status IN (404, 410) AS is_gone, count(*) AS count
  FROM crawl_outcome WHERE crawl = $1 AND run = $2 GROUP BY 1, 2, 3, 4, 5`;
const LEFT_LINKS = `SELECT reason, count FROM crawl_skipped_link WHERE crawl = $1
  UNION ALL SELECT CASE kind WHEN 5 THEN 'max_pages' ELSE 'too_deep' END, count(*) FROM crawl_page
    WHERE crawl = $1 AND run = $2 AND kind >= 5 AND source > 1 GROUP BY kind
  UNION ALL SELECT 'too_deep', sum(too_deep) FROM crawl_link WHERE crawl = $1 AND run = $2 AND too_deep > 0 GROUP BY run`;
