import { chmodSync, realpathSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Damage } from "../../base/damaged.ts";
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
  /** The directory of waiting changes, perhaps shared, on the file's mount; null means `<file>.changes`. */
  readonly queueDirectory: string | null;
  /** Whether changes that name no owner belong to this file; only one of a directory may say so. */
  readonly takesUnowned: boolean;
  /** Called when the file was damaged and put aside; without it, a damaged file is refused. */
  readonly onDamaged?: ((damage: Damage) => void) | undefined;
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
 * A storage state that several processes share. Each change is first written to a file of its own, and whoever gets the
 * lock merges all waiting ones, cookie by cookie. So no change is lost, whoever is killed and whenever.
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
export const openStorage = (options: StorageOptions): Storage => new QueuedStorage(options);

class QueuedStorage implements Storage {
  readonly #options: StorageOptions;
  readonly #queue: Queue;
  readonly #warn: () => void;
  #merging: Promise<void> | null = null;
  #isAskedAgain = false;
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(options: StorageOptions) {
    const file = realPathOf(options.file);
    const isShared = options.queueDirectory !== null;
    this.#options = { ...options, file };
    this.#queue = {
      directory: options.queueDirectory ?? `${file}.changes`,
      owner: isShared ? ownerOf(file) : null,
      takesUnowned: !isShared || options.takesUnowned,
    };
    this.#warn = createWarnings(options, this.#queue);
  }

  read(): StorageState {
    const { directory } = this.#queue;
    const waiting = listPending(this.#queue).flatMap((name) => readEntry(directory, name) ?? []);
    return applyChanges(this.#readFile(), waiting, this.#options.now());
  }

  #readFile(): StorageState {
    const { file, onDamaged } = this.#options;
    return readStateFile(file, onDamaged);
  }

  async push(changes: SessionChanges): Promise<void> {
    try {
      await mkdir(dirname(this.#options.file), { recursive: true });
      await pushChanges(this.#queue, changes, this.#options.now());
    } catch (error) {
      const why = `a change of the session cannot be kept in ${this.#queue.directory}: ${systemReason(error)}`;
      throw new Failure("unwritable_output", why, { cause: error });
    }
    this.#warn();
    this.#mergeSoon();
  }

  pendingEntries(): number {
    return listPending(this.#queue).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    while (this.#merging) await this.#merging;
    if (this.pendingEntries() > 0) await this.#mergeOrWarn(FINAL_PATIENCE_MS);
  }

  /** Changes that are pushed while a merge runs share the next one. */
  #mergeSoon(): void {
    if (this.#merging) {
      this.#isAskedAgain = true;
      return;
    }
    this.#merging = this.#mergeOrWarn(MERGE_PATIENCE_MS).finally(() => {
      this.#merging = null;
      if (!this.#isAskedAgain) return;
      this.#isAskedAgain = false;
      this.#mergeSoon();
    });
  }

  /** Loses nothing when it fails: the changes stay queued, and whoever opens the storage next reads them. */
  async #mergeOrWarn(patienceMs: number): Promise<void> {
    const { file, log } = this.#options;
    try {
      const lock = join(this.#queue.directory, "lock");
      const isMerged = await withLock(lock, patienceMs, () => this.#merge());
      if (!isMerged) log.debug("another process holds the storage state", { file });
      this.#warn();
    } catch (error) {
      const reason = error instanceof Failure ? error.message : systemReason(error);
      log.warning("the storage state cannot be written", { file, reason });
    }
  }

  async #merge(): Promise<void> {
    await this.#mergePending();
    const nowMs = this.#options.now();
    if (Math.abs(nowMs - this.#prunedAt) < PRUNE_EVERY_MS) return;
    this.#prunedAt = nowMs;
    await prune(this.#queue.directory, { nowMs, retentionMs: this.#options.retentionMs });
  }

  async #mergePending(): Promise<void> {
    const { file, now, log } = this.#options;
    const { directory } = this.#queue;
    const names = listPending(this.#queue);
    const changes = names.flatMap((name) => readEntry(directory, name) ?? []);
    const count = names.length - changes.length;
    if (count > 0) log.warning("changes of the session that cannot be read are left out", { count });
    if (names.length === 0) return;
    const state = applyChanges(this.#readFile(), changes, now());
    await writeStateFile(file, `${JSON.stringify(state, null, 2)}\n`);
    await markDone(directory, names, now());
  }
}

// A symbolic link is kept; the file that it points to is replaced.
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
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
