import { Database as Sqlite } from "bun:sqlite";
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "./database.ts";

/** This process as a holder of leases, for as long as it lives or until it is disposed of. */
export interface LeaseOwner extends Disposable {
  /**
   * Random, and nothing else: processes of two containers may have the same number and host name. Names of parts
   * of the process begin with it. Whoever asks for it is seen to live from then on.
   */
  readonly name: string;
  /**
   * Whether the owner of this name has surely ended, so that nobody has to wait until its leases run out. False
   * also where that cannot be known.
   */
  hasDied(name: string): boolean;
}

const NAME = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
/** Locks of this process. Collected as garbage, one would be lifted while its owner's leases are still held. */
const held = new Set<Sqlite>();
/** A file without a lock is removed when it is so old, ms: a younger one may be about to be locked. */
const SWEEP_AGE_MS = 60_000;
/** How long a new owner waits for somebody who is just looking at its file, ms. */
const LOCK_WAIT_MS = 5_000;

/**
 * Makes a name, and shows that its process lives: by SQLite's lock on an empty file of that name beside the
 * database, which the system lifts when the process ends, however it does, in whatever container it ran. Where
 * no lock can be had, leases simply run out.
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
      // The file stays a while, so that others see at once that what was not given back is nobody's.
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
    // Nothing is written; a journal would be a second file to leave behind.
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

/** Removes what owners have left that were killed, and remembers them. */
function sweep(directory: string, dead: Set<string>): void {
  for (const id of readdirSync(directory)) {
    const path = join(directory, id);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age < SWEEP_AGE_MS || !isUnlocked(path)) continue;
    dead.add(id);
    rmSync(path, { force: true });
  }
}

/** False also for a file that is not there: its owner has given its leases back, or has never been here. */
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
