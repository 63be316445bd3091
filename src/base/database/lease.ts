import type { Database } from "./database.ts";

/** Leases of several names in one file, which all processes that share work have open. */
export interface Leases {
  /**
   * Takes the lease, or renews it; at once from an owner that has died.
   * @param ttlMs how long it is held from now on when it is not renewed
   * @returns whether the owner holds it now
   */
  take(name: string, owner: string, ttlMs: number): boolean;
  /** Gives it back; does nothing when somebody else holds it. */
  release(name: string, owner: string): void;
  /** Who holds it now; null when nobody does, or whoever did has died. */
  holder(name: string): string | null;
}

export type LeasesOptions = {
  /** See `LeaseOwner`; absent: all leases are waited for. */
  readonly hasDied?: (owner: string) => boolean;
  /** In ms; the same clock in all processes. */
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
  /** Of what one process at a time does: `scheduler`. */
  readonly name: string;
  /** Unique among all processes, of all times. */
  readonly owner: string;
  /** How long the others wait for a leader that says nothing, ms. */
  readonly ttlMs: number;
  /** This process leads from now on. */
  readonly onGained: () => void;
  /** It does no longer: it was asleep for so long that another took over. */
  readonly onLost: () => void;
  /** The lease could not be asked for; it is tried again. */
  readonly onError: (error: unknown) => void;
};

/** Whoever holds a lease says so this often while it lasts. */
const RENEWALS = 4;

export type HoldOptions = Omit<LeadershipOptions, "onGained">;

/**
 * Takes a lease for as long as some work lasts, and renews it until it is disposed of; null while another has it.
 * `onLost` is called at most once.
 * @throws Failure of the database when it cannot be asked for at first
 */
export function holdLease({ leases, name, owner, ttlMs, onLost, onError }: HoldOptions): Disposable | null {
  let heldUntil = performance.now() + ttlMs;
  if (!leases.take(name, owner, ttlMs)) return null;
  const renew = (): void => {
    const askedAt = performance.now();
    // What cannot be asked just now is still held for the rest of its time.
    let holds = askedAt < heldUntil;
    try {
      holds = leases.take(name, owner, ttlMs);
      if (holds) heldUntil = askedAt + ttlMs;
    } catch (error) {
      onError(error);
    }
    if (holds) return;
    clearInterval(timer);
    onLost();
  };
  const timer = setInterval(renew, ttlMs / RENEWALS);
  timer.unref?.();
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      giveBack({ leases, name, owner, onError });
    },
  };
}

/**
 * Has one of several processes lead: the first takes the lease at once and renews it; when it ends, however it
 * ends, another takes over within the lease's time. Disposed of, it gives the lease back.
 */
export function contendForLead(options: LeadershipOptions): Disposable {
  const { leases, name, owner, ttlMs } = options;
  let isLeading = false;
  let heldUntil = 0;
  const ask = (): void => {
    // What cannot be asked just now is still held for the rest of its time.
    let holds = performance.now() < heldUntil;
    try {
      const askedAt = performance.now();
      holds = leases.take(name, owner, ttlMs);
      if (holds) heldUntil = askedAt + ttlMs;
    } catch (error) {
      options.onError(error);
    }
    if (holds === isLeading) return;
    isLeading = holds;
    if (holds) options.onGained();
    else options.onLost();
  };
  ask();
  const timer = setInterval(ask, ttlMs / RENEWALS);
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

function giveBack({
  leases,
  name,
  owner,
  onError,
}: Pick<LeadershipOptions, "leases" | "name" | "owner" | "onError">): void {
  try {
    leases.release(name, owner);
  } catch (error) {
    // It runs out by itself.
    onError(error);
  }
}
