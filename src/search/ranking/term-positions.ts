import { checkDeadlineAt } from "../deadline.ts";
import type { QueryTerm } from "../query/compile.ts";
import type { IndexReader, Postings } from "../types.ts";

/**
 * The positions of a query's terms in one document after another. Documents must be visited in ascending
 * order, since postings only move forward.
 */
export class TermPositions {
  readonly #terms: readonly QueryTerm[];
  readonly #postings: readonly Postings[];
  readonly #positions: Uint32Array[];
  readonly #counts: Uint32Array;
  readonly #isExact: Uint8Array;

  readonly #deadline: number;

  /** @param deadline in the time of performance.now(), ms; `moveTo` gives up when it passes */
  constructor(reader: IndexReader, terms: readonly QueryTerm[], deadline: number) {
    this.#deadline = deadline;
    this.#terms = terms;
    this.#postings = terms.map(({ entry }) => reader.postings(entry));
    this.#positions = terms.map(() => new Uint32Array(16));
    this.#counts = new Uint32Array(terms.length);
    this.#isExact = new Uint8Array(terms.length);
  }

  /**
   * Reads all positions of all terms in a document.
   * @throws Failure `timeout`
   */
  moveTo(document: number): void {
    for (let term = 0; term < this.#terms.length; term++) {
      const postings = this.#postings[term]!;
      if (postings.document < document) postings.advance(document);
      this.#counts[term] = postings.document === document ? this.#read(term, postings) : 0;
    }
  }

  /** The number of different positions of a term. */
  count(term: number): number {
    return this.#counts[term]!;
  }

  /** Whether a term appears anywhere in the form that was typed. Valid only when its count is not 0. */
  isExact(term: number): boolean {
    return this.#isExact[term] === 1;
  }

  /** The positions of a term in ascending order; the first `count(term)` are valid. */
  positions(term: number): Uint32Array {
    return this.#positions[term]!;
  }

  /**
   * How often a term occurs in each field of the document, by field number. Valid only when its count is not
   * 0.
   */
  frequencies(term: number): Uint32Array {
    return this.#postings[term]!.frequencies;
  }

  #read(term: number, postings: Postings): number {
    const read = postings.readPositions(this.#deadline);
    const from = postings.positions;
    const { forms: wanted, typedForm } = this.#terms[term]!;
    this.#isExact[term] = 0;
    if (this.#positions[term]!.length < read) this.#positions[term] = new Uint32Array(read * 2);
    const into = this.#positions[term]!;
    let count = 0;
    for (let i = 0; i < read; i++) {
      checkDeadlineAt(i, this.#deadline);
      const form = postings.forms[i]!;
      if (wanted && !wanted.has(form)) continue;
      if (form === typedForm) this.#isExact[term] = 1;
      // Two forms of a term may share a position: `URLs` is a whole and also its own part.
      if (count > 0 && into[count - 1] === from[i]) continue;
      into[count++] = from[i]!;
    }
    return count;
  }
}

/** The index of the first value that is at least `wanted`, among the first `count`. */
export function lowerBound(values: Uint32Array, count: number, wanted: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
