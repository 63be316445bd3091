import type { Database } from "../base/database/index.ts";
import { Failure } from "../base/failure.ts";
import type { Clock } from "../fetching/index.ts";
import type { HostSlots, HostTurn } from "./host-slots.ts";

export type SharedHostSlotsOptions = {
  /** Of this process: who is first in line here is settled there. */
  readonly local: HostSlots;
  /** That all processes have open. */
  readonly database: Database;
  readonly clock: Pick<Clock, "now" | "sleep">;
};

/** A process that ended while it had a turn holds the host up so long at most. */
const TURN_MS = 60_000;
/** How often a host is looked at that another process has a request out to. */
const POLL_MS = 50;
/** Hosts that nobody asked for so long are forgotten. */
const KEEP_MS = 24 * 60 * 60 * 1000;

type HostRow = {
  readonly last_start: number;
  readonly paused_until: number;
  readonly holder: string | null;
  readonly held_until: number;
};

const NO_ROW: HostRow = { last_start: 0, paused_until: 0, holder: null, held_until: 0 };

/**
 * Slots of hosts that the processes of a server share: jobs of two processes are as polite to a host as those
 * of one. Turns in this process go in order; between processes whoever asks when the time has come is next.
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

  /** Takes the host for this turn, or says how long to wait. */
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
        // Without a delay requests overlap, and only a pause is everybody's.
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

/** Another process may lengthen a pause; a wait is looked at again after so long. */
const MAX_WAIT_MS = 60_000;

function releaseBoth(mine: HostTurn, free: () => void): void {
  mine.release();
  try {
    free();
  } catch (error) {
    // The database is busy for seconds: the turn runs out by itself.
    if (!(error instanceof Failure)) throw error;
  }
}
