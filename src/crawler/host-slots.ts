import { orAborted } from "../base/abort.ts";
import { sinceSetMs } from "../base/clock.ts";
import type { Database } from "../base/database/index.ts";
import { Failure } from "../base/failure.ts";
import { type Clock, systemClock } from "../fetching/index.ts";
import { MAX_PAUSE_MS } from "./frontier/schema.ts";

/** A host's turn, which permits one request. */
export type HostTurn = {
  /**
   * Ends the turn: the answer has arrived or will not come, so the next request may go. The delay counts from here if the
   * turn was short, see `sentAt`.
   */
  release(): void;
};

type TurnOptions = {
  /** The least time between the host's requests, in ms, as the host sees them; above 0, one is out at a time. */
  readonly delayMs: number;
  readonly signal: AbortSignal;
};

/**
 * One slot for each host, shared by everything that sends requests: crawls, robots.txt, sitemaps. Times are durations
 * from now, because processes that share the slots may have different clocks.
 */
export interface HostSlots {
  /**
   * Waits for the host's turn, first come first served in this process.
   * @throws Failure `cancelled` when the signal aborts
   */
  take(host: string, options: TurnOptions): Promise<HostTurn>;
  /**
   * As `take`, but does not wait for other processes when they have made the host rest for longer than `patienceMs`.
   * @returns the turn, or how long the host rests, in ms
   */
  takeSoon(host: string, options: TurnOptions & { readonly patienceMs: number }): Promise<HostTurn | number>;
  /**
   * Permits no request to the host for this long, in ms; a longer pause stays.
   * @returns how long the host is paused now, in ms
   */
  pause(host: string, ms: number): Promise<number>;
  /**
   * Returns how long the host rests before its next request, in ms, as far as this process knows; only `take` can
   * tell what other processes have sent in the meantime.
   */
  restMs(host: string, delayMs: number): Promise<number>;
}

type SlotClock = Pick<Clock, "now" | "sleep">;

type Slot = {
  lastStart: number;
  lastDelayMs: number;
  pausedUntil: number;
  /** Resolves when no earlier caller waits or has a request out. */
  tail: Promise<void>;
  inLine: number;
};

/** A request reaches its host at most this long after its turn began; a slow host is asked this much later at most. */
const MAX_ON_ITS_WAY_MS = 250;

/**
 * Returns when a request may have reached its host, from which the delay to the next one counts. A connection or a busy
 * machine may have held it up until just before the answer, while the next request finds its connection open.
 */
export const sentAt = (startedAt: number, endedAt: number): number =>
  Math.min(Math.max(startedAt, endedAt), startedAt + MAX_ON_ITS_WAY_MS);

/** When there are more hosts, those whose last delay is over are forgotten. */
const MAX_IDLE_HOSTS = 10_000;

/** Creates slots in this process's memory. */
export const createHostSlots = (clock: SlotClock): HostSlots => new LocalSlots(clock);

class LocalSlots implements HostSlots {
  readonly #clock: SlotClock;
  readonly #slots = new Map<string, Slot>();

  constructor(clock: SlotClock) {
    this.#clock = clock;
  }

  async take(host: string, options: TurnOptions): Promise<HostTurn> {
    const slot = this.#slotOf(host);
    slot.inLine++;
    const { promise, resolve } = Promise.withResolvers<void>();
    let isInLine = true;
    const leave = (): void => {
      if (isInLine) slot.inLine--;
      isInLine = false;
      resolve();
    };
    try {
      if (options.delayMs > 0) {
        const before = slot.tail;
        slot.tail = Promise.all([before, promise]).then(() => {});
        await orAborted(before, options.signal, calledOff);
      }
      await this.#waitUntilReady(slot, options);
      if (options.signal.aborted) throw calledOff();
    } catch (error) {
      leave();
      throw error;
    }
    const startedAt = this.#clock.now();
    slot.lastStart = startedAt;
    slot.lastDelayMs = options.delayMs;
    const release = (): void => {
      if (isInLine) slot.lastStart = Math.max(slot.lastStart, sentAt(startedAt, this.#clock.now()));
      leave();
    };
    return { release };
  }

  takeSoon(host: string, options: TurnOptions): Promise<HostTurn> {
    return this.take(host, options);
  }

  async pause(host: string, ms: number): Promise<number> {
    const slot = this.#slotOf(host);
    slot.pausedUntil = Math.max(slot.pausedUntil, this.#clock.now() + ms);
    return slot.pausedUntil - this.#clock.now();
  }

  async restMs(host: string, delayMs: number): Promise<number> {
    const slot = this.#slots.get(host);
    return slot ? Math.max(0, readyAt(slot, delayMs) - this.#clock.now()) : 0;
  }

  #slotOf(host: string): Slot {
    let slot = this.#slots.get(host);
    if (!slot) {
      if (this.#slots.size >= MAX_IDLE_HOSTS) forgetIdle(this.#slots, this.#clock.now());
      slot = { lastStart: 0, lastDelayMs: 0, pausedUntil: 0, tail: Promise.resolve(), inLine: 0 };
      this.#slots.set(host, slot);
    }
    return slot;
  }

  /** Waits until the host is ready, and again when a pause is added meanwhile. */
  async #waitUntilReady(slot: Slot, { delayMs, signal }: TurnOptions): Promise<void> {
    const waitMs = (): number => readyAt(slot, delayMs) - this.#clock.now();
    for (let wait = waitMs(); wait > 0; wait = waitMs())
      await this.#clock.sleep(Math.min(wait, MAX_TIMER_MS), signal);
  }
}

const readyAt = (slot: Slot, delayMs: number): number =>
  Math.max(slot.pausedUntil, slot.lastStart === 0 ? 0 : slot.lastStart + delayMs);

/** Longer timers overflow and fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const calledOff = (): Failure => new Failure("cancelled", "waiting for a host's turn was cancelled");

function forgetIdle(slots: Map<string, Slot>, now: number): void {
  for (const [host, slot] of slots) {
    const isOver = slot.lastStart + slot.lastDelayMs <= now && slot.pausedUntil <= now;
    if (slot.inLine === 0 && isOver) slots.delete(host);
  }
}

type SharedHostSlotsOptions = {
  /** The slots of this process, which decide who is first in line here. */
  readonly local: HostSlots;
  /** The database that all processes have open. */
  readonly database: Database;
  /** The time of the machine, which its processes have in common. */
  readonly now?: () => number;
};

/** A process that ends during its turn blocks the host at most this long. */
const TURN_MS = 60_000;
/** How often this process checks a host that another process has a request to. */
const POLL_MS = 50;
/** Hosts without a request for this long are forgotten. */
const KEEP_MS = 24 * 60 * 60 * 1000;

type HostRow = {
  readonly last_start: number;
  readonly paused_until: number;
  readonly holder: string | null;
  readonly held_until: number;
};

const NO_ROW: HostRow = { last_start: 0, paused_until: 0, holder: null, held_until: 0 };

/**
 * Creates slots that the processes of a server share: jobs of two processes together are as polite to a host as those
 * of one. Turns in this process go in order; between processes, the first to ask when the time has come is next.
 */
export const createSharedHostSlots = (options: SharedHostSlotsOptions): HostSlots => new FileSlots(options);

class FileSlots implements HostSlots {
  readonly #options: Required<SharedHostSlotsOptions>;
  readonly #self = crypto.randomUUID();
  readonly #openedAt = performance.now();
  readonly #sql: ReturnType<typeof prepare>;
  /** Turns whose end could not be written, on a full disk for example, with the times of their requests. */
  readonly #unwritten = new Map<string, number>();

  constructor({ now = Date.now, ...options }: SharedHostSlotsOptions) {
    const { database } = options;
    this.#options = { ...options, now };
    database.run(
      `CREATE TABLE IF NOT EXISTS host_slots (host TEXT PRIMARY KEY, last_start REAL NOT NULL,
       paused_until REAL NOT NULL, holder TEXT, held_until REAL NOT NULL) STRICT`,
    );
    this.#sql = prepare(database);
    this.#sql.forget.run(now() - KEEP_MS, now());
    sinceSetMs();
  }

  async take(host: string, options: TurnOptions): Promise<HostTurn> {
    // Unlimited patience always ends with a turn.
    return (await this.takeSoon(host, { ...options, patienceMs: Number.POSITIVE_INFINITY })) as HostTurn;
  }

  async takeSoon(
    host: string,
    options: TurnOptions & { readonly patienceMs: number },
  ): Promise<HostTurn | number> {
    const { local, now } = this.#options;
    const mine = await local.take(host, options);
    const turn = `${this.#self} ${crypto.randomUUID()}`;
    // Without a delay requests overlap, and only pauses are shared.
    const isShared = options.delayMs > 0;
    const look = (): number =>
      isShared ? this.#tryTake(host, options.delayMs, turn) : this.#rowOf(host).paused_until - now();
    try {
      for (let wait = look(); wait > 0; wait = look()) {
        if (wait > options.patienceMs) {
          mine.release();
          return wait;
        }
        await systemClock.sleep(Math.min(wait, MAX_WAIT_MS), options.signal);
      }
    } catch (error) {
      mine.release();
      throw error;
    }
    return isShared ? { release: () => this.#release(mine, host, turn) } : mine;
  }

  async pause(host: string, ms: number): Promise<number> {
    const { local, now } = this.#options;
    await local.pause(host, ms);
    this.#sql.pause.run(host, now() + ms);
    return this.#rowOf(host).paused_until - now();
  }

  restMs(host: string, delayMs: number): Promise<number> {
    return this.#options.local.restMs(host, delayMs);
  }

  #release(mine: HostTurn, host: string, turn: string): void {
    mine.release();
    const endedAt = this.#options.now();
    try {
      this.#sql.free.run(host, turn, sentAt(this.#rowOf(host).last_start, endedAt));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      // This process writes it with its next question; for others the turn expires by itself.
      this.#unwritten.set(turn, endedAt);
    }
  }

  #rowOf(host: string): HostRow {
    const row = this.#sql.read.get(host) ?? NO_ROW;
    const now = this.#options.now();
    // After the clock was set back, the host's times keep their distances.
    const aheadMs = Math.max(row.last_start - now, row.paused_until - now - MAX_PAUSE_MS);
    return aheadMs > 0 ? (this.#sql.shift.get(host, aheadMs, row.paused_until) ?? row) : row;
  }

  /** Takes the host for this turn, or returns how long to wait. */
  #tryTake(host: string, delayMs: number, turn: string): number {
    const holder = this.#rowOf(host).holder ?? "";
    const endedAt = this.#unwritten.get(holder);
    if (endedAt !== undefined) this.#sql.free.run(host, holder, endedAt);
    this.#unwritten.delete(holder);
    return this.#options.database.transaction(() => {
      const row = this.#rowOf(host);
      const now = this.#options.now();
      const wait = Math.max(row.paused_until, row.last_start + delayMs) - now;
      // When the clock was set, before this process began too, another one may have asked the host just before.
      const setMs = sinceSetMs();
      const steadyMs = row === NO_ROW ? delayMs : Math.min(setMs, performance.now() - this.#openedAt);
      if (wait > 0 || steadyMs < delayMs) return Math.max(wait, delayMs - steadyMs);
      if (row.holder !== null && (row.held_until > now || setMs < TURN_MS)) return POLL_MS;
      this.#sql.hold.run(host, now, turn, now + TURN_MS);
      return 0;
    });
  }
}

const prepare = (database: Database) => ({
  forget: database.prepare<never, [number, number]>(
    "DELETE FROM host_slots WHERE last_start < ? AND paused_until < ?",
  ),
  read: database.prepare<HostRow, [string]>("SELECT * FROM host_slots WHERE host = ?"),
  shift: database.prepare<HostRow, [string, number, number]>(
    `UPDATE host_slots SET last_start = last_start - ?2, paused_until = paused_until - ?2, held_until = held_until - ?2
     WHERE host = ?1 AND paused_until = ?3 RETURNING *`,
  ),
  hold: database.prepare<never, [string, number, string, number]>(
    `INSERT INTO host_slots VALUES (?1, ?2, 0, ?3, ?4)
     ON CONFLICT (host) DO UPDATE SET last_start = ?2, holder = ?3, held_until = ?4`,
  ),
  free: database.prepare<never, [string, string, number]>(
    "UPDATE host_slots SET holder = NULL, held_until = 0, last_start = ?3 WHERE host = ?1 AND holder = ?2",
  ),
  pause: database.prepare<never, [string, number]>(
    `INSERT INTO host_slots VALUES (?1, 0, ?2, NULL, 0)
     ON CONFLICT (host) DO UPDATE SET paused_until = max(paused_until, ?2)`,
  ),
});

/** Another process may lengthen a pause, so a wait is checked again after this time. */
const MAX_WAIT_MS = 60_000;
