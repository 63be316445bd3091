import { type CompoundOptions, compoundParts, compoundsOf, continuationsOf } from "./query/longer-words.ts";
import { documentsWithPhrases, type PhraseTerm } from "./query/phrases.ts";
import { correctSpelling, type SpellingCorrection } from "./query/spelling.ts";
import { type Standing, standingOf } from "./ranking/standing.ts";
import { FIELDS, type IndexReader, type LengthTotals } from "./types.ts";

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
  const documentFrequency = (term: string): number =>
    readers.reduce((sum, reader) => sum + (reader.find(term)?.documentFrequency ?? 0), 0);
  let standing: Standing | null = null;
  return {
    documentCount,
    fieldTotals,
    get standing() {
      standing ??= standingOf(readers.map(({ attributes }) => attributes));
      return standing;
    },
    documentFrequency,
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
