import { wordsIn } from "../../base/text.ts";
import { FIELDS, type FieldNumber, type LengthTotals, type RankingSettings } from "../types.ts";

/**
 * The constants of the ranking formula, relative to the body's boost of 1; the boosts of fields are settings
 * (settings/defaults.ts). They were found by coordinate ascent on six collections of documentation, each left out in turn
 * (docs/search.md has the numbers).
 */
export const RANKING = {
  /** How many candidates the first phase passes to the second. */
  candidates: 150,
  /** The exponent of idf: rare words count a little less than in BM25, so that one rare word does not outvote three. */
  idfExponent: 0.7,
  /** BM25's saturation and length normalisation within a passage, and a passage's usual length in tokens. */
  passageK1: 1.2,
  passageB: 0.5,
  passageTokens: 140,
  openingK1: 1.2,
} as const;

/**
 * Sums of bounds are rounded differently from sums of scores. This factor is far above the difference, and
 * far below the slack of the bounds.
 */
export const ROUNDING = 1 + 1e-9;

/** The weights of the second phase's parts. */
export type PhaseTwoWeights = {
  /** The best passage, scored with its title and headings, and the mean of the best three. */
  readonly bestPassage: number;
  readonly meanPassage: number;
  /** The page's first `OPENINGS` tokens, each opening as a short field of its own. */
  readonly openings: readonly number[];
  /** Neighbours of the query that are close: the lower weight of the two divided by their least distance. */
  readonly proximity: number;
  /**
   * The most that the weights of different terms among the query's first `CLOSE_POSITIONS` add up to within
   * `CLOSE_TOKENS` tokens of the content.
   */
  readonly closeness: number;
  /** Terms that appear in the form that was typed. */
  readonly exactForms: number;
  /** Terms that a heading contains or a line defines. */
  readonly headedTerms: number;
  /** The whole query is the whole title, or a whole heading. */
  readonly wholeTitle: number;
  readonly wholeHeading: number;
  /** How short the page is: the logarithm of `SHORT_PAGE.most` ÷ its tokens, times the query's weight. */
  readonly brevity: number;
};

export const OPENINGS = [15, 40, 240] as const;

export const CLOSE_TOKENS = 12;

/** Only the query's first words and parts are looked for close together: an identifier may have hundreds. */
export const CLOSE_POSITIONS = 8;

/** The range of lengths that count, in tokens of text and code; shorter and longer pages count as its ends. */
export const SHORT_PAGE = { least: 50, most: 4000 } as const;

// Names and keywords are looked for anywhere in a page. Sentences and questions say what a page is about, and
// so does its opening; a short page about it is a better answer than a long one that mentions it.
const KEYWORDS: PhaseTwoWeights = {
  bestPassage: 1.2,
  meanPassage: 2,
  openings: [0, 0.3, 0.2],
  proximity: 4.4,
  closeness: 1.7,
  exactForms: 2,
  headedTerms: 1.5,
  wholeTitle: 4.6,
  wholeHeading: 0.6,
  brevity: 0,
};

const SENTENCE: PhaseTwoWeights = {
  bestPassage: 1.6,
  meanPassage: 0.2,
  openings: [0.7, 1.6, 1.5],
  proximity: 1.9,
  closeness: 0,
  exactForms: 0.5,
  headedTerms: 0,
  wholeTitle: 1.8,
  wholeHeading: 0.4,
  brevity: 0.1,
};

const SINGLE_WEIGHTS = wordsIn(
  "bestPassage meanPassage proximity closeness exactForms headedTerms wholeTitle wholeHeading brevity",
);

const KEYWORDS_AT_MOST = 3;
const SENTENCE_AT_LEAST = 6;

/** Weights by the words of a query: up to 3 those of keywords, from 6 of a sentence, a mix in between. */
export function weightsFor(words: number): PhaseTwoWeights {
  const share = (words - KEYWORDS_AT_MOST) / (SENTENCE_AT_LEAST - KEYWORDS_AT_MOST);
  if (share <= 0) return KEYWORDS;
  if (share >= 1) return SENTENCE;
  const mix = (a: number, b: number): number => a + (b - a) * share;
  const mixed: { -readonly [Name in keyof PhaseTwoWeights]: PhaseTwoWeights[Name] } = {
    ...KEYWORDS,
    openings: OPENINGS.map((_, i) => mix(KEYWORDS.openings[i]!, SENTENCE.openings[i]!)),
  };
  for (const name of SINGLE_WEIGHTS) mixed[name] = mix(KEYWORDS[name], SENTENCE[name]);
  return mixed;
}

/**
 * The first phase's score of one term in one document, without its weight: BM25's term part of each field
 * (Robertson & Zaragoza 2009, section 3.3), summed with the boosts. Fields are summed rather than merged as
 * in BM25F, because a word in both title and text is stronger evidence than a word that is twice in either.
 */
export class FieldScorer {
  readonly #boosts = new Float64Array(FIELDS.length);
  /** k1 × (1 − b), and k1 × b ÷ mean length: the length part is `base + slope × length`. */
  readonly #base: number;
  readonly #slopes = new Float64Array(FIELDS.length);

  constructor(corpus: LengthTotals, ranking: RankingSettings) {
    this.#base = ranking.k1 * (1 - ranking.b);
    FIELDS.forEach((name, field) => {
      const total = corpus.fieldTotals[field] ?? 0;
      this.#boosts[field] = ranking.boosts[name] * (ranking.k1 + 1);
      this.#slopes[field] = total > 0 ? (ranking.k1 * ranking.b * corpus.documentCount) / total : 0;
    });
  }

  /** The score of one field, boost included; 0 for a frequency of 0, and at most `bound(field)`. */
  part(field: FieldNumber, frequency: number, length: number): number {
    if (frequency === 0) return 0;
    const lengthPart = this.#base + this.#slopes[field]! * length;
    return (this.#boosts[field]! * frequency) / (frequency + lengthPart);
  }

  /** The upper bound of `part` for every frequency and length. */
  bound(field: FieldNumber): number {
    return this.#boosts[field]!;
  }
}

/**
 * The inverse document frequency in BM25's form with +1 inside the logarithm, so that it is never negative
 * (Robertson & Zaragoza 2009, section 3; the +1 as in Lucene's BM25Similarity).
 * @param documentFrequency documents that hold the term, 1..documentCount
 */
export const inverseDocumentFrequency = (documentFrequency: number, documentCount: number): number =>
  Math.log(1 + (documentCount - documentFrequency + 0.5) / (documentFrequency + 0.5));
