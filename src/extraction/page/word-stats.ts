import { type ElementColumns, growColumns, grown, type OpenElements, type TextColumns } from "./columns.ts";
import { type BlockColumns, Break, ElementFlag, type PageModel, Tag, tagsNamed } from "./page-model.ts";

/** The columns of a block's text statistics. */
export const TextStat = {
  words: 0,
  chars: 1,
  linkChars: 2,
  digits: 3,
  capitalised: 4,
  sentenceEnds: 5,
  commas: 6,
  ideographs: 7,
  separators: 8,
  boldChars: 9,
  currency: 10,
  /** 1 when the last character ends a sentence. */
  endsSentence: 11,
  letters: 12,
  /** A hash of the text that identifies repeated blocks. */
  hashLow: 13,
  years: 14,
  linkCount: 15,
  count: 16,
} as const;

/** A number of a block's text, see `TextStat`. */
export const statOf = ({ blocks }: PageModel, block: number, stat: number): number =>
  blocks.stats[block * TextStat.count + stat]!;

/** Words are counted in this many buckets; words that share one cost a little precision. */
export const WORD_BUCKETS = 1 << 14;

const OTHER = 0;
const LETTER = 1;
const UPPER = 2;
const DIGIT = 3;
const SPACE = 4;
const STOP = 5;
const COMMA = 6;
const SEPARATOR = 7;
const CURRENCY = 8;
const IDEOGRAPH = 9;
const KIND_COUNT = 10;

const UNKNOWN = 255;
// Classifying every character takes 20 ms; pages use a few hundred.
const KIND = new Uint8Array(65536).fill(UNKNOWN);

function kindOf(code: number): number {
  const known = KIND[code]!;
  if (known !== UNKNOWN) return known;
  const kind = classify(code);
  KIND[code] = kind;
  return kind;
}

/** Tells whether a character is white space in the sense of `\s`. */
export const isWhiteSpace = (code: number): boolean => kindOf(code) === SPACE;

function classify(code: number): number {
  const character = String.fromCharCode(code);
  if (/\s/.test(character)) return SPACE;
  if (/[0-9]/.test(character)) return DIGIT;
  if (/[.!?…。！？؟।]/.test(character)) return STOP;
  if (/[,;:、，；：،]/.test(character)) return COMMA;
  if (/[|•·»›→/>«‹]/.test(character)) return SEPARATOR;
  if (/\p{Sc}/u.test(character)) return CURRENCY;
  if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(character))
    return IDEOGRAPH;
  if (/\p{Lu}/u.test(character)) return UPPER;
  return /[\p{L}\p{N}\p{M}_]/u.test(character) || (code >= 0xd800 && code < 0xe000) ? LETTER : OTHER;
}

/** The destination of a text's statistics and words. */
export type StatSink = {
  stats: Float32Array;
  /** The first column of this text in `stats`. */
  at: number;
  words: Uint16Array;
  wordCount: number;
};

/** How many characters of each kind the text that is being counted has. */
const counts = new Int32Array(KIND_COUNT);

/**
 * Counts one text into the sink. `marks` are the ranges of the text (start, end, start, …) inside links, `boldMarks`
 * those in bold type. Two ideographs count as a word, because such scripts have no spaces.
 */
export function countText(
  text: string,
  sink: StatSink,
  marks: readonly number[],
  boldMarks: readonly number[],
): void {
  const { stats, at } = sink;
  const { words, capitalised, years, textHash, lastKind } = countWords(text, sink);
  const ideographs = counts[IDEOGRAPH]!;
  stats[at + TextStat.words] = words + ((ideographs + 1) >> 1);
  stats[at + TextStat.chars] = text.length + 1 - counts[SPACE]!;
  stats[at + TextStat.linkChars] = visibleChars(text, marks);
  stats[at + TextStat.digits] = counts[DIGIT]!;
  stats[at + TextStat.capitalised] = capitalised;
  stats[at + TextStat.sentenceEnds] = counts[STOP]!;
  stats[at + TextStat.commas] = counts[COMMA]!;
  stats[at + TextStat.ideographs] = ideographs;
  stats[at + TextStat.separators] = counts[SEPARATOR]!;
  stats[at + TextStat.boldChars] = visibleChars(text, boldMarks);
  stats[at + TextStat.currency] = counts[CURRENCY]!;
  stats[at + TextStat.endsSentence] = lastKind === STOP ? 1 : 0;
  stats[at + TextStat.letters] = counts[LETTER]! + counts[UPPER]! + ideographs;
  // 24 bits: a float holds them exactly.
  stats[at + TextStat.hashLow] = (textHash ^ (textHash >>> 8)) & 0xffffff;
  stats[at + TextStat.years] = years;
  stats[at + TextStat.linkCount] = marks.length / 2;
}

/** Counts characters into `counts` and pushes the words; ideographs are pushed but are not among the words. */
function countWords(text: string, sink: StatSink) {
  counts.fill(0);
  let words = 0;
  let capitalised = 0;
  let years = 0;
  let textHash = 0;
  let lastKind = OTHER;
  let hash = 0;
  let wordLength = 0;
  let wordDigits = 0;
  // The text is read with a space after it, which ends its last word.
  for (let index = 0; index <= text.length; index++) {
    const code = index < text.length ? text.charCodeAt(index) : 32;
    const kind = kindOf(code);
    counts[kind]!++;
    if (kind !== SPACE) {
      textHash = (Math.imul(textHash, 31) + code) | 0;
      lastKind = kind;
    }
    if (kind === LETTER || kind === UPPER || kind === DIGIT) {
      if (wordLength++ === 0 && kind === UPPER) capitalised++;
      hash = (Math.imul(hash, 31) + lowerOf(code, kind)) | 0;
      if (kind === DIGIT) wordDigits++;
      continue;
    }
    if (wordLength > 0) {
      words++;
      if (wordDigits === 4 && wordLength === 4) years++;
      pushWord(sink, hash);
      hash = wordLength = wordDigits = 0;
    }
    if (kind === IDEOGRAPH) pushWord(sink, code);
  }
  return { words, capitalised, years, textHash, lastKind };
}

/** Only ASCII is folded: the weights were trained so. */
const lowerOf = (code: number, kind: number): number => (kind === UPPER && code < 128 ? code + 32 : code);

function pushWord(sink: StatSink, hash: number): void {
  if (sink.wordCount === sink.words.length) sink.words = grown(sink.words);
  sink.words[sink.wordCount++] = wordBucket(hash);
}

const wordBucket = (hash: number): number => (Math.imul(hash, 0x9e3779b1) >>> 18) & (WORD_BUCKETS - 1);

function visibleChars(text: string, ranges: readonly number[]): number {
  let count = 0;
  for (let range = 0; range < ranges.length; range += 2) {
    const end = Math.min(ranges[range + 1]!, text.length);
    for (let index = ranges[range]!; index < end; index++)
      if (kindOf(text.charCodeAt(index)) !== SPACE) count++;
  }
  return count;
}

/** This mark stands for a `<br>` until the white space around it is collapsed. */
const LINE_MARK = "\u001e";
// The expression is built from the constant, because a control character in a literal looks like a mistake.
const SPACES = new RegExp(`[^\\S${LINE_MARK}]+`, "g");
const UNTIDY = new RegExp(`  |[^\\S ${LINE_MARK}]`);
const LINE_ENDS = new RegExp(` ?${LINE_MARK}[ ${LINE_MARK}]*`, "g");
const FIRST_BLOCKS = 256;

/** Collects the blocks of a page while it is read: `append` text, `breakAt` every block boundary. */
export class BlockBuilder {
  #count = 0;
  readonly #columns = {
    element: new Int32Array(FIRST_BLOCKS),
    firstText: new Int32Array(FIRST_BLOCKS),
    endText: new Int32Array(FIRST_BLOCKS),
    flags: new Uint16Array(FIRST_BLOCKS),
    breakBefore: new Uint8Array(FIRST_BLOCKS),
    firstWord: new Int32Array(FIRST_BLOCKS),
    endWord: new Int32Array(FIRST_BLOCKS),
  };
  readonly #texts: string[] = [];
  readonly #sink: StatSink = {
    stats: new Float32Array(FIRST_BLOCKS * TextStat.count),
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
const CAPITAL = 2;
const NUMBER = 3;

function gapKindOf(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 97 && code <= 122) return LOWER;
  if (code >= 65 && code <= 90) return CAPITAL;
  if (code >= 48 && code <= 57) return NUMBER;
  // This also covers positions past either end of the text, where there is no code.
  if (!(code > 127)) return NONE;
  const character = text.charAt(at);
  if (/\p{Ll}/u.test(character)) return LOWER;
  return /\p{Lu}/u.test(character) ? CAPITAL : NONE;
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
  if (isInside && (gapKindOf(text, 0) === NUMBER || EMPHASIS.has(elements.tag[element]!))) return false;
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
  const right = gapKindOf(next, 0);
  if (right === NONE) return false;
  const left = gapKindOf(html, end - 1);
  if (left === NONE) return false;
  const leftBefore = gapKindOf(html, end - 2);
  if (right === LOWER) return false;
  if (left === NUMBER) return right === CAPITAL || leftBefore === NUMBER || gapKindOf(next, 1) === NUMBER;
  // A single letter before it is an initial, or part of an effect that shows a word letter by letter.
  return leftBefore === LOWER || leftBefore === CAPITAL;
}
