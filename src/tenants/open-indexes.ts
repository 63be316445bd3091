/** What can be closed while nobody uses it, to be opened again by the next use. */
export interface Resting {
  /** @returns false when it must stay open */
  rest(): boolean;
}

/** How many stay open at most. */
export type OpenIndexes = {
  /** Notes that it is used now; where too many are open, the one that was used longest ago rests. */
  readonly use: (index: Resting) => void;
};

/** An open index of a few hundred pages takes about 1 MB, opening it again a millisecond. */
export function createOpenIndexes(max: number): OpenIndexes {
  // A Set keeps the order in which its members came.
  const open = new Set<Resting>();
  return {
    use(index) {
      open.delete(index);
      open.add(index);
      if (open.size <= max) return;
      for (const oldest of open) {
        open.delete(oldest);
        // One that cannot rest is asked again after its next use.
        if (oldest.rest()) return;
      }
    },
  };
}
