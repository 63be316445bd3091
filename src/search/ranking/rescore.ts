import { checkDeadline } from "../deadline.ts";
import type { CompiledQuery } from "../query/compile.ts";
import {
  FIELDS,
  type FieldName,
  type FieldNumber,
  type IndexReader,
  type LengthTotals,
  type RankingSettings,
  type ScoredDocument,
} from "../types.ts";
import {
  brevity,
  closeness,
  exactForms,
  headedTerms,
  isWholeHeading,
  isWholeTitle,
  leavesOf,
  openings,
  PassageScorer,
  partedLeaves,
  proximity,
  TermPositions,
} from "./evidence.ts";
import { CLOSE_POSITIONS, FieldScorer, type PhaseTwoWeights, weightsFor } from "./formula.ts";

/** How a score came about; its parts add up to the score. */
export type ScoreExplanation = Readonly<Record<keyof PhaseTwoWeights, number>> & {
  /** What the page gets or loses for what it is: its kind, its version, its language, its path. */
  readonly standing: number;
  /** The first phase term by term, with the score of each field. */
  readonly terms: readonly {
    readonly term: string;
    readonly weight: number;
    readonly fields: Readonly<Partial<Record<FieldName, number>>>;
  }[];
};

export type RankedDocument = ScoredDocument & {
  /** The numbers of the sections with the best passages, the best first. */
  readonly sections: readonly number[];
  readonly explanation: ScoreExplanation | null;
};

type RescoreOptions = {
  readonly ranking: RankingSettings;
  /** What the mean lengths of fields are taken from. */
  readonly corpus: LengthTotals;
  /** The factor of each document's score, which the candidates' scores have already; null for 1. */
  readonly factors: Float64Array | null;
  /** When the search must end, on the clock of `performance.now()`, in ms. */
  readonly deadline: number;
  readonly isExplained: boolean;
};

/**
 * The second phase: adds the evidence of the positions to the scores of the first phase, and sorts again;
 * ties go to the smaller document number.
 * @throws Failure `timeout` when the deadline passes
 */
export function rescore(
  reader: IndexReader,
  query: CompiledQuery,
  candidates: readonly ScoredDocument[],
  options: RescoreOptions,
): RankedDocument[] {
  const places = new TermPositions(reader, query.terms, options.deadline);
  const weights = Float64Array.from(query.terms, ({ weight }) => weight);
  const leaves = leavesOf(query);
  const firstLeaves = leaves.filter((leaf) => query.terms[leaf]!.position < CLOSE_POSITIONS);
  const near = { weights, parted: partedLeaves(query, leaves), deadline: options.deadline };
  // No document here holds a leaf that only other indexes have.
  const leafCount = Math.max(query.leafCount, leaves.length + query.elsewhere.length);
  const fillers = { places, leaves, leafCount };
  const added = weightsFor(query.wordCount);
  const passages = new PassageScorer(options.deadline);
  const fieldScorer = options.isExplained ? new FieldScorer(options.corpus, options.ranking) : null;
  const inOrder = [...candidates].sort((a, b) => a.document - b.document);
  const ranked = inOrder.map(({ document, score }): RankedDocument => {
    checkDeadline(options.deadline);
    places.moveTo(document);
    const layout = reader.layout(document);
    checkDeadline(options.deadline);
    const passage = passages.score(layout, places, weights);
    const parts = {
      bestPassage: added.bestPassage * passage.best,
      meanPassage: added.meanPassage * passage.mean,
      openings: openings(layout, places, weights, added.openings),
      proximity: added.proximity * proximity(places, leaves, near),
      closeness: added.closeness === 0 ? 0 : added.closeness * closeness(layout, places, firstLeaves, near),
      exactForms: added.exactForms * exactForms(places, weights),
      headedTerms: added.headedTerms * headedTerms(places, weights),
      wholeTitle: isWholeTitle(fillers, layout) ? added.wholeTitle * query.leafWeight : 0,
      wholeHeading: isWholeHeading(fillers, layout) ? added.wholeHeading * query.leafWeight : 0,
      brevity: added.brevity * query.leafWeight * brevity(contentLength(reader, document)),
    };
    const factor = options.factors?.[document] ?? 1;
    const terms = fieldScorer && explainTerms(reader, fieldScorer, { query, places, document });
    const sum = Object.values(parts).reduce((all, part) => all + part, 0);
    return {
      document,
      score: score + sum * factor,
      sections: passage.sections,
      explanation: terms && { terms, ...parts, standing: (score / factor + sum) * (factor - 1) },
    };
  });
  return ranked.sort((a, b) => b.score - a.score || a.document - b.document);
}

const BODY = FIELDS.indexOf("body") as FieldNumber;
const CODE = FIELDS.indexOf("code") as FieldNumber;

const contentLength = (reader: IndexReader, document: number): number =>
  reader.fieldLength(document, BODY) + reader.fieldLength(document, CODE);

type Explained = { readonly query: CompiledQuery; readonly places: TermPositions; readonly document: number };

function explainTerms(
  reader: IndexReader,
  scorer: FieldScorer,
  { query, places, document }: Explained,
): ScoreExplanation["terms"] {
  return query.terms.flatMap(({ entry, weight }, term) => {
    if (places.count(term) === 0) return [];
    const fields: Partial<Record<FieldName, number>> = {};
    FIELDS.forEach((name, index) => {
      const field = index as FieldNumber; // FIELDS has a name for each number
      const frequency = places.frequencies(term)[field]!;
      const part = weight * scorer.part(field, frequency, reader.fieldLength(document, field));
      if (part > 0) fields[name] = part;
    });
    return [{ term: entry.term, weight, fields }];
  });
}
