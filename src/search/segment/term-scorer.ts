import { FIELDS, type FieldNumber, type WeightedTerm } from "../types.ts";
import type { PostingList } from "./posting-reader.ts";
import { type ScoreTables, TABLE_LENGTHS } from "./score-tables.ts";
import type { Segment } from "./segment.ts";
import { NO_SIGNATURE } from "./signatures.ts";

const FIELD_COUNT = FIELDS.length;
const FIELD_MASK = FIELD_COUNT - 1; // there are eight

/** A term of fewer documents than one in so many has blocks that are wider than a window. */
const SPARSE = 16;

/** One term's part in the first phase: its postings in windows of documents, with what they add at most. */
export class TermScorer {
  /** No document gets more from this term. */
  readonly bound: number;
  readonly #list: PostingList;
  readonly #weight: number;
  readonly #forms: ReadonlySet<number> | null;
  readonly #tables: ScoreTables;
  readonly #blockBounds: Float64Array;
  readonly #frequencies = new Uint32Array(FIELD_COUNT);
  /** First block that reaches into the current window, and the place in the loaded one. */
  #block = 0;
  #index = 0;
  readonly #documentCount: number;

  constructor(segment: Segment, { entry, weight, forms }: WeightedTerm, tables: ScoreTables) {
    this.#list = segment.postings(entry);
    this.#documentCount = segment.documentCount;
    this.#weight = weight;
    this.#forms = forms;
    this.#tables = tables;
    this.#blockBounds = this.#boundBlocks();
    this.bound = this.#blockBounds.reduce((most, bound) => Math.max(most, bound), 0);
  }

  /** To be called with each window in turn. @returns what a document of the window gets at most */
  enterWindow(start: number, end: number): number {
    const { lastDocuments, count } = this.#list.blocks;
    while (this.#block < count && lastDocuments[this.#block]! < start) this.#block++;
    let bound = 0;
    for (let block = this.#block; block < count; block++) {
      // A block begins after the last document of the one before.
      if (block > 0 && lastDocuments[block - 1]! + 1 >= end) break;
      if (lastDocuments[block]! >= end && !this.#isInWindow(block, start, end)) break;
      if (this.#blockBounds[block]! > bound) bound = this.#blockBounds[block]!;
    }
    return bound;
  }

  /** Adds the score of every document of the window that holds the term, and marks it. */
  addAll(start: number, end: number, sums: Float64Array, found: Uint32Array): void {
    const list = this.#list;
    const { documents } = list;
    const { count, lastDocuments } = list.blocks;
    for (let block = this.#block; block < count; block++) {
      if (block > 0 && lastDocuments[block - 1]! + 1 >= end) return;
      this.#load(block);
      list.readAllNumbers();
      const { count: postings, numbers } = list;
      const isPlain = this.#forms === null;
      let index = this.#index;
      while (index < postings && documents[index]! < start) index++;
      for (; index < postings && documents[index]! < end; index++) {
        const document = documents[index]!;
        const place = document - start;
        const number = numbers[index]!;
        sums[place]! +=
          isPlain && number !== NO_SIGNATURE ? this.#scoreSignature(number, document) : this.#score(index);
        found[place >>> 5]! |= 1 << (place & 31);
      }
      this.#index = index;
    }
  }

  /** A document's score, 0 where it does not hold the term. Documents must come in ascending order. */
  scoreAt(document: number): number {
    const list = this.#list;
    const { lastDocuments, count } = list.blocks;
    let block = this.#block;
    while (block < count && lastDocuments[block]! < document) block++;
    this.#block = block;
    if (block === count) return 0;
    this.#load(block);
    const { documents } = list;
    let index = this.#index;
    while (documents[index]! < document) index++;
    this.#index = index;
    return documents[index] === document ? this.#score(index) : 0;
  }

  /** Looks into a block that reaches beyond the window: that of a rare term mostly holds nothing of it. */
  #isInWindow(block: number, start: number, end: number): boolean {
    const isDense =
      this.#list.blocks.count > 1 && this.#list.documentFrequency * SPARSE > this.#documentCount;
    if (isDense) return true;
    this.#load(block);
    const { documents } = this.#list;
    while (documents[this.#index]! < start) this.#index++;
    return documents[this.#index]! < end;
  }

  #load(block: number): void {
    if (this.#list.block === block) return;
    this.#list.load(block);
    this.#index = 0;
  }

  #score(index: number): number {
    if (this.#forms !== null && !this.#hasForm(index, this.#forms)) return 0;
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
    return this.#weight * score;
  }

  #scoreWritten(index: number, document: number): number {
    this.#list.readFrequencies(index, this.#frequencies);
    let score = 0;
    for (let field = 0; field < FIELD_COUNT; field++) {
      const frequency = this.#frequencies[field]!;
      if (frequency > 0) score += this.#tables.partOf(field as FieldNumber, frequency, document); // of FIELDS
    }
    return this.#weight * score;
  }

  #hasForm(index: number, wanted: ReadonlySet<number>): boolean {
    const count = this.#list.readPositionsAt(index);
    for (let at = 0; at < count; at++) if (wanted.has(this.#list.forms[at]!)) return true;
    return false;
  }

  #boundBlocks(): Float64Array {
    const { count, maxFrequencies, minLengths } = this.#list.blocks;
    const bounds = new Float64Array(count);
    if (count === 1) {
      for (let index = 0; index < this.#list.count; index++) {
        bounds[0] = Math.max(bounds[0]!, this.#score(index));
      }
      return bounds;
    }
    for (let block = 0; block < count; block++) {
      let score = 0;
      for (let field = 0; field < FIELD_COUNT; field++) {
        const at = block * FIELD_COUNT + field;
        if (maxFrequencies[at] === 0) continue;
        score += this.#tables.scorer.part(field as FieldNumber, maxFrequencies[at]!, minLengths[at]!); // of FIELDS
      }
      bounds[block] = this.#weight * score;
    }
    return bounds;
  }
}
