import { type Stats, statSync } from "node:fs";
import { Failure } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import { type OpenSettings, SearchIndex } from "../search/index.ts";
import type { OpenIndexes, Resting } from "./open-indexes.ts";

/** How often a search looks whether there is a newer file, in ms. */
const CHECK_EVERY_MS = 1000;

export type LiveIndexOptions = {
  readonly path: string;
  readonly settings: OpenSettings;
  readonly log: Log;
  /** Called once for each file that is found damaged or of another version. */
  readonly onUnusable: () => void;
  readonly openIndexes: OpenIndexes;
};

/**
 * The index of a tenant as searches see it: the newest whole file under its name. It is opened by the first
 * search, and a newer file takes its place within a second or two; one that is damaged does not, and what
 * was open goes on.
 */
export class LiveIndex implements Disposable, Resting {
  readonly #path: string;
  readonly #settings: OpenSettings;
  readonly #log: Log;
  readonly #onUnusable: () => void;
  readonly #openIndexes: OpenIndexes;
  #open: SearchIndex | null = null;
  #documentCount: number | null = null;
  /** Of the file that `#documentCount` is about. */
  #countedSignature = "";
  #signature = "";
  #checkedAt = Number.NEGATIVE_INFINITY;
  #failure: Failure | null = null;

  constructor({ path, settings, log, onUnusable, openIndexes }: LiveIndexOptions) {
    this.#path = path;
    this.#settings = settings;
    this.#log = log;
    this.#onUnusable = onUnusable;
    this.#openIndexes = openIndexes;
  }

  /**
   * The index to search now.
   * @throws Failure `index_missing`, `index_outdated`, `index_corrupt`, when there is none to go on with
   */
  get(): SearchIndex {
    this.refresh(false);
    if (this.#open) {
      this.#openIndexes.use(this);
      return this.#open;
    }
    throw this.#failure ?? new Failure("index_missing", `there is no search index at ${this.#path}`);
  }

  /** What keeps the newest file from being used, null when nothing does. */
  get failure(): Failure | null {
    return this.#failure;
  }

  /** Whether there is one to search, or to open. */
  get isUsable(): boolean {
    return this.#failure === null && this.builtAt !== null;
  }

  /**
   * Documents of the newest file, or of the last one that could be opened; null where there was none. A file that
   * nobody has searched is opened and closed for it, once, which takes 0.05 ms.
   */
  get documentCount(): number | null {
    const signature = signatureOf(statOf(this.#path));
    if (signature === "" || signature === this.#countedSignature) return this.#documentCount;
    this.#countedSignature = signature;
    try {
      using index = SearchIndex.open(this.#path, this.#settings);
      this.#documentCount = index.pageCount;
    } catch (error) {
      // The next search says what is wrong with it.
      if (!(error instanceof Failure)) throw error;
    }
    return this.#documentCount;
  }

  /** When the file was written; null when there is none. */
  get builtAt(): Date | null {
    return statOf(this.#path)?.mtime ?? null;
  }

  /** Looks for a newer file. @param isDue whatever the time of the last look */
  refresh(isDue: boolean): void {
    const now = performance.now();
    // Where there is none, the first one is not waited for.
    if (!isDue && this.#open && now - this.#checkedAt < CHECK_EVERY_MS) return;
    this.#checkedAt = now;
    const found = statOf(this.#path);
    const signature = signatureOf(found);
    if (signature === this.#signature) return;
    this.#signature = signature;
    // A file that is gone leaves what was open: a sync must not end searches.
    if (!found) return;
    try {
      const next = SearchIndex.open(this.#path, this.#settings);
      this.#open?.[Symbol.dispose]();
      this.#open = next;
      this.#documentCount = next.pageCount;
      this.#countedSignature = signature;
      this.#failure = null;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.#failure = error;
      this.#log.warning("search index not used", {
        path: this.#path,
        code: error.code,
        error: error.message,
      });
      this.#onUnusable();
    }
  }

  /** Has the open file found damaged by a search: it is given up, so that a new one is built. */
  giveUp(failure: Failure): void {
    if (this.#open === null) return;
    this.#open[Symbol.dispose]();
    this.#open = null;
    this.#failure = failure;
    this.#onUnusable();
  }

  /** Closes what is open, unless only that can still be searched. */
  rest(): boolean {
    const isNewest = this.#failure === null && signatureOf(statOf(this.#path)) === this.#signature;
    if (!isNewest || this.#signature === "") return false;
    this.#open?.[Symbol.dispose]();
    this.#open = null;
    this.#signature = "";
    return true;
  }

  [Symbol.dispose](): void {
    this.#open?.[Symbol.dispose]();
    this.#open = null;
  }
}

const signatureOf = (found: Stats | null): string =>
  found ? `${found.ino} ${found.size} ${found.mtimeMs}` : "";

/** Null where there is no file, or no way to it. */
function statOf(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}
