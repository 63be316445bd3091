import { orAborted } from "../base/abort.ts";
import type { Database } from "../base/database/index.ts";
import { Failure } from "../base/failure.ts";
import type { Clock } from "../fetching/index.ts";

/** A host's turn, which permits one request. */
export type HostTurn = {
  /** Ends the turn: the answer has arrived or will not come, so the next request may go. */
  release(): void;
};

export type TurnOptions = {
  /**
   * The least time since the start of the last request to the host, in ms; above 0, only one request is out at a
   * time.
   */
  readonly delayMs: number;
  readonly signal: AbortSignal;
};

/** One slot for each host, shared by everything that sends requests: crawls, robots.txt, sitemaps. */
export interface HostSlots {
  /**
   * Waits for the host's turn, first come first served.
   * @throws Failure `cancelled` when the signal aborts
   */
  take(host: string, options: TurnOptions): Promise<HostTurn>;
  /** Permits no request to the host before this time, in ms since 1970; an earlier time changes nothing. */
  pause(host: string, until: number): void;
  /** Returns the earliest time of the next request, in ms since 1970, as far as it is known now. */
  readyAt(host: string, delayMs: number): number;
}

type Slot = {
  lastStart: number;
  lastDelayMs: number;
  pausedUntil: number;
  /** Resolves when no earlier caller waits or has a request out. */
  tail: Promise<void>;
  inLine: number;
};

/** When there are more hosts, those whose last delay is over are forgotten. */
const MAX_IDLE_HOSTS = 10_000;

/** Creates slots in this process's memory. */
export function createHostSlots(clock: Pick<Clock, "now" | "sleep">): HostSlots {
  const slots = new Map<string, Slot>();
  const slotOf = (host: string): Slot => {
    let slot = slots.get(host);
    if (!slot) {
      if (slots.size >= MAX_IDLE_HOSTS) forgetIdle(slots, clock.now());
      slot = { lastStart: 0, lastDelayMs: 0, pausedUntil: 0, tail: Promise.resolve(), inLine: 0 };
      slots.set(host, slot);
    }
    return slot;
  };
  const readyAt = (slot: Slot, delayMs: number): number =>
    Math.max(slot.pausedUntil, slot.lastStart === 0 ? 0 : slot.lastStart + delayMs);

  /** Waits until the host is ready, and again when a pause is added meanwhile. */
  const waitUntilReady = async (slot: Slot, { delayMs, signal }: TurnOptions): Promise<void> => {
    for (let wait = readyAt(slot, delayMs) - clock.now(); wait > 0; ) {
      await clock.sleep(Math.min(wait, MAX_TIMER_MS), signal);
      wait = readyAt(slot, delayMs) - clock.now();
    }
  };

  return {
    async take(host, options) {
      const slot = slotOf(host);
      slot.inLine++;
      const { promise, resolve } = Promise.withResolvers<void>();
      const leave = once(() => {
        slot.inLine--;
        resolve();
      });
      try {
        if (options.delayMs > 0) {
          const before = slot.tail;
          slot.tail = Promise.all([before, promise]).then(() => {});
          await orAborted(before, options.signal, calledOff);
        }
        await waitUntilReady(slot, options);
        if (options.signal.aborted) throw calledOff();
      } catch (error) {
        leave();
        throw error;
      }
      slot.lastStart = clock.now();
      slot.lastDelayMs = options.delayMs;
      return { release: leave };
    },
    pause(host, until) {
      const slot = slotOf(host);
      slot.pausedUntil = Math.max(slot.pausedUntil, until);
    },
    readyAt: (host, delayMs) => {
      const slot = slots.get(host);
      return slot ? readyAt(slot, delayMs) : 0;
    },
  };
}

/** Longer timers overflow and fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function once(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    action();
  };
}

const calledOff = (): Failure => new Failure("cancelled", "waiting for a host's turn was called off");

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
  readonly clock: Pick<Clock, "now" | "sleep">;
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
export function createSharedHostSlots({ local, database, clock }: SharedHostSlotsOptions): HostSlots {
  const self = crypto.randomUUID();
  database.run(
    `CREATE TABLE IF NOT EXISTS host_slots (host TEXT PRIMARY KEY, last_start REAL NOT NULL,
     paused_until REAL NOT NULL, holder TEXT, held_until REAL NOT NULL) STRICT`,
  );
  database
    .prepare<never, [number, number]>("DELETE FROM host_slots WHERE last_start < ? AND paused_until < ?")
    .run(clock.now() - KEEP_MS, clock.now());
  const read = database.prepare<HostRow, [string]>("SELECT * FROM host_slots WHERE host = ?");
  const hold = database.prepare<never, [string, number, string, number]>(
    `INSERT INTO host_slots VALUES (?1, ?2, 0, ?3, ?4)
     ON CONFLICT (host) DO UPDATE SET last_start = ?2, holder = ?3, held_until = ?4`,
  );
  const free = database.prepare<never, [string, string]>(
    "UPDATE host_slots SET holder = NULL, held_until = 0 WHERE host = ? AND holder = ?",
  );
  const pause = database.prepare<never, [string, number]>(
    `INSERT INTO host_slots VALUES (?1, 0, ?2, NULL, 0)
     ON CONFLICT (host) DO UPDATE SET paused_until = max(paused_until, ?2)`,
  );
  const rowOf = (host: string): HostRow => read.get(host) ?? NO_ROW;

  /** Takes the host for this turn, or returns how long to wait. */
  const tryTake = (host: string, delayMs: number, turn: string): number =>
    database.transaction(() => {
      const row = rowOf(host);
      const now = clock.now();
      const wait = Math.max(row.paused_until, row.last_start + delayMs) - now;
      if (wait > 0) return wait;
      if (row.holder !== null && row.held_until > now) return POLL_MS;
      hold.run(host, now, turn, now + TURN_MS);
      return 0;
    });

  return {
    async take(host, options) {
      const mine = await local.take(host, options);
      try {
        // Without a delay requests overlap, and only pauses are shared.
        if (options.delayMs === 0) return await waitForPause(mine, host, options.signal);
        const turn = `${self} ${crypto.randomUUID()}`;
        for (let wait = tryTake(host, options.delayMs, turn); wait > 0; ) {
          await clock.sleep(Math.min(wait, MAX_WAIT_MS), options.signal);
          wait = tryTake(host, options.delayMs, turn);
        }
        return { release: () => releaseBoth(mine, () => free.run(host, turn)) };
      } catch (error) {
        mine.release();
        throw error;
      }
    },
    pause(host, until) {
      local.pause(host, until);
      pause.run(host, until);
    },
    readyAt(host, delayMs) {
      const row = rowOf(host);
      const shared = Math.max(row.paused_until, row.last_start === 0 ? 0 : row.last_start + delayMs);
      return Math.max(shared, local.readyAt(host, delayMs));
    },
  };

  async function waitForPause(mine: HostTurn, host: string, signal: AbortSignal): Promise<HostTurn> {
    for (let wait = rowOf(host).paused_until - clock.now(); wait > 0; ) {
      await clock.sleep(Math.min(wait, MAX_WAIT_MS), signal);
      wait = rowOf(host).paused_until - clock.now();
    }
    return mine;
  }
}

/** Another process may lengthen a pause, so a wait is checked again after this time. */
const MAX_WAIT_MS = 60_000;

function releaseBoth(mine: HostTurn, free: () => void): void {
  mine.release();
  try {
    free();
  } catch (error) {
    // The database has been busy for seconds; the turn expires by itself.
    if (!(error instanceof Failure)) throw error;
  }
}
