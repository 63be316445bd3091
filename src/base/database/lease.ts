import { Database as Sqlite } from "bun:sqlite";
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
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

type LeasesOptions = {
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

type LeadershipOptions = {
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

type HoldOptions = Omit<LeadershipOptions, "onGained">;

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

/** This process as a holder of leases, until it ends or this object is disposed of. */
export interface LeaseOwner extends Disposable {
  /**
   * A purely random name, because processes of two containers may share their number and host name. Names of
   * parts of the process begin with it. From the first use of the name on, others can see that its process
   * lives.
   */
  readonly name: string;
  /**
   * Whether the owner of this name has certainly ended, so that nobody has to wait until its leases run out.
   * It is false when that cannot be known.
   */
  hasDied(name: string): boolean;
}

const NAME = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
/**
 * The locks of this process. If one were collected as garbage, it would be lifted while its owner holds
 * leases.
 */
const held = new Set<Sqlite>();
/** A file without a lock is removed at this age in ms; the lock of a younger one may be about to be taken. */
const SWEEP_AGE_MS = 60_000;
/** How long a new owner waits for somebody who is looking at its file, in ms. */
const LOCK_WAIT_MS = 5_000;

/**
 * Makes a name and shows that its process lives. For that it holds SQLite's lock on an empty file of that
 * name beside the database; the system lifts it when the process ends for whatever reason, in whatever
 * container it ran. Where no lock can be had, leases simply run out.
 */
export function openLeaseOwner(database: Database): LeaseOwner {
  const name = crypto.randomUUID();
  const directory = `${database.path}.owners`;
  const dead = new Set<string>();
  let lock: Sqlite | null | undefined = database.path === ":memory:" ? null : undefined;
  return {
    get name() {
      if (lock === undefined) lock = lockOwn(directory, name, dead);
      return name;
    },
    hasDied(other) {
      const id = NAME.exec(other)?.[0];
      if (id === undefined || id === name) return false;
      if (!dead.has(id) && isUnlocked(join(directory, id))) dead.add(id);
      return dead.has(id);
    },
    [Symbol.dispose]() {
      // The file stays for a while, so that others see at once that leases that were not given back are free.
      if (!lock) return;
      held.delete(lock);
      lock.close();
      lock = null;
    },
  };
}

function lockOwn(directory: string, name: string, dead: Set<string>): Sqlite | null {
  let lock: Sqlite | null = null;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    lock = new Sqlite(join(directory, name), { create: true });
    chmodSync(join(directory, name), 0o600);
    lock.run(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`);
    // Nothing is written, and a journal would be a second file to leave behind.
    lock.run("PRAGMA journal_mode = MEMORY");
    lock.run("BEGIN EXCLUSIVE");
    held.add(lock);
    sweep(directory, dead);
    return lock;
  } catch {
    lock?.close();
    return null;
  }
}

/** Removes the files of owners that were killed, and remembers their names. */
function sweep(directory: string, dead: Set<string>): void {
  for (const id of readdirSync(directory)) {
    const path = join(directory, id);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age < SWEEP_AGE_MS || !isUnlocked(path)) continue;
    dead.add(id);
    rmSync(path, { force: true });
  }
}

/**
 * Whether nobody holds the file's lock. It is false when the file is absent: its owner has given its leases
 * back, or was never here.
 */
function isUnlocked(path: string): boolean {
  let probe: Sqlite | null = null;
  try {
    probe = new Sqlite(path, { create: false, readwrite: true });
    probe.run("PRAGMA journal_mode = MEMORY");
    probe.run("BEGIN EXCLUSIVE");
    probe.run("ROLLBACK");
    return true;
  } catch {
    return false;
  } finally {
    probe?.close();
  }
}
