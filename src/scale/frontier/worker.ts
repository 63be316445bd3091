import { isDeepStrictEqual } from "node:util";
import { pause } from "../../base/abort.ts";
import { Failure, type FailureRecord } from "../../base/failure.ts";
import type { CrawlRecord, CrawlState } from "../../crawler/index.ts";
import type { Postgres } from "../postgres/postgres.ts";

/** How often a process says that it lives, and when it counts as dead. */
export type Pace = {
  readonly beatMs: number;
  /** The claims of a worker return after this time without a sign of it, by the database's clock. */
  readonly deadMs: number;
  /** How late an idle process looks for pages again, at most. */
  readonly idleMs: number;
  /** How long others may take to record their last pages when the leader stops the crawl. */
  readonly leaveMs: number;
};

/** The crawl in the database as this process has opened it. */
export type OpenCrawl = CrawlRecord & {
  readonly id: number;
  readonly run: number;
  /** Counts how often the crawl was restarted, with another plan, for another job or from the beginning. */
  readonly session: number;
  readonly isSeeded: boolean;
  readonly end: CrawlState["end"];
};

export type WorkerParts = {
  readonly db: Postgres;
  /** The worker's first number. */
  readonly worker: number;
  readonly canLead: boolean;
  readonly pace: Pace;
};

type Beat = {
  readonly fence: number | null;
  readonly isSeeded: boolean;
  readonly isFinished: boolean;
  readonly stopped: string | null;
};

/** How long closing waits for a database that cannot be reached, in ms. */
export const GOODBYE_MS = 5_000;

/** This process as one of a crawl's workers: it says that it lives, and learns how the crawl stands. */
export class CrawlWorker {
  readonly #crawl: OpenCrawl;
  readonly #parts: WorkerParts;
  readonly #closing = new AbortController();
  #id: number;
  #state: CrawlState;
  #fence: number | null = null;
  #renewedAt = performance.now();
  #isLost = false;
  #beating: Promise<void> = Promise.resolve();
  #onChange = (): void => {};
  #onLoss = (): void => {};

  constructor(crawl: OpenCrawl, parts: WorkerParts) {
    this.#crawl = crawl;
    this.#parts = parts;
    this.#id = parts.worker;
    this.#state = { leads: false, isSeeded: crawl.isSeeded, end: crawl.end };
  }

  /** The worker's number; another one after its claims were lost. */
  get id(): number {
    return this.#id;
  }

  /** The number of the lead, which the leader's statements name; null without the lead. */
  get fence(): number | null {
    return this.#fence;
  }

  get state(): CrawlState {
    return this.#state;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Aborts when the worker leaves. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** Tells whether the claims are certain to be the worker's still. */
  isRenewed(): boolean {
    return !this.#isLost && performance.now() - this.#renewedAt < this.#parts.pace.deadMs;
  }

  onChange(call: () => void): void {
    this.#onChange = call;
  }

  /** @param call called before `onChange` with each loss, and when there is a new number */
  onLoss(call: () => void): void {
    this.#onLoss = call;
  }

  /** Begins to say that this process lives. */
  async start(): Promise<void> {
    if (this.#state.end !== null) return;
    await this.#beat();
    const { beatMs } = this.#parts.pace;
    const watchdog = setInterval(() => {
      if (!this.isRenewed()) this.#lose();
    }, beatMs);
    const beatOn = async (): Promise<void> => {
      try {
        while (!this.signal.aborted) {
          await pause(beatMs, this.signal);
          if (!this.signal.aborted) await this.#beat();
        }
      } catch (error) {
        // The crawl's owner is notified; nobody waits for this promise until the worker leaves.
        this.#lose();
        const failure = error instanceof Failure ? error : new Failure("internal", String(error));
        this.note({ end: failure.toRecord() });
      }
    };
    this.#beating = beatOn().finally(() => clearInterval(watchdog));
  }

  /** Gives back what the worker still has. */
  async leave(): Promise<void> {
    this.#closing.abort();
    await this.#beating;
    const goodbye = this.#parts.db.patient({ waitMs: GOODBYE_MS });
    // Without it, the others find out after a while.
    await goodbye.query("SELECT crawl_bury($1, $2, false)", [this.#crawl.id, this.#id]).catch(() => {});
  }

  async #beat(): Promise<void> {
    const { canLead, pace } = this.#parts;
    const db = this.#parts.db.patient({ signal: this.signal, statementMs: Math.ceil(pace.deadMs / 3) });
    try {
      for (let isFresh = false; !isFresh; ) {
        const startedAt = performance.now();
        const parameters = [this.#crawl.id, this.#id, canLead, pace.deadMs];
        const sql = "SELECT crawl_beat($1, $2, $3, $4) AS beat";
        const [row] = await db.query<{ beat: Beat | null }>(sql, parameters);
        const beat = row?.beat ?? null;
        // After a long wait it is unknown when the database heard of this process.
        isFresh = performance.now() - startedAt < pace.deadMs / 3;
        if (beat !== null && !this.#isLost) {
          if (isFresh) this.#renewedAt = startedAt;
          this.#learn(beat);
        } else {
          this.#lose();
          if (!(await this.#joinAgain(db))) return;
          isFresh = false;
        }
      }
    } catch (error) {
      if (!this.signal.aborted) throw error;
    }
  }

  #learn({ fence, isSeeded, isFinished, stopped }: Beat): void {
    this.#fence = fence;
    this.note({ leads: fence !== null, isSeeded, end: isFinished ? "finished" : endOf(stopped) });
  }

  /** Takes up what is new, also what this process itself has changed, before the next beat tells. */
  note(change: Partial<CrawlState>): void {
    const before = this.#state;
    this.#state = { ...before, ...change };
    if (!isDeepStrictEqual(before, this.#state)) this.#onChange();
  }

  /** Gives all claims up, since others may have them by now. */
  #lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#fence = null;
    this.#state = { ...this.#state, leads: false };
    this.#onLoss();
    this.#onChange();
  }

  /** Goes on as another worker. @returns false when the crawl has been begun anew meanwhile */
  async #joinAgain(db: Postgres): Promise<boolean> {
    const { id, session } = this.#crawl;
    await db.query("SELECT crawl_bury($1, $2, true)", [id, this.#id]);
    this.#id = newWorker();
    const join = "SELECT crawl_join($1, $2, $3) AS has";
    const [row] = await db.query<{ has: boolean }>(join, [id, this.#id, session]);
    if (!row?.has) {
      const sql = "SELECT stopped FROM crawl WHERE id = $1";
      const [crawl] = await db.query<{ stopped: string | null }>(sql, [id]);
      this.note({ end: endOf(crawl?.stopped ?? null) ?? BEGUN_ANEW });
      return false;
    }
    this.#renewedAt = performance.now();
    this.#isLost = false;
    this.#onLoss();
    return true;
  }
}

const BEGUN_ANEW: FailureRecord = { code: "cancelled", message: "another process has begun the crawl anew" };

/** @param stopped as `stop` wrote it */
const endOf = (stopped: string | null): FailureRecord | null =>
  stopped === null ? null : (JSON.parse(stopped) as FailureRecord);

/** A number that no other worker has, and that JavaScript's numbers hold. */
export const newWorker = (): number =>
  Number((crypto.getRandomValues(new BigUint64Array(1))[0] ?? 0n) >> 12n) + 1;
