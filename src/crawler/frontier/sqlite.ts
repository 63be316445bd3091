import type { FailureCode } from "../../failure.ts";
import { hostOf, type PageUrl } from "../../urls/index.ts";
import type { LinkRefusal, PageOutcome, SkipReason } from "../types.ts";
import type { FrontierDatabase } from "./database.ts";
import type {
  ClaimedPage,
  ClaimOptions,
  Claims,
  CrawlRecord,
  Frontier,
  FrontierCounts,
  FrontierEntry,
  FrontierTallies,
  NextTry,
  Settlement,
} from "./frontier.ts";
import { OutcomeTable } from "./outcomes.ts";
import { PageQueue } from "./queue.ts";
import { SOURCES, STATE } from "./schema.ts";

/** The crawl that a file holds. */
export type OpenCrawl = CrawlRecord & {
  /** Which crawl into this place it is, from 1. */
  readonly run: number;
};

type KnownRow = { id: number; state: number; run: number; depth: number; parent: number | null };

type Place = {
  readonly depth: number;
  readonly parent: number | null;
  readonly source: number;
  readonly lastModified: string | null;
};

/** A frontier in one SQLite file; opened by `openSqliteFrontier`. */
export class SqliteFrontier implements Frontier {
  readonly crawl: CrawlRecord;
  readonly #db: FrontierDatabase;
  readonly #run: number;
  readonly #queue: PageQueue;
  readonly #outcomes: OutcomeTable;
  readonly #sql: ReturnType<typeof prepare>;
  // Pages of a site repeat its menu: URLs met lately, with their depth, need no look into the table.
  readonly #met = new Map<PageUrl, number>();
  #counts: Omit<FrontierCounts, "leased">;

  constructor(db: FrontierDatabase, record: OpenCrawl) {
    this.#db = db;
    this.crawl = record;
    this.#run = record.run;
    this.#outcomes = new OutcomeTable(db, record.run);
    this.#queue = new PageQueue(db, record.run, (page) => this.#outcomes.known(page));
    this.#sql = prepare(db);
    const row = this.#sql.counts.get();
    this.#counts = row ?? { successful: 0, failed: 0, skipped: 0, fetched: 0, queued: 0 };
  }

  async add(entries: readonly FrontierEntry[]): Promise<number> {
    return this.#transaction(() => {
      let added = 0;
      for (const { url, source, lastModified, refusal } of entries) {
        const place = { depth: 0, parent: null, source: SOURCES.indexOf(source), lastModified };
        if (refusal !== null) added += this.#addRefused(url, place, refusal);
        else if (this.#addUrl(url, place)) added++;
      }
      return added;
    });
  }

  async finishSeeding(): Promise<void> {
    this.#db.run("UPDATE crawl SET is_seeded = 1");
  }

  async claim(options: ClaimOptions): Promise<Claims> {
    return this.#transaction(() => {
      const pages = this.#queue.claim(options);
      this.#counts = { ...this.#counts, queued: this.#counts.queued - pages.length };
      return { pages, nextReadyAt: this.#queue.nextReadyAt(options) };
    });
  }

  async freeHost(host: string, nextAt: number): Promise<void> {
    this.#transaction(() => this.#queue.setHostTime(host, nextAt));
  }

  async retry(page: ClaimedPage, next: NextTry): Promise<void> {
    this.#transaction(() => {
      if (!this.#queue.giveBack(page, next)) return;
      const { queued, fetched } = this.#counts;
      const isFirstTry = page.tries === 0 && next.tries > 0;
      this.#counts = { ...this.#counts, queued: queued + 1, fetched: fetched + (isFirstTry ? 1 : 0) };
    });
  }

  async identify(page: ClaimedPage, others: readonly PageUrl[]): Promise<boolean> {
    return this.#transaction(() => {
      const rows = others.map((url) => ({ url, row: this.#sql.find.get(url) ?? null }));
      const rival = rows.find(({ row }) => row !== null && this.#isRival(row, page.id));
      if (rival?.row) {
        // So that the other one, when it finds this one under way, does not give way as well.
        this.#sql.setOwner.run(page.id, rival.row.id);
        return false;
      }
      for (const { url, row } of rows) this.#takeOver(url, row, page);
      return true;
    });
  }

  async settle(settlement: Settlement): Promise<boolean> {
    return this.#transaction(() => {
      const { page, outcome, links, skippedLinks } = settlement;
      if (this.#sql.settleLeased.run(page.id).changes === 0) return false;
      this.#outcomes.put(page.id, settlement);
      this.#count(outcome.status, settlement.isFetched && page.tries === 0);
      const place = { depth: page.depth + 1, parent: page.id, source: LINK, lastModified: null };
      for (const url of links) this.#addLink(url, place);
      for (const [reason, count] of skippedLinks) this.#sql.skipLinks.run(reason, count);
      return true;
    });
  }

  async requeueExpired(now: number): Promise<number> {
    return this.#transaction(() => {
      const count = this.#queue.requeueExpired(now);
      this.#counts = { ...this.#counts, queued: this.#counts.queued + count };
      return count;
    });
  }

  async dropQueued(): Promise<void> {
    // First, so that a crawl that is cut off in between hands out none of them again.
    const last = this.#transaction(() => this.#outcomes.closeQueue());
    for (let from = 0; from <= last; from += DROPPED_AT_ONCE) {
      this.#transaction(() => {
        const { entries, links } = this.#outcomes.dropQueued(from, from + DROPPED_AT_ONCE);
        if (links > 0) this.#sql.skipLinks.run("max_pages" satisfies LinkRefusal, links);
        const { skipped, queued } = this.#counts;
        this.#counts = { ...this.#counts, skipped: skipped + entries, queued: queued - entries - links };
      });
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async counts(): Promise<FrontierCounts> {
    return { ...this.#counts, leased: this.#sql.leased.get()?.count ?? 0 };
  }

  async tallies(): Promise<FrontierTallies> {
    // The tables hold what the types name, for nobody else writes them.
    const skippedLinks = Object.fromEntries(
      this.#sql.skippedLinks.all().map(({ reason, count }) => [reason, count]),
    ) as Partial<Record<LinkRefusal, number>>;
    const { failures, skips, unchanged, transient404 } = this.#outcomes.tallies();
    return {
      failures: failures as Partial<Record<FailureCode, number>>,
      skips: skips as Partial<Record<SkipReason, number>>,
      skippedLinks,
      unchanged,
      transient404,
    };
  }

  async takeRecorded(limit: number): Promise<readonly PageOutcome[]> {
    return this.#outcomes.take(limit);
  }

  outcomes(): AsyncIterable<PageOutcome> {
    return this.#outcomes.all();
  }

  async seedTargets(): Promise<readonly PageUrl[]> {
    return this.#outcomes.seedTargets();
  }

  async addWarning(warning: string): Promise<void> {
    this.#transaction(() => void this.#sql.addWarning.run(warning));
  }

  async warnings(): Promise<readonly string[]> {
    return this.#sql.warnings.all().map(({ text }) => text);
  }

  async finish(): Promise<void> {
    this.#db.run("UPDATE crawl SET is_finished = 1");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#db.close();
  }

  #addLink(url: PageUrl, place: Place): void {
    if ((this.#met.get(url) ?? Number.POSITIVE_INFINITY) <= place.depth) return;
    this.#addUrl(url, place);
    if (this.#met.size >= MAX_MET) this.#met.clear();
    this.#met.set(url, place.depth);
  }

  /** Queues a URL that this run does not know yet. @returns whether it is new */
  #addUrl(url: PageUrl, place: Place): boolean {
    const known = this.#sql.find.get(url);
    if (known?.run === this.#run) {
      this.#meetAgain(known, place);
      return false;
    }
    this.#insert(url, place, STATE.queued);
    this.#counts = { ...this.#counts, queued: this.#counts.queued + 1 };
    return true;
  }

  #insert(url: PageUrl, { depth, parent, source, lastModified }: Place, state: number): number {
    const host = this.#queue.hostId(hostOf(url));
    const row = this.#sql.insert.get(url, host, depth, parent, source, state, this.#run, lastModified);
    if (state === STATE.queued) this.#queue.noteQueued(host, depth);
    return row?.id ?? 0;
  }

  #meetAgain(known: KnownRow, place: Place): void {
    if (known.state === STATE.alias) {
      const owner = known.parent;
      this.#sql.found.run(known.id, place.depth, place.parent, place.source);
      this.#recordDuplicate(known.id, owner);
    } else if (place.depth < known.depth && known.state === STATE.queued) {
      this.#sql.lower.run(known.id, place.depth, place.parent);
      this.#queue.noteLowered(known.id, place.depth);
    } else if (place.lastModified !== null) this.#sql.setLastModified.run(known.id, place.lastModified);
  }

  #addRefused(url: PageUrl, place: Place, reason: SkipReason): number {
    if (this.#sql.find.get(url)?.run === this.#run) return 0;
    const id = this.#insert(url, place, STATE.settled);
    this.#outcomes.putSkipped(id, reason, null);
    this.#count("skipped", false);
    return 1;
  }

  /** Whether the row is another page that this one would repeat. */
  #isRival(row: KnownRow, pageId: number): boolean {
    if (row.run !== this.#run || row.id === pageId) return false;
    if (row.state === STATE.alias) return row.parent !== pageId;
    if (row.state === STATE.settled) return this.#outcomes.isSuccess(row.id);
    if (row.state !== STATE.leased) return false;
    // Pages under way that take each other for the original: the one at the end of the chain is it.
    let owner = this.#sql.owner.get(row.id)?.owner ?? null;
    for (let steps = 0; owner !== null && steps < MAX_OWNERS; steps++) {
      if (owner === pageId) return false;
      owner = this.#sql.owner.get(owner)?.owner ?? null;
    }
    return true;
  }

  #takeOver(url: PageUrl, row: KnownRow | null, page: ClaimedPage): void {
    if (row?.id === page.id) return;
    if (row === null || row.run !== this.#run) {
      const place = { depth: page.depth, parent: page.id, source: LINK, lastModified: null };
      this.#insert(url, place, STATE.alias);
    } else if (row.state === STATE.queued || row.state === STATE.waiting) {
      if (row.state === STATE.queued) this.#queue.noteTaken(row.id);
      this.#counts = { ...this.#counts, queued: this.#counts.queued - 1 };
      this.#recordDuplicate(row.id, page.id);
    }
  }

  #recordDuplicate(id: number, owner: number | null): void {
    this.#sql.settle.run(id);
    this.#outcomes.putSkipped(id, "duplicate", owner);
    this.#count("skipped", false);
  }

  #count(status: PageOutcome["status"], isFetched: boolean): void {
    const field = ({ success: "successful", failed: "failed", skipped: "skipped" } as const)[status];
    const { fetched } = this.#counts;
    this.#counts = {
      ...this.#counts,
      [field]: this.#counts[field] + 1,
      fetched: isFetched ? fetched + 1 : fetched,
    };
  }

  #transaction<T>(work: () => T): T {
    const before = this.#counts;
    try {
      return this.#db.transaction(() => {
        const result = work();
        this.#queue.flush();
        const { successful, failed, skipped, fetched, queued } = this.#counts;
        if (this.#counts !== before) this.#sql.setCounts.run(successful, failed, skipped, fetched, queued);
        return result;
      });
    } catch (error) {
      this.#counts = before;
      this.#met.clear();
      this.#queue.forget();
      throw error;
    }
  }
}

const LINK = SOURCES.indexOf("link");
/** Of about 200 bytes each; more bring nothing for a site of 20 000 pages. */
const MAX_MET = 20_000;
/** A million left-over URLs at once would hold up a server's thread for seconds. */
const DROPPED_AT_ONCE = 2000;
/** No chain of pages under way is longer than the pages under way. */
const MAX_OWNERS = 1000;

type Count = { readonly count: number };

function prepare(db: FrontierDatabase) {
  return {
    counts: db.prepare<Omit<FrontierCounts, "leased">>(
      "SELECT successful, failed, skipped, fetched, queued FROM crawl",
    ),
    setCounts: db.prepare<unknown, [number, number, number, number, number]>(
      "UPDATE crawl SET successful = ?1, failed = ?2, skipped = ?3, fetched = ?4, queued = ?5",
    ),
    leased: db.prepare<Count>("SELECT count(*) AS count FROM page WHERE state = 1"),
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
    setLastModified: db.prepare<unknown, [number, string]>(
      "UPDATE page SET last_modified = ?2 WHERE id = ?1",
    ),
    setOwner: db.prepare<unknown, [number, number]>("UPDATE page SET owner = ?2 WHERE id = ?1"),
    owner: db.prepare<{ owner: number | null }, [number]>("SELECT owner FROM page WHERE id = ?1"),
    settle: db.prepare<unknown, [number]>("UPDATE page SET state = 3 WHERE id = ?1"),
    settleLeased: db.prepare<unknown, [number]>("UPDATE page SET state = 3 WHERE id = ?1 AND state = 1"),
    skipLinks: db.prepare<unknown, [string, number]>(
      `INSERT INTO skipped_link VALUES (?1, ?2)
        ON CONFLICT (reason) DO UPDATE SET count = count + excluded.count`,
    ),
    skippedLinks: db.prepare<{ reason: string; count: number }>("SELECT reason, count FROM skipped_link"),
    addWarning: db.prepare<unknown, [string]>("INSERT INTO warning (text) VALUES (?1)"),
    warnings: db.prepare<{ text: string }>("SELECT text FROM warning ORDER BY id"),
  };
}
