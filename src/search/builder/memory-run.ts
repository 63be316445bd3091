import { ByteReader, ByteWriter } from "../segment/bytes.ts";
import { type PostingBuffer, postingEnd, type SortedPostings } from "./posting-buffer.ts";
import type { RunSource, RunTerm } from "./run-format.ts";
import type { RunSignatures } from "./run-signatures.ts";
import type { WordTable } from "./word-table.ts";

export type MemoryRunParts = {
  readonly words: WordTable;
  readonly postings: PostingBuffer;
  readonly signatures: RunSignatures;
  /** Places in the run's documents, in the order of their addresses. */
  readonly order: Uint32Array;
};

/** Walks what an inverter has gathered, as a run. */
export class MemoryRun implements RunSource {
  current: RunTerm | null = null;
  readonly reader = new ByteReader(new Uint8Array(0));
  readonly keys: readonly number[];
  readonly keyCounts: readonly number[];
  readonly #words: WordTable;
  readonly #bytes: Uint8Array;
  readonly #sorted: SortedPostings;
  readonly #terms: readonly string[];
  readonly #gathered = new ByteWriter(64 * 1024);
  #rank = 0;

  constructor({ words, postings, signatures, order }: MemoryRunParts) {
    this.#words = words;
    this.#bytes = postings.bytes.bytes;
    this.#sorted = postings.sort(words.texts.length, order);
    // The built-in order of strings is that of their code units, and far faster than a function that compares.
    this.#terms = words.texts.toSorted();
    const { keys, keyCounts } = signatures.head();
    this.keys = keys;
    this.keyCounts = keyCounts;
  }

  /** The postings of the current term, valid until the next. */
  get postings(): ByteWriter {
    return this.#gathered;
  }

  next(): void {
    const { starts, ends } = this.#sorted;
    while (this.#rank < this.#terms.length) {
      const text = this.#terms[this.#rank++]!;
      const term = this.#words.numberOf(text);
      const postingCount = ends[term]! - starts[term]!;
      if (postingCount === 0) continue; // a word of the vocabulary from before this run
      this.#gather(starts[term]!, ends[term]!);
      const { forms, formCounts } = this.#words.formsOf(term);
      this.current = { term: text, forms, formCounts, postingCount };
      return;
    }
    this.current = null;
  }

  #gather(from: number, to: number): void {
    const { documents, offsets } = this.#sorted;
    const bytes = this.#bytes;
    const out = this.#gathered;
    out.clear();
    for (let index = from; index < to; index++) {
      const start = offsets[index]!;
      const end = postingEnd(bytes, start);
      out.varint(documents[index]!);
      out.reserve(end - start);
      // A posting is a few bytes: a loop is faster than a view and `set`.
      const target = out.bytes;
      let length = out.length;
      for (let at = start; at < end; at++) target[length++] = bytes[at]!;
      out.length = length;
    }
    this.reader.bytes = out.bytes;
    this.reader.offset = 0;
  }
}
