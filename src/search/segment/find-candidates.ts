import { checkDeadline } from "../deadline.ts";
import { ROUNDING } from "../ranking/formula.ts";
import {
  type CandidateOptions,
  FIELD_COUNT,
  type FieldNumber,
  type ScoredDocument,
  type WeightedTerm,
} from "../types.ts";
import { NO_SIGNATURE, type PostingList } from "./postings.ts";
import { type BlockMaxima, type ScoreTables, TABLE_FREQUENCIES, TABLE_LENGTHS } from "./score-tables.ts";
import type { Segment } from "./segment.ts";

/**
 * This many windows are scored first, so that their results rule out others. Scoring all windows in the order
 * of their bounds would decode the blocks of rarer terms, which are wider than a window, again and again.
 */
const FIRST_WINDOWS = 8;

/** With at most this many allowed documents in a window, each is looked up instead of scoring all. */
const FEW_ALLOWED = 64;

/**
 * The first phase of ranking: the `limit` documents with the highest sums over terms and fields of the term's weight times
 * `FieldScorer.part`, highest first, ties to the smaller number. With `forms`, a term counts for a document only when one of its
 * positions has such a form. Documents that are not `allowed` are left out, and `factors` are part of the scores.
 *
 * Not every posting is scored. Documents are scored in windows: first a few windows that may hold the highest scores,
 * then the others, except for windows that cannot hold any of the best `limit` documents. In a window it walks only the
 * terms without which a document cannot be among the best, and looks up the other terms for the documents found
 * (MaxScore: Turtle & Flood 1995; block maxima: Ding & Suel 2011; windows as in Lucene's MaxScoreBulkScorer). All windows
 * use one order of terms, so every sum equals the sum of scoring everything, to the last bit.
 * @throws Failure `timeout`, `index_corrupt`
 */
export function findCandidates(
  segment: Segment,
  terms: readonly WeightedTerm[],
  { limit, ranking, corpus = segment, deadline, allowed = null, factors = null }: CandidateOptions,
): readonly ScoredDocument[] {
  const tables = segment.scoreTables(ranking, corpus);
  // The order must not depend on the most that terms can add, which searches learn: sums would change.
  const scorers = terms
    .toSorted((a, b) => b.weight - a.weight)
    .map((term) => new TermScorer(segment, term, tables, deadline));
  const { documentCount } = segment;
  const most = Math.min(limit, documentCount);
  const search = new WindowSearch(scorers, { limit: most, documentCount, allowed, factors });
  for (const window of search.windows()) {
    checkDeadline(deadline);
    search.score(window);
  }
  return search.found();
}

/** The sums of one window, reused from window to window, and the bounds of all windows. */
class WindowSearch {
  readonly #scorers: readonly TermScorer[];
  readonly #allowed: Uint32Array | null;
  readonly #factors: Float64Array | null;
  /** A sum times this is at least the document's score. */
  readonly #most: number;
  readonly #heap: CandidateHeap;
  readonly #documentCount: number;
  readonly #sums = new Float64Array(WINDOW_DOCUMENTS);
  /** A bit for each document in which a term was found. */
  readonly #found = new Uint32Array(WINDOW_DOCUMENTS / 32);
  /** Bounds by term, then by window. */
  readonly #bounds: readonly Float64Array[];
  readonly #totals: Float64Array;
  /** The most that the terms from this one on can add in the current window. */
  readonly #boundFrom: Float64Array;

  constructor(scorers: readonly TermScorer[], { limit, documentCount, allowed, factors }: WindowOptions) {
    const windowCount = Math.ceil(documentCount / WINDOW_DOCUMENTS);
    this.#scorers = scorers;
    this.#allowed = allowed;
    this.#factors = factors;
    this.#most = ROUNDING * (factors === null ? 1 : maximum(factors));
    this.#heap = new CandidateHeap(limit);
    this.#documentCount = documentCount;
    this.#totals = new Float64Array(windowCount);
    this.#boundFrom = new Float64Array(scorers.length + 1);
    this.#bounds = scorers.map((scorer) => {
      const bounds = new Float64Array(windowCount);
      scorer.boundWindows(bounds);
      for (let window = 0; window < windowCount; window++) this.#totals[window]! += bounds[window]!;
      return bounds;
    });
  }

  /** The windows that hold any of the terms: a few of the most promising, then the others in their order. */
  windows(): number[] {
    const totals = this.#totals;
    const windows: number[] = [];
    for (let window = 0; window < totals.length; window++)
      if (totals[window]! > 0 && this.#countAllowed(window) > 0) windows.push(window);
    const best = windows.toSorted((a, b) => totals[b]! - totals[a]! || a - b).slice(0, FIRST_WINDOWS);
    const isFirst = new Set(best);
    return [...best, ...windows.filter((window) => !isFirst.has(window))];
  }

  found(): ScoredDocument[] {
    return this.#heap.sorted();
  }

  /** Scores the documents of a window, if it may hold one of the best. */
  score(window: number): void {
    const { threshold } = this.#heap;
    if (this.#totals[window]! * this.#most < threshold) return;
    const start = window * WINDOW_DOCUMENTS;
    const end = Math.min(start + WINDOW_DOCUMENTS, this.#documentCount);
    const scorers = this.#scorers;
    const bounds = this.#boundFrom;
    for (let term = scorers.length - 1; term >= 0; term--) {
      bounds[term] = bounds[term + 1]! + this.#bounds[term]![window]!;
    }
    // Documents that hold only terms from here on cannot be among the best.
    let walked = scorers.length;
    while (walked > 0 && bounds[walked - 1]! * this.#most < threshold) walked--;
    const isFew = this.#countAllowed(window) <= FEW_ALLOWED;
    for (let term = 0; term < scorers.length; term++) {
      if (this.#bounds[term]![window] === 0) continue;
      scorers[term]!.enterWindow(start);
      if (term >= walked || isFew) continue;
      const others = this.#totals[window]! - this.#bounds[term]![window]!;
      const least = threshold / this.#most - others;
      scorers[term]!.addAll({ start, end, least }, this.#sums, this.#found);
    }
    if (isFew) this.#lookUp(window);
    else this.#collect(window, walked);
  }

  /** How many documents of a window may be found, as far as that matters. */
  #countAllowed(window: number): number {
    const allowed = this.#allowed;
    if (allowed === null) return WINDOW_DOCUMENTS;
    const first = (window * WINDOW_DOCUMENTS) / 32;
    let count = 0;
    for (let word = first; word < first + WINDOW_DOCUMENTS / 32 && count <= FEW_ALLOWED; word++) {
      for (let left = allowed[word] ?? 0; left !== 0; left &= left - 1) count++;
    }
    return count;
  }

  /** Scores the allowed documents of a window one by one. */
  #lookUp(window: number): void {
    const scorers = this.#scorers;
    const first = (window * WINDOW_DOCUMENTS) / 32;
    for (let word = 0; word < WINDOW_DOCUMENTS / 32; word++) {
      for (let left = this.#allowed![first + word] ?? 0; left !== 0; left &= left - 1) {
        const place = word * 32 + 31 - Math.clz32(left & -left);
        let sum = 0;
        for (let term = 0; term < scorers.length; term++) {
          if (this.#bounds[term]![window]! > 0)
            sum += scorers[term]!.scoreAt(window * WINDOW_DOCUMENTS + place);
        }
        if (sum > 0) this.#consider(window * WINDOW_DOCUMENTS + place, sum, scorers.length);
      }
    }
  }

  #collect(window: number, walked: number): void {
    const sums = this.#sums;
    const found = this.#found;
    const allowed = this.#allowed;
    const firstWord = (window * WINDOW_DOCUMENTS) / 32;
    const others = this.#boundFrom[walked]!;
    for (let word = 0; word < found.length; word++) {
      let bits = found[word]!;
      if (bits === 0) continue;
      found[word] = 0;
      const kept = allowed === null ? bits : bits & allowed[firstWord + word]!;
      for (let left = bits & ~kept; left !== 0; left &= left - 1)
        sums[word * 32 + 31 - Math.clz32(left & -left)] = 0;
      bits = kept;
      while (bits !== 0) {
        const bit = 31 - Math.clz32(bits & -bits);
        bits &= bits - 1;
        const place = word * 32 + bit;
        const sum = sums[place]!;
        sums[place] = 0;
        if (sum > 0 && (sum + others) * this.#most >= this.#heap.threshold)
          this.#consider(window * WINDOW_DOCUMENTS + place, sum, walked);
      }
    }
  }

  /** @param walked how many of the terms the sum is of */
  #consider(document: number, walkedSum: number, walked: number): void {
    const scorers = this.#scorers;
    const { threshold } = this.#heap;
    const window = Math.floor(document / WINDOW_DOCUMENTS);
    let sum = walkedSum;
    for (let term = walked; term < scorers.length; term++) {
      if ((sum + this.#boundFrom[term]!) * this.#most < threshold) return;
      if (this.#bounds[term]![window]! > 0) sum += scorers[term]!.scoreAt(document);
    }
    if (this.#factors !== null) sum *= this.#factors[document]!;
    if (sum >= threshold) this.#heap.add(document, sum);
  }
}

type WindowOptions = {
  readonly limit: number;
  readonly documentCount: number;
  readonly allowed: Uint32Array | null;
  readonly factors: Float64Array | null;
};

// Factors rarely change, and looking through those of 100 000 documents takes a fifth of a search.
const MAXIMA = new WeakMap<Float64Array, number>();

function maximum(values: Float64Array): number {
  const known = MAXIMA.get(values);
  if (known !== undefined) return known;
  let most = 0;
  for (let at = 0; at < values.length; at++) if (values[at]! > most) most = values[at]!;
  MAXIMA.set(values, most);
  return most;
}

/** Keeps the best `limit` of the documents that are added, in whatever order they come. */
class CandidateHeap {
  readonly #limit: number;
  // A binary heap with the worst document at its root: the lowest score, among equals the highest number.
  readonly #scores: Float64Array;
  readonly #documents: Int32Array;
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
    this.#scores = new Float64Array(limit);
    this.#documents = new Int32Array(limit);
  }

  /** The lowest score that is kept; a document with just this score needs a number that is low enough too. */
  get threshold(): number {
    return this.#size < this.#limit ? 0 : this.#scores[0]!;
  }

  /** @param score at least `threshold` */
  add(document: number, score: number): void {
    if (this.#size < this.#limit) this.#rise(this.#size++, document, score);
    else if (!this.#isWorse(document, score, 0)) this.#sink(document, score);
  }

  /** The documents, best first; ties go to the smaller number. */
  sorted(): ScoredDocument[] {
    const found = Array.from({ length: this.#size }, (_, place) => ({
      document: this.#documents[place]!,
      score: this.#scores[place]!,
    }));
    return found.sort((a, b) => b.score - a.score || a.document - b.document);
  }

  #rise(from: number, document: number, score: number): void {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >>> 1;
      if (!this.#isWorse(document, score, parent)) break;
      this.#set(place, this.#documents[parent]!, this.#scores[parent]!);
      place = parent;
    }
    this.#set(place, document, score);
  }

  #sink(document: number, score: number): void {
    let place = 0;
    for (;;) {
      let child = place * 2 + 1;
      if (child >= this.#size) break;
      const other = child + 1;
      if (other < this.#size && this.#isWorse(this.#documents[other]!, this.#scores[other]!, child))
        child = other;
      if (this.#isWorse(document, score, child)) break;
      this.#set(place, this.#documents[child]!, this.#scores[child]!);
      place = child;
    }
    this.#set(place, document, score);
  }

  #isWorse(document: number, score: number, place: number): boolean {
    const other = this.#scores[place]!;
    return score < other || (score === other && document > this.#documents[place]!);
  }

  #set(place: number, document: number, score: number): void {
    this.#documents[place] = document;
    this.#scores[place] = score;
  }
}

const FIELD_MASK = FIELD_COUNT - 1; // there are eight

/** Documents that are scored together: few enough for tight bounds, enough to make a window's work pay. */
const WINDOW_DOCUMENTS = 1024;

/** A term in fewer than one of this many documents has blocks that are wider than a window. */
const SPARSE = 8;

/** One term's part in the first phase: its postings by windows of documents, with bounds of their scores. */
class TermScorer {
  readonly #list: PostingList;
  readonly #weight: number;
  readonly #forms: ReadonlySet<number> | null;
  readonly #tables: ScoreTables;
  /** The highest score in each block, without the weight; an upper bound until the block has been scored. */
  readonly #maxima: BlockMaxima;
  readonly #isSparse: boolean;
  readonly #frequencies = new Uint32Array(FIELD_COUNT);
  /** The next position for the current window: a block and an index in it. */
  #block = 0;
  #index = 0;
  readonly #deadline: number;

  /** @param deadline in the time of performance.now(), ms; it is checked while positions are read */
  constructor(segment: Segment, term: WeightedTerm, tables: ScoreTables, deadline: number) {
    const { entry, weight, forms } = term;
    this.#deadline = deadline;
    this.#list = segment.postings(entry);
    this.#weight = weight;
    this.#forms = forms;
    this.#tables = tables;
    this.#isSparse = entry.documentFrequency * SPARSE < segment.documentCount;
    this.#maxima = tables.maxima.get(entry.id) ?? this.#boundBlocks(entry.id);
  }

  /** Raises each window's bound, which is initially 0, to the most that a document in it can get. */
  boundWindows(bounds: Float64Array): void {
    const { lastDocuments, count } = this.#list.blocks;
    let first = 0;
    for (let block = 0; block < count; block++) {
      const bound = this.#weight * this.#maxima.scores[block]!;
      if (this.#isSparse) this.#boundOfDocuments(block, bound, bounds);
      else {
        const last = Math.floor(lastDocuments[block]! / WINDOW_DOCUMENTS);
        for (let window = Math.floor(first / WINDOW_DOCUMENTS); window <= last; window++) {
          if (bound > bounds[window]!) bounds[window] = bound;
        }
      }
      first = lastDocuments[block]! + 1;
    }
  }

  /** Must be called for each window before the two methods below; the windows may come in any order. */
  enterWindow(start: number): void {
    const { lastDocuments, count } = this.#list.blocks;
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (lastDocuments[middle]! < start) low = middle + 1;
      else high = middle;
    }
    this.#block = low;
    this.#index = 0;
  }

  /**
   * Adds the score of every document of the window that holds the term, and marks it; blocks in which no
   * document gets at least `least` from this term are left out.
   */
  addAll({ start, end, least }: WindowRange, sums: Float64Array, found: Uint32Array): void {
    const list = this.#list;
    const { documents, numbers } = list;
    const { count, lastDocuments } = list.blocks;
    const isPlain = this.#forms === null;
    for (let block = this.#block; block < count; block++) {
      if (block > 0 && lastDocuments[block - 1]! + 1 >= end) return;
      if (this.#weight * this.#maxima.scores[block]! < least) continue;
      if (list.block !== block) list.load(block);
      list.readAllNumbers();
      if (this.#maxima.isExact[block] === 0) this.#learn(block);
      const { count: postings } = list;
      for (
        let index = lowerBound(documents, postings, start);
        index < postings && documents[index]! < end;
        index++
      ) {
        const document = documents[index]!;
        const place = document - start;
        const number = numbers[index]!;
        const score =
          isPlain && number !== NO_SIGNATURE ? this.#scoreSignature(number, document) : this.#score(index);
        sums[place]! += this.#weight * score;
        found[place >>> 5]! |= 1 << (place & 31);
      }
    }
  }

  /** A document's score, 0 without the term. Documents of a window must come in ascending order. */
  scoreAt(document: number): number {
    const list = this.#list;
    const { lastDocuments, count } = list.blocks;
    let block = this.#block;
    while (block < count && lastDocuments[block]! < document) block++;
    if (block !== this.#block) this.#index = 0;
    this.#block = block;
    if (block === count) return 0;
    if (list.block !== block) list.load(block);
    const { documents } = list;
    let index = this.#index;
    while (documents[index]! < document) index++;
    this.#index = index;
    return documents[index] === document ? this.#weight * this.#score(index) : 0;
  }

  #boundOfDocuments(block: number, bound: number, bounds: Float64Array): void {
    const list = this.#list;
    if (list.block !== block) list.load(block);
    for (let index = 0; index < list.count; index++) {
      const window = Math.floor(list.documents[index]! / WINDOW_DOCUMENTS);
      if (bound > bounds[window]!) bounds[window] = bound;
    }
  }

  /** Replaces the loaded block's bound by its highest score, for this search and later ones. */
  #learn(block: number): void {
    const { count } = this.#list;
    let most = 0;
    for (let index = 0; index < count; index++) {
      const score = this.#scoreAnyForm(index);
      if (score > most) most = score;
    }
    this.#maxima.scores[block] = most;
    this.#maxima.isExact[block] = 1;
  }

  #score(index: number): number {
    if (this.#forms !== null && !this.#hasForm(index, this.#forms)) return 0;
    return this.#scoreAnyForm(index);
  }

  #scoreAnyForm(index: number): number {
    const document = this.#list.documents[index]!;
    const number = this.#list.numberAt(index);
    if (number === NO_SIGNATURE) return this.#scoreWritten(index, document);
    return this.#scoreSignature(number, document);
  }

  #scoreSignature(number: number, document: number): number {
    const { starts, entries, lengths, parts } = this.#tables;
    const end = starts[number + 1]!;
    let score = 0;
    for (let at = starts[number]!; at < end; at++) {
      const entry = entries[at]!;
      const length = lengths[document * FIELD_COUNT + (entry & FIELD_MASK)]!;
      score +=
        length < TABLE_LENGTHS ? parts[entry * TABLE_LENGTHS + length]! : this.#tables.part(entry, document);
    }
    return score;
  }

  #scoreWritten(index: number, document: number): number {
    this.#list.readFrequencies(index, this.#frequencies);
    let score = 0;
    for (let field = 0; field < FIELD_COUNT; field++) {
      const frequency = this.#frequencies[field]!;
      if (frequency >= TABLE_FREQUENCIES)
        score += this.#tables.partOf(field as FieldNumber, frequency, document); // of FIELDS
      else if (frequency > 0) score += this.#tables.part(frequency * FIELD_COUNT + field, document);
    }
    return score;
  }

  #hasForm(index: number, wanted: ReadonlySet<number>): boolean {
    const count = this.#list.readPositionsAt(index, this.#deadline);
    for (let at = 0; at < count; at++) if (wanted.has(this.#list.forms[at]!)) return true;
    return false;
  }

  #boundBlocks(term: number): BlockMaxima {
    const { count, maxFrequencies, minLengths } = this.#list.blocks;
    const maxima = { scores: new Float64Array(count), isExact: new Uint8Array(count) };
    if (count === 1) {
      for (let index = 0; index < this.#list.count; index++) {
        maxima.scores[0] = Math.max(maxima.scores[0]!, this.#scoreAnyForm(index));
      }
      maxima.isExact[0] = 1;
      return maxima;
    }
    for (let block = 0; block < count; block++) {
      let score = 0;
      for (let field = 0; field < FIELD_COUNT; field++) {
        const at = block * FIELD_COUNT + field;
        if (maxFrequencies[at] === 0) continue;
        score += this.#tables.scorer.part(field as FieldNumber, maxFrequencies[at]!, minLengths[at]!); // of FIELDS
      }
      maxima.scores[block] = score;
    }
    this.#tables.maxima.set(term, maxima, count);
    return maxima;
  }
}

type WindowRange = {
  readonly start: number;
  readonly end: number;
  /** The score that a document must get from the walked term when the others give all they can. */
  readonly least: number;
};

/** The index of the first document that is at least `wanted`, among the first `count`. */
function lowerBound(documents: Int32Array, count: number, wanted: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (documents[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
