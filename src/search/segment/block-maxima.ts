/** The highest scores of a list's blocks, without the term's weight. */
export type BlockMaxima = {
  /** Upper bounds for blocks that have not been scored yet. */
  readonly scores: Float64Array;
  /** 1 when a document of the block really has that score. */
  readonly isExact: Uint8Array;
};
