/**
 * The constants of the ranking formula, found by coordinate ascent on six documentation collections with each
 * left out in turn (docs/search.md has the numbers). All weights are relative to the body's boost of 1.
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
  /** Weight of the best passage, counted with its title and headings, and of the mean of the best three. */
  bestPassage: 2.3,
  meanPassage: 0.55,
  /** The openings of a page, in tokens, each counted as a short field of its own. */
  openings: [
    { tokens: 40, weight: 0.8 },
    { tokens: 240, weight: 0.75 },
  ],
  openingK1: 1.2,
  /** Neighbours of the query that stand together: lower idf of the two over their least distance. */
  proximity: 1.4,
  /** All of the query is all of the title, or of a heading. */
  wholeTitle: 0.7,
  wholeHeading: 1.4,
} as const;
