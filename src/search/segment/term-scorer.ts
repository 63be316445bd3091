import { FIELDS, type FieldNumber, type WeightedTerm } from "../types.ts";
import type { PostingList } from "./posting-reader.ts";
import { type BlockMaxima, type ScoreTables, TABLE_LENGTHS } from "./score-tables.ts";
import type { Segment } from "./segment.ts";
import { NO_SIGNATURE } from "./signatures.ts";

const FIELD_COUNT = FIELDS.length;
const FIELD_MASK = FIELD_COUNT - 1; // there are eight

/**
 * Documents that are scored together: few enough for tight bounds, enough to make the work for a window pay.
 */
export const WINDOW_DOCUMENTS = 1024;

/** A term in fewer than one of this many documents has blocks that are wider than a window. */
const SPARSE = 8;

/** @property deadline in the time of performance.now(), ms; it is checked while positions are read */
export type ScorerOptions = { readonly tables: ScoreTables; readonly deadline: number };

/** One term's part in the first phase: its postings by windows of documents, with bounds of their scores. */
export class TermScorer {
  readonly #list: PostingList;
  readonly #weight: number;
  readonly #forms: ReadonlySet<number> | null;
  readonly #tables: ScoreTables;
  /** The highest score in each block, without the weight; an upper bound until the block has been scored. */
  readonly #maxima: BlockMaxima;
  readonly #isSparse: boolean;
  readonly #frequencies = new Uint32Array(FIELD_COUNT);
  /** Where to look for the current window next: a block and an index in it. */
  #block = 0;
  #index = 0;

  readonly #deadline: number;

  constructor(segment: Segment, { entry, weight, forms }: WeightedTerm, { tables, deadline }: ScorerOptions) {
    this.#deadline = deadline;
    this.#list = segment.postings(entry);
    this.#weight = weight;
    this.#forms = forms;
    this.#tables = tables;
    this.#isSparse = entry.documentFrequency * SPARSE < segment.documentCount;
    this.#maxima = tables.maxima.get(entry.id) ?? this.#boundBlocks(entry.id);
  }

  /**
   * Raises each window's bound to the most that a document in it can get.
   * @param bounds this term's bounds by window, initially 0
   */
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
      let index = 0;
      while (index < postings && documents[index]! < start) index++;
      for (; index < postings && documents[index]! < end; index++) {
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

  /**
   * A document's score; 0 when it does not hold the term. Documents of a window must come in ascending order.
   */
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
      if (frequency > 0) score += this.#tables.partOf(field as FieldNumber, frequency, document); // of FIELDS
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

export type WindowRange = {
  readonly start: number;
  readonly end: number;
  /** The score that a document must get from the walked term when the others give all they can. */
  readonly least: number;
};
