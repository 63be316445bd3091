import type { LeftOut, SlugStyle, UnreadDocument } from "../../search/index.ts";

/** The effects of a sync on the documents. */
export type SyncCounts = {
  /** New or changed documents. */
  readonly fetched: number;
  readonly unchanged: number;
  readonly removed: number;
  /** Documents that could not be fetched; those of an earlier sync stay. */
  readonly failed: number;
  /** Known pages of a website that were not fetched because of `max_crawl_pages`; only there when there are some. */
  readonly left?: number;
  /** Why documents of a website could not be fetched; only there when some could not. */
  readonly failures?: FailedPages;
  /** Further notes about the sync for people; absent without any. */
  readonly notes?: readonly string[];
};

/** The report on failed pages. */
export type FailedPages = {
  /** By failure code. */
  readonly counts: Readonly<Record<string, number>>;
  /** One message for each failure code. */
  readonly examples: Readonly<Record<string, string>>;
  /** The addresses of the first of them. */
  readonly pages: readonly string[];
};

export type SyncContext = {
  /** Fetches only the pages of a website that the last sync did not get, and leaves all others as they are. */
  readonly onlyFailed?: boolean;
  /** Ends the sync; stored documents stay, and the next sync continues from there. */
  readonly signal: AbortSignal;
  /** Called now and then with the progress. */
  readonly onProgress: (counts: SyncCounts) => void;
};

/**
 * The source of a tenant's documents. A sync updates the local copy, and an index is built from that copy.
 * One process at a time does either. A source keeps its memory (validators, a clone) in its state directory.
 */
export interface Source {
  /**
   * Updates the documents. A document that fails is counted; whatever happens, the documents of the last sync
   * can be read.
   * @throws Failure when nothing could be synced at all, `cancelled` by the signal
   */
  sync(context: SyncContext): Promise<SyncCounts>;
  /** Yields the present documents; calls `onLeftOut` with each file left out. @throws Failure `unreadable_input` */
  documents(onLeftOut: (file: LeftOut) => void): AsyncIterable<UnreadDocument>;
  /** How the documents' generator makes anchors, where its configuration tells. */
  slugStyle(): Promise<SlugStyle | undefined>;
  /**
   * Watches documents that somebody else changes, until it is disposed of; null when only a sync changes
   * them.
   * @param onChange called when they have changed since the last look; calls never overlap
   */
  watch(onChange: () => Promise<void>): SourceWatch | null;
}

export interface SourceWatch extends Disposable {
  /** Treats the documents as changed. */
  lookAgain(): void;
}
