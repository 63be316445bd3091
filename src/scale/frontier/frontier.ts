import { Failure, type FailureRecord } from "../../base/failure.ts";
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
  PageOutcome,
  RecordedOutcome,
  Settlement,
} from "../../crawler/index.ts";
import { isCounted, judge, makesRoom, type NamedPage, unpackLinks, waitsFor } from "../../crawler/index.ts";
import { originOf, type PageUrl } from "../../urls/index.ts";
import type { Parameter, Postgres, Queries } from "../postgres/postgres.ts";
import { PageClaims } from "./claims.ts";
import { SharedOutcomes } from "./outcomes.ts";
import { KnownUrls, RecordBatch } from "./record.ts";
import { keyOf, type OutcomeValues, originsOf, storable, toArray, toOutcome } from "./rows.ts";
import { CrawlWorker, GOODBYE_MS, newWorker, type OpenCrawl, type WorkerParts } from "./worker.ts";

/** An outcome as `crawl_take_recorded` answers: its worker and number there, and whether a worker settled it. */
type TakenRow = readonly [worker: number, n: number, isLogged: boolean, outcome: OutcomeValues];

/** Pages dropped, queued again or added in one statement. */
const AT_ONCE = 2000;

/** A frontier in a PostgreSQL database, for several processes; opened by `openPostgresFrontier`. */
export class PostgresFrontier implements Frontier {
  readonly crawl: CrawlRecord;
  readonly isShared = true;
  readonly #db: Postgres;
  readonly #id: number;
  readonly #run: number;
  readonly #worker: CrawlWorker;
  readonly #urls: KnownUrls;
  readonly #batch: RecordBatch;
  readonly #claims: PageClaims;
  readonly #outcomes: SharedOutcomes;
  readonly #leaveMs: number;
  /** How far this leader has told the outcomes of each worker. */
  #told: ReadonlyMap<number, number> = new Map();

  constructor(crawl: OpenCrawl, parts: WorkerParts & { readonly origins: readonly string[] }) {
    const { jobId, startedAt, mode, now, id, run } = crawl;
    this.crawl = { jobId, startedAt, mode, now };
    this.#id = id;
    this.#run = run;
    const worker = new CrawlWorker(crawl, parts);
    this.#worker = worker;
    this.#db = parts.db.patient({ signal: worker.signal });
    this.#urls = new KnownUrls(this.#db, id);
    this.#batch = new RecordBatch(this.#db, id, this.#urls);
    const { origins, pace } = parts;
    this.#leaveMs = pace.leaveMs;
    this.#claims = new PageClaims(this.#db, id, { worker: worker.id, origins, idleMs: pace.idleMs });
    worker.onLoss(() => this.#claims.reset(worker.isLost ? null : worker.id));
    this.#outcomes = new SharedOutcomes(this.#db, id, run);
  }

  /** Begins to say that this process lives. */
  start(): Promise<void> {
    return this.#worker.start();
  }

  state(): CrawlState {
    return this.#worker.state;
  }

  watch(onChange: () => void): void {
    this.#worker.onChange(onChange);
  }

  holds(page: ClaimedPage): boolean {
    return this.#claims.holds(page) && this.#worker.isRenewed();
  }

  async add(entries: readonly FrontierEntry[]): Promise<number> {
    let added = 0;
    for (let from = 0; from < entries.length; from += AT_ONCE)
      added += await this.#addSome(entries.slice(from, from + AT_ONCE));
    return added;
  }

  async finishSeeding(): Promise<void> {
    const seeded = await this.#led(
      "UPDATE crawl SET is_seeded = true WHERE id = $1 AND leader = $2 AND leader_fence = $3 RETURNING id",
    );
    if (seeded.length > 0) this.#worker.note({ isSeeded: true });
  }

  async claim(options: ClaimOptions): Promise<Claims> {
    const isEnded = this.#worker.state.end !== null;
    if (isEnded || this.#worker.isLost) return { pages: [], waitMs: LOST_MS, isOver: isEnded, origins: [] };
    return this.#claims.claim(options);
  }

  async freeHost(page: ClaimedPage, restMs: number): Promise<void> {
    const fence = this.#claims.releaseHost(page) ? page.fence : null;
    await this.#batch.add(page.host, { kind: "rest", worker: this.#worker.id, fence, restMs });
    this.#claims.noteSoon(restMs);
  }

  async retry(page: ClaimedPage, next: NextTry): Promise<void> {
    if (!this.#claims.release(page)) return;
    const worker = this.#worker.id;
    await this.#batch.add(page.host, { kind: "retry", worker, page, next });
    this.#claims.forget(page);
    if (!waitsFor(page, next) && worker === this.#worker.id) this.#claims.noteUnused();
    this.#claims.noteSoon(next.tries === 0 ? 0 : next.waitMs);
  }

  async identify(page: ClaimedPage, others: readonly PageUrl[]): Promise<boolean> {
    if (!this.#claims.holds(page)) return false;
    const worker = this.#worker.id;
    const { keys, urls, hosts } = await this.#urls.columns(others);
    const [hostId = 0] = await this.#urls.hostIds([page.host]);
    const place = [this.#id, worker, page.id, page.depth];
    const claim = [this.#id, worker, page.fence, page.id, hostId, page.depth, keys, urls, hosts];
    const look = async (queries: Queries, isSerial: boolean) =>
      (await queries.query<{ named: readonly NamedPage[] | null }>(NAMED, [...claim, isSerial]))[0]?.named;
    const attempt = (isSerial: boolean): Promise<boolean | null> =>
      this.#db.transaction(async (queries) => {
        const named = await look(queries, isSerial);
        if (!named) return false;
        const { rival, duplicates, open, isContested } = judge(page.id, named);
        if (isContested && !isSerial) return null;
        const ids = toArray(duplicates.map(({ id }) => id));
        await queries.query(IDENTIFY, [...place, rival, ids, open, keys, urls, hosts]);
        return rival === null;
      });
    // Most URLs name no other page, which one statement finds out.
    const named = await look(this.#db, false);
    if (!named) return false;
    if (named.length === 0) return true;
    const isSerial = judge(page.id, named).isContested;
    return (await attempt(isSerial)) ?? (await attempt(true)) ?? false;
  }

  async settle(settlement: Settlement): Promise<boolean> {
    const { page, links, follow } = settlement;
    if (!this.#claims.release(page)) return false;
    const worker = this.#worker.id;
    const followed = follow === "now" ? this.#urls.unmet(links, page.depth + 1) : [];
    const work = { kind: "settle", worker, settlement, links: followed } as const;
    const isSettled = await this.#batch.add(page.host, work);
    this.#claims.forget(page);
    if (isSettled && worker === this.#worker.id && makesRoom(settlement)) this.#claims.noteUnused();
    this.#claims.noteSoon(0);
    return isSettled;
  }

  async dropQueued(): Promise<void> {
    for (let after: number | null = 0; after !== null; ) {
      const [row]: { last: number | null }[] = await this.#led(
        "SELECT crawl_drop($1, $2, $3, $4, $5) AS last",
        [after, AT_ONCE],
      );
      after = row?.last ?? null;
    }
  }

  async requeueLeft(maxDepth: number): Promise<void> {
    for (let count = 1; count > 0; ) {
      const [row] = await this.#led<{ count: number }>(
        "SELECT crawl_requeue_left($1, $2, $3, $4, $5) AS count",
        [maxDepth, AT_ONCE],
      );
      count = row?.count ?? 0;
    }
    for (;;) {
      const deep = [this.#id, this.#run, maxDepth];
      const pages = await this.#db.query<{ page: number; urls: Uint8Array }>(DEEP_PAGES, deep);
      if (pages.length === 0 || this.#worker.fence === null) break;
      for (const { page, urls } of pages) {
        const columns = await this.#urls.columns(unpackLinks(urls));
        await this.#led(FOLLOW_DEEP, [page, columns.keys, columns.urls, columns.hosts]);
      }
    }
    this.#claims.noteSoon(0);
  }

  async queueUnmet({ maxDepth, count }: { maxDepth: number; count: number }): Promise<number> {
    let queued = 0;
    for (let after: number | null = 0; after !== null && queued < count; ) {
      const [row]: { found: readonly number[] | null }[] = await this.#led(
        "SELECT to_json(crawl_queue_unmet($1, $2, $3, $4, $5, $6, $7)) AS found",
        [maxDepth, after, Math.min(AT_ONCE, count - queued), newWorker()],
      );
      queued += row?.found?.[0] ?? 0;
      after = row?.found?.[1] ?? null;
    }
    this.#claims.noteSoon(0);
    return queued;
  }

  async counts(): Promise<FrontierCounts> {
    const sql = "SELECT crawl_counts($1) AS counts";
    const [row] = await this.#db.query<{ counts: FrontierCounts }>(sql, [this.#id]);
    if (!row) throw new Failure("internal", "a query for counts yielded nothing");
    const { counts } = row;
    // Pages that are only claimed ahead wait as far as anybody else can tell.
    const ahead = this.#claims.ahead.length;
    const untried = this.#claims.ahead.filter((page) => !isCounted(page)).length;
    return {
      ...counts,
      queued: counts.queued + ahead,
      underway: Math.max(0, counts.underway - ahead),
      untried: Math.max(0, counts.untried - untried),
    };
  }

  tallies(): Promise<FrontierTallies> {
    return this.#outcomes.tallies();
  }

  /** The database learns with the next call that the outcomes were told. */
  async takeRecorded(limit: number): Promise<readonly RecordedOutcome[]> {
    const [row] = await this.#led<{ taken: readonly TakenRow[] | null }>(
      "SELECT crawl_take_recorded($1, $2, $3, $4::bigint[], $5::bigint[], $6) AS taken",
      [toArray([...this.#told.keys()]), toArray([...this.#told.values()]), limit],
    );
    const taken = row?.taken ?? [];
    const told = new Map<number, number>();
    for (const [worker, n] of taken) told.set(worker, Math.max(n, told.get(worker) ?? 0));
    this.#told = told;
    return taken.map(([, , isLogged, outcome]) => ({ outcome: toOutcome(outcome), isLogged }));
  }

  outcomes(): AsyncIterable<PageOutcome> {
    return this.#outcomes.all();
  }

  changes(): AsyncIterable<PageOutcome> {
    return this.#outcomes.changes();
  }

  origins(): Promise<readonly string[]> {
    return originsOf(this.#db, this.#id);
  }

  async addWarning(warning: string): Promise<void> {
    await this.#db.run(
      "INSERT INTO crawl_warning (crawl, key, text) VALUES ($1, $2::uuid, $3) ON CONFLICT DO NOTHING",
      [this.#id, keyOf(warning), storable(warning)],
    );
  }

  async warnings(): Promise<readonly string[]> {
    const rows = await this.#db.query<{ text: string }>(
      "SELECT text FROM crawl_warning WHERE crawl = $1 ORDER BY id",
      [this.#id],
    );
    return rows.map(({ text }) => text);
  }

  async finish(): Promise<void> {
    const ended = await this.#led(`UPDATE crawl SET is_finished = true, epoch = epoch + (NOT is_finished)::int
      WHERE id = $1 AND leader = $2 AND leader_fence = $3 RETURNING id`);
    if (ended.length > 0) this.#worker.note({ end: "finished" });
  }

  async stop(why: FailureRecord): Promise<void> {
    const ended = await this.#led(
      "UPDATE crawl SET stopped = $4 WHERE id = $1 AND leader = $2 AND leader_fence = $3 RETURNING id",
      [JSON.stringify({ ...why, message: storable(why.message) })],
    );
    if (ended.length === 0) return;
    this.#worker.note({ end: why });
    await this.#seeOthersOff();
  }

  /** Waits until the other processes have recorded their last pages and left; a process that lingers loses its pages. */
  async #seeOthersOff(): Promise<void> {
    const isDone = async (sql: string): Promise<boolean> => {
      const until = performance.now() + this.#leaveMs;
      while ((await this.#led(sql)).length > 0) {
        if (performance.now() >= until) return false;
        await Bun.sleep(LEAVE_LOOK_MS);
      }
      return true;
    };
    if (await isDone(OTHERS)) return;
    // Without their session, they do not come back as other workers either.
    await this.#led(END_SESSION);
    // One with a statement under way is ended after it.
    await isDone(BURY_OTHERS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.race([this.#batch.flush(), Bun.sleep(GOODBYE_MS)]);
    await this.#worker.leave();
  }

  async #addSome(entries: readonly FrontierEntry[]): Promise<number> {
    const { keys, urls, hosts } = await this.#urls.columns(entries.map(({ url }) => url));
    const [row] = await this.#led<{ added: number | null }>(ADD, [
      toArray(entries.map(({ source }) => (source === "seed" ? 1 : 2))),
      keys,
      urls,
      hosts,
      entries.map(({ lastModified }) => lastModified),
      entries.map(({ refusal }) => refusal),
      [...new Set(entries.flatMap(({ url, refusal }) => (refusal === null ? originOf(url) : [])))],
    ]);
    this.#claims.noteSoon(0);
    return row?.added ?? 0;
  }

  /** Runs a statement of the leader: its first three parameters are the crawl, this worker and its lead. */
  async #led<Row>(sql: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    const { id, fence } = this.#worker;
    return fence === null ? [] : this.#db.query<Row>(sql, [this.#id, id, fence, ...parameters]);
  }
}

/** How soon a process looks again that has lost its claims, in ms. */
const LOST_MS = 250;

/** How soon a leader looks again whether the others have left, in ms. */
const LEAVE_LOOK_MS = 50;

const LEADS = "SELECT id FROM crawl WHERE id = $1 AND leader = $2 AND leader_fence = $3";
const OTHERS = `SELECT FROM crawl_worker w WHERE w.crawl = (${LEADS}) AND w.id <> $2`;
const END_SESSION =
  "UPDATE crawl SET session = session + 1 WHERE id = $1 AND leader = $2 AND leader_fence = $3";
const BURY_OTHERS = `SELECT crawl_bury($1, w.id, true) FROM crawl_worker w WHERE w.crawl = (${LEADS}) AND w.id <> $2`;
const NAMED = `SELECT crawl_named($1, $2, $3, $4, $5, $6::smallint, $7::uuid[], string_to_array($8, E'\\n'),
  $9::bigint[], $10) AS named`;
const IDENTIFY = `SELECT crawl_identify($1, $2, $3, $4::smallint, $5, $6::bigint[], $7, $8::uuid[],
  string_to_array($9, E'\\n'), $10::bigint[])`;
const ADD = `SELECT crawl_add($1, $2, $3, $4::int[], $5::uuid[], string_to_array($6, E'\\n'), $7::bigint[], $8::text[],
  $9::text[], $10::text[]) AS added`;
const FOLLOW_DEEP = `SELECT crawl_follow_deep($1, $2, $3, $4, $5::uuid[], string_to_array($6, E'\\n'), $7::bigint[])`;
const DEEP_PAGES = `SELECT l.page, l.urls FROM crawl_link l JOIN crawl_page p ON p.crawl = l.crawl AND p.id = l.page
  JOIN crawl_outcome o ON o.crawl = l.crawl AND o.page = l.page
  WHERE l.crawl = $1 AND l.run = $2 AND l.too_deep > 0 AND p.depth < $3 ORDER BY o.recorded_at, o.n LIMIT 200`;
