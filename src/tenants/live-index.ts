import { type Stats, statSync } from "node:fs";
import { createYieldWhenDue } from "../base/event-loop.ts";
import { Failure } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import { type OpenSettings, SearchIndex } from "../search/index.ts";
import type { Place } from "./place.ts";
import type { SyncRecord } from "./sync-book.ts";

/** How often a search checks for a newer file, in ms. */
const CHECK_EVERY_MS = 1000;

type LiveIndexOptions = {
  readonly place: Place;
  readonly settings: OpenSettings;
  readonly log: Log;
  /** Called once for each file that turns out to be damaged or of another version. */
  readonly onUnusable: () => void;
  readonly openIndexes: OpenIndexes;
};

/**
 * The index of a tenant as searches see it: the newest complete file under its name. The first search opens
 * it, and a newer file replaces it within a second or two. A damaged file does not replace it; the open one
 * stays in use.
 */
export class LiveIndex implements Disposable, Resting {
  readonly #place: Place;
  readonly #options: LiveIndexOptions;
  #open: SearchIndex | null = null;
  #documentCount: number | null = null;
  /** The file whose documents `#documentCount` counts. */
  #countedSignature = "";
  #signature = "";
  #checkedAt = Number.NEGATIVE_INFINITY;
  #failure: Failure | null = null;

  constructor(options: LiveIndexOptions) {
    this.#place = options.place;
    this.#options = options;
  }

  /** The index to search now. @throws Failure `index_missing`, `index_outdated`, `index_corrupt` when there is none */
  get(): SearchIndex {
    this.refresh(false);
    if (this.#open) {
      this.#options.openIndexes.use(this);
      return this.#open;
    }
    throw (
      this.failure ?? new Failure("index_missing", `there is no search index at ${this.#place.indexPath}`)
    );
  }

  /** Why the newest file cannot be used; null when it can. */
  get failure(): Failure | null {
    return this.#place.refusal() ?? this.#failure;
  }

  /** Whether the newest file can be opened, which takes 0.05 ms. */
  get isUsable(): boolean {
    try {
      this.#openOwn()[Symbol.dispose]();
      return this.failure === null;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return false;
    }
  }

  /**
   * The number of documents in the newest file, or in the last one that could be opened; null when there was
   * none. A file that nobody has searched is opened and closed once for this, which takes 0.05 ms.
   */
  get documentCount(): number | null {
    const signature = signatureOf(this.#stat());
    if (signature === "" || signature === this.#countedSignature) return this.#documentCount;
    this.#countedSignature = signature;
    try {
      using index = this.#openOwn();
      this.#documentCount = index.pageCount;
    } catch (error) {
      // The next search reports what is wrong with the file.
      if (!(error instanceof Failure)) throw error;
    }
    return this.#documentCount;
  }

  /** When the file was written; null when there is none. */
  get builtAt(): Date | null {
    return this.#stat()?.mtime ?? null;
  }

  /** The size of the file in bytes; null when there is none. */
  get bytes(): number | null {
    return this.#stat()?.size ?? null;
  }

  /** Checks for a newer file. @param isDue checks even if the last check was a moment ago */
  refresh(isDue: boolean): void {
    const now = performance.now();
    // While there is no index, every call checks for the first one.
    if (!isDue && this.#open && now - this.#checkedAt < CHECK_EVERY_MS) return;
    this.#checkedAt = now;
    const found = this.#stat();
    const signature = signatureOf(found);
    if (signature === this.#signature) return;
    this.#signature = signature;
    // When the file is gone, the open index stays: a sync must not end searches.
    if (!found) return;
    try {
      const next = this.#openOwn();
      this.#open?.[Symbol.dispose]();
      this.#open = next;
      this.#documentCount = next.pageCount;
      this.#countedSignature = signature;
      this.#failure = null;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.#failure = error;
      const fields = { path: this.#place.indexPath, code: error.code, error: error.message };
      this.#options.log.warning("search index not used", fields);
      if (error.code !== "foreign_state") this.#options.onUnusable();
    }
  }

  /** The file, unless it belongs to another deployment or source. */
  #stat(): Stats | null {
    if (this.#place.refusal() !== null) return null;
    try {
      return statSync(this.#place.indexPath, { throwIfNoEntry: false }) ?? null;
    } catch {
      return null; // it cannot be reached
    }
  }

  #openOwn(): SearchIndex {
    const index = SearchIndex.open(this.#place.indexPath, this.#options.settings);
    const refusal = this.#place.refusalOf(index.owner);
    if (refusal === null) return index;
    index[Symbol.dispose]();
    throw refusal;
  }

  /** Gives up the open file, which a search has found damaged, so that a new one is built. */
  giveUp(failure: Failure): void {
    if (this.#open === null) return;
    this.#open[Symbol.dispose]();
    this.#open = null;
    this.#failure = failure;
    this.#options.onUnusable();
  }

  /** Closes the open file, unless it is the only one that can be searched. */
  rest(): boolean {
    const isNewest = this.#failure === null && signatureOf(this.#stat()) === this.#signature;
    if (!isNewest || this.#signature === "") return false;
    this.#open?.[Symbol.dispose]();
    this.#open = null;
    this.#signature = "";
    return true;
  }

  [Symbol.dispose](): void {
    this.#options.openIndexes.forget(this);
    this.#open?.[Symbol.dispose]();
    this.#open = null;
  }
}

const signatureOf = (found: Stats | null): string =>
  found ? `${found.ino} ${found.size} ${found.mtimeMs}` : "";

/** Something that can be closed while nobody uses it; the next use opens it again. */
interface Resting {
  /** @returns false when it must stay open */
  rest(): boolean;
}

/** Limits how many indexes stay open. */
export type OpenIndexes = ReturnType<typeof createOpenIndexes>;

/** An open index of a few hundred pages takes about 1 MB; opening it again takes a millisecond. */
export function createOpenIndexes(max: number) {
  // A Set keeps its members in the order in which they were added.
  const open = new Set<Resting>();
  let searches = 0;
  const closeOldest = (): void => {
    for (const oldest of open) {
      open.delete(oldest);
      // An index that cannot be closed now is tried again after its next use.
      if (oldest.rest()) return;
    }
  };
  return {
    /** Notes that the index is in use now; when too many are open, the least recently used one is closed. */
    use(index: Resting): void {
      open.delete(index);
      open.add(index);
      if (searches === 0 && open.size > max) closeOldest();
    },
    /** Notes that the index is closed for good. */
    forget: (index: Resting): void => void open.delete(index),
    /** Runs a search of several indexes, none of which is closed before its end. */
    together<T>(search: () => T): T {
      searches++;
      try {
        return search();
      } finally {
        searches--;
        while (searches === 0 && open.size > max) closeOldest();
      }
    },
  };
}

/** Runs example queries after a build. A failing one counts as one without hits, since the index is complete. */
export async function runTestQueries(
  queries: readonly string[],
  countHits: (query: string) => number,
  log: Log,
): Promise<SyncRecord["testQueries"]> {
  const results: { readonly query: string; readonly hits: number }[] = [];
  const yieldWhenDue = createYieldWhenDue();
  for (const query of queries) {
    try {
      results.push({ query, hits: countHits(query) });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      log.warning("test query failed", { query, error: error.message });
      results.push({ query, hits: 0 });
    }
    await yieldWhenDue();
  }
  const without = results.filter(({ hits }) => hits === 0).map(({ query }) => query);
  if (without.length > 0) log.warning("test queries without hits", { queries: without.join(" | ") });
  return results;
}
