import { Failure } from "../../base/failure.ts";

/**
 * The maximum number of elements grows with the page's length, as in real pages: an element that is a block takes 900
 * bytes with its text.
 */
const elementLimit = (length: number): number =>
  Math.floor(Math.min(600_000, Math.max(200_000, length / 20)));

/** Columns that grow together while a page is read; see `PageModel` for their meaning. */
export class ElementColumns {
  count = 0;
  tag = new Uint16Array(FIRST_CAPACITY);
  parent = new Int32Array(FIRST_CAPACITY);
  depth = new Int32Array(FIRST_CAPACITY);
  elementEnd = new Int32Array(FIRST_CAPACITY);
  openStart = new Int32Array(FIRST_CAPACITY);
  openEnd = new Int32Array(FIRST_CAPACITY);
  closeEnd = new Int32Array(FIRST_CAPACITY);
  flags = new Uint16Array(FIRST_CAPACITY);
  groups = new Int32Array(FIRST_CAPACITY);
  classId = new Int32Array(FIRST_CAPACITY);
  idId = new Int32Array(FIRST_CAPACITY);

  readonly #limit: number;

  /** @param length of the page, characters */
  constructor(length: number) {
    this.#limit = elementLimit(length);
  }

  /**
   * Adds an element, whose columns are to be filled, and returns its number.
   * @throws Failure `too_complex` for over 200 000 elements, or one in 20 characters of a longer page, 600 000 at most
   */
  add(): number {
    if (this.count === this.#limit)
      throw new Failure("too_complex", `the page has over ${this.#limit} elements`);
    if (this.count === this.tag.length) this.#grow();
    return this.count++;
  }

  #grow(): void {
    this.tag = grownWords(this.tag);
    this.flags = grownWords(this.flags);
    this.parent = grown(this.parent);
    this.depth = grown(this.depth);
    this.elementEnd = grown(this.elementEnd);
    this.openStart = grown(this.openStart);
    this.openEnd = grown(this.openEnd);
    this.closeEnd = grown(this.closeEnd);
    this.groups = grown(this.groups);
    this.classId = grown(this.classId);
    this.idId = grown(this.idId);
  }
}

export class TextColumns {
  count = 0;
  start = new Int32Array(FIRST_CAPACITY);
  end = new Int32Array(FIRST_CAPACITY);
  parent = new Int32Array(FIRST_CAPACITY);

  add(start: number, end: number, parent: number): void {
    if (this.count === this.start.length) {
      this.start = grown(this.start);
      this.end = grown(this.end);
      this.parent = grown(this.parent);
    }
    this.start[this.count] = start;
    this.end[this.count] = end;
    this.parent[this.count++] = parent;
  }
}

/** A growing column of integers. */
export class IntegerColumn {
  count = 0;
  values = new Int32Array(256);

  push(value: number): void {
    if (this.count === this.values.length) this.values = grown(this.values);
    this.values[this.count++] = value;
  }
}

const FIRST_CAPACITY = 1024;

export function grown(column: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(column.length * 2);
  larger.set(column);
  return larger;
}

export function grownWords(column: Uint16Array<ArrayBuffer>): Uint16Array<ArrayBuffer> {
  const larger = new Uint16Array(column.length * 2);
  larger.set(column);
  return larger;
}

export function grownFloats(column: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  const larger = new Float32Array(column.length * 2);
  larger.set(column);
  return larger;
}
