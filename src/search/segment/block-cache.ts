/** The highest scores of a list's blocks, without the term's weight. */
export type BlockMaxima = {
  /** Upper bounds for blocks that have not been scored yet. */
  readonly scores: Float64Array;
  /** 1 when a document of the block really has that score. */
  readonly isExact: Uint8Array;
};

/**
 * Keeps what was computed for posting lists of several blocks, by the term's number, for the most recent
 * terms.
 */
export class BlockCache<Kept> {
  readonly #maxBlocks: number;
  readonly #kept = new Map<number, { readonly kept: Kept; readonly blocks: number }>();
  #blocks = 0;

  /** @param maxBlocks the most blocks of all lists together */
  constructor(maxBlocks: number) {
    this.#maxBlocks = maxBlocks;
  }

  get(term: number): Kept | undefined {
    return this.#kept.get(term)?.kept;
  }

  set(term: number, kept: Kept, blocks: number): void {
    this.#blocks += blocks;
    this.#kept.set(term, { kept, blocks });
    for (const [oldest, entry] of this.#kept) {
      if (this.#blocks <= this.#maxBlocks) break;
      this.#kept.delete(oldest);
      this.#blocks -= entry.blocks;
    }
  }
}
