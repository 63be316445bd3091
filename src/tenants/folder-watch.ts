import { type FSWatcher, statSync, watch } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { listDocuments, type PathRules } from "../search/index.ts";
import type { SourceWatch } from "./source/source.ts";

export type FolderWatchOptions = {
  readonly folder: string;
  readonly rules: PathRules;
  /** Called when the folder's documents have changed since the last look; calls never overlap. */
  readonly onChange: () => Promise<void>;
  /** The longest time between two looks, in ms, because not every file system reports changes. */
  readonly intervalMs: number;
};

/** Changes come in bursts, so a look waits this long after the first one, in ms. */
const SETTLE_MS = 300;
/** How soon to look again for a missing folder, in ms. */
const MISSING_MS = 1000;

/**
 * Watches a folder for changed documents. It compares their paths, sizes and times and does not read them.
 */
export class FolderWatch implements SourceWatch {
  readonly #options: FolderWatchOptions;
  #watcher: FSWatcher | null = null;
  /** Device and inode number of the watched folder; null when none is watched. */
  #watched: string | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isLooking = false;
  #isDisposed = false;
  #isDirty = false;
  /** Null before the first look, which always finds a change. */
  #signature: string | null = null;

  constructor(options: FolderWatchOptions) {
    this.#options = options;
    this.#watch();
    this.#schedule(0);
  }

  /** Looks now and treats the folder as changed. */
  lookAgain(): void {
    this.#signature = null;
    this.#schedule(0);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#watcher?.close();
    if (this.#timer) clearTimeout(this.#timer);
  }

  /**
   * Watches the folder again if another one has replaced it, because a replaced folder reports no changes.
   */
  #watch(): void {
    const identity = identityOf(this.#options.folder);
    if (identity === this.#watched) return;
    this.#watcher?.close();
    this.#watched = null;
    if (identity === null) return;
    try {
      this.#watcher = watch(this.#options.folder, { recursive: true }, () => {
        this.#isDirty = true;
        if (!this.#isLooking) this.#schedule(SETTLE_MS);
      });
      this.#watched = identity;
      // When the folder disappears, the regular looks continue.
      this.#watcher.on("error", () => this.#watcher?.close());
    } catch {
      // This file system does not report changes.
    }
  }

  #schedule(afterMs: number): void {
    if (this.#isDisposed) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), afterMs);
    this.#timer.unref?.();
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#isDirty = false;
    this.#watch();
    try {
      const signature = await signatureOf(this.#options);
      if (signature !== this.#signature) {
        this.#signature = signature;
        await this.#options.onChange();
      }
    } finally {
      this.#isLooking = false;
      this.#schedule(this.#nextLookMs());
    }
  }

  #nextLookMs(): number {
    if (this.#isDirty || this.#signature === null) return SETTLE_MS;
    return this.#signature === UNREADABLE ? MISSING_MS : this.#options.intervalMs;
  }
}

const UNREADABLE = "unreadable";

function identityOf(folder: string): string | null {
  try {
    const { dev, ino } = statSync(folder);
    return `${dev} ${ino}`;
  } catch {
    return null;
  }
}

/** Identifies the documents and their state; `UNREADABLE` when there is no folder. */
async function signatureOf({ folder, rules }: FolderWatchOptions): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  try {
    for await (const path of listDocuments(folder, { rules })) {
      const found = await lstat(join(folder, path)).catch(() => null);
      hasher.update(`${path}\0${found?.size}\0${found?.mtimeMs}\0${found?.ino}\n`);
    }
    return hasher.digest("hex");
  } catch {
    return UNREADABLE;
  }
}
