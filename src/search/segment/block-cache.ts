/** Keeps what was worked out of lists of several blocks, by number of the term, for those that were met last. */
export class BlockCache<Kept> {
  readonly #maxBlocks: number;
  readonly #kept = new Map<number, { readonly kept: Kept; readonly blocks: number }>();
  #blocks = 0;

  /** @param maxBlocks of all lists together */
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
