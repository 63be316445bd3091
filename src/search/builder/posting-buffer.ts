import { NumberList } from "../number-list.ts";
import { ByteWriter } from "../segment/bytes.ts";

/**
 * Postings in memory in the order in which they came: of each its term, and in one array of bytes what a run
 * has of it after the document. A posting needs about nine bytes, so that most builds spill nothing.
 */
export class PostingBuffer {
  /** Term by posting. */
  readonly terms = new NumberList(64 * 1024);
  readonly bytes = new ByteWriter(1024 * 1024);
  /** Number of each document, and where its postings begin in both. */
  readonly documents = new NumberList();
  readonly #firstPostings = new NumberList();
  readonly #firstBytes = new NumberList();

  get byteLength(): number {
    return this.bytes.length + this.terms.length * 4;
  }

  /** Begins the postings of a document. */
  begin(document: number): void {
    this.documents.push(document);
    this.#firstPostings.push(this.terms.length);
    this.#firstBytes.push(this.bytes.length);
  }

  clear(): void {
    this.terms.clear();
    this.bytes.clear();
    this.documents.clear();
    this.#firstPostings.clear();
    this.#firstBytes.clear();
  }

  /**
   * Sorts by term and, within a term, by document.
   * @param termCount terms are numbered below it
   * @param order places in `documents`, in the order that is wanted
   */
  sort(termCount: number, order: Uint32Array): SortedPostings {
    const termOf = this.terms.values;
    const count = this.terms.length;
    const ends = new Uint32Array(termCount);
    for (let posting = 0; posting < count; posting++) ends[termOf[posting]!]!++;
    const starts = new Uint32Array(termCount);
    for (let term = 0, start = 0; term < termCount; term++) {
      starts[term] = start;
      start += ends[term]!;
      ends[term] = starts[term]!;
    }
    const documents = new Uint32Array(count);
    const offsets = new Uint32Array(count);
    for (let index = 0; index < order.length; index++) {
      const place = order[index]!;
      const document = this.documents.values[place]!;
      const isLast = place + 1 === this.documents.length;
      const end = isLast ? count : this.#firstPostings.values[place + 1]!;
      let offset = this.#firstBytes.values[place]!;
      for (let posting = this.#firstPostings.values[place]!; posting < end; posting++) {
        const slot = ends[termOf[posting]!]!++;
        documents[slot] = document;
        offsets[slot] = offset;
        offset = postingEnd(this.bytes.bytes, offset);
      }
    }
    return { starts, ends, documents, offsets };
  }
}

export type SortedPostings = {
  /** By term, in the two below; a term without postings ends where it starts. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly documents: Uint32Array;
  /** In the buffer's bytes. */
  readonly offsets: Uint32Array;
};

/** Where a posting's bytes end that begin with their count. */
export function postingEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  let count = 0;
  let shift = 0;
  for (let byte = bytes[at++]!; ; byte = bytes[at++]!, shift += 7) {
    count |= (byte & 127) << shift;
    if (byte < 128) return at + count;
  }
}
