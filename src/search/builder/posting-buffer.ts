import { NumberList } from "../number-list.ts";
import { ByteReader, ByteWriter } from "../segment/bytes.ts";

const CHUNK_BYTES = 4 * 1024 * 1024;

/** Postings of some documents, one document after another. Each document lies completely in one chunk. */
type Chunk = { readonly bytes: Uint8Array; length: number };

/**
 * Postings in memory in the order in which they came. Each holds the number of its term, the length of the
 * rest, and the rest in the form of a run. A posting takes about nine bytes, so most builds spill nothing.
 */
export class PostingBuffer {
  /** Document numbers in the order in which they came. */
  readonly documents = new NumberList();
  /** Receives the postings of the current document. */
  readonly current = new ByteWriter(64 * 1024);
  // These hold the chunk of each document, and its range in the chunk.
  readonly #chunkOf = new NumberList();
  readonly #starts = new NumberList();
  readonly #ends = new NumberList();
  #chunks: Chunk[] = [];
  #byteLength = 0;

  get byteLength(): number {
    return this.#byteLength;
  }

  /** Stores the contents of `current` as the postings of a document. */
  endDocument(document: number): void {
    const { length } = this.current;
    const chunk = this.#roomFor(length);
    chunk.bytes.set(this.current.written(), chunk.length);
    this.documents.push(document);
    this.#chunkOf.push(this.#chunks.length - 1);
    this.#starts.push(chunk.length);
    chunk.length += length;
    this.#ends.push(chunk.length);
    this.#byteLength += length;
    this.current.clear();
  }

  clear(): void {
    for (const list of [this.documents, this.#chunkOf, this.#starts, this.#ends]) list.clear();
    this.#chunks = [];
    this.#byteLength = 0;
  }

  /**
   * Sorts by term and, within a term, by document.
   * @param termCount all term numbers are below it
   * @param order indexes into `documents` in the wanted order
   */
  sort(termCount: number, order: Uint32Array): SortedPostings {
    const { counts, ends, byteCount } = this.#measure(termCount);
    const bytes = new Uint8Array(byteCount);
    const starts = ends.slice();
    // It reads in order and writes to scattered places: the other way round, the processor would wait for
    // every posting.
    for (let index = 0; index < order.length; index++) {
      const place = order[index]!;
      const document = this.documents.values[place]!;
      const from = this.#chunks[this.#chunkOf.values[place]!]!.bytes;
      const reader = this.#reader;
      reader.bytes = from;
      reader.offset = this.#starts.values[place]!;
      const end = this.#ends.values[place]!;
      while (reader.offset < end) {
        const term = reader.varint();
        let to = putVarint(bytes, ends[term]!, document);
        let at = reader.offset;
        const count = reader.varint();
        for (const stop = reader.offset + count; at < stop; at++) bytes[to++] = from[at]!;
        reader.offset = at;
        ends[term] = to;
      }
    }
    return { bytes, counts, starts };
  }

  readonly #reader = new ByteReader(new Uint8Array(0));

  /** Counts the postings of each term, and computes where their bytes will begin. */
  #measure(termCount: number) {
    const counts = new Uint32Array(termCount);
    const sizes = new Uint32Array(termCount);
    const reader = this.#reader;
    for (let place = 0; place < this.documents.length; place++) {
      const documentBytes = varintLength(this.documents.values[place]!);
      reader.bytes = this.#chunks[this.#chunkOf.values[place]!]!.bytes;
      reader.offset = this.#starts.values[place]!;
      const end = this.#ends.values[place]!;
      while (reader.offset < end) {
        const term = reader.varint();
        const start = reader.offset;
        const count = reader.varint();
        reader.offset += count;
        counts[term]!++;
        sizes[term]! += documentBytes + reader.offset - start;
      }
    }
    let byteCount = 0;
    for (let term = 0; term < termCount; term++) {
      const size = sizes[term]!;
      sizes[term] = byteCount;
      byteCount += size;
    }
    return { counts, ends: sizes, byteCount };
  }

  #roomFor(count: number): Chunk {
    const last = this.#chunks[this.#chunks.length - 1];
    if (last !== undefined && last.length + count <= last.bytes.length) return last;
    const chunk = { bytes: new Uint8Array(Math.max(CHUNK_BYTES, count)), length: 0 };
    this.#chunks.push(chunk);
    return chunk;
  }
}

export type SortedPostings = {
  /** The postings in the form of a run. */
  readonly bytes: Uint8Array;
  /** How many postings each term has, and where they begin. */
  readonly counts: Uint32Array;
  readonly starts: Uint32Array;
};

const varintLength = (value: number): number => (value < 128 ? 1 : Math.ceil((32 - Math.clz32(value)) / 7));

/**
 * Writes a number below 2^32 as `ByteWriter` does.
 * @returns the offset after it
 */
function putVarint(bytes: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value;
  while (rest >= 128) {
    bytes[at++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  bytes[at++] = rest;
  return at;
}
