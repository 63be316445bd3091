import type { Database } from "../../base/database/index.ts";
import { yieldToEventLoop } from "../../base/event-loop.ts";
import { hostOf, originOf, type PageUrl } from "../../urls/index.ts";
import type { PageOutcome, SkipReason } from "../types.ts";
import type {
  ClaimedPage,
  ClaimOptions,
  Claims,
  CrawlRecord,
  CrawlState,
  Frontier,
  FrontierCounts,
  FrontierEntry,
  FrontierTallies,
  NextTry,
  RecordedOutcome,
  Settlement,
} from "./frontier.ts";
import { PageMemory } from "./memory.ts";
import { OutcomeTable, toTallies } from "./outcomes.ts";
import { PageQueue } from "./queue.ts";
import { countedBy, isCounted, judge, type NamedPage, waitsFor } from "./rules.ts";
import { keySeed, pathOf, SOURCES, STATE, STATUSES, Statements, urlKey } from "./schema.ts";

/** The crawl in a file. */
export type OpenCrawl = Omit<CrawlRecord, "now"> & {
  /** Whether every seed and sitemap has been added. */
  readonly isSeeded: boolean;
  /** The number of the crawl into this place, from 1. */
  readonly run: number;
  /** Pages stored by runs before this one are requested unconditionally. */
  readonly asksAnew: number;
};

type Discovery = {
  readonly depth: number;
  readonly parent: number | null;
  readonly source: number;
  readonly lastModified: string | null;
};

/** A page's row, as found by its URL. */
type KnownRow = {
  readonly id: number;
  readonly host: number;
  readonly state: number;
  readonly run: number;
  readonly depth: number;
  readonly parent: number | null;
};

/** A frontier in one SQLite file; opened by `openSqliteFrontier`. */
export class SqliteFrontier implements Frontier {
  readonly crawl: CrawlRecord;
  readonly isShared = false;
  readonly #db: Database;
  readonly #maxPages: number;
  readonly #now: () => number;
  readonly #run: number;
  readonly #queue: PageQueue;
  readonly #outcomes: OutcomeTable;
  readonly #memory: PageMemory;
  readonly #origins: Set<string>;
  readonly #sql: Statements;
  readonly #keySeed: number;
  // The pages of a site repeat its menu, so recently met URLs, with their depth, need no query.
  readonly #met = new Map<PageUrl, number>();
  #counts: { -readonly [Name in keyof FrontierCounts]: number };
  #state: CrawlState;
  /** Whether something could not be written: pages under way may be stored without an outcome, and come first next time. */
  #isIncomplete = false;

  constructor(db: Database, { isSeeded, ...record }: OpenCrawl, maxPages: number, now: () => number) {
    this.#db = db;
    this.#maxPages = maxPages;
    this.#now = now;
    this.#state = { leads: true, isSeeded, end: null };
    this.crawl = { ...record, now };
    this.#run = record.run;
    this.#outcomes = new OutcomeTable(db, record.run);
    this.#memory = new PageMemory(db, record);
    this.#queue = new PageQueue(db, record.run, this.#memory);
    this.#sql = new Statements(db);
    this.#keySeed = keySeed(this.#sql);
    const origins = this.#sql.all<{ name: string }>`SELECT name FROM origin`;
    this.#origins = new Set(origins.map(({ name }) => name));
    const none = { successful: 0, failed: 0, skipped: 0, fetched: 0, queued: 0 };
    const row = this.#sql.get<typeof none>`SELECT successful, failed, skipped, fetched, queued FROM crawl`;
    // Claims of a process that is gone are queued again.
    this.#counts = { ...(row ?? none), underway: 0, untried: 0 };
  }

  state(): CrawlState {
    return this.#state;
  }

  // The file is locked: no other process changes anything.
  watch(): void {}

  holds(): boolean {
    return true;
  }

  async add(entries: readonly FrontierEntry[]): Promise<number> {
    return this.#transaction(() => {
      let added = 0;
      for (const { url, source, lastModified, refusal } of entries) {
        const place = { depth: 0, parent: null, source: SOURCES.indexOf(source), lastModified };
        if (refusal !== null) added += this.#addRefused(url, place, refusal);
        else {
          this.#noteOrigin(url);
          if (this.#addUrl(url, place)) added++;
        }
      }
      return added;
    });
  }

  async finishSeeding(): Promise<void> {
    this.#db.run("UPDATE crawl SET is_seeded = 1");
    this.#state = { ...this.#state, isSeeded: true };
  }

  async claim({ count, isHostExclusive }: ClaimOptions): Promise<Claims> {
    return this.#transaction(() => {
      const { fetched, untried: reserved } = this.#counts;
      const untried = Math.max(0, this.#maxPages - fetched - reserved);
      const claims = this.#queue.claim({ now: this.#now(), count, isHostExclusive, untried });
      this.#counts.queued -= claims.pages.length;
      this.#counts.underway += claims.pages.length;
      this.#counts.untried += untried - claims.untried;
      const isOver = this.#counts.underway === 0 && !this.#queue.hasPages(claims.untried);
      return { pages: claims.pages, waitMs: claims.waitMs, isOver, origins: [] };
    });
  }

  async freeHost({ host }: ClaimedPage, restMs: number): Promise<void> {
    this.#transaction(() => this.#queue.setHostTime(host, this.#now() + restMs));
  }

  async retry(page: ClaimedPage, next: NextTry): Promise<void> {
    this.#transaction(() => {
      if (!this.#queue.giveBack(page, this.#now() + next.waitMs, next)) return;
      if (!isCounted(page) && waitsFor(page, next)) this.#counts.fetched++;
      this.#counts.queued++;
      this.#noteReturned(page);
    });
  }

  async identify(page: ClaimedPage, others: readonly PageUrl[]): Promise<boolean> {
    return this.#transaction(() => {
      const rows = [...new Set(others)].map((url) => ({ url, row: this.#find(url) }));
      const named = rows.flatMap(({ row }) => (row?.run === this.#run ? this.#named(row, page.id) : []));
      const { rival, duplicates, open } = judge(page.id, named);
      if (rival !== null) {
        // The other page must not give way as well when it finds this one under way.
        this.#sql.run`UPDATE page SET owner = ${rival} WHERE id = ${page.id}`;
        return false;
      }
      this.#counts.queued -= open;
      for (const { id, state, host } of duplicates) {
        if (state === STATE.queued) this.#queue.noteTaken(id, host);
        this.#recordDuplicate(id, page.id);
      }
      const place = { depth: page.depth, parent: page.id, source: LINK, lastModified: null };
      for (const { url, row } of rows)
        if (row?.run !== this.#run) this.#insert(url, place, { state: STATE.alias, known: row });
      return true;
    });
  }

  async settle(settlement: Settlement): Promise<boolean> {
    return this.#transaction(() => {
      const { page, outcome, links, skippedLinks } = settlement;
      const settled = this.#sql.run`UPDATE page SET state = 3 WHERE id = ${page.id} AND state = 1`;
      if (settled === 0) return false;
      this.#outcomes.put(page.id, settlement);
      this.#memory.keep(page.id, settlement);
      this.#count(outcome.status);
      this.#counts.fetched += countedBy(settlement);
      this.#noteReturned(page);
      if (settlement.follow === "now") this.#addLinks(links, page);
      for (const [reason, count] of skippedLinks)
        this.#sql.run`INSERT INTO skipped_link VALUES (${reason}, ${count})
          ON CONFLICT (reason) DO UPDATE SET count = count + excluded.count`;
      return true;
    });
  }

  async dropQueued(): Promise<void> {
    // This comes first, so that an interrupted crawl hands out none of them again.
    const last = this.#transaction(() => this.#outcomes.closeQueue());
    for (let from = 0; from <= last; from += DROPPED_AT_ONCE) {
      this.#transaction(() => {
        const { entries, links, takenOver } = this.#outcomes.dropQueued(from, from + DROPPED_AT_ONCE);
        this.#counts.fetched -= takenOver;
        this.#counts.skipped += entries;
        this.#counts.queued -= entries + links;
      });
      await yieldToEventLoop();
    }
  }

  async requeueLeft(maxDepth: number): Promise<void> {
    while (this.#transaction(() => this.#requeueSomeLeft(maxDepth)) > 0) await yieldToEventLoop();
    for (const pageId of this.#memory.deepPages(maxDepth)) {
      this.#transaction(() => {
        const page = this.#memory.takeDeepPage(pageId);
        if (page) this.#addLinks(page.links, page);
      });
      await yieldToEventLoop();
    }
  }

  async leaveLost(isThere: (url: PageUrl) => Promise<boolean>): Promise<void> {
    for await (const { url, filePath, status } of this.#outcomes.all()) {
      if (status !== "success" || filePath === null || (await isThere(url))) continue;
      this.#transaction(() => {
        const id = this.#find(url)?.id ?? 0;
        this.#sql.run`DELETE FROM outcome WHERE page = ${id}`;
        this.#sql
          .run`UPDATE page SET state = ${STATE.left}, tries = 0, spent_ms = 0, ready_at = 0 WHERE id = ${id}`;
        this.#counts.successful--;
        this.#counts.fetched--;
      });
    }
  }

  async queueUnmet({ maxDepth, count }: { maxDepth: number; count: number }): Promise<number> {
    return this.#transaction(() => {
      const pages = this.#memory.unmet(maxDepth, count);
      for (const id of pages) {
        const row = this.#sql.get<{ host: number; depth: number }>`UPDATE page
          SET state = 0, run = ${this.#run}, source = ${MEMORY}, last_modified = NULL, tries = 0, spent_ms = 0,
            ready_at = 0, owner = NULL WHERE id = ${id} RETURNING host, depth`;
        if (row) this.#queue.noteQueued(row.host, row.depth);
      }
      this.#counts.queued += pages.length;
      return pages.length;
    });
  }

  async counts(): Promise<FrontierCounts> {
    return { ...this.#counts };
  }

  async tallies(): Promise<FrontierTallies> {
    return toTallies(await this.#outcomes.tallies(), this.#memory.leftLinks());
  }

  async takeRecorded(limit: number): Promise<readonly RecordedOutcome[]> {
    return this.#outcomes.take(limit).map((outcome) => ({ outcome, isLogged: false }));
  }

  outcomes(): AsyncIterable<PageOutcome> {
    return this.#outcomes.all();
  }

  changes(): AsyncIterable<PageOutcome> {
    return this.#outcomes.changes();
  }

  async origins(): Promise<readonly string[]> {
    return [...this.#origins, ...this.#outcomes.seedTargets().map(originOf)];
  }

  async addWarning(warning: string): Promise<void> {
    this.#transaction(() => {
      this.#sql.run`INSERT INTO warning (text)
        SELECT ${warning} WHERE NOT EXISTS (SELECT 1 FROM warning WHERE text = ${warning})`;
    });
  }

  async warnings(): Promise<readonly string[]> {
    return this.#sql.all<{ text: string }>`SELECT text FROM warning ORDER BY id`.map(({ text }) => text);
  }

  async finish(): Promise<void> {
    this.#transaction(() => {
      this.#db.run("UPDATE crawl SET is_finished = 1");
      this.#outcomes.finish();
      this.#memory.finish();
    });
    this.#state = { ...this.#state, end: "finished" };
  }

  async stop(): Promise<void> {}

  async copyTo(path: string): Promise<void> {
    this.#sql.run`VACUUM INTO ${path}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isIncomplete) this.#queue.giveBackUntried();
    this.#db.close();
  }

  #noteReturned(page: ClaimedPage): void {
    this.#counts.underway--;
    if (!isCounted(page)) this.#counts.untried--;
  }

  #noteOrigin(url: PageUrl): void {
    const origin = originOf(url);
    if (this.#origins.has(origin)) return;
    this.#origins.add(origin);
    this.#sql.run`INSERT OR IGNORE INTO origin (name) VALUES (${origin})`;
  }

  #addLinks(links: readonly PageUrl[], page: { readonly id: number; readonly depth: number }): void {
    const place = { depth: page.depth + 1, parent: page.id, source: LINK, lastModified: null };
    for (const url of links) this.#addLink(url, place);
  }

  /** @returns how many were queued */
  #requeueSomeLeft(maxDepth: number): number {
    const rows = this.#sql.all<{ id: number; host: number; depth: number; state: number }>`
      UPDATE page SET state = iif(tries > 0, 2, 0)
        WHERE id IN (SELECT id FROM page WHERE state >= 5 AND depth <= ${maxDepth} LIMIT ${DROPPED_AT_ONCE})
        RETURNING id, host, depth, state`;
    let entries = 0;
    for (const { id, host, depth, state } of rows) {
      if (state === STATE.queued) this.#queue.noteQueued(host, depth);
      if (this.#outcomes.takeBackLeft(id)) entries++;
    }
    this.#counts.skipped -= entries;
    this.#counts.queued += rows.length;
    return rows.length;
  }

  #addLink(url: PageUrl, place: Discovery): void {
    if ((this.#met.get(url) ?? Number.POSITIVE_INFINITY) <= place.depth) return;
    this.#addUrl(url, place);
    if (this.#met.size >= MAX_MET) this.#met.clear();
    this.#met.set(url, place.depth);
  }

  /** Queues a URL that this run does not know. */
  #addUrl(url: PageUrl, place: Discovery): boolean {
    const known = this.#find(url);
    if (known?.run === this.#run) {
      this.#meetAgain(known, place);
      return false;
    }
    this.#insert(url, place, { state: STATE.queued, known });
    this.#counts.queued++;
    return true;
  }

  #insert(
    url: PageUrl,
    { depth, parent, source, lastModified }: Discovery,
    { state, known }: { readonly state: number; readonly known: KnownRow | null },
  ): number {
    const host = this.#queue.hostId(hostOf(url));
    const row = this.#sql.get<{ id: number }>`
      INSERT OR REPLACE INTO page (id, path, key, host, depth, parent, source, state, run, last_modified)
        VALUES (${known?.id ?? null}, ${pathOf(url)}, ${urlKey(url, this.#keySeed)}, ${host}, ${depth}, ${parent}, ${source}, ${state},
          ${this.#run}, ${lastModified})
        RETURNING id`;
    if (state === STATE.queued) this.#queue.noteQueued(host, depth);
    return row?.id ?? 0;
  }

  #find(url: PageUrl): KnownRow | null {
    const host = this.#queue.knownHost(hostOf(url));
    if (host === undefined) return null;
    return this.#sql.get<KnownRow>`SELECT id, host, state, run, depth, parent FROM page
      WHERE key = ${urlKey(url, this.#keySeed)} AND path = ${pathOf(url)} AND host = ${host}`;
  }

  #meetAgain(known: KnownRow, place: Discovery): void {
    const { id, host } = known;
    const { depth, parent, source, lastModified } = place;
    if (known.state === STATE.alias) {
      this.#sql
        .run`UPDATE page SET depth = ${depth}, parent = ${parent}, source = ${source} WHERE id = ${id}`;
      this.#recordDuplicate(id, known.parent);
    } else if (depth < known.depth && (known.state === STATE.queued || known.state === STATE.deep)) {
      this.#sql.run`UPDATE page SET state = 0, depth = ${depth}, parent = ${parent} WHERE id = ${id}`;
      const added = known.state === STATE.deep ? 1 : 0;
      this.#queue.noteQueued(host, depth, added);
      this.#counts.queued += added;
    } else if (lastModified !== null)
      this.#sql.run`UPDATE page SET last_modified = ${lastModified} WHERE id = ${id}`;
  }

  #addRefused(url: PageUrl, place: Discovery, reason: SkipReason): number {
    const known = this.#find(url);
    if (known?.run === this.#run) return 0;
    const id = this.#insert(url, place, { state: STATE.settled, known });
    this.#outcomes.putSkipped(id, reason, null);
    this.#count("skipped");
    return 1;
  }

  #named(row: KnownRow, pageId: number): NamedPage & KnownRow {
    const end = this.#sql.get<Pick<NamedPage, "original" | "stands">>`
      WITH RECURSIVE chain (id, owner, state, step) AS (SELECT id, owner, state, 0 FROM page WHERE id = ${row.id}
        UNION ALL SELECT page.id, page.owner, page.state, step + 1 FROM chain JOIN page ON page.id = chain.owner
          WHERE chain.id <> ${pageId} AND step < ${MAX_OWNERS})
      SELECT id AS original, state = ${STATE.claimed} OR EXISTS (SELECT 1 FROM outcome
          WHERE page = id AND run = ${this.#run} AND status = ${SUCCESS}) AS stands
        FROM chain ORDER BY step DESC LIMIT 1`;
    return { ...row, original: end?.original ?? row.id, stands: end?.stands ?? false };
  }

  #recordDuplicate(id: number, owner: number | null): void {
    this.#sql.run`UPDATE page SET state = 3, owner = ${owner} WHERE id = ${id}`;
    this.#outcomes.putSkipped(id, "duplicate", owner);
    this.#count("skipped");
  }

  #count(status: PageOutcome["status"]): void {
    this.#counts[({ success: "successful", failed: "failed", skipped: "skipped" } as const)[status]]++;
  }

  #transaction<T>(work: () => T): T {
    const before = { ...this.#counts };
    try {
      return this.#db.transaction(() => {
        const result = work();
        this.#queue.flush();
        const { successful, failed, skipped, fetched, queued } = this.#counts;
        if (KEPT.some((name) => this.#counts[name] !== before[name]))
          this.#sql.run`UPDATE crawl SET successful = ${successful}, failed = ${failed}, skipped = ${skipped},
            fetched = ${fetched}, queued = ${queued}, seen_at = ${this.#now()}`;
        return result;
      });
    } catch (error) {
      this.#isIncomplete = true;
      this.#counts = before;
      this.#met.clear();
      this.#queue.forget();
      throw error;
    }
  }
}

/** Counters that a restart does not begin at zero. */
const KEPT = ["successful", "failed", "skipped", "fetched", "queued"] as const;
/** A chain of pages under way cannot be longer than their number. */
const MAX_OWNERS = 1000;
const SUCCESS = STATUSES.indexOf("success");
const LINK = SOURCES.indexOf("link");
const MEMORY = SOURCES.indexOf("memory");
/** Entries take about 200 bytes each, and more do not help on a site of 20 000 pages. */
const MAX_MET = 20_000;
/** A million left-over URLs at once would block a server's thread for seconds. */
const DROPPED_AT_ONCE = 2000;
