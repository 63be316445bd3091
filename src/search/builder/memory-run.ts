import { NumberList } from "../number-list.ts";
import { ByteReader } from "../segment/bytes.ts";
import { NO_SIGNATURE, signatureKey } from "../segment/signatures.ts";
import type { PostingBuffer, SortedPostings } from "./posting-buffer.ts";
import type { RunHead, RunSource, RunTerm } from "./run-format.ts";
import type { WordTable } from "./word-table.ts";

export type MemoryRunParts = {
  readonly words: WordTable;
  readonly postings: PostingBuffer;
  readonly signatures: RunSignatures;
  /** Indexes into the run's documents, in the order of their addresses. */
  readonly order: Uint32Array;
};

/** Walks the postings of an inverter as a run. */
export class MemoryRun implements RunSource {
  current: RunTerm | null = null;
  readonly reader: ByteReader;
  readonly keys: readonly number[];
  readonly keyCounts: readonly number[];
  readonly #words: WordTable;
  readonly #sorted: SortedPostings;
  readonly #terms: readonly string[];
  #rank = 0;
  #start = 0;
  #end = 0;

  constructor({ words, postings, signatures, order }: MemoryRunParts) {
    this.#words = words;
    this.#sorted = postings.sort(words.termCount, order);
    this.#terms = words.sortedTerms();
    this.reader = new ByteReader(this.#sorted.bytes);
    const { keys, keyCounts } = signatures.head();
    this.keys = keys;
    this.keyCounts = keyCounts;
  }

  /** The bytes of the current term's postings. */
  get postings(): Uint8Array {
    return this.#sorted.bytes.subarray(this.#start, this.#end);
  }

  next(): void {
    const { counts, starts, bytes } = this.#sorted;
    while (this.#rank < this.#terms.length) {
      const text = this.#terms[this.#rank++]!;
      const term = this.#words.numberOf(text);
      const postingCount = counts[term]!;
      if (postingCount === 0) continue; // the word is from before this run
      this.#start = starts[term]!;
      this.#end = term + 1 < starts.length ? starts[term + 1]! : bytes.length;
      this.reader.offset = this.#start;
      const { forms, formCounts } = this.#words.formsOf(term);
      this.current = { term: text, forms, formCounts, postingCount };
      return;
    }
    this.current = null;
  }
}

const RECENT = 1024;

/** The signatures of a run's postings, numbered from 1 in the order of their first use, each with its count. */
export class RunSignatures {
  readonly #numbers = new Map<number, number>();
  readonly #counts = new NumberList();
  // This small cache answers before the map for nearly all postings: each hash has one key and its number.
  readonly #recentKeys = new Float64Array(RECENT).fill(-1);
  readonly #recentNumbers = new Uint32Array(RECENT);

  /** @returns the number to write, `NO_SIGNATURE` for frequencies that have no key */
  note(frequencies: Uint32Array, positionCount: number): number {
    const key = signatureKey(frequencies, positionCount);
    return key < 0 ? NO_SIGNATURE : this.noteKey(key);
  }

  /**
   * @param key a key that `signatureKey` returned
   * @returns the number to write
   */
  noteKey(key: number): number {
    const place = Math.imul(key | 0, 0x9e37_79b1) >>> 22;
    const number = this.#recentKeys[place] === key ? this.#recentNumbers[place]! : this.#find(key, place);
    this.#counts.values[number - 1]!++;
    return number;
  }

  /** The keys by number, and how many postings have each. */
  head(): RunHead {
    return { keys: [0, ...this.#numbers.keys()], keyCounts: [0, ...this.#counts.used()] };
  }

  clear(): void {
    this.#numbers.clear();
    this.#counts.clear();
    this.#recentKeys.fill(-1);
  }

  #find(key: number, place: number): number {
    let number = this.#numbers.get(key);
    if (number === undefined) {
      this.#counts.push(0);
      number = this.#counts.length;
      this.#numbers.set(key, number);
    }
    this.#recentKeys[place] = key;
    this.#recentNumbers[place] = number;
    return number;
  }
}
