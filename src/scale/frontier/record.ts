import { type ClaimedPage, isCounted, type NextTry, type Settlement, waitsFor } from "../../crawler/index.ts";
import { hostOf, originOf, type PageUrl } from "../../urls/index.ts";
import type { Postgres } from "../postgres/postgres.ts";
import { keyOf, toArray, toSettleRow, toStorableJson } from "./rows.ts";

/** A process's knowledge of the URLs of a shared crawl. */
export class KnownUrls {
  readonly #db: Postgres;
  readonly #crawl: number;
  readonly #hostIds = new Map<string, number>();
  // The pages of a site repeat its menu, so recently met URLs, with their depth, need not be sent.
  readonly #met = new Map<PageUrl, number>();

  constructor(db: Postgres, crawl: number) {
    this.#db = db;
    this.#crawl = crawl;
  }

  /** Returns the numbers of the given hosts, in the same order. */
  async hostIds(names: readonly string[]): Promise<readonly number[]> {
    const ids = new Map(names.map((name) => [name, this.#hostIds.get(name)]));
    const unknown = [...ids].flatMap(([name, id]) => (id === undefined ? name : []));
    if (unknown.length > 0) {
      const [row] = await this.#db.query<{ ids: readonly number[] }>(
        "SELECT to_json(crawl_host_ids($1, $2::text[])) AS ids",
        [this.#crawl, unknown],
      );
      if (this.#hostIds.size >= MAX_HOST_IDS) this.#hostIds.clear();
      for (const [index, name] of unknown.entries()) {
        ids.set(name, row?.ids[index]);
        this.#hostIds.set(name, row?.ids[index] ?? 0);
      }
    }
    return names.map((name) => ids.get(name) ?? 0);
  }

  /** The keys of URLs and the numbers of their hosts, for statements that take in URLs. */
  async columns(urls: readonly PageUrl[]) {
    return {
      keys: toArray(urls.map(keyOf)),
      urls: urls.join("\n"),
      hosts: toArray(await this.hostIds(urls.map(hostOf))),
    };
  }

  /** Returns the links that this process has not met at that depth or nearer to the seeds. */
  unmet(links: readonly PageUrl[], depth: number): readonly PageUrl[] {
    return links.filter((url) => (this.#met.get(url) ?? Number.POSITIVE_INFINITY) > depth);
  }

  noteMet(links: readonly PageUrl[], depth: number): void {
    for (const url of links) {
      if (this.#met.size >= MAX_MET) this.#met.clear();
      this.#met.set(url, depth);
    }
  }
}

/** Entries take about 200 bytes each, and more do not help on a site of 20 000 pages. */
const MAX_MET = 20_000;
const MAX_HOST_IDS = 10_000;

/** How long what is recorded waits for more, in ms. */
const GATHER_MS = 8;
/** The maximum number of pages and of links in one statement; one page may have more links. */
const MAX_PAGES = 64;
const MAX_LINKS = 10_000;

type Entry = {
  readonly worker: number;
  readonly at: number;
  readonly hostId: number;
  readonly done: (isSettled: boolean) => void;
  readonly failed: (error: unknown) => void;
} & (
  | { readonly kind: "settle"; readonly settlement: Settlement; readonly links: readonly PageUrl[] }
  | { readonly kind: "retry"; readonly page: ClaimedPage; readonly next: NextTry }
  /** `fence`: of the claim that frees the host; null for a pause. */
  | { readonly kind: "rest"; readonly fence: number | null; readonly restMs: number }
);

type Work = Entry extends infer E
  ? E extends Entry
    ? Omit<E, "at" | "done" | "failed" | "hostId">
    : never
  : never;

/** Records what happens to claimed pages: what comes within some milliseconds in one statement, one at a time. */
export class RecordBatch {
  readonly #db: Postgres;
  readonly #crawl: number;
  readonly #known: KnownUrls;
  #waiting: Entry[] = [];
  #sending: Promise<void> | null = null;

  constructor(db: Postgres, crawl: number, known: KnownUrls) {
    this.#db = db;
    this.#crawl = crawl;
    this.#known = known;
  }

  /** @returns whether a settlement was recorded; true for anything else */
  async add(host: string, work: Work): Promise<boolean> {
    const at = performance.now();
    const [hostId = 0] = await this.#known.hostIds([host]);
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    this.#waiting.push({ ...work, at, hostId, done: resolve, failed: reject });
    this.#sending ??= this.#sendAll();
    return promise;
  }

  /** Waits until everything is recorded. */
  async flush(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await Bun.sleep(GATHER_MS);
      const batch = this.#takeBatch();
      try {
        const settled = await this.#send(batch);
        for (const [index, entry] of batch.entries())
          entry.done(entry.kind !== "settle" || settled.has(index + 1));
      } catch (error) {
        for (const entry of batch) entry.failed(error);
      }
    }
    this.#sending = null;
  }

  /** Takes what fits into one statement: of one worker, in the order of recording. */
  #takeBatch(): Entry[] {
    const worker = this.#waiting[0]?.worker;
    let links = 0;
    const end = this.#waiting.findIndex((entry, index) => {
      links += entry.kind === "settle" ? entry.links.length : 0;
      return entry.worker !== worker || index >= MAX_PAGES || (index > 0 && links > MAX_LINKS);
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  async #send(batch: readonly Entry[]): Promise<ReadonlySet<number>> {
    const now = performance.now();
    const settles: object[] = [];
    const retries: object[] = [];
    const rests: object[] = [];
    const urls: PageUrl[] = [];
    const places: number[] = [];
    const origins: string[] = [];
    // A settlement's number in the batch; places of other entries stay empty.
    for (const [index, entry] of batch.entries()) {
      const { hostId: host, at } = entry;
      if (entry.kind === "settle") {
        const { page, outcome } = entry.settlement;
        settles.push(toSettleRow(entry.settlement, { o: index + 1, hostId: host }));
        for (const url of entry.links) {
          urls.push(url);
          places.push(settles.length);
        }
        if (page.source === "seed" && outcome.finalUrl !== null) origins.push(originOf(outcome.finalUrl));
      } else if (entry.kind === "retry") {
        const { page, next } = entry;
        const wait = Math.max(0, next.waitMs - (now - at));
        const { tries, isAsked = false } = next;
        const { id, depth, fence } = page;
        const waits = waitsFor(page, next);
        const counted = Number(waits && !isCounted(page));
        const [lost, spent] = [isAsked || page.isTakenOver, Math.round(next.spentMs)];
        retries.push({ page: id, host, depth, fence, tries, spent, wait, lost, waits, counted });
      } else {
        const { fence, restMs } = entry;
        rests.push({ host, fence, rest: Math.max(0, restMs - (now - at)) });
      }
    }
    const columns = await this.#known.columns(urls);
    const [row] = await this.#db.query<{ settled: readonly number[] }>(RECORD, [
      this.#crawl,
      batch[0]?.worker ?? 0,
      toStorableJson(settles),
      toArray(places),
      columns.keys,
      columns.urls,
      columns.hosts,
      JSON.stringify(retries),
      JSON.stringify(rests),
      [...new Set(origins)],
    ]);
    const settled = new Set(row?.settled);
    for (const [index, entry] of batch.entries())
      if (entry.kind === "settle" && settled.has(index + 1))
        this.#known.noteMet(entry.links, entry.settlement.page.depth + 1);
    return settled;
  }
}

const RECORD = `SELECT to_json(crawl_record($1, $2, $3::jsonb, $4::int[], $5::uuid[], string_to_array($6, E'\\n'),
  $7::bigint[], $8::jsonb, $9::jsonb, $10::text[])) AS settled`;
