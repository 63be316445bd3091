import { Database as Sqlite } from "bun:sqlite";
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "./database.ts";

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
