import { sameWord } from "./other-names.ts";

/**
 * The candidate that a word most likely meant: one that means the same, or starts with it, else the nearest with at
 * most a third of its letters different, swapped neighbours counting once.
 */
export function nearest(word: string, candidates: readonly string[]): string | null {
  const same = sameWord(word, candidates);
  if (same !== null) return same;
  const isBeginning = word.replace(/^-+/, "").length >= 2;
  const continued = candidates.filter((c) => isBeginning && c.toLowerCase().startsWith(word.toLowerCase()));
  if (continued.length === 1) return continued[0] ?? null;
  let best: string | null = null;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    const limit = Math.max(1, Math.floor(Math.max(word.length, candidate.length) / 3));
    if (distance <= limit && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns "; did you mean X?", or an empty text when nothing is near or the word is a candidate itself. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const candidate = nearest(word, candidates);
  return candidate === null || candidate === word ? "" : `; did you mean ${candidate}?`;
}

/**
 * The optimal string alignment distance: insertions, deletions, substitutions and swapped neighbours count
 * one each. It is infinite for words over 100 letters or with lengths more than 20 apart.
 */
export function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 20 || a.length > 100) return Number.POSITIVE_INFINITY;
  // The first row and column stay as they are.
  const rows = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => i + j),
  );
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  for (const [i, row] of rows.entries())
    for (let j = 1; i > 0 && j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      row[j] = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + cost);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) row[j] = Math.min(at(i, j), at(i - 2, j - 2) + 1);
    }
  return at(a.length, b.length);
}

const MAX_SUGGESTIONS = 3;

/**
 * Returns "; did you mean X, Y or Z?" with the nearest few, or an empty text. Names that begin with the word, and those of
 * which it is one of the parts that dashes separate, are the nearest.
 */
export function didYouMeanAny(word: string, candidates: readonly string[]): string {
  const limit = Math.max(1, Math.floor(word.length / 3));
  const near = candidates
    .map((candidate) => ({
      candidate,
      distance:
        word !== "" && (candidate.startsWith(word) || candidate.split(/[-_]/).includes(word))
          ? 0
          : editDistance(word.toLowerCase(), candidate),
    }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ candidate }) => candidate);
  const last = near.pop();
  if (last === undefined) return "";
  return `; did you mean ${near.length > 0 ? `${near.join(", ")} or ` : ""}${last}?`;
}
