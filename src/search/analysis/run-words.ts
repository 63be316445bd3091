import { NumberList } from "../number-list.ts";
import { fold } from "./characters.ts";
import { RunTable, UNKNOWN_RUN } from "./run-table.ts";
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
  /**
   * Each shape has its width and its number of words here, then for each word its number and 2 × offset + leaf.
   */
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

  /**
   * The code of the run that the tokenizer found from `start` to `end` (exclusive), valid until the next
   * call.
   */
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
   * Makes a path's code from remembered parts: every document has its own path, but few have folders of their
   * own.
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

  /**
   * Appends the words of another shape.
   * @returns its width
   */
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

/**
 * Whether a run consists of small ASCII letters and digits after a first one that may be a capital, so that
 * it is one word.
 */
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
