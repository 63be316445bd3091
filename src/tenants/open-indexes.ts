/** Something that can be closed while nobody uses it; the next use opens it again. */
export interface Resting {
  /** @returns false when it must stay open */
  rest(): boolean;
}

/** Limits how many indexes stay open. */
export type OpenIndexes = {
  /** Notes that the index is in use now; when too many are open, the least recently used one is closed. */
  readonly use: (index: Resting) => void;
};

/** An open index of a few hundred pages takes about 1 MB; opening it again takes a millisecond. */
export function createOpenIndexes(max: number): OpenIndexes {
  // A Set keeps its members in the order in which they were added.
  const open = new Set<Resting>();
  return {
    use(index) {
      open.delete(index);
      open.add(index);
      if (open.size <= max) return;
      for (const oldest of open) {
        open.delete(oldest);
        // An index that cannot be closed now is tried again after its next use.
        if (oldest.rest()) return;
      }
    },
  };
}
