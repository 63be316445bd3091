import type { Database } from "./database.ts";

/** Leases by name in one file, which all processes that share the work have open. */
export interface Leases {
  /**
   * Takes or renews the lease; an owner that has died loses it at once.
   * @param ttlMs how long it is held from now on unless it is renewed
   * @returns whether the owner holds it now
   */
  take(name: string, owner: string, ttlMs: number): boolean;
  /** Gives the lease back; does nothing when somebody else holds it. */
  release(name: string, owner: string): void;
  /** The present holder; null when nobody holds the lease or its holder has died. */
  holder(name: string): string | null;
}

export type LeasesOptions = {
  /** See `LeaseOwner`. Without it every lease has to run out first. */
  readonly hasDied?: (owner: string) => boolean;
  /** The time in ms, on a clock that all processes share. */
  readonly now?: () => number;
};

export function openLeases(database: Database, options: LeasesOptions = {}): Leases {
  const { hasDied = () => false, now = Date.now } = options;
  database.run(
    "CREATE TABLE IF NOT EXISTS leases (name TEXT PRIMARY KEY, owner TEXT NOT NULL, expires_at REAL NOT NULL) STRICT",
  );
  const take = database.prepare<never, [string, string, number, number]>(
    `INSERT INTO leases (name, owner, expires_at) VALUES (?1, ?2, ?3)
     ON CONFLICT (name) DO UPDATE SET owner = ?2, expires_at = ?3 WHERE owner = ?2 OR expires_at <= ?4`,
  );
  const release = database.prepare<never, [string, string]>(
    "DELETE FROM leases WHERE name = ? AND owner = ?",
  );
  const holder = database.prepare<{ owner: string }, [string, number]>(
    "SELECT owner FROM leases WHERE name = ? AND expires_at > ?",
  );
  const takeFree = (name: string, owner: string, ttlMs: number): boolean =>
    take.run(name, owner, now() + ttlMs, now()).changes > 0;
  return {
    take(name, owner, ttlMs) {
      if (takeFree(name, owner, ttlMs)) return true;
      const other = holder.get(name, now())?.owner;
      if (other === undefined || !hasDied(other)) return false;
      release.run(name, other);
      return takeFree(name, owner, ttlMs);
    },
    release: (name, owner) => void release.run(name, owner),
    holder(name) {
      const owner = holder.get(name, now())?.owner ?? null;
      return owner === null || hasDied(owner) ? null : owner;
    },
  };
}

export type LeadershipOptions = {
  readonly leases: Leases;
  /** The name of the work that one process does at a time: `scheduler`. */
  readonly name: string;
  /** A name that no other process has or ever had. */
  readonly owner: string;
  /** How long the others wait for a silent leader, in ms. */
  readonly ttlMs: number;
  /** Called when this process becomes the leader. */
  readonly onGained: () => void;
  /** Called when it no longer leads because it slept so long that another process took over. */
  readonly onLost: () => void;
  /** Called when the lease could not be requested; it is tried again. */
  readonly onError: (error: unknown) => void;
};

/** The holder renews a lease this many times within its duration. */
const RENEWALS = 4;

type Holder = Omit<LeadershipOptions, "onGained" | "onLost">;

export type HoldOptions = Omit<LeadershipOptions, "onGained">;

/**
 * Takes a lease, and renews it until it is disposed of; null while another has it. `onLost` is called at most
 * once.
 * @throws Failure of the database when the first request fails
 */
export function holdLease(options: HoldOptions): Disposable | null {
  const { leases, name, owner, ttlMs, onLost } = options;
  const heldUntil = performance.now() + ttlMs;
  if (!leases.take(name, owner, ttlMs)) return null;
  const take = createTaking(options, heldUntil);
  const renew = (): void => {
    if (take()) return;
    clearInterval(timer);
    onLost();
  };
  const timer = setInterval(renew, ttlMs / RENEWALS);
  timer.unref?.();
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      giveBack(options);
    },
  };
}

/**
 * Lets one of several processes lead. The first takes the lease at once and renews it; when it ends for
 * whatever reason, another takes over within the lease's duration. Disposing of it gives the lease back.
 */
export function contendForLead(options: LeadershipOptions): Disposable {
  let isLeading = false;
  const take = createTaking(options, 0);
  const ask = (): void => {
    const holds = take();
    if (holds === isLeading) return;
    isLeading = holds;
    if (holds) options.onGained();
    else options.onLost();
  };
  ask();
  const timer = setInterval(ask, options.ttlMs / RENEWALS);
  timer.unref?.();
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      if (!isLeading) return;
      isLeading = false;
      giveBack(options);
    },
  };
}

/** Makes a function that takes or renews the lease, and returns whether it is held now. */
function createTaking(
  { leases, name, owner, ttlMs, onError }: Holder,
  firstHeldUntil: number,
): () => boolean {
  let heldUntil = firstHeldUntil;
  return () => {
    const askedAt = performance.now();
    try {
      if (!leases.take(name, owner, ttlMs)) return false;
      heldUntil = askedAt + ttlMs;
      return true;
    } catch (error) {
      onError(error);
      // A lease that cannot be renewed just now is still held for the rest of its time.
      return askedAt < heldUntil;
    }
  };
}

function giveBack({ leases, name, owner, onError }: Holder): void {
  try {
    leases.release(name, owner);
  } catch (error) {
    // If this fails, the lease runs out by itself.
    onError(error);
  }
}
