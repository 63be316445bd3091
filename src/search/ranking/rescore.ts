import { checkDeadline, checkDeadlineAt } from "../deadline.ts";
import type { CompiledQuery, QueryTerm } from "../query/compile.ts";
import {
  type DocumentLayout,
  FIELDS,
  type FieldName,
  type FieldNumber,
  type IndexReader,
  type LengthTotals,
  type Postings,
  type RankingSettings,
  type ScoredDocument,
} from "../types.ts";
import {
  CLOSE_POSITIONS,
  CLOSE_TOKENS,
  FieldScorer,
  OPENINGS,
  type PhaseTwoWeights,
  RANKING,
  ROUNDING,
  SHORT_PAGE,
  weightsFor,
} from "./formula.ts";

/** How a score came about; its parts add up to the score. */
export type ScoreExplanation = Readonly<Record<keyof PhaseTwoWeights, number>> & {
  /** The page's bonus or penalty for its kind, its version, its language and its path. */
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
  /** The source of the mean lengths of fields. */
  readonly corpus: LengthTotals;
  /** The factor of each document's score, which the candidates' scores have already; null for 1. */
  readonly factors: Float64Array | null;
  /** When the search must end, on the clock of `performance.now()`, in ms. */
  readonly deadline: number;
  readonly isExplained: boolean;
  /** How many of the best documents are needed; by default all. */
  readonly wanted?: number | undefined;
};

/**
 * The second phase: adds the evidence of the positions to the scores of the first phase, and sorts again;
 * ties go to the smaller document number. Documents that cannot be among the `wanted` best may be left out: reading
 * the positions of all candidates is most of the work.
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
  const added = weightsFor(query.wordCount);
  const fillers = { places, leaves, leafCount, parted: near.parted, added };
  const brevityOf = (document: number): number =>
    added.brevity * query.leafWeight * brevity(contentLength(reader, document));
  const passages = new PassageScorer(options.deadline);
  const fieldScorer = options.isExplained ? new FieldScorer(options.corpus, options.ranking) : null;
  const longer = query.ofSeries.map(({ entry }) => ({ ...NEVER_TYPED, entry }));
  const longerPlaces = new TermPositions(reader, longer, options.deadline);
  const rank = ({ document, score }: ScoredDocument): RankedDocument => {
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
      wholeTitle: consistsOfLeaves(fillers, 0, layout.titleEnd) ? added.wholeTitle * query.leafWeight : 0,
      wholeHeading: isWholeHeading(fillers, layout) ? added.wholeHeading * query.leafWeight : 0,
      brevity: brevityOf(document),
    };
    longerPlaces.moveTo(document);
    const isOther = query.ofSeries.some(
      ({ series }, at) => longerPlaces.count(at) >= Math.max(1, places.count(series)),
    );
    const other = isOther ? OTHER_VERSION : 1;
    const factor = options.factors?.[document] ?? 1;
    const terms = fieldScorer && explainTerms(reader, fieldScorer, { query, places, document });
    const sum = Object.values(parts).reduce((all, part) => all + part, 0);
    return {
      document,
      score: (score + sum * factor) * other,
      sections: passage.sections,
      explanation: terms && { terms, ...parts, standing: (score / factor + sum) * (factor * other - 1) },
    };
  };
  const mostOf = ({ document, score }: ScoredDocument): number => {
    places.findIn(document);
    const most = mostEvidence(query, fillers, reader.layout(document)) + brevityOf(document);
    return (score + most * (options.factors?.[document] ?? 1)) * ROUNDING;
  };
  return rankBest(candidates, options.wanted ?? candidates.length, { rank, mostOf });
}

type Judge<Verdict> = (candidate: ScoredDocument) => Verdict;

/** @param mostOf at least the score that `rank` would give */
function rankBest(
  candidates: readonly ScoredDocument[],
  wanted: number,
  { rank, mostOf }: { readonly rank: Judge<RankedDocument>; readonly mostOf: Judge<number> },
): RankedDocument[] {
  const rankAll = (some: readonly ScoredDocument[]) => inOrder(some).map(rank).sort(byScore);
  if (wanted * FIRST_SHARE >= candidates.length) return rankAll(candidates);
  const bounded = inOrder(candidates).map((candidate) => ({ ...candidate, most: mostOf(candidate) }));
  bounded.sort((a, b) => b.most - a.most);
  const first = rankAll(bounded.splice(0, wanted * FIRST_SHARE));
  const least = first[wanted - 1]!.score;
  return [...first, ...rankAll(bounded.filter(({ most }) => most >= least))].sort(byScore);
}

/** Twice as many documents as are needed are ranked first, so that their scores rule out most of the others. */
const FIRST_SHARE = 2;

const inOrder = (some: readonly ScoredDocument[]) => some.toSorted((a, b) => a.document - b.document);

const byScore = (a: ScoredDocument, b: ScoredDocument) => b.score - a.score || a.document - b.document;

/** The most that the second phase can add for a document of which only the frequencies are known. */
function mostEvidence(
  { terms, leafWeight }: CompiledQuery,
  { places, leaves, leafCount, parted, added }: QueryLeaves & Pick<ProximityOptions, "parted">,
  layout: DocumentLayout,
): number {
  const mostOfTerm = termBound(layout, added);
  let sum = 0;
  let [titled, headed] = [0, 0];
  for (let term = 0; term < terms.length; term++) {
    if (places.count(term) === 0) continue;
    const { weight, typedForm, isLeaf, position } = terms[term]!;
    const frequencies = places.frequencies(term);
    let most = mostOfTerm(frequencies);
    if (typedForm >= 0) most += added.exactForms;
    if (isLeaf) {
      if (position < CLOSE_POSITIONS) most += added.closeness;
      if (frequencies[0]! > 0) titled++;
      if (headingsIn(frequencies) > 0) headed++;
    }
    sum += most * weight;
  }
  for (let i = 0; i + 1 < leaves.length; i++) {
    if (parted.has(i) || places.count(leaves[i]!) === 0 || places.count(leaves[i + 1]!) === 0) continue;
    sum += added.proximity * Math.min(terms[leaves[i]!]!.weight, terms[leaves[i + 1]!]!.weight);
  }
  const least = Math.max(leaves.length, leafCount);
  if (titled >= least && layout.titleEnd <= leaves.length) sum += added.wholeTitle * leafWeight;
  if (headed >= least) sum += added.wholeHeading * leafWeight;
  return sum;
}

const headingsIn = (frequencies: Uint32Array): number => frequencies[1]! + frequencies[2]! + frequencies[3]!;

/** Bounds what a term adds by itself, without its weight and the form that was typed. */
function termBound({ contentStart, end, passageStarts }: DocumentLayout, added: PhaseTwoWeights) {
  const { passageK1, passageB, passageTokens, openingK1 } = RANKING;
  const tokens = passageStarts.reduce(
    (least, start, i) => Math.min(least, (passageStarts[i + 1] ?? end) - start),
    end,
  );
  const passagePart = passageK1 * (1 - passageB + (passageB * tokens) / passageTokens);
  const openingParts = OPENINGS.map((opening) => openingLengthPart(opening, end - contentStart));
  return (frequencies: Uint32Array): number => {
    const headings = headingsIn(frequencies);
    const content = headings + frequencies[BODY]! + frequencies[CODE]!;
    const above = Math.min(1, frequencies[0]!) + Math.min(1, headings);
    const passages = Math.min(3, passageStarts.length, above > 0 ? 3 : content);
    const best = saturated(content + above, passagePart, passageK1);
    let most = headings > 0 ? added.headedTerms : 0;
    if (passages > 0) most += (added.bestPassage + (added.meanPassage * passages) / 3) * best;
    for (let i = 0; i < OPENINGS.length; i++)
      most += added.openings[i]! * saturated(content, openingParts[i]!, openingK1);
    return most;
  };
}

/** BM25's part of a term in a text, without its weight. */
const saturated = (frequency: number, lengthPart: number, k1: number): number =>
  (frequency * (k1 + 1)) / (frequency + lengthPart);

const openingLengthPart = (tokens: number, length: number): number =>
  RANKING.openingK1 * (0.5 + (0.5 * Math.min(tokens, length)) / tokens);

const NEVER_TYPED = { weight: 0, forms: null, position: -1, isLeaf: false, typedForm: -1 };

/** The factor of a document that has a typed version only as the series of a longer one. */
const OTHER_VERSION = 0.9;

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

/** Indexes of the query's leaves among its terms, in the order of the query. */
function leavesOf({ terms }: CompiledQuery): Uint32Array {
  const leaves = terms.map((_, index) => index).filter((index) => terms[index]!.isLeaf);
  return Uint32Array.from(leaves.sort((a, b) => terms[a]!.position - terms[b]!.position));
}

/** The places in the leaves after which a leaf is missing that only other indexes hold. */
function partedLeaves({ terms, elsewhere }: CompiledQuery, leaves: Uint32Array): ReadonlySet<number> {
  const parted = new Set<number>();
  for (const position of elsewhere) {
    const next = leaves.findIndex((leaf) => terms[leaf]!.position > position);
    if (next > 0) parted.add(next - 1);
  }
  return parted;
}

type ProximityOptions = {
  readonly weights: Float64Array;
  /** See `partedLeaves`. */
  readonly parted: ReadonlySet<number>;
  readonly deadline: number;
};

/**
 * Adds up, for each two neighbours in the query, the lower weight divided by their least distance.
 * @throws Failure `timeout`
 */
function proximity(
  places: TermPositions,
  leaves: Uint32Array,
  { weights, parted, deadline }: ProximityOptions,
): number {
  let sum = 0;
  for (let i = 0; i + 1 < leaves.length; i++) {
    const left = leaves[i]!;
    const right = leaves[i + 1]!;
    if (parted.has(i)) continue;
    if (places.count(left) === 0 || places.count(right) === 0) continue;
    sum += Math.min(weights[left]!, weights[right]!) / leastDistance(places, left, right, deadline);
  }
  return sum;
}

/** The least distance: 1 for neighbours in the order of the query; the other order counts one more. */
function leastDistance(places: TermPositions, left: number, right: number, deadline: number): number {
  const a = places.positions(left);
  const b = places.positions(right);
  const aCount = places.count(left);
  const bCount = places.count(right);
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0, j = 0; i < aCount && j < bCount && least > 1; ) {
    checkDeadlineAt(i + j, deadline);
    const step = b[j]! - a[i]!;
    // Parts of one word at the same position do not form a pair.
    if (step !== 0) least = Math.min(least, step > 0 ? step : 1 - step);
    if (a[i]! < b[j]!) i++;
    else j++;
  }
  return least;
}

/** The most that different leaves weigh within `CLOSE_TOKENS` tokens of content. @throws Failure `timeout` */
function closeness(
  { contentStart }: DocumentLayout,
  places: TermPositions,
  leaves: Uint32Array,
  { weights, deadline }: ProximityOptions,
): number {
  const next = leaves.map((leaf) => lowerBound(places.positions(leaf), places.count(leaf), contentStart));
  const lastSeen = new Float64Array(leaves.length).fill(Number.NEGATIVE_INFINITY);
  let total = 0;
  for (let i = 0; i < leaves.length; i++) {
    if (next[i]! < places.count(leaves[i]!)) total += weights[leaves[i]!]!;
  }
  let best = 0;
  for (let step = 0; best < total; step++) {
    checkDeadlineAt(step, deadline);
    let first = -1;
    let position = Number.POSITIVE_INFINITY;
    for (let i = 0; i < leaves.length; i++) {
      const at = next[i]! < places.count(leaves[i]!) ? places.positions(leaves[i]!)[next[i]!]! : position;
      if (at >= position) continue;
      first = i;
      position = at;
    }
    if (first < 0) break;
    next[first]!++;
    lastSeen[first] = position;
    let sum = 0;
    for (let i = 0; i < leaves.length; i++) {
      if (lastSeen[i]! > position - CLOSE_TOKENS) sum += weights[leaves[i]!]!;
    }
    best = Math.max(best, sum);
  }
  return best;
}

/** @param tokens the page's tokens of text and code */
const brevity = (tokens: number): number =>
  Math.log(SHORT_PAGE.most / Math.min(Math.max(tokens, SHORT_PAGE.least), SHORT_PAGE.most));

/** Whether a range of positions consists of exactly the query's leaves. */
function consistsOfLeaves(query: QueryLeaves, start: number, end: number): boolean {
  const { places, leaves, leafCount } = query;
  if (leaves.length < leafCount || end - start > leaves.length || end === start) return false;
  for (const leaf of leaves) {
    const positions = places.positions(leaf);
    const count = places.count(leaf);
    const first = lowerBound(positions, count, start);
    if (first >= count || positions[first]! >= end) return false;
  }
  return true;
}

/** A query's leaves with their positions, and the count of all leaves, even of leaves that the index does not know. */
type QueryLeaves = {
  readonly places: TermPositions;
  readonly leaves: Uint32Array;
  readonly leafCount: number;
  readonly added: PhaseTwoWeights;
};

function isWholeHeading(query: QueryLeaves, { sectionStarts, headingEnds }: DocumentLayout): boolean {
  for (let section = 1; section < sectionStarts.length; section++) {
    if (consistsOfLeaves(query, sectionStarts[section]!, headingEnds[section]!)) return true;
  }
  return false;
}

/**
 * Scores the first tokens of the content with BM25, as if they were a field, adding up over `OPENINGS`.
 * @param factors the factor of each opening
 */
function openings(
  layout: DocumentLayout,
  places: TermPositions,
  weights: Float64Array,
  factors: readonly number[],
): number {
  const { contentStart, end } = layout;
  const k1 = RANKING.openingK1;
  let sum = 0;
  for (let i = 0; i < OPENINGS.length; i++) {
    const tokens = OPENINGS[i]!;
    const factor = factors[i]!;
    if (factor === 0) continue;
    const stop = contentStart + tokens;
    const lengthPart = openingLengthPart(tokens, end - contentStart);
    for (let term = 0; term < weights.length; term++) {
      const count = places.count(term);
      if (count === 0) continue;
      const positions = places.positions(term);
      const frequency = lowerBound(positions, count, stop) - lowerBound(positions, count, contentStart);
      if (frequency > 0) sum += (factor * weights[term]! * frequency * (k1 + 1)) / (frequency + lengthPart);
    }
  }
  return sum;
}

/** The sum of the weights of the terms that appear in the form that was typed. */
const exactForms = (places: TermPositions, weights: Float64Array): number =>
  weights.reduce((sum, weight, term) => (places.isExact(term) ? sum + weight : sum), 0);

/** The sum of the weights of the terms that a heading contains or a line defines, however often. */
const headedTerms = (places: TermPositions, weights: Float64Array): number =>
  weights.reduce(
    (sum, weight, term) =>
      sum + (places.count(term) > 0 && headingsIn(places.frequencies(term)) > 0 ? weight : 0),
    0,
  );

/**
 * The positions of a query's terms in one document after another. Documents are best visited in ascending
 * order: postings only move forward, and begin anew for one that is before.
 */
class TermPositions {
  readonly #reader: IndexReader;
  readonly #terms: readonly QueryTerm[];
  #postings: readonly Postings[];
  #document = -1;
  readonly #positions: Uint32Array[];
  readonly #counts: Uint32Array;
  readonly #isExact: Uint8Array;
  readonly #deadline: number;

  /** @param deadline in the time of performance.now(), ms; `moveTo` gives up when it passes */
  constructor(reader: IndexReader, terms: readonly QueryTerm[], deadline: number) {
    this.#deadline = deadline;
    this.#reader = reader;
    this.#terms = terms;
    this.#postings = terms.map(({ entry }) => reader.postings(entry));
    this.#positions = terms.map(() => new Uint32Array(16));
    this.#counts = new Uint32Array(terms.length);
    this.#isExact = new Uint8Array(terms.length);
  }

  /** Reads all positions of all terms in a document. @throws Failure `timeout` */
  moveTo(document: number): void {
    this.findIn(document);
    for (let term = 0; term < this.#terms.length; term++)
      if (this.#counts[term]! > 0) this.#counts[term] = this.#read(term, this.#postings[term]!);
  }

  /** Finds the terms of a document without reading their positions: counts are 1 or 0. */
  findIn(document: number): void {
    checkDeadline(this.#deadline);
    if (document < this.#document)
      this.#postings = this.#terms.map(({ entry }) => this.#reader.postings(entry));
    this.#document = document;
    for (let term = 0; term < this.#terms.length; term++) {
      const postings = this.#postings[term]!;
      if (postings.document < document) postings.advance(document);
      this.#counts[term] = postings.document === document ? 1 : 0;
    }
  }

  /** The number of different positions of a term. */
  count(term: number): number {
    return this.#counts[term]!;
  }

  /** Whether a term appears anywhere in the form that was typed. */
  isExact(term: number): boolean {
    return this.#counts[term]! > 0 && this.#isExact[term] === 1;
  }

  /** The positions of a term in ascending order; the first `count(term)` are valid. */
  positions(term: number): Uint32Array {
    return this.#positions[term]!;
  }

  /** How often a term occurs in each field of the document, by its number; valid when its count is not 0. */
  frequencies(term: number): Uint32Array {
    return this.#postings[term]!.frequencies;
  }

  #read(term: number, postings: Postings): number {
    const read = postings.readPositions(this.#deadline);
    const from = postings.positions;
    const { forms: wanted, typedForm } = this.#terms[term]!;
    this.#isExact[term] = 0;
    if (this.#positions[term]!.length < read) this.#positions[term] = new Uint32Array(read * 2);
    const into = this.#positions[term]!;
    let count = 0;
    for (let i = 0; i < read; i++) {
      checkDeadlineAt(i, this.#deadline);
      const form = postings.forms[i]!;
      if (wanted && !wanted.has(form)) continue;
      if (form === typedForm) this.#isExact[term] = 1;
      // Two forms of a term may share a position: `URLs` is a whole and also its own part.
      if (count > 0 && into[count - 1] === from[i]) continue;
      into[count++] = from[i]!;
    }
    return count;
  }
}

/** The index of the first value that is at least `wanted`, among the first `count`. */
function lowerBound(values: Uint32Array, count: number, wanted: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

type PassageScores = {
  /** The score of the best passage, and the mean of the best three (missing ones count 0). */
  readonly best: number;
  readonly mean: number;
  /** The sections with the best three passages, the best first; each once. */
  readonly sections: readonly number[];
};

/**
 * Scores the passages of a document: BM25 over the terms in the passage, with one more occurrence for a term
 * in a heading above it, and one for a term in the title, so that a passage is judged in its context.
 */
class PassageScorer {
  #scores = new Float64Array(64);
  #frequencies = new Uint32Array(64);
  #sections = new Uint32Array(64);
  #isInContext = new Uint8Array(64);
  readonly #deadline: number;

  /** @param deadline in the time of performance.now(), ms */
  constructor(deadline: number) {
    this.#deadline = deadline;
  }

  /** @throws Failure `timeout` */
  score(layout: DocumentLayout, places: TermPositions, weights: Float64Array): PassageScores {
    const passageCount = layout.passageStarts.length;
    if (passageCount === 0) return { best: 0, mean: 0, sections: [0] };
    this.#reserve(Math.max(passageCount, layout.sectionStarts.length));
    this.#scores.fill(0, 0, passageCount);
    this.#findSections(layout);
    for (let term = 0; term < weights.length; term++) {
      if (places.count(term) > 0) this.#addTerm(layout, places, term, weights[term]!);
    }
    return this.#best(passageCount);
  }

  #addTerm(layout: DocumentLayout, places: TermPositions, term: number, weight: number): void {
    const { passageStarts, contentStart, titleEnd, end } = layout;
    const passageCount = passageStarts.length;
    const positions = places.positions(term);
    const count = places.count(term);
    this.#frequencies.fill(0, 0, passageCount);
    let passage = 0;
    const first = lowerBound(positions, count, contentStart);
    for (let i = first; i < count; i++) {
      checkDeadlineAt(i, this.#deadline);
      while (passage + 1 < passageCount && passageStarts[passage + 1]! <= positions[i]!) passage++;
      this.#frequencies[passage]!++;
    }
    const inTitle = positions[0]! < titleEnd ? 1 : 0;
    const hasContext = this.#markHeadings(layout, positions, first, count);
    const base = RANKING.passageK1 * (1 - RANKING.passageB);
    const slope = (RANKING.passageK1 * RANKING.passageB) / RANKING.passageTokens;
    for (let i = 0; i < passageCount; i++) {
      const inHeading = hasContext ? this.#isInContext[this.#sections[i]!]! : 0;
      const frequency = this.#frequencies[i]! + inTitle + inHeading;
      if (frequency === 0) continue;
      const length = (i + 1 < passageCount ? passageStarts[i + 1]! : end) - passageStarts[i]!;
      this.#scores[i]! +=
        (weight * frequency * (RANKING.passageK1 + 1)) / (frequency + base + slope * length);
    }
  }

  /** Marks the sections with the term in their own heading or one above; returns whether there are any. */
  #markHeadings(layout: DocumentLayout, positions: Uint32Array, first: number, count: number): boolean {
    const { sectionStarts, headingEnds, sectionParents } = layout;
    const sectionCount = sectionStarts.length;
    const marks = this.#isInContext;
    marks.fill(0, 0, sectionCount);
    let section = 0;
    let isAny = false;
    for (let i = first; i < count; i++) {
      checkDeadlineAt(i, this.#deadline);
      while (section + 1 < sectionCount && sectionStarts[section + 1]! <= positions[i]!) section++;
      if (positions[i]! >= headingEnds[section]!) continue;
      marks[section] = 1;
      isAny = true;
    }
    // A section's parent comes before it.
    if (isAny) for (let i = 1; i < sectionCount; i++) marks[i]! |= marks[sectionParents[i]!]!;
    return isAny;
  }

  // Headings without text of their own share a passage with what follows; the last of them owns it.
  #findSections({ passageStarts, sectionStarts, end }: DocumentLayout): void {
    let section = 0;
    for (let i = 0; i < passageStarts.length; i++) {
      const passageEnd = i + 1 < passageStarts.length ? passageStarts[i + 1]! : end;
      while (section + 1 < sectionStarts.length && sectionStarts[section + 1]! < passageEnd) section++;
      this.#sections[i] = section;
    }
  }

  #best(passageCount: number): PassageScores {
    const found: number[] = [];
    let sum = 0;
    for (let rank = 0; rank < 3; rank++) {
      let next = -1;
      let most = 0;
      for (let i = 0; i < passageCount; i++) {
        if (this.#scores[i]! <= most || found.includes(i)) continue;
        next = i;
        most = this.#scores[i]!;
      }
      if (next < 0) break;
      found.push(next);
      sum += most;
    }
    const [first = 0, ...others] = found;
    const sections = new Set([first, ...others].map((passage) => this.#sections[passage]!));
    return { best: this.#scores[first]!, mean: sum / 3, sections: [...sections] };
  }

  #reserve(count: number): void {
    if (count <= this.#scores.length) return;
    this.#scores = new Float64Array(count * 2);
    this.#frequencies = new Uint32Array(count * 2);
    this.#sections = new Uint32Array(count * 2);
    this.#isInContext = new Uint8Array(count * 2);
  }
}
