import {
  type CompoundOptions,
  compoundParts,
  compoundsOf,
  continuationsOf,
  documentsWith,
} from "./query/longer-words.ts";
import { documentsWithPhrases, type PhraseTerm } from "./query/phrases.ts";
import { type Standing, standingOf } from "./ranking/standing.ts";
import { FIELDS, type IndexReader, type LengthTotals, type TermEntry } from "./types.ts";

/** A word by its term and its form. */
export type CorpusWord = { readonly term: string; readonly form: string };

/**
 * The statistics of several indexes as if their documents were in one, so that scores in one index are
 * comparable with those in another.
 */
export interface Corpus extends LengthTotals {
  /** How many documents hold a term; 0 for an unknown one. */
  documentFrequency(term: string): number;
  /** Whether any document holds a term, in this form unless it is null. */
  holds(term: string, form: string | null): boolean;
  /** The nearest term for a word that no document holds. */
  correct(form: string): SpellingCorrection | null;
  /**
   * The most frequent terms that a word may be the beginning of; see `continuationsOf`.
   * @throws Failure `timeout`
   */
  continuations(beginning: string, deadline: number): readonly string[];
  /**
   * The most frequent compounds with a word; see `compoundsOf`.
   * @throws Failure `timeout`
   */
  compounds(word: CorpusWord, options: CompoundOptions): readonly string[];
  /** The terms of a compound's parts; empty for other words. */
  compoundParts(form: string, stem: CompoundOptions["stem"]): readonly string[];
  /** Which of all documents stand behind others. */
  readonly standing: Standing;
  /**
   * How many documents have words next to each other in these forms.
   * @throws Failure `timeout`
   */
  documentsWithPhrase(words: readonly CorpusWord[], deadline: number): number;
}

/**
 * The corpus of several indexes that were built with the same analyser.
 * @param readers at least one
 */
export function corpusOf(readers: readonly IndexReader[]): Corpus {
  const fieldTotals = new Float64Array(FIELDS.length);
  let documentCount = 0;
  for (const reader of readers) {
    documentCount += reader.documentCount;
    for (let field = 0; field < FIELDS.length; field++) fieldTotals[field]! += reader.fieldTotals[field]!;
  }
  let standing: Standing | null = null;
  return {
    documentCount,
    fieldTotals,
    get standing() {
      standing ??= standingOf(readers.map(({ attributes }) => attributes));
      return standing;
    },
    documentFrequency: (term) => documentsWith(readers, term),
    holds: (term, form) =>
      readers.some((reader) => {
        const entry = reader.find(term);
        return entry !== null && (form === null || entry.forms.includes(form));
      }),
    correct: (form) => correctSpelling(readers, form),
    documentsWithPhrase: (words, deadline) =>
      readers.reduce((sum, reader) => sum + countPhrase(reader, words, deadline), 0),
    compounds: (word, options) => compoundsOf(readers, word, options),
    compoundParts: (form, stem) => compoundParts(readers, form, stem),
    continuations: (beginning, deadline) => continuationsOf(readers, beginning, deadline),
  };
}

function countPhrase(reader: IndexReader, words: readonly CorpusWord[], deadline: number): number {
  const phrase: PhraseTerm[] = [];
  for (const [offset, { term, form }] of words.entries()) {
    const entry = reader.find(term);
    const number = entry?.forms.indexOf(form) ?? -1;
    if (!entry || number < 0) return 0;
    phrase.push({ entry, form: number, offset });
  }
  return documentsWithPhrases(reader, [[phrase]], deadline).length;
}

// Words of 4 letters or more may have 1 edit, of 8 or more 2; shorter words are not corrected.
const MIN_LENGTH = 4;
const MIN_LENGTH_OF_TWO_EDITS = 8;
const MAX_LENGTH = 40;

// The first letters are rarely wrong, and they limit the part of the dictionary that is read.
const PREFIX_LENGTH = 2;
const MAX_CANDIDATES = 20_000;

/** A term that replaces a word that no index holds. */
type SpellingCorrection = { readonly term: string; readonly edits: number };

/**
 * Finds the nearest term in the dictionaries of indexes for an unknown word: within 1 edit from 4 letters and
 * 2 from 8, a transposition being one edit (optimal string alignment). The term of more documents wins a tie.
 * @param form the folded word
 */
function correctSpelling(readers: readonly IndexReader[], form: string): SpellingCorrection | null {
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
