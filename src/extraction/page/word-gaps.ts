import type { ElementColumns, TextColumns } from "./columns.ts";
import type { OpenElements } from "./open-elements.ts";
import { ElementFlag } from "./page-model.ts";
import { Tag, tagId } from "./tags.ts";

const NONE = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;

function kindOf(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 97 && code <= 122) return LOWER;
  if (code >= 65 && code <= 90) return UPPER;
  if (code >= 48 && code <= 57) return DIGIT;
  // Also past either end of the text, where there is no code.
  if (!(code > 127)) return NONE;
  const character = text.charAt(at);
  if (/\p{Ll}/u.test(character)) return LOWER;
  return /\p{Lu}/u.test(character) ? UPPER : NONE;
}

/** A text that begins in an open block, and what came before it. */
export type NextText = {
  readonly text: string;
  readonly start: number;
  readonly element: number;
  readonly html: string;
  readonly elements: ElementColumns;
  readonly texts: TextColumns;
  readonly open: OpenElements;
};

/** True where two words touch only because a style sets their elements apart. */
export function isGapBefore({ text, start, element, html, elements, texts, open }: NextText): boolean {
  const last = texts.count - 1;
  if (last < 0 || html.charCodeAt(start - 1) !== CLOSING_BRACKET) return false;
  const before = texts.parent[last]!;
  if ((elements.flags[element]! & NO_GAP_FLAGS) !== 0) return false;
  if (before === element || !areWordsApart(html, texts.end[last]!, text)) return false;
  // Inside of what it follows, a number is the mark of a note, and bold type begins at a word's end.
  const isInside = elements.elementEnd[before] === 0;
  if (isInside && (kindOf(text, 0) === DIGIT || EMPHASIS.has(elements.tag[element]!))) return false;
  const tag = elements.tag[before];
  if (tag === SUP || tag === SUB || open.innermost(SUP) >= 0 || open.innermost(SUB) >= 0) return false;
  return open.innermost(Tag.code) < 0;
}

const CLOSING_BRACKET = 62;
const NO_GAP_FLAGS = ElementFlag.preformatted | ElementFlag.hidden | ElementFlag.textless;
const EMPHASIS: ReadonlySet<number> = new Set("b strong i em u".split(" ").map(tagId));
const SUP = tagId("sup");
const SUB = tagId("sub");

/*
 * Tells by its letters whether a text that starts right where another one ends is a word of its own: small
 * to capital, letter to digit, digit to capital. Two small letters are one word with a mark inside, and so
 * is a capital before a small letter.
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
  // One letter before is an initial or part of an effect that shows a word letter by letter.
  return leftBefore === LOWER || leftBefore === UPPER;
}
