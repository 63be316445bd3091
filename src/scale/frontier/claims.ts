import { type ClaimedPage, type ClaimOptions, type Claims, isCounted } from "../../crawler/index.ts";
import type { Postgres } from "../postgres/postgres.ts";
import { type ClaimedRow, toClaimedPage } from "./rows.ts";

/** Most pages to claim at once beyond the pages that are wanted; more made claims slower. */
const MAX_AHEAD = 16;
/** How long pages wait here at most before they are handed out, at the pace of the last second, in ms. */
const AHEAD_MS = { exclusive: 100, shared: 500 };
/** How many pages a worker may have the right to before it needs them. */
const RESERVE = 64;
/** How soon a process looks again when nothing says when there will be more, in ms; each time twice as late. */
const FIRST_IDLE_MS = 50;

type Answer = {
  readonly pages: readonly ClaimedRow[] | null;
  readonly reserved: number;
  readonly isOver: boolean;
  readonly waitMs: number | null;
  readonly origins: readonly string[] | null;
};

type ClaimsOptions = {
  readonly worker: number;
  readonly origins: readonly string[];
  /** How late a process looks again at most, in ms. */
  readonly idleMs: number;
};

/** The pages that one process has claimed, some of them in advance. */
export class PageClaims {
  readonly #db: Postgres;
  readonly #crawl: number;
  /** Pages handed out and not yet settled, released or lost, by id. */
  readonly #held = new Map<number, ClaimedPage>();
  /** The held pages that are just being settled or released. */
  readonly #ending = new Set<number>();
  /** Pages of exclusive hosts that have not freed them, with the claims' numbers. */
  readonly #holding = new Map<number, number>();
  #ahead: ClaimedPage[] = [];
  #worker: number | null;
  // A number is never used again, also by the process's next worker.
  #call = 0;
  #claiming: Promise<Answer | null> | null = null;
  /** Pages that did not count as fetched when this worker claimed them. */
  #used = 0;
  #isShort = false;
  #handedOut: number[] = [];
  #idleMs = FIRST_IDLE_MS;
  readonly #lastIdleMs: number;
  #lookAt = 0;
  #origins: ReadonlySet<string>;

  constructor(db: Postgres, crawl: number, { worker, origins, idleMs }: ClaimsOptions) {
    this.#db = db;
    this.#crawl = crawl;
    this.#lastIdleMs = idleMs;
    this.#worker = worker;
    this.#origins = new Set(origins);
  }

  /** The pages that are claimed and not handed out. */
  get ahead(): readonly ClaimedPage[] {
    return this.#ahead;
  }

  holds({ id, fence }: ClaimedPage): boolean {
    return this.#held.get(id)?.fence === fence;
  }

  /** Begins to settle a page or to give it back. @returns false when it is not held, or this has begun before */
  release(page: ClaimedPage): boolean {
    if (!this.holds(page) || this.#ending.has(page.id)) return false;
    this.#ending.add(page.id);
    return true;
  }

  /** Forgets a page that is settled or released; until then it is held, since nobody else can have it. */
  forget(page: ClaimedPage): void {
    if (!this.holds(page)) return;
    this.#held.delete(page.id);
    this.#ending.delete(page.id);
  }

  /** Tells, once, whether the page's claim holds its exclusive host. */
  releaseHost({ id, fence }: ClaimedPage): boolean {
    return this.#holding.get(id) === fence && this.#holding.delete(id);
  }

  /** Notes that a page without a try was no fetch after all. */
  noteUnused(): void {
    this.#used--;
  }

  /** Notes that there may be pages to claim in `ms` milliseconds. */
  noteSoon(ms: number): void {
    this.#lookAt = Math.min(this.#lookAt, performance.now() + ms);
  }

  /** Forgets all claims; from now on they are made for another worker. @param worker null: for none yet */
  reset(worker: number | null): void {
    this.#worker = worker;
    this.#held.clear();
    this.#ending.clear();
    this.#holding.clear();
    this.#ahead = [];
    this.#used = 0;
    this.#lookAt = 0;
  }

  async claim(options: ClaimOptions): Promise<Claims> {
    const { count } = options;
    let answer: Answer | null = null;
    const isDue = this.#claiming !== null || performance.now() >= this.#lookAt;
    if (this.#ahead.length === 0 && isDue) answer = await this.#ask(options);
    const pages = this.#ahead.splice(0, count);
    for (const page of pages) {
      this.#held.set(page.id, page);
      this.#ending.delete(page.id);
    }
    this.#noteHandedOut(pages.length);
    if (
      this.#ahead.length < this.#aheadOf(options) / 2 &&
      pages.length > 0 &&
      performance.now() >= this.#lookAt
    )
      void this.#ask(options).catch(() => {}); // the next claim meets the same failure
    const isOver = answer?.isOver ?? false;
    const waitMs = pages.length === count ? null : Math.max(1, this.#lookAt - performance.now());
    return { pages, waitMs: isOver ? null : waitMs, isOver, origins: this.#news(answer) };
  }

  /** Claims more pages ahead; one statement at a time. */
  async #ask(options: ClaimOptions): Promise<Answer | null> {
    this.#claiming ??= this.#send(options).finally(() => {
      this.#claiming = null;
    });
    return this.#claiming;
  }

  async #send({ count: wanted, isHostExclusive }: ClaimOptions): Promise<Answer | null> {
    const worker = this.#worker;
    this.#lookAt = performance.now() + FIRST_IDLE_MS;
    if (worker === null) return null;
    const fence = ++this.#call;
    const count = Math.min(wanted + this.#aheadOf({ isHostExclusive }), Math.max(wanted, MAX_AHEAD));
    const reserve = this.#used + count + (this.#isShort ? 0 : RESERVE);
    const [row] = await this.#db.query<{ answer: Answer | null }>(
      "SELECT crawl_take_pages($1, $2, $3, $4, $5, $6, $7, $8) AS answer",
      [this.#crawl, worker, fence, count, reserve, this.#used, isHostExclusive, this.#origins.size],
    );
    const answer = row?.answer ?? null;
    // The worker may have been given up meanwhile, and its claims with it.
    if (answer === null || worker !== this.#worker) return null;
    const pages = (answer.pages ?? []).map((page) => toClaimedPage(page, fence));
    for (const page of pages) {
      if (!isCounted(page)) this.#used++;
      if (isHostExclusive) this.#holding.set(page.id, fence);
    }
    this.#ahead.push(...pages);
    this.#isShort = pages.length < count;
    this.#noteWait(answer, pages.length > 0);
    return answer;
  }

  #noteWait({ waitMs }: Answer, isFruitful: boolean): void {
    if (!this.#isShort) {
      this.#lookAt = 0;
      return;
    }
    this.#idleMs = Math.min(isFruitful ? FIRST_IDLE_MS : this.#idleMs * 2, this.#lastIdleMs);
    const idleMs = this.#idleMs * (1 - Math.random() / 4);
    this.#lookAt = performance.now() + Math.min(waitMs ?? idleMs, idleMs);
  }

  #news(answer: Answer | null): readonly string[] {
    if (!answer?.origins) return [];
    const added = answer.origins.filter((origin) => !this.#origins.has(origin));
    this.#origins = new Set(answer.origins);
    return added;
  }

  #noteHandedOut(count: number): void {
    const now = performance.now();
    for (let times = 0; times < count; times++) this.#handedOut.push(now);
    while ((this.#handedOut[0] ?? now) < now - 1000) this.#handedOut.shift();
  }

  #aheadOf({ isHostExclusive }: Pick<ClaimOptions, "isHostExclusive">): number {
    const ahead = (this.#handedOut.length * AHEAD_MS[isHostExclusive ? "exclusive" : "shared"]) / 1000;
    return ahead < 2 ? 0 : Math.min(MAX_AHEAD, Math.floor(ahead));
  }
}
