import { classAt, DIGIT, LOWER, UNSPACED, UPPER } from "./characters.ts";

/** A piece of a written word: the word as a whole, or a part of it. */
export type WordPiece = {
  /** As written, marks around it included. */
  readonly text: string;
  /** Number of leaves before it: what is added to the position of the word. */
  readonly offset: number;
  /** Whether nothing is inside it; only leaves are stemmed. */
  readonly isLeaf: boolean;
};

export type WordParts = {
  /** Whole before parts, each once at an offset. */
  readonly pieces: readonly WordPiece[];
  /** Positions that the word takes. */
  readonly width: number;
};

const MAX_WHOLE_LENGTH = 64;
const MAX_LEAVES = 32;

/**
 * A written word as a whole and in parts, at each level of its joints: `xml.etree.ElementTree` gives itself,
 * `xml`, `etree`, `elementtree`, `element`, `tree`. Versions give themselves and their first two numbers.
 * A sign before (`--no-cache`, `.NET`, `$HOME`, `/GT`) or after (`C++`, `C#`) makes a piece of its own.
 * @param written a run of the tokenizer: word characters with joiners between them, signs at its ends
 */
export function wordParts(written: string): WordParts {
  const pieces = new Map<string, WordPiece>();
  const end = bareEnd(written);
  const start = bareStart(written, end);
  const bare = written.slice(start, end);
  if (end < written.length) {
    // The C of C++ is another language.
    add(pieces, written.slice(start), 0, true);
    return { pieces: [...pieces.values()], width: 1 };
  }
  if (start > 0) add(pieces, written, 0, false);
  const width = split(pieces, bare, 0, 0);
  return { pieces: [...pieces.values()], width };
}

// From the weakest joint to the strongest; the last level is camelCase.
const LEVELS: readonly RegExp[] = [/\//, /\.|::/, /[-@]/, /_/];

function split(pieces: Map<string, WordPiece>, text: string, level: number, offset: number): number {
  if (offset >= MAX_LEAVES || text === "") return 0;
  if (level === 1 && /^\d+(?:\.\d+)+$/.test(text)) return addVersion(pieces, text, offset);
  const joint = LEVELS[level];
  const parts = joint ? text.split(joint) : camelParts(text);
  const inner = parts.filter((part) => part !== "");
  const next = level + 1;
  if (inner.length <= 1) {
    const only = inner[0] ?? "";
    if (only !== text && only !== "") add(pieces, text, offset, false);
    if (joint) return split(pieces, only, next, offset);
    add(pieces, text, offset, true);
    return 1;
  }
  add(pieces, text, offset, false);
  let leaves = 0;
  for (const part of inner) {
    if (offset + leaves >= MAX_LEAVES) break;
    if (joint) leaves += split(pieces, part, next, offset + leaves);
    else {
      add(pieces, part, offset + leaves, true);
      leaves++;
    }
  }
  return leaves;
}

function addVersion(pieces: Map<string, WordPiece>, text: string, offset: number): number {
  add(pieces, text, offset, true);
  const series = /^\d+\.\d+(?=\.)/.exec(text);
  if (series) add(pieces, series[0], offset, true);
  return 1;
}

function add(pieces: Map<string, WordPiece>, text: string, offset: number, isLeaf: boolean): void {
  if (text.length > MAX_WHOLE_LENGTH) return;
  const key = `${offset} ${text}`;
  if (!pieces.has(key)) pieces.set(key, { text, offset, isLeaf });
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
 * `getElementById` → get, Element, By, Id; `XMLParser` → XML, Parser; `Base64Encode` → Base64, Encode. A
 * capital run keeps a single small letter after it (`URLs`, `IPv4`).
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

/**
 * A run of a script without spaces as overlapping pairs, each with the single character before it, so that
 * both `水` and `水車` are found (CJK bigrams as in Lucene's CJKBigramFilter with unigrams).
 */
export function unspacedParts(run: string): WordParts {
  const characters = [...run];
  const pieces: WordPiece[] = [];
  characters.forEach((character, offset) => {
    const next = characters[offset + 1];
    if (next !== undefined) pieces.push({ text: character + next, offset, isLeaf: false });
    pieces.push({ text: character, offset, isLeaf: true });
  });
  return { pieces, width: characters.length };
}

/** Whether a run is of a script without spaces: such runs are never mixed with others. */
export const isUnspaced = (run: string): boolean => classAt(run, 0) === UNSPACED;
