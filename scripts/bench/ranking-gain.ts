const DEPTH = 10;

const discount = (rank: number): number => 1 / Math.log2(rank + 2);

/**
 * Normalised discounted cumulative gain of the first ten, with linear gain as in trec_eval; 0 when nothing is
 * relevant.
 * @param ranked document ids, best first
 * @param gains the gain of each relevant document
 */
export function normalizedGain(ranked: readonly string[], gains: ReadonlyMap<string, number>): number {
  const ideal = [...gains.values()]
    .sort((a, b) => b - a)
    .slice(0, DEPTH)
    .reduce((sum, gain, rank) => sum + gain * discount(rank), 0);
  const reached = ranked
    .slice(0, DEPTH)
    .reduce((sum, id, rank) => sum + (gains.get(id) ?? 0) * discount(rank), 0);
  return ideal > 0 ? reached / ideal : 0;
}
