import { ByteReader } from "../segment/bytes.ts";
import type { PostingBuffer, SortedPostings } from "./posting-buffer.ts";
import type { RunSource, RunTerm } from "./run-format.ts";
import type { RunSignatures } from "./run-signatures.ts";
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
