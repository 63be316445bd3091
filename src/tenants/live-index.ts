import { type Stats, statSync } from "node:fs";
import { Failure } from "../failure.ts";
import type { Log } from "../log.ts";
import { type OpenSettings, SearchIndex } from "../search/index.ts";

/** How often a search looks whether there is a newer file, in ms. */
const CHECK_EVERY_MS = 1000;

export type LiveIndexOptions = {
  readonly path: string;
  readonly settings: OpenSettings;
  readonly log: Log;
  /** Called once for each file that is found damaged or of another version. */
  readonly onUnusable: () => void;
};

/**
 * The index of a tenant as searches see it: the newest whole file under its name. It is opened by the first
 * search, and a newer file takes its place within a second or two; one that is damaged does not, and what
 * was open goes on.
 */
export class LiveIndex implements Disposable {
  readonly #path: string;
  readonly #settings: OpenSettings;
  readonly #log: Log;
  readonly #onUnusable: () => void;
  #open: SearchIndex | null = null;
  #signature = "";
  #checkedAt = Number.NEGATIVE_INFINITY;
  #failure: Failure | null = null;

  constructor({ path, settings, log, onUnusable }: LiveIndexOptions) {
    this.#path = path;
    this.#settings = settings;
    this.#log = log;
    this.#onUnusable = onUnusable;
  }

  /**
   * The index to search now.
   * @throws Failure `index_missing`, `index_outdated`, `index_corrupt`, when there is none to go on with
   */
  get(): SearchIndex {
    this.refresh(false);
    if (this.#open) return this.#open;
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

  /** Documents of the open index; null while none is open. Does not open it. */
  get documentCount(): number | null {
    return this.#open?.pageCount ?? null;
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
    const signature = found ? `${found.ino} ${found.size} ${found.mtimeMs}` : "";
    if (signature === this.#signature) return;
    this.#signature = signature;
    // A file that is gone leaves what was open: a sync must not end searches.
    if (!found) return;
    try {
      const next = SearchIndex.open(this.#path, this.#settings);
      this.#open?.[Symbol.dispose]();
      this.#open = next;
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

  [Symbol.dispose](): void {
    this.#open?.[Symbol.dispose]();
    this.#open = null;
  }
}

/** Null where there is no file, or no way to it. */
function statOf(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}
