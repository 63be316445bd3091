import type { ScoredDocument } from "../types.ts";

/** Keeps the best `limit` of the documents that are added, in whatever order they come. */
export class CandidateHeap {
  readonly #limit: number;
  // This is a binary heap with the worst document at its root: the lowest score, and among equals the highest
  // number.
  readonly #scores: Float64Array;
  readonly #documents: Int32Array;
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
    this.#scores = new Float64Array(limit);
    this.#documents = new Int32Array(limit);
  }

  /**
   * The lowest score that is kept; a document with exactly this score also needs a number that is low enough.
   */
  get threshold(): number {
    return this.#size < this.#limit ? 0 : this.#scores[0]!;
  }

  /** @param score at least `threshold` */
  add(document: number, score: number): void {
    if (this.#size < this.#limit) {
      this.#rise(this.#size++, document, score);
      return;
    }
    if (this.#isWorse(document, score, 0)) return;
    this.#sink(document, score);
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
      this.#move(parent, place);
      place = parent;
    }
    this.#set(place, document, score);
  }

  #sink(document: number, score: number): void {
    let place = 0;
    for (;;) {
      let child = place * 2 + 1;
      if (child >= this.#size) break;
      if (
        child + 1 < this.#size &&
        this.#isWorse(this.#documents[child + 1]!, this.#scores[child + 1]!, child)
      ) {
        child++;
      }
      if (this.#isWorse(document, score, child)) break;
      this.#move(child, place);
      place = child;
    }
    this.#set(place, document, score);
  }

  #isWorse(document: number, score: number, place: number): boolean {
    const other = this.#scores[place]!;
    return score < other || (score === other && document > this.#documents[place]!);
  }

  #move(from: number, to: number): void {
    this.#set(to, this.#documents[from]!, this.#scores[from]!);
  }

  #set(place: number, document: number, score: number): void {
    this.#documents[place] = document;
    this.#scores[place] = score;
  }
}
