import { chmodSync, realpathSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Failure } from "../../base/failure.ts";
import type { Log } from "../../base/log.ts";
import { systemCode, systemReason } from "../../base/system-error.ts";
import { applyChanges, type SessionChanges, type StorageState } from "./cookies.ts";
import {
  listPending,
  madeAt,
  markDone,
  ownerOf,
  prune,
  pushChanges,
  type Queue,
  readEntry,
  readStateFile,
  writeStateFile,
} from "./queue.ts";

export type StorageOptions = {
  /** The state file; it need not exist yet. */
  readonly file: string;
  /**
   * The directory of waiting changes, which other state files may share; null means `<file>.changes`. It must
   * be on the same mount as the file.
   */
  readonly queueDirectory: string | null;
  /**
   * Whether changes in the directory that name no owner belong to this file; only one file of a directory may
   * say so.
   */
  readonly takesUnowned: boolean;
  /** The number of waiting changes above which to warn. */
  readonly maxEntries: number;
  /** The age of the oldest waiting change above which to warn, in ms. */
  readonly maxAgeMs: number;
  /** How long merged changes are kept, in ms. */
  readonly retentionMs: number;
  readonly log: Log;
  readonly now: () => number;
};

/**
 * A storage state that several processes share. Each change is first written to a file of its own, and
 * whoever gets the lock merges all waiting ones, cookie by cookie. So no change is lost, whoever is killed
 * and whenever.
 */
export interface Storage extends AsyncDisposable {
  /** The state in the file, with the waiting changes applied. */
  read(): StorageState;
  /**
   * Queues a change; it is on the disk when the promise is fulfilled.
   * @throws Failure `unwritable_output`
   */
  push(changes: SessionChanges): Promise<void>;
  /** The number of waiting changes of all processes. */
  pendingEntries(): number;
}

const MERGE_PATIENCE_MS = 1_000;
const FINAL_PATIENCE_MS = 5_000;
const PRUNE_EVERY_MS = 10_000;

/** Opens a storage; nothing is written before the first change. */
export function openStorage(options: StorageOptions): Storage {
  const file = realPathOf(options.file);
  const directory = options.queueDirectory ?? `${file}.changes`;
  const isShared = options.queueDirectory !== null;
  const queue = {
    directory,
    owner: isShared ? ownerOf(file) : null,
    takesUnowned: !isShared || options.takesUnowned,
  };
  const warn = createWarnings(options, queue);
  let merging: Promise<void> | null = null;
  let prunedAt = Number.NEGATIVE_INFINITY;
  let isAskedAgain = false;

  const merge = async (patienceMs: number): Promise<void> => {
    const isMerged = await withLock(join(directory, "lock"), patienceMs, async () => {
      await mergePending({ ...options, file, queue });
      const nowMs = options.now();
      if (nowMs - prunedAt < PRUNE_EVERY_MS) return;
      prunedAt = nowMs;
      await prune(directory, { nowMs, retentionMs: options.retentionMs });
    });
    if (!isMerged) options.log.debug("another process holds the storage state", { file });
    warn();
  };
  // Nothing is lost: the changes stay queued, and whoever opens the storage next reads them.
  const mergeOrWarn = (patienceMs: number): Promise<void> =>
    merge(patienceMs).catch((error: unknown) => {
      const reason = error instanceof Failure ? error.message : systemReason(error);
      options.log.warning("the storage state cannot be written", { file, reason });
    });
  // Changes that are pushed while a merge runs share the next one.
  const mergeSoon = (): void => {
    if (merging) {
      isAskedAgain = true;
      return;
    }
    merging = mergeOrWarn(MERGE_PATIENCE_MS).finally(() => {
      merging = null;
      if (!isAskedAgain) return;
      isAskedAgain = false;
      mergeSoon();
    });
  };
  return {
    read: () => {
      const waiting = listPending(queue).flatMap((name) => readEntry(directory, name)?.changes ?? []);
      return applyChanges(readStateFile(file), waiting, options.now());
    },
    async push(changes) {
      try {
        await mkdir(dirname(file), { recursive: true });
        await pushChanges(queue, changes, options.now());
      } catch (error) {
        const why = `a change of the session cannot be kept in ${directory}: ${systemReason(error)}`;
        throw new Failure("unwritable_output", why, { cause: error });
      }
      warn();
      mergeSoon();
    },
    pendingEntries: () => listPending(queue).length,
    async [Symbol.asyncDispose]() {
      while (merging) await merging;
      if (listPending(queue).length > 0) await mergeOrWarn(FINAL_PATIENCE_MS);
    },
  };
}

// A symbolic link is kept; the file that it points to is replaced.
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

type MergeOptions = StorageOptions & { readonly queue: Queue };

async function mergePending({ file, queue, now, log }: MergeOptions): Promise<void> {
  const { directory } = queue;
  const names = listPending(queue);
  const entries = names.flatMap((name) => readEntry(directory, name) ?? []);
  if (entries.length < names.length)
    log.warning("changes of the session that cannot be read are left out", {
      count: names.length - entries.length,
    });
  if (names.length === 0) return;
  const changes = entries.map((entry) => entry.changes);
  const state = applyChanges(readStateFile(file), changes, now());
  await writeStateFile(file, `${JSON.stringify(state, null, 2)}\n`);
  await markDone(directory, names, now());
}

/** Warns once when a threshold is passed, and again only after the value has been below it. */
function createWarnings({ maxEntries, maxAgeMs, now, log }: StorageOptions, queue: Queue): () => void {
  let hasMany = false;
  let hasOld = false;
  return () => {
    const pending = listPending(queue);
    const fields = { storage_queue_pending_entries: pending.length };
    const isMany = pending.length > maxEntries;
    if (isMany && !hasMany)
      log.warning(`more than ${maxEntries} changes of the session wait to be merged`, fields);
    hasMany = isMany;
    const [oldest] = pending;
    const isOld = oldest !== undefined && now() - madeAt(oldest) > maxAgeMs;
    if (isOld && !hasOld)
      log.warning(`a change of the session waits longer than ${maxAgeMs / 1000} s to be merged`, fields);
    hasOld = isOld;
  };
}

const PAUSE_MS = 15;

/**
 * Does the work while nobody else, in this process or another, holds the same lock. The lock is SQLite's lock
 * on an empty database, which the system releases when the process ends for whatever reason.
 * @param patienceMs how long to wait for the lock
 * @returns whether the work was done
 */
async function withLock(path: string, patienceMs: number, work: () => Promise<void>): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // Node has no bun:sqlite, and the library for Node keeps no sessions.
  const { Database } = await import("bun:sqlite");
  const db = new Database(path, { create: true });
  try {
    chmodSync(path, 0o600);
    const deadline = performance.now() + patienceMs;
    while (!begin(db)) {
      if (performance.now() >= deadline) return false;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * (0.5 + Math.random())));
    }
    try {
      await work();
    } finally {
      db.run("ROLLBACK");
    }
    return true;
  } finally {
    db.close();
  }
}

function begin(db: { run(sql: string): unknown }): boolean {
  try {
    db.run("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (systemCode(error)?.startsWith("SQLITE_BUSY")) return false;
    throw error;
  }
}
