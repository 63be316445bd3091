import { FIELDS, type FieldNumber, type LengthTotals, type RankingSettings } from "./types.ts";

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
