/** The highest scores of a list's blocks, without the term's weight. */
export type BlockMaxima = {
  /** A bound where the block has not been scored yet. */
  readonly scores: Float64Array;
  /** 1 where a document has that score. */
  readonly isExact: Uint8Array;
};

/** Blocks whose maxima are kept, of all terms: 9 bytes each. */
const MAX_CACHED_BLOCKS = 500_000;

/** The maxima of the lists of several blocks that were searched last, by number of the term. */
export class MaximaCache {
  readonly #kept = new Map<number, BlockMaxima>();
  #blocks = 0;

  get(term: number): BlockMaxima | undefined {
    return this.#kept.get(term);
  }

  set(term: number, maxima: BlockMaxima): void {
    this.#blocks += maxima.scores.length;
    this.#kept.set(term, maxima);
    for (const [oldest, { scores }] of this.#kept) {
      if (this.#blocks <= MAX_CACHED_BLOCKS) break;
      this.#kept.delete(oldest);
      this.#blocks -= scores.length;
    }
  }
}
