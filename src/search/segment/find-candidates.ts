import { Failure } from "../../failure.ts";
import type { RankingSettings, ScoredDocument, WeightedTerm } from "../types.ts";
import { CandidateHeap } from "./candidate-heap.ts";
import type { Segment } from "./segment.ts";
import { TermScorer } from "./term-scorer.ts";

/** Documents that are scored together: their sums fit the processor's first cache. */
export const WINDOW_DOCUMENTS = 2048;

/**
 * Sums of bounds are rounded otherwise than sums of scores; this is far more than the difference, and far
 * less than what bounds are loose by.
 */
const ROUNDING = 1 + 1e-9;

export type CandidateOptions = {
  /** At most so many, at least 1. */
  readonly limit: number;
  readonly ranking: RankingSettings;
  /** Time of `performance.now()`, ms. */
  readonly deadline: number;
};

/**
 * The first phase of ranking (see `FindCandidates`) over a segment, without scoring every posting: documents
 * are taken in windows, terms in the order of what they can add at most. In a window only the first terms are
 * walked, those without which a document cannot come above the worst that is kept; the others are looked up
 * for the documents found (MaxScore: Turtle & Flood 1995; by windows as in Lucene's MaxScoreBulkScorer). The
 * order of the terms never changes, so that every sum is the same to the last bit as without leaving out.
 * @throws Failure `timeout`, `index_corrupt`
 */
export function findCandidates(
  segment: Segment,
  terms: readonly WeightedTerm[],
  { limit, ranking, deadline }: CandidateOptions,
): readonly ScoredDocument[] {
  const tables = segment.scoreTables(ranking);
  const scorers = terms
    .map((term, place) => ({ scorer: new TermScorer(segment, term, tables), place }))
    .sort((a, b) => b.scorer.bound - a.scorer.bound || a.place - b.place)
    .map(({ scorer }) => scorer);
  const heap = new CandidateHeap(Math.min(limit, segment.documentCount));
  const window = new Window(scorers, heap);
  for (let start = 0; start < segment.documentCount; start += WINDOW_DOCUMENTS) {
    if (performance.now() > deadline) {
      throw new Failure("timeout", `the search was not done by its deadline, at document ${start}`);
    }
    window.score(start, Math.min(start + WINDOW_DOCUMENTS, segment.documentCount));
  }
  return heap.sorted();
}

/** The sums of one window, reused from window to window. */
class Window {
  readonly #scorers: readonly TermScorer[];
  readonly #heap: CandidateHeap;
  readonly #sums = new Float64Array(WINDOW_DOCUMENTS);
  /** A bit for each document that a term was found in. */
  readonly #found = new Uint32Array(WINDOW_DOCUMENTS / 32);
  /** What the terms from this one on can add in the window. */
  readonly #boundFrom: Float64Array;

  constructor(scorers: readonly TermScorer[], heap: CandidateHeap) {
    this.#scorers = scorers;
    this.#heap = heap;
    this.#boundFrom = new Float64Array(scorers.length + 1);
  }

  score(start: number, end: number): void {
    const scorers = this.#scorers;
    const bounds = this.#boundFrom;
    for (let term = scorers.length - 1; term >= 0; term--) {
      bounds[term] = bounds[term + 1]! + scorers[term]!.enterWindow(start, end);
    }
    const { threshold } = this.#heap;
    // Documents that hold only terms from here on cannot come in.
    let walked = scorers.length;
    while (walked > 0 && bounds[walked - 1]! * ROUNDING <= threshold) walked--;
    if (walked === 0 || bounds[0] === 0) return;
    for (let term = 0; term < walked; term++) scorers[term]!.addAll(start, end, this.#sums, this.#found);
    this.#collect(start, walked);
  }

  #collect(start: number, walked: number): void {
    const sums = this.#sums;
    const found = this.#found;
    for (let word = 0; word < found.length; word++) {
      let bits = found[word]!;
      if (bits === 0) continue;
      found[word] = 0;
      while (bits !== 0) {
        const bit = 31 - Math.clz32(bits & -bits);
        bits &= bits - 1;
        const place = word * 32 + bit;
        const sum = sums[place]!;
        sums[place] = 0;
        if (sum > 0) this.#consider(start + place, sum, walked);
      }
    }
  }

  #consider(document: number, walkedSum: number, walked: number): void {
    const scorers = this.#scorers;
    const bounds = this.#boundFrom;
    const { threshold } = this.#heap;
    let sum = walkedSum;
    for (let term = walked; term < scorers.length; term++) {
      if ((sum + bounds[term]!) * ROUNDING <= threshold) return;
      sum += scorers[term]!.scoreAt(document);
    }
    if (sum > threshold) this.#heap.add(document, sum);
  }
}
