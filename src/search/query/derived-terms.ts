import type { Corpus } from "../corpus.ts";

/** A term of a query as it was typed, whether or not an index holds it. */
export type TypedTerm = {
  readonly term: string;
  readonly form: string;
  readonly position: number;
  readonly isLeaf: boolean;
  /** Whether it ends the query, so that more of it may follow. */
  readonly isUnfinished: boolean;
  /** How many documents of the corpus hold it. */
  readonly documents: number;
  readonly weight: number;
};

/** A term that nobody typed and that stands for one that was. */
export type DerivedTerm = {
  readonly term: string;
  readonly weight: number;
  readonly position: number;
  readonly isLeaf: boolean;
};

export type Derivation = {
  readonly corpus: Corpus;
  /** The weight of a term in so many documents. */
  readonly weightOf: (documents: number) => number;
  /** The terms that mean the same as a word; empty for most words. */
  readonly synonymsOf: (form: string) => readonly string[];
  readonly deadline: number;
};

// A corrected word may be wrong after all, a word that goes on may be another one, and nobody typed a synonym.
const CORRECTED_WEIGHT = 0.7;
const CONTINUED_WEIGHT = 0.8;
/** That of a continuation of a word that is in the corpus itself. */
const KNOWN_WEIGHT = 0.24;
const SYNONYM_WEIGHT = 0.3;

/** A word in fewer documents than this may be the beginning of another one. */
const FEW_DOCUMENTS = 10;

/**
 * Where a query is one word, every document with the word comes before all without it. Weights that are this
 * small achieve that: with terms of equal weight, the best document gets about a thousand times as much as
 * the worst.
 */
const AFTER_ALL_OTHERS = 1e-4;

/**
 * The terms that stand for those of a query: corrections, continuations of its last word, synonyms. They are
 * chosen by what the whole corpus holds, so that the choice is the same in each of its indexes.
 * @throws Failure `timeout`
 */
export function deriveTerms(typed: readonly TypedTerm[], derivation: Derivation): readonly DerivedTerm[] {
  const isOneWord = typed.filter(({ isLeaf }) => isLeaf).length === 1;
  const known = new Set(typed.map(({ term }) => term));
  const best = new Map<string, DerivedTerm>();
  for (const word of typed) {
    for (const { term, factor, isLeaf } of derivedFrom(word, derivation)) {
      if (known.has(term)) continue;
      const own = derivation.weightOf(derivation.corpus.documentFrequency(term));
      const weight = word.documents === 0 ? own : Math.min(own, word.weight);
      const shown = isOneWord && word.documents > 0 ? AFTER_ALL_OTHERS : 1;
      const found = { term, weight: weight * factor * shown, position: word.position, isLeaf };
      if (found.weight > (best.get(term)?.weight ?? 0)) best.set(term, found);
    }
  }
  return [...best.values()];
}

type Candidate = { readonly term: string; readonly factor: number; readonly isLeaf: boolean };

function derivedFrom(word: TypedTerm, derivation: Derivation): readonly Candidate[] {
  const { form, isLeaf, documents } = word;
  // A whole identifier that is known is what somebody wanted.
  const mayGoOn = word.isUnfinished && documents < (isLeaf ? FEW_DOCUMENTS : 1);
  const continued = mayGoOn ? continuations(word, derivation) : [];
  const corrected = isLeaf && documents === 0 && continued.length === 0 ? correction(form, derivation) : [];
  const synonyms = isLeaf ? derivation.synonymsOf(form) : [];
  return [
    ...continued,
    ...corrected,
    ...synonyms.map((term) => ({ term, factor: SYNONYM_WEIGHT, isLeaf: false })),
  ];
}

/** The less is missing of a term, the more it counts; only the most frequent one counts for distances. */
function continuations(
  { form, isLeaf, documents }: TypedTerm,
  { corpus, deadline }: Derivation,
): Candidate[] {
  const most = documents > 0 ? KNOWN_WEIGHT : CONTINUED_WEIGHT;
  return corpus.continuations(form, deadline).map((term, place) => ({
    term,
    factor: most * Math.min(1, form.length / term.length),
    isLeaf: isLeaf && documents === 0 && place === 0,
  }));
}

function correction(form: string, { corpus }: Derivation): Candidate[] {
  const found = corpus.correct(form);
  return found ? [{ term: found.term, factor: CORRECTED_WEIGHT ** found.edits, isLeaf: true }] : [];
}
