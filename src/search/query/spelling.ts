import type { IndexReader, TermEntry } from "../types.ts";

// Words of 4 letters or more may have 1 edit, of 8 or more 2; shorter words are not corrected.
const MIN_LENGTH = 4;
const MIN_LENGTH_OF_TWO_EDITS = 8;
const MAX_LENGTH = 40;

// The first letters are rarely wrong, and they limit the part of the dictionary that is read.
const PREFIX_LENGTH = 2;
const MAX_CANDIDATES = 20_000;

/** A term that replaces a word that no index holds. */
export type SpellingCorrection = { readonly term: string; readonly edits: number };

/**
 * Finds the nearest term in the dictionaries of indexes for an unknown word: within 1 edit from 4 letters and
 * 2 from 8, a transposition being one edit (optimal string alignment). The term of more documents wins a tie.
 * @param form the folded word
 */
export function correctSpelling(readers: readonly IndexReader[], form: string): SpellingCorrection | null {
  if (form.length < MIN_LENGTH || form.length > MAX_LENGTH || !/^\p{L}+$/u.test(form)) return null;
  const allowed = form.length >= MIN_LENGTH_OF_TWO_EDITS ? 2 : 1;
  let least = allowed;
  /** How many documents hold each of the nearest terms, in the order in which they were found. */
  let nearest = new Map<string, number>();
  for (const prefix of prefixesOf(form)) {
    for (const reader of readers) {
      for (const entry of reader.termsWithPrefix(prefix, MAX_CANDIDATES)) {
        const edits = editsToEntry(entry, form, least);
        if (edits === null) continue;
        if (edits < least) nearest = new Map();
        least = edits;
        nearest.set(entry.term, (nearest.get(entry.term) ?? 0) + entry.documentFrequency);
      }
    }
  }
  let best: string | null = null;
  for (const [term, documents] of nearest) if (best === null || documents > nearest.get(best)!) best = term;
  return best === null ? null : { term: best, edits: least };
}

// The second prefix has the first two letters swapped.
function prefixesOf(form: string): readonly string[] {
  const prefix = form.slice(0, PREFIX_LENGTH);
  const swapped = `${prefix[1]}${prefix[0]}`;
  return swapped === prefix ? [prefix] : [prefix, swapped];
}

function editsToEntry(entry: TermEntry, form: string, allowed: number): number | null {
  let least: number | null = null;
  for (const candidate of entry.forms) {
    const edits = boundedEdits(form, candidate, least ?? allowed);
    if (edits !== null && (least === null || edits < least)) least = edits;
  }
  return least;
}

/** The number of edits between two words; null when it is above `allowed`. */
function boundedEdits(a: string, b: string, allowed: number): number | null {
  if (Math.abs(a.length - b.length) > allowed) return null;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      let edits = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (isSame ? 0 : 1));
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (isSwap) edits = Math.min(edits, beforeLast[column - 2]! + 1);
      current.push(edits);
      least = Math.min(least, edits);
    }
    if (least > allowed) return null;
    beforeLast = last;
    last = current;
  }
  const edits = last[b.length]!;
  return edits <= allowed ? edits : null;
}
