import { classAt, DIGIT, LOWER, UNSPACED, UPPER } from "./tokenizer.ts";

/** A piece of a written word: the whole word or a part of it. */
export type WordPiece = {
  /** The piece as written, with the signs around it. */
  readonly text: string;
  /** The number of leaves before it, which is added to the position of the word. */
  readonly offset: number;
  /** Whether it has no parts; only leaves are stemmed. */
  readonly isLeaf: boolean;
};

type WordParts = {
  /** The whole word comes before its parts, and each piece once per offset. */
  readonly pieces: readonly WordPiece[];
  /** How many positions the word takes. */
  readonly width: number;
};

/** Longer pieces are left out. */
export const MAX_WHOLE_LENGTH = 64;
/** How many positions a word may take; further parts are left out. */
export const MAX_LEAVES = 32;

/**
 * Splits a written word into the whole and its parts, at each level of its joints: `xml.etree.ElementTree`
 * gives itself, `xml`, `etree`, `elementtree`, `element`, `tree`. Versions give themselves and their first
 * two numbers. A sign before (`--no-cache`, `.NET`, `$HOME`) or after (`C++`, `C#`) makes another piece.
 * @param written a run of the tokenizer: word characters with joiners between them, signs at its ends
 */
export function wordParts(written: string): WordParts {
  const pieces: WordPiece[] = [];
  const end = bareEnd(written);
  const start = bareStart(written, end);
  if (end < written.length) {
    // The C of C++ is a different language.
    add(pieces, written.slice(start), 0, true);
    return { pieces, width: 1 };
  }
  if (start > 0) add(pieces, written, 0, false);
  const bare = written.slice(start, end);
  const width = new Splitting(pieces, jointsOf(bare)).split(bare, 0, 0);
  return { pieces, width };
}

/** A path without the sign before it, and its two or more parts between the slashes. */
export type PathParts = { readonly bare: string; readonly parts: readonly string[] };

/** The parts of a path, each split as if alone; null for no path, or when a sign changes its meaning. */
export function pathParts(written: string): PathParts | null {
  if (!written.includes("/") || isUnspaced(written) || bareEnd(written) < written.length) return null;
  const bare = written.slice(bareStart(written, written.length));
  const parts = partsAt(bare, 0);
  const isPlain = parts.every((part) => bareStart(part, part.length) === 0 && bareEnd(part) === part.length);
  return parts.length > 1 && isPlain ? { bare, parts } : null;
}

// From the weakest joint to the strongest: `/`, `.` and `::`, `-` and `@`, `_`, and last camelCase.
const JOINTS = ["/", ".", "-@", "_"] as const;
/** The level of each ASCII character that is a joint; others have 255. */
const LEVELS = Uint8Array.from({ length: 128 }, (_, unit) =>
  JOINTS.findIndex((signs) => signs.includes(String.fromCharCode(unit))),
);
const DOTS = 1;
const CAMEL = 4;
const COLON = 0x3a;

/** A bit for each level at which a word can be split; most words have none. */
function jointsOf(text: string): number {
  let joints = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x61 && unit <= 0x7a) continue;
    if (unit >= 0x80 || (unit >= 0x41 && unit <= 0x5a)) {
      if (at > 0) joints |= 1 << CAMEL;
      continue;
    }
    for (let level = 0; level < CAMEL; level++) if (jointLength(text, at, level) > 0) joints |= 1 << level;
  }
  return joints;
}

/** The length in code units of a level's joint at an index; 0 when there is none. */
function jointLength(text: string, at: number, level: number): number {
  const unit = text.charCodeAt(at);
  if (unit === COLON && level === DOTS) return text.charCodeAt(at + 1) === COLON ? 2 : 0;
  return LEVELS[unit] === level ? 1 : 0;
}

/** The parts between the joints of a level that are not empty. */
function partsAt(text: string, level: number): string[] {
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; ) {
    const joint = jointLength(text, at, level);
    if (joint > 0 && at > from) parts.push(text.slice(from, at));
    if (joint > 0) from = at + joint;
    at += joint || 1;
  }
  if (from === 0) return [text];
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

/** A word that is being split; `joints` tells at which levels. */
class Splitting {
  readonly #pieces: WordPiece[];
  readonly #joints: number;

  constructor(pieces: WordPiece[], joints: number) {
    this.#pieces = pieces;
    this.#joints = joints;
  }

  /** @returns how many leaves were added */
  split(text: string, firstLevel: number, offset: number): number {
    if (offset >= MAX_LEAVES || text === "") return 0;
    let level = firstLevel;
    while (level < CAMEL && (this.#joints & (1 << level)) === 0) level++;
    if (level >= CAMEL) return this.#splitCamel(text, offset);
    if (level === DOTS && VERSION.test(text)) return addVersion(this.#pieces, text, offset);
    const parts = partsAt(text, level);
    if (parts.length <= 1) {
      const only = parts[0] ?? "";
      if (only !== text && only !== "") add(this.#pieces, text, offset, false);
      return this.split(only, level + 1, offset);
    }
    add(this.#pieces, text, offset, false);
    let leaves = 0;
    for (const part of parts) {
      if (offset + leaves >= MAX_LEAVES) break;
      leaves += this.split(part, level + 1, offset + leaves);
    }
    return leaves;
  }

  #splitCamel(text: string, offset: number): number {
    const parts = (this.#joints & (1 << CAMEL)) === 0 ? [] : camelParts(text);
    if (parts.length <= 1) {
      add(this.#pieces, text, offset, true);
      return 1;
    }
    add(this.#pieces, text, offset, false);
    let leaves = 0;
    for (; leaves < parts.length && offset + leaves < MAX_LEAVES; leaves++) {
      add(this.#pieces, parts[leaves]!, offset + leaves, true);
    }
    return leaves;
  }
}

const VERSION = /^\d+(?:\.\d+)+$/;

function addVersion(pieces: WordPiece[], text: string, offset: number): number {
  add(pieces, text, offset, true);
  const series = /^\d+\.\d+(?=\.)/.exec(text);
  if (series) add(pieces, series[0], offset, true);
  return 1;
}

// Offsets never descend, so only the last pieces can be equal to the new one.
function add(pieces: WordPiece[], text: string, offset: number, isLeaf: boolean): void {
  if (text.length > MAX_WHOLE_LENGTH) return;
  for (let at = pieces.length - 1; at >= 0 && pieces[at]!.offset === offset; at--) {
    if (pieces[at]!.text === text) return;
  }
  pieces.push({ text, offset, isLeaf });
}

const isWordClass = (text: string, index: number): boolean => classAt(text, index) > 0;

function bareEnd(written: string): number {
  let end = written.length;
  while (end > 0 && (written[end - 1] === "+" || written[end - 1] === "#")) end--;
  return end;
}

function bareStart(written: string, end: number): number {
  let start = 0;
  while (start < end && !isWordClass(written, start) && written[start] !== "_") start++;
  return start;
}

/**
 * Splits camelCase: `getElementById` → get, Element, By, Id; `XMLParser` → XML, Parser; `Base64Encode` →
 * Base64, Encode. A run of capitals keeps a single small letter after it (`URLs`, `IPv4`).
 */
function camelParts(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let i = 1; i < text.length; i++) {
    if (classAt(text, i) !== UPPER) continue;
    const before = classAt(text, i - 1);
    const afterSmall = before === LOWER || (before === DIGIT && classAt(text, i + 1) === LOWER);
    const beforeSmall =
      before === UPPER &&
      i + 2 < text.length &&
      classAt(text, i + 1) === LOWER &&
      classAt(text, i + 2) === LOWER;
    if (!afterSmall && !beforeSmall) continue;
    parts.push(text.slice(start, i));
    start = i;
  }
  parts.push(text.slice(start));
  return parts;
}

// The words of all these scripts are found by one dictionary, whatever the language.
const SEGMENTER = new Intl.Segmenter("ja", { granularity: "word" });

/** Shorter words are pairs or single characters. */
const LEAST_WORD_CHARACTERS = 3;

/**
 * Splits a run of a script without spaces into overlapping pairs, and after each pair its first character
 * alone, so that both `水` and `水車` are found (CJK bigrams as in Lucene's CJKBigramFilter with unigrams).
 * Longer words of the runtime's dictionary come before the pair with which they begin.
 */
export function unspacedParts(run: string): WordParts {
  const characters = [...run];
  const words = longWordsOf(run);
  const pieces: WordPiece[] = [];
  characters.forEach((character, offset) => {
    const word = words.get(offset);
    if (word !== undefined) pieces.push({ text: word, offset, isLeaf: false });
    const next = characters[offset + 1];
    if (next !== undefined) pieces.push({ text: character + next, offset, isLeaf: false });
    pieces.push({ text: character, offset, isLeaf: true });
  });
  return { pieces, width: characters.length };
}

/** The words of a run by the number of characters before them. */
function longWordsOf(run: string): ReadonlyMap<number, string> {
  const words = new Map<number, string>();
  let offset = 0;
  for (const { segment } of SEGMENTER.segment(run)) {
    const { length } = [...segment];
    if (length >= LEAST_WORD_CHARACTERS) words.set(offset, segment);
    offset += length;
  }
  return words;
}

/** Whether a run belongs to a script without spaces; such runs contain no other characters. */
export const isUnspaced = (run: string): boolean => classAt(run, 0) === UNSPACED;
