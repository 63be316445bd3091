import { checkDeadline } from "../deadline.ts";
import type { RankingSettings, ScoredDocument, WeightedTerm } from "../types.ts";
import { CandidateHeap } from "./candidate-heap.ts";
import type { Segment } from "./segment.ts";
import { TermScorer } from "./term-scorer.ts";

/** Documents that are scored together: few enough for tight bounds, enough for the work of a window to pay. */
export const WINDOW_DOCUMENTS = 1024;

/**
 * So many windows are scored before the others, so that what they find leaves others out. All in the order of
 * their bounds would have the blocks of rarer terms, which are wider than a window, decoded again and again.
 */
const FIRST_WINDOWS = 8;

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
 * are taken in windows, first a few that can hold the highest scores, and windows that can hold no document for
 * the best `limit` are left out. In a window only the terms are walked without which a document cannot come in; the others
 * are looked up for the documents found (MaxScore: Turtle & Flood 1995; block maxima: Ding & Suel 2011; by
 * windows as in Lucene's MaxScoreBulkScorer). The order of the terms is one for all windows, so that every sum
 * is the same to the last bit as without leaving out.
 * @throws Failure `timeout`, `index_corrupt`
 */
export function findCandidates(
  segment: Segment,
  terms: readonly WeightedTerm[],
  { limit, ranking, deadline }: CandidateOptions,
): readonly ScoredDocument[] {
  const tables = segment.scoreTables(ranking);
  const scorers = terms.map((term) => new TermScorer(segment, term, { tables, deadline }));
  const order = scorers
    .map((_, place) => place)
    .sort((a, b) => weightOf(terms, b) - weightOf(terms, a) || a - b);
  const search = new WindowSearch(
    order.map((place) => scorers[place]!),
    { limit: Math.min(limit, segment.documentCount), documentCount: segment.documentCount },
  );
  for (const window of search.windows()) {
    checkDeadline(deadline);
    search.score(window);
  }
  return search.found();
}

// Not by what terms add at most: that is learned from search to search, and would change the order of sums.
const weightOf = (terms: readonly WeightedTerm[], place: number): number => terms[place]!.weight;

/** The sums of one window, reused from window to window, and what is known of all windows. */
class WindowSearch {
  readonly #scorers: readonly TermScorer[];
  readonly #heap: CandidateHeap;
  readonly #documentCount: number;
  readonly #sums = new Float64Array(WINDOW_DOCUMENTS);
  /** A bit for each document that a term was found in. */
  readonly #found = new Uint32Array(WINDOW_DOCUMENTS / 32);
  /** By term, then window. */
  readonly #bounds: readonly Float64Array[];
  readonly #totals: Float64Array;
  /** What the terms from this one on can add in the current window. */
  readonly #boundFrom: Float64Array;

  constructor(
    scorers: readonly TermScorer[],
    { limit, documentCount }: { readonly limit: number; readonly documentCount: number },
  ) {
    const windowCount = Math.ceil(documentCount / WINDOW_DOCUMENTS);
    this.#scorers = scorers;
    this.#heap = new CandidateHeap(limit);
    this.#documentCount = documentCount;
    this.#totals = new Float64Array(windowCount);
    this.#boundFrom = new Float64Array(scorers.length + 1);
    this.#bounds = scorers.map((scorer) => {
      const bounds = new Float64Array(windowCount);
      scorer.boundWindows(bounds, WINDOW_DOCUMENTS);
      for (let window = 0; window < windowCount; window++) this.#totals[window]! += bounds[window]!;
      return bounds;
    });
  }

  /** Windows that hold any of the terms: a few of the most promising, then the others as they come. */
  windows(): number[] {
    const totals = this.#totals;
    const windows: number[] = [];
    for (let window = 0; window < totals.length; window++) if (totals[window]! > 0) windows.push(window);
    const best = windows.toSorted((a, b) => totals[b]! - totals[a]! || a - b).slice(0, FIRST_WINDOWS);
    const isFirst = new Set(best);
    return [...best, ...windows.filter((window) => !isFirst.has(window))];
  }

  found(): ScoredDocument[] {
    return this.#heap.sorted();
  }

  /** Scores the documents of a window, if it can hold any that is wanted. */
  score(window: number): void {
    const { threshold } = this.#heap;
    if (this.#totals[window]! * ROUNDING < threshold) return;
    const start = window * WINDOW_DOCUMENTS;
    const end = Math.min(start + WINDOW_DOCUMENTS, this.#documentCount);
    const scorers = this.#scorers;
    const bounds = this.#boundFrom;
    for (let term = scorers.length - 1; term >= 0; term--) {
      bounds[term] = bounds[term + 1]! + this.#bounds[term]![window]!;
    }
    // Documents that hold only terms from here on cannot come in.
    let walked = scorers.length;
    while (walked > 0 && bounds[walked - 1]! * ROUNDING < threshold) walked--;
    for (let term = 0; term < scorers.length; term++) {
      if (this.#bounds[term]![window] === 0) continue;
      scorers[term]!.enterWindow(start);
      if (term >= walked) continue;
      const others = this.#totals[window]! - this.#bounds[term]![window]!;
      const least = threshold / ROUNDING - others;
      scorers[term]!.addAll({ start, end, least }, this.#sums, this.#found);
    }
    this.#collect(window, walked);
  }

  #collect(window: number, walked: number): void {
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
        if (sum > 0) this.#consider(window, { place, sum, walked });
      }
    }
  }

  #consider(
    window: number,
    {
      place,
      sum: walkedSum,
      walked,
    }: { readonly place: number; readonly sum: number; readonly walked: number },
  ): void {
    const scorers = this.#scorers;
    const { threshold } = this.#heap;
    const document = window * WINDOW_DOCUMENTS + place;
    let sum = walkedSum;
    for (let term = walked; term < scorers.length; term++) {
      if ((sum + this.#boundFrom[term]!) * ROUNDING < threshold) return;
      if (this.#bounds[term]![window]! > 0) sum += scorers[term]!.scoreAt(document);
    }
    if (sum >= threshold) this.#heap.add(document, sum);
  }
}
