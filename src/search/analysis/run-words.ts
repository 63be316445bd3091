import { NumberList, withRoom } from "../number-list.ts";
import { fold } from "./tokenizer.ts";
import {
  isUnspaced,
  MAX_LEAVES,
  MAX_WHOLE_LENGTH,
  type PathParts,
  pathParts,
  unspacedParts,
  type WordPiece,
  wordParts,
} from "./word-parts.ts";

/** The words of a written run, ready to be counted. */
export type Shape = {
  /** Numbers of words in the vocabulary. */
  readonly words: readonly number[];
  readonly offsets: readonly number[];
  /** Each word has 1 here when it is a leaf, and 0 when it is a whole with parts. */
  readonly leaves: readonly number[];
  /** How many positions the run takes; 0 for a run without words. */
  readonly width: number;
};

// This limits the memory of a long build to about 40 MB; a cleared cache only costs time.
const MAX_CACHED_RUNS = 400_000;
const MAX_SHAPE_NUMBERS = 4_000_000;

const MAX_FORM_LENGTH = 64;

/**
 * Remembers the words of written runs. A run has a code: the number of its word when it has only one, like
 * nearly all runs, else `~place` of its shape in `shapes`.
 */
export class RunWords {
  readonly #table = new RunTable();
  readonly #numberOf: (form: string) => number;
  /** Each shape has its width and its number of words here, then each word's number and 2 × offset + leaf. */
  readonly #shapes = new NumberList();

  /** @param numberOf returns the vocabulary's number of a form */
  constructor(numberOf: (form: string) => number) {
    this.#numberOf = numberOf;
  }

  get shapes(): Uint32Array {
    return this.#shapes.values;
  }

  clear(): void {
    this.#table.clear();
    this.#shapes.clear();
  }

  /** The code of the run between `start` and `end` (exclusive), valid until the next call. */
  codeAt(text: string, start: number, end: number): number {
    const known = this.#table.find(text, start, end);
    if (known !== UNKNOWN_RUN) return known;
    if (this.#table.size >= MAX_CACHED_RUNS || this.#shapes.length >= MAX_SHAPE_NUMBERS) {
      this.clear();
      this.#table.find(text, start, end);
    }
    const run = text.slice(start, end);
    const path = pathParts(run);
    const code = (path && this.#makePathCode(run, path)) ?? this.#makeCode(run);
    if (path) this.#table.find(text, start, end); // the look-up of the parts came in between
    this.#table.add(run, code);
    return code;
  }

  shape(code: number): Shape {
    if (code >= 0) return { words: [code], offsets: [0], leaves: [1], width: 1 };
    const shapes = this.#shapes.values;
    const place = ~code;
    const count = shapes[place + 1]!;
    const at = (index: number, part: number): number => shapes[place + 2 + index * 2 + part]!;
    return {
      words: Array.from({ length: count }, (_, index) => at(index, 0)),
      offsets: Array.from({ length: count }, (_, index) => at(index, 1) >>> 1),
      leaves: Array.from({ length: count }, (_, index) => at(index, 1) & 1),
      width: shapes[place]!,
    };
  }

  /**
   * Makes a path's code from remembered parts: every document has its own path, but few have own folders.
   * @returns null when a part is not remembered, or when not all parts count
   */
  #makePathCode(run: string, { bare, parts }: PathParts): number | null {
    const codes = parts.map((part) => this.#codeOfPart(part));
    const shapes = this.#shapes;
    const place = shapes.length;
    shapes.push(0);
    shapes.push(0);
    if (bare !== run) this.#addPiece(place, { text: run, offset: 0, isLeaf: false });
    this.#addPiece(place, { text: bare, offset: 0, isLeaf: false });
    let width = 0;
    for (const code of codes) {
      const added = this.#appendShape(place, code, width);
      width += added;
      if (added > 0 && width <= MAX_LEAVES) continue;
      shapes.length = place;
      return null;
    }
    shapes.values[place] = width;
    return ~place;
  }

  #codeOfPart(part: string): number {
    const known = this.#table.find(part, 0, part.length);
    if (known !== UNKNOWN_RUN) return known;
    const code = this.#makeCode(part);
    this.#table.add(part, code);
    return code;
  }

  /** Appends the words of another shape, and returns its width. */
  #appendShape(place: number, code: number, offset: number): number {
    const shapes = this.#shapes;
    if (code >= 0) {
      this.#addWord(place, code, offset * 2 + 1);
      return 1;
    }
    const from = ~code + 2;
    const count = shapes.values[~code + 1]!;
    for (let at = from; at < from + count * 2; at += 2)
      this.#addWord(place, shapes.values[at]!, shapes.values[at + 1]! + offset * 2);
    return shapes.values[~code]!;
  }

  #addPiece(place: number, { text, offset, isLeaf }: WordPiece): void {
    if (text.length > MAX_WHOLE_LENGTH) return;
    const form = foldWord(text);
    // A whole without joints is stemmed like the plain word that somebody would type for it.
    if (form !== "") this.#addWord(place, this.#numberOf(form), offset * 2 + (isLeaf ? 1 : 0));
  }

  #addWord(place: number, word: number, offsetAndLeaf: number): void {
    this.#shapes.push(word);
    this.#shapes.push(offsetAndLeaf);
    this.#shapes.values[place + 1]!++;
  }

  #makeCode(run: string): number {
    if (isPlain(run)) return this.#numberOf(run.toLowerCase());
    const { pieces, width } = isUnspaced(run) ? unspacedParts(run) : wordParts(run);
    const shapes = this.#shapes;
    const place = shapes.length;
    shapes.push(width);
    shapes.push(0);
    for (const piece of pieces) this.#addPiece(place, piece);
    const count = shapes.values[place + 1]!;
    if (count === 0) shapes.values[place] = 0;
    const isOneLeaf = count === 1 && width === 1 && shapes.values[place + 3] === 1;
    if (!isOneLeaf) return ~place;
    shapes.length = place;
    return shapes.values[place + 2]!;
  }
}

/** Whether a run is one word: small ASCII letters and digits after a first one that may be a capital. */
function isPlain(run: string): boolean {
  if (run === "" || run.length > MAX_FORM_LENGTH) return false;
  for (let at = 0; at < run.length; at++) {
    const unit = run.charCodeAt(at);
    const isSmall = (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39);
    if (!isSmall && (at > 0 || unit < 0x41 || unit > 0x5a)) return false;
  }
  return true;
}

/** The form of a word: folded, without a possessive ending and without apostrophes at its ends. */
export function foldWord(text: string): string {
  const folded = fold(text);
  const form = folded.includes("'") ? folded.replace(/'s$|^'+|(?<!')'+$/g, "") : folded;
  return form.length > MAX_FORM_LENGTH ? "" : form;
}

// Text is hostile: runs that are made to collide must not turn every look-up into a long walk. A run that
// finds no place within this many steps is not kept.
const MAX_PROBES = 32;

const FIRST_SLOTS = 1024;
const FIRST_UNITS = 8 * 1024;

// The numbers of a slot lie side by side, so that a look-up touches one cache line. A run of up to eight code
// units below 256 is stored in the slot itself, four in a number. For any other run the slot holds the hash
// and the position of its code units. The size tells them apart: it is the length for the former, the length
// + LONG for the latter, and -1 in a free slot.
const SLOT = 4;
const FIRST = 0;
const SECOND = 1;
const SIZE = 2;
const VALUE = 3;
const MAX_SHORT = 8;
const LONG = 16;

/** The value of a run that the table does not hold. */
export const UNKNOWN_RUN = 0x7fff_ffff;

/**
 * A map to 32-bit integers whose keys are looked up as ranges of a text. A `Map` would need each run as a
 * string, which must be made, hashed and collected: on documentation that was half the time of all analysis.
 * Keys are in the slots or as code units in one array; a string would be in three places in memory.
 */
export class RunTable {
  #slots = new Int32Array(FIRST_SLOTS * SLOT).fill(-1);
  #units = new Uint16Array(FIRST_UNITS);
  #unitCount = 0;
  #size = 0;
  /** The slot that a new key may take after the last `find`, or -1, and the contents that it would get. */
  #free = -1;
  #first = 0;
  #second = 0;
  #keySize = 0;

  get size(): number {
    return this.#size;
  }

  /** The value of the run from `start` to `end` (exclusive), or `UNKNOWN_RUN`. */
  find(text: string, start: number, end: number): number {
    const length = end - start;
    if (length > MAX_SHORT) return this.#findLong(text, start, end);
    let first = 0;
    let second = 0;
    let all = 0;
    for (let at = length - 1; at >= 4; at--) {
      const unit = text.charCodeAt(start + at);
      all |= unit;
      second = (second << 8) | unit;
    }
    for (let at = Math.min(length, 4) - 1; at >= 0; at--) {
      const unit = text.charCodeAt(start + at);
      all |= unit;
      first = (first << 8) | unit;
    }
    if (all > 0xff) return this.#findLong(text, start, end);
    this.#first = first;
    this.#second = second;
    this.#keySize = length;
    const slots = this.#slots;
    const mask = slots.length / SLOT - 1;
    const hash = hashOfShort(first, second, length);
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const slot = ((hash + probe) & mask) * SLOT;
      const size = slots[slot + SIZE]!;
      if (size === length && slots[slot] === first && slots[slot + SECOND] === second)
        return slots[slot + VALUE]!;
      if (size >= 0) continue;
      this.#free = slot;
      return UNKNOWN_RUN;
    }
    this.#free = -1;
    return UNKNOWN_RUN;
  }

  #findLong(text: string, start: number, end: number): number {
    const hash = hashOf(text, start, end);
    const wanted = end - start + LONG;
    this.#first = hash;
    this.#keySize = wanted;
    const slots = this.#slots;
    const mask = slots.length / SLOT - 1;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const slot = ((hash + probe) & mask) * SLOT;
      const size = slots[slot + SIZE]!;
      if (size < 0) {
        this.#free = slot;
        return UNKNOWN_RUN;
      }
      if (size === wanted && slots[slot] === hash && this.#isAt(slot, text, start))
        return slots[slot + VALUE]!;
    }
    this.#free = -1;
    return UNKNOWN_RUN;
  }

  /** Stores the value of the run that `find` has just not found; returns whether there was room for it. */
  add(key: string, value: number): boolean {
    if (this.#free < 0) return false;
    this.#slots[this.#free + FIRST] = this.#first;
    this.#slots[this.#free + SECOND] = this.#keySize < LONG ? this.#second : this.#keep(key);
    this.#slots[this.#free + SIZE] = this.#keySize;
    this.#slots[this.#free + VALUE] = value;
    this.#free = -1;
    this.#size++;
    if (this.#size * 2 * SLOT === this.#slots.length) this.#grow();
    return true;
  }

  clear(): void {
    this.#slots = new Int32Array(FIRST_SLOTS * SLOT).fill(-1);
    this.#units = new Uint16Array(FIRST_UNITS);
    this.#unitCount = 0;
    this.#size = 0;
    this.#free = -1;
  }

  #isAt(slot: number, text: string, start: number): boolean {
    const units = this.#units;
    const from = this.#slots[slot + SECOND]!;
    const length = this.#slots[slot + SIZE]! - LONG;
    for (let at = 0; at < length; at++) if (units[from + at] !== text.charCodeAt(start + at)) return false;
    return true;
  }

  #keep(key: string): number {
    const start = this.#unitCount;
    this.#units = withRoom(this.#units, start + key.length);
    for (let at = 0; at < key.length; at++) this.#units[start + at] = key.charCodeAt(at);
    this.#unitCount += key.length;
    return start;
  }

  #grow(): void {
    const before = this.#slots;
    const slots = new Int32Array(before.length * 2).fill(-1);
    const mask = slots.length / SLOT - 1;
    for (let old = 0; old < before.length; old += SLOT) {
      const size = before[old + SIZE]!;
      if (size < 0) continue;
      const first = before[old]!;
      let slot = (size < LONG ? hashOfShort(first, before[old + SECOND]!, size) : first) & mask;
      while (slots[slot * SLOT + SIZE]! >= 0) slot = (slot + 1) & mask;
      for (let part = 0; part < SLOT; part++) slots[slot * SLOT + part] = before[old + part]!;
    }
    this.#slots = slots;
  }
}

function hashOfShort(first: number, second: number, length: number): number {
  let hash = Math.imul(first, 0x9e37_79b1) ^ Math.imul(second + length, 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d);
  return hash ^ (hash >>> 13);
}

function hashOf(text: string, start: number, end: number): number {
  let hash = end - start;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return hash ^ (hash >>> 12);
}
