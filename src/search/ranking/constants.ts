/**
 * The constants of the ranking formula, found by coordinate ascent on six collections of documentation, each of
 * them left out in turn (docs/search.md has the numbers). Weights are relative to the body's boost of 1.
 */
export const RANKING = {
  /** Candidates that the first phase hands to the second. */
  candidates: 150,
  /** Exponent of idf: rare words count a little less than BM25 has it, so that one does not outvote three. */
  idfExponent: 0.7,
  /** BM25's saturation and length normalisation within a passage, and a passage's usual length in tokens. */
  passageK1: 1.2,
  passageB: 0.5,
  passageTokens: 140,
  openingK1: 1.2,
} as const;

/** Weights of what the second phase adds. */
export type PhaseTwoWeights = {
  /** The best passage, counted with its title and headings, and the mean of the best three. */
  readonly bestPassage: number;
  readonly meanPassage: number;
  /** The page's first `OPENINGS` tokens, each as a short field of its own. */
  readonly openings: readonly number[];
  /** Neighbours of the query that stand together: lower weight of the two over their least distance. */
  readonly proximity: number;
  /** Terms that stand in the form that was typed. */
  readonly exactForms: number;
  /** Terms that stand in a heading or are defined by a line. */
  readonly headedTerms: number;
  /** All of the query is all of the title, or of a heading. */
  readonly wholeTitle: number;
  readonly wholeHeading: number;
};

export const OPENINGS = [40, 240] as const;

// Names and keywords are looked for anywhere in a page; sentences and questions say what a page is about, which
// its opening says too.
const KEYWORDS: PhaseTwoWeights = {
  bestPassage: 1.2,
  meanPassage: 2,
  openings: [0.3, 0.2],
  proximity: 4.4,
  exactForms: 1.6,
  headedTerms: 1.5,
  wholeTitle: 4.6,
  wholeHeading: 0.6,
};

const SENTENCE: PhaseTwoWeights = {
  bestPassage: 1.6,
  meanPassage: 0.2,
  openings: [1.6, 1.5],
  proximity: 1.9,
  exactForms: 0.5,
  headedTerms: 0,
  wholeTitle: 1.8,
  wholeHeading: 0.4,
};

const KEYWORDS_AT_MOST = 3;
const SENTENCE_AT_LEAST = 6;

/**
 * The weights for a query of so many words: those of keywords up to 3, those of a sentence from 6, and between
 * them in proportion.
 */
export function weightsFor(words: number): PhaseTwoWeights {
  const share = (words - KEYWORDS_AT_MOST) / (SENTENCE_AT_LEAST - KEYWORDS_AT_MOST);
  if (share <= 0) return KEYWORDS;
  if (share >= 1) return SENTENCE;
  const mix = (a: number, b: number): number => a + (b - a) * share;
  return {
    bestPassage: mix(KEYWORDS.bestPassage, SENTENCE.bestPassage),
    meanPassage: mix(KEYWORDS.meanPassage, SENTENCE.meanPassage),
    openings: OPENINGS.map((_, i) => mix(KEYWORDS.openings[i]!, SENTENCE.openings[i]!)),
    proximity: mix(KEYWORDS.proximity, SENTENCE.proximity),
    exactForms: mix(KEYWORDS.exactForms, SENTENCE.exactForms),
    headedTerms: mix(KEYWORDS.headedTerms, SENTENCE.headedTerms),
    wholeTitle: mix(KEYWORDS.wholeTitle, SENTENCE.wholeTitle),
    wholeHeading: mix(KEYWORDS.wholeHeading, SENTENCE.wholeHeading),
  };
}
