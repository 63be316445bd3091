import type { UnreadDocument } from "../../search/index.ts";

/** What a sync did to the documents. */
export type SyncCounts = {
  /** New, or changed. */
  readonly fetched: number;
  readonly unchanged: number;
  readonly removed: number;
  /** Could not be had; those of an earlier sync stay. */
  readonly failed: number;
};

export type SyncContext = {
  /** Ends the sync; what was stored stays, and the next one goes on from there. */
  readonly signal: AbortSignal;
  /** Told now and then how far it is. */
  readonly onProgress: (counts: SyncCounts) => void;
};

export type DocumentsContext = {
  /** Told of each document that is left out, with the reason. */
  readonly onSkipped: (what: string, reason: string) => void;
};

/**
 * Where the documents of a tenant come from. A sync brings the local copy up to date; an index is built from
 * that copy. Both are called by one process at a time; what a source has to remember (validators, a clone) is
 * in its state directory.
 */
export interface Source {
  /**
   * Brings the documents up to date. One document that fails is counted; whatever happens, those of the last
   * sync can be read.
   * @throws Failure when nothing could be synced at all, `cancelled` by the signal
   */
  sync(context: SyncContext): Promise<SyncCounts>;
  /** The documents as they are now. @throws Failure `unreadable_input` */
  documents(context: DocumentsContext): AsyncIterable<UnreadDocument>;
  /**
   * Looks after documents that somebody else changes, until it is disposed of; null where only a sync does.
   * @param onChange called when they are not those of the last look, never twice at a time
   */
  watch(onChange: () => Promise<void>): SourceWatch | null;
}

export interface SourceWatch extends Disposable {
  /** Has the documents taken for changed. */
  lookAgain(): void;
}
