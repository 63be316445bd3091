import { type ElementColumns, growColumns, grown, type OpenElements, type TextColumns } from "./columns.ts";
import { type BlockColumns, Break, ElementFlag, Tag, tagsNamed } from "./page-model.ts";
import { countText, type StatSink, TextStat } from "./word-stats.ts";

/** This mark stands for a `<br>` until the white space around it is collapsed. */
const LINE_MARK = "\u001e";
// The expression is built from the constant, because a control character in a literal looks like a mistake.
const SPACES = new RegExp(`[^\\S${LINE_MARK}]+`, "g");
const UNTIDY = new RegExp(`  |[^\\S ${LINE_MARK}]`);
const LINE_ENDS = new RegExp(` ?${LINE_MARK}[ ${LINE_MARK}]*`, "g");
const FIRST_CAPACITY = 256;

/** Collects the blocks of a page while it is read: `append` text, `breakAt` every block boundary. */
export class BlockBuilder {
  #count = 0;
  readonly #columns = {
    element: new Int32Array(FIRST_CAPACITY),
    firstText: new Int32Array(FIRST_CAPACITY),
    endText: new Int32Array(FIRST_CAPACITY),
    flags: new Uint16Array(FIRST_CAPACITY),
    breakBefore: new Uint8Array(FIRST_CAPACITY),
    firstWord: new Int32Array(FIRST_CAPACITY),
    endWord: new Int32Array(FIRST_CAPACITY),
  };
  readonly #texts: string[] = [];
  readonly #sink: StatSink = {
    stats: new Float32Array(FIRST_CAPACITY * TextStat.count),
    at: 0,
    words: new Uint16Array(4096),
    wordCount: 0,
  };

  /** True when text has been appended since the last break. */
  isOpen = false;
  #text = "";
  #linkMarks: number[] = [];
  #boldMarks: number[] = [];
  #pendingBreak: number = Break.none;
  #lineMarks = 0;

  /** Opens a block at its first text; `text` is the number that this text will have. */
  open(element: number, flags: number, text: number): void {
    if (this.#count === this.#columns.element.length) this.#grow();
    this.#columns.element[this.#count] = element;
    this.#columns.flags[this.#count] = flags;
    this.#columns.firstText[this.#count] = text;
    this.isOpen = true;
  }

  /** Adds text to the open block. `flags` are those of the text's element. */
  append(text: string, flags: number): void {
    const start = this.#text.length;
    this.#text += text;
    this.#lineMarks = 0;
    if ((flags & ElementFlag.link) !== 0) extendMarks(this.#linkMarks, start, this.#text.length);
    if ((flags & ElementFlag.bold) !== 0) extendMarks(this.#boldMarks, start, this.#text.length);
  }

  /** The length of the open block's text so far, for `rewind`. */
  get length(): number {
    return this.#text.length;
  }

  textSince(length: number): string {
    return this.#text.slice(length);
  }

  /** Removes what was appended since the block had this length. */
  rewind(length: number): void {
    this.#text = this.#text.slice(0, length);
    while ((this.#linkMarks.at(-2) ?? -1) >= length) this.#linkMarks.length -= 2;
  }

  /** Handles a `<br>`: the second one in a row ends the block. */
  lineBreak(textCount: number): void {
    if (!this.isOpen) return;
    if ((this.#columns.flags[this.#count]! & ElementFlag.preformatted) !== 0) this.#text += "\n";
    else if (++this.#lineMarks > 1) this.breakAt(Break.paragraph, textCount);
    else this.#text += LINE_MARK;
  }

  /** Starts a line inside preformatted text; returns false when one has already started. */
  startLine(): boolean {
    if (this.#text === "" || this.#text.endsWith("\n")) return false;
    this.#text += "\n";
    return true;
  }

  /** Ends the open block at a boundary of this kind. */
  breakAt(kind: number, textCount: number): void {
    if (this.isOpen) this.#close(textCount);
    if (kind > this.#pendingBreak) this.#pendingBreak = kind;
  }

  finish(textCount: number): BlockColumns {
    this.breakAt(Break.none, textCount);
    const count = this.#count;
    const cut = Object.entries(this.#columns).map(([name, column]) => [name, column.subarray(0, count)]);
    const columns: Omit<BlockColumns, "count" | "text" | "stats" | "words"> = Object.fromEntries(cut);
    const { words, stats } = this.#sink;
    return { ...columns, count, text: this.#texts, stats, words };
  }

  #close(textCount: number): void {
    const block = this.#count;
    const isPreformatted = (this.#columns.flags[block]! & ElementFlag.preformatted) !== 0;
    const text = isPreformatted ? tidyPreformatted(this.#text) : collapse(this.#text);
    if (text !== "") {
      this.#columns.endText[block] = textCount;
      this.#columns.breakBefore[block] = this.#pendingBreak;
      this.#pendingBreak = Break.none;
      this.#columns.firstWord[block] = this.#sink.wordCount;
      this.#sink.at = block * TextStat.count;
      countText(this.#text, this.#sink, this.#linkMarks, this.#boldMarks);
      this.#columns.endWord[block] = this.#sink.wordCount;
      this.#texts.push(text);
      this.#count++;
    }
    this.isOpen = false;
    this.#text = "";
    this.#lineMarks = 0;
    if (this.#linkMarks.length > 0) this.#linkMarks = [];
    if (this.#boldMarks.length > 0) this.#boldMarks = [];
  }

  #grow(): void {
    growColumns(this.#columns);
    this.#sink.stats = grown(this.#sink.stats as Float32Array<ArrayBuffer>); // made here
  }
}

function extendMarks(marks: number[], start: number, end: number): void {
  if (marks.length > 0 && marks[marks.length - 1] === start) marks[marks.length - 1] = end;
  else marks.push(start, end);
}

function collapse(text: string): string {
  const line = UNTIDY.test(text) ? text.replace(SPACES, " ") : text;
  return (line.includes(LINE_MARK) ? line.replace(LINE_ENDS, "\n") : line).trim();
}

const tidyPreformatted = (text: string): string =>
  text
    .replaceAll(LINE_MARK, "\n")
    .replace(/\r\n?/g, "\n")
    .replace(/^\s*\n/, "")
    .trimEnd();

const NONE = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;

function kindOf(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 97 && code <= 122) return LOWER;
  if (code >= 65 && code <= 90) return UPPER;
  if (code >= 48 && code <= 57) return DIGIT;
  // This also covers positions past either end of the text, where there is no code.
  if (!(code > 127)) return NONE;
  const character = text.charAt(at);
  if (/\p{Ll}/u.test(character)) return LOWER;
  return /\p{Lu}/u.test(character) ? UPPER : NONE;
}

/** A text that begins in an open block, with what came before it. */
type NextText = {
  readonly text: string;
  readonly start: number;
  readonly element: number;
  readonly html: string;
  readonly elements: ElementColumns;
  readonly texts: TextColumns;
  readonly open: OpenElements;
};

/** Tells whether two words touch only because a style separates their elements. */
export function isGapBefore({ text, start, element, html, elements, texts, open }: NextText): boolean {
  const last = texts.count - 1;
  if (last < 0 || html.charCodeAt(start - 1) !== CLOSING_BRACKET) return false;
  const before = texts.parent[last]!;
  if ((elements.flags[element]! & NO_GAP_FLAGS) !== 0) return false;
  if (before === element || !areWordsApart(html, texts.end[last]!, text)) return false;
  // Inside the element that it follows, a number is the mark of a note, and bold type begins at the end of a word.
  const isInside = elements.elementEnd[before] === 0;
  if (isInside && (kindOf(text, 0) === DIGIT || EMPHASIS.has(elements.tag[element]!))) return false;
  const tag = elements.tag[before];
  if (tag === Tag.sup || tag === Tag.sub || open.innermost(Tag.sup) >= 0 || open.innermost(Tag.sub) >= 0)
    return false;
  return open.innermost(Tag.code) < 0;
}

const CLOSING_BRACKET = 62;
const NO_GAP_FLAGS = ElementFlag.preformatted | ElementFlag.hidden | ElementFlag.textless;
const EMPHASIS = tagsNamed("b strong i em u");

/**
 * Tells by the letters whether a text that starts right where another one ends is a separate word: lower case to
 * capital, letter to digit, digit to capital. Two lower-case letters are one word with markup inside, and so is a
 * capital before a lower-case letter.
 * @param html what the first text stands in, up to `end`
 */
function areWordsApart(html: string, end: number, next: string): boolean {
  const right = kindOf(next, 0);
  if (right === NONE) return false;
  const left = kindOf(html, end - 1);
  if (left === NONE) return false;
  const leftBefore = kindOf(html, end - 2);
  if (right === LOWER) return false;
  if (left === DIGIT) return right === UPPER || leftBefore === DIGIT || kindOf(next, 1) === DIGIT;
  // A single letter before it is an initial, or part of an effect that shows a word letter by letter.
  return leftBefore === LOWER || leftBefore === UPPER;
}
