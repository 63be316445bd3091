import { Database as Sqlite } from "bun:sqlite";
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { sinceSetMs } from "../clock.ts";
import type { Database } from "./database.ts";

/**
 * Leases by name, for work that one of several processes does at a time. Each new holding has a higher fence than
 * all before, which distinguishes late writes of a former holder from writes of the present holder.
 */
export interface Leases {
  /**
   * Takes or renews the lease. An owner that holds it keeps its fence, also when it renews late and nobody has
   * come between.
   * @param ttlMs how long it is held from now on unless it is renewed
   * @returns the fence of the holding; null while somebody else holds the lease
   */
  take(name: string, owner: string, ttlMs: number): Promise<number | null>;
  /** Gives the lease back; does nothing when somebody else holds it. */
  release(name: string, owner: string): Promise<void>;
  /** The present holder; null when nobody holds the lease or its holder has died. */
  holder(name: string): Promise<string | null>;
}

/** Others than a lease's holder let it run for at least this long after the clock was set, in ms. */
const LEAST_MS = 15_000;

/**
 * Leases in a SQLite file, which all processes that share the work have open.
 * @param hasDied see `LeaseOwner`: an owner that has died loses its leases at once; by default every lease has to run out
 * @param now the time in ms, on a clock that all processes share
 * @returns with `holderNow`, which is as `holder`, at once
 * @throws what `openDatabase` throws; its leases reject with the same
 */
export function openLeases(
  database: Database,
  { hasDied = () => false, now = Date.now }: { hasDied?: LeaseOwner["hasDied"]; now?: () => number } = {},
): Leases & { holderNow(name: string): string | null } {
  database.run(
    `CREATE TABLE IF NOT EXISTS leases (name TEXT PRIMARY KEY, owner TEXT NOT NULL, expires_at REAL NOT NULL,
     fence INTEGER NOT NULL DEFAULT 1, renewed_at REAL NOT NULL DEFAULT 0) STRICT`,
  );
  const columns = database.prepare<{ name: string }>("SELECT name FROM pragma_table_info('leases')").all();
  // Earlier versions had no fences, and did not note when a lease was renewed.
  for (const added of ["fence INTEGER NOT NULL DEFAULT 1", "renewed_at REAL NOT NULL DEFAULT 0"])
    if (!columns.some(({ name }) => added.startsWith(`${name} `)))
      database.run(`ALTER TABLE leases ADD COLUMN ${added}`);
  const take = database.prepare<{ fence: number }, [string, string, number, number, number]>(
    `INSERT INTO leases (name, owner, expires_at, renewed_at) VALUES (?1, ?2, ?3, ?5)
     ON CONFLICT (name) DO UPDATE SET owner = ?2, expires_at = ?3, renewed_at = ?5, fence = fence + (owner <> ?2)
     WHERE owner = ?2 OR expires_at <= ?4 RETURNING fence`,
  );
  const release = database.prepare<never, [string, string]>(
    "UPDATE leases SET owner = '', expires_at = 0 WHERE name = ? AND owner = ?",
  );
  const find = database.prepare<{ owner: string }, [string, number, number]>(
    "SELECT owner FROM leases WHERE name = ? AND expires_at > ? AND renewed_at <= ?",
  );
  const cut = database.prepare<never, [string, number]>(
    "UPDATE leases SET expires_at = ?2 WHERE name = ?1 AND expires_at > ?2",
  );
  // Just after the clock was set forward, every lease seems to have run out until its holder renews it.
  const overAt = (): number => (sinceSetMs() < LEAST_MS ? 0 : now());
  const takeFree = (name: string, owner: string, ttlMs: number): number | null =>
    take.get(name, owner, now() + ttlMs, overAt(), now())?.fence ?? null;
  const holderNow = (name: string): string | null => {
    // A lease renewed in the future, and not since the clock was set back, could not be released because the disk was full.
    const latest = sinceSetMs() < LEAST_MS ? Number.POSITIVE_INFINITY : now() + LEAST_MS;
    const owner = find.get(name, overAt(), latest)?.owner ?? null;
    return owner === null || hasDied(owner) ? null : owner;
  };
  return {
    async take(name, owner, ttlMs) {
      const fence = takeFree(name, owner, ttlMs);
      if (fence !== null) return fence;
      // A lease from before the clock was set back would be held for hours.
      cut.run(name, now() + Math.max(ttlMs, LEAST_MS));
      const other = find.get(name, overAt(), Number.POSITIVE_INFINITY)?.owner;
      if (other === undefined || !hasDied(other)) return null;
      release.run(name, other);
      return takeFree(name, owner, ttlMs);
    },
    release: async (name, owner) => void release.run(name, owner),
    holder: async (name) => holderNow(name),
    holderNow,
  };
}

type LeadershipOptions = {
  readonly leases: Leases;
  /** The name of the work that only one process does at a time, such as `scheduler`. */
  readonly name: string;
  /** A name that no other process has or ever had. */
  readonly owner: string;
  /** How long the others wait for a silent leader, in ms. */
  readonly ttlMs: number;
  /** Called when this process becomes the leader, with the fence of its lease. */
  readonly onGained: (fence: number) => void;
  /** Called when the process no longer leads, because another may have taken over during its long silence. */
  readonly onLost: () => void;
  /** Called when the lease could not be requested; it is tried again. */
  readonly onError: (error: unknown) => void;
};

/** The holder renews a lease this many times within its duration. */
const RENEWALS = 4;

type HoldOptions = Omit<LeadershipOptions, "onGained">;

/** A lease that this process holds, until it is disposed of or lost. */
export type HeldLease = AsyncDisposable & { readonly fence: number };

/**
 * Takes a lease, and renews it until it is disposed of; null while another has it. `onLost` is called at most
 * once, at the latest when the lease has run out.
 * @throws Failure of the database when the first request fails
 */
export async function holdLease(options: HoldOptions): Promise<HeldLease | null> {
  const { leases, name, owner, ttlMs, onLost } = options;
  const askedAt = performance.now();
  const first = await leases.take(name, owner, ttlMs);
  if (first === null) return null;
  const renewing = keepAsking(options, { fence: first, until: askedAt + ttlMs }, (fence) => {
    if (fence === first) return;
    void renewing.stop();
    onLost();
  });
  return { fence: first, [Symbol.asyncDispose]: () => renewing[Symbol.asyncDispose]() };
}

/**
 * Lets one of several processes lead. The first takes the lease at once and renews it; when it ends for
 * whatever reason, another takes over within the lease's duration. Disposing of it gives the lease back.
 */
export function contendForLead(options: LeadershipOptions): AsyncDisposable {
  let leadingWith: number | null = null;
  return keepAsking(options, null, (fence) => {
    if (fence === leadingWith) return;
    const before = leadingWith;
    leadingWith = fence;
    if (before !== null) options.onLost();
    if (fence !== null) options.onGained(fence);
  });
}

/** A holding; `until` is when it ends unless it is renewed, as `performance.now()`. */
type Holding = { readonly fence: number; readonly until: number };

/**
 * Requests the lease again and again, the first time at once unless it is held already, and tells after each
 * request with which fence it is held now, null when it is not. Disposing of it stops and gives the lease back.
 */
function keepAsking(
  { leases, name, owner, ttlMs, onError }: HoldOptions,
  first: Holding | null,
  tell: (fence: number | null) => void,
): AsyncDisposable & { stop(): Promise<void> } {
  let held = first;
  let hasEnded = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking = Promise.resolve();
  const askLater = (ms: number): void => {
    timer = setTimeout(() => {
      asking = ask();
    }, ms);
    timer.unref?.();
  };
  const ask = async (): Promise<void> => {
    const askedAt = performance.now();
    // A request that gets no answer must not hide that the lease runs out.
    const leftMs = Math.max(0, (held?.until ?? askedAt) - askedAt);
    const runningOut = held === null ? undefined : setTimeout(() => !hasEnded && tell(null), leftMs);
    runningOut?.unref?.();
    try {
      const fence = await leases.take(name, owner, ttlMs);
      held = fence === null ? null : { fence, until: askedAt + ttlMs };
    } catch (error) {
      if (!hasEnded) onError(error);
    }
    clearTimeout(runningOut);
    if (hasEnded) return;
    // A lease that cannot be renewed just now is still held for the rest of its time.
    if (held !== null && performance.now() >= held.until) held = null;
    tell(held?.fence ?? null);
    if (!hasEnded) askLater(ttlMs / RENEWALS);
  };
  if (held === null) asking = ask();
  else askLater(ttlMs / RENEWALS);
  const stop = (): Promise<void> => {
    hasEnded = true;
    clearTimeout(timer);
    // A request under way would take the lease again after its release.
    return asking;
  };
  return {
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await leases.release(name, owner).catch(onError); // if this fails, the lease runs out by itself
    },
  };
}

/** This process as a holder of leases, until it ends or this object is disposed of. */
export interface LeaseOwner extends Disposable {
  /**
   * A purely random name, because processes of two containers may share their number and host name. Names of parts of
   * the process begin with it. From the first use of the name on, others can see that its process lives.
   */
  readonly name: string;
  /**
   * Whether the owner of this name has certainly ended, so that nobody has to wait until its leases run out.
   * It is false when that cannot be known.
   */
  hasDied(name: string): boolean;
}

const NAME = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
/** The locks of this process. If one were collected as garbage, it would be lifted while its owner holds leases. */
const held = new Set<Sqlite>();
/** A file without a lock is removed at this age in ms; the lock of a younger one may be about to be taken. */
const SWEEP_AGE_MS = 60_000;
/** How long a new owner waits for somebody who is looking at its file, in ms. */
const LOCK_WAIT_MS = 5_000;

/**
 * Makes a name and shows that its process is alive: it holds SQLite's lock on an empty file of that name beside the
 * database, which the system releases when the process ends, for whatever reason and in whatever container. Without a
 * lock, leases simply expire.
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
      // The file stays for a while and shows other processes at once that leases left behind are free.
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
