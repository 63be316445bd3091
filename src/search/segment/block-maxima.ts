/** The highest scores of a list's blocks, without the term's weight. */
export type BlockMaxima = {
  /** A bound where the block has not been scored yet. */
  readonly scores: Float64Array;
  /** 1 where a document has that score. */
  readonly isExact: Uint8Array;
};
