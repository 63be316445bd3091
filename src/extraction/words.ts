import type { Choice } from "./classification/choose.ts";
import type { ExtractionOptions } from "./types.ts";

const segmenter = new Intl.Segmenter("und", { granularity: "word" });

const OTHER = 0;
const LETTER = 1;
const DIGIT = 2;
/** It joins two letters or two digits; alone it is not a word. */
const LETTER_JOINER = 3;
const DIGIT_JOINER = 4;
const JOINER = 5;
/** It separates words, so that a text can be counted piece by piece. */
const SPACE = 6;
/** It needs the segmenter. */
const HARD = 7;

// These are the rules of UAX 29 for the characters of European texts, which make up nine tenths of the input.
const EASY_LIMIT = 0x2040;
const KINDS = new Uint8Array(EASY_LIMIT).fill(HARD);
for (const [kind, ranges] of [
  [OTHER, "!/ ;@ [^ `` {~ ¡¦ ¨© «¬ ®± ´´ ¶¶ »» ¿¿ ×× ÷÷ ‐– —― “” †‣ ‥… ‰‴ ‹›"],
  [LETTER, "AZ az ªª µµ ºº ÀÖ Øö øɏ ЀҀ Ҋӿ"],
  [DIGIT, "09"],
  [LETTER_JOINER, ":: ··"],
  [DIGIT_JOINER, ",, ;;"],
  [JOINER, "'' .. ‘’"],
] as const) {
  for (const range of ranges.split(" ")) KINDS.fill(kind, range.charCodeAt(0), range.charCodeAt(1) + 1);
}
for (let code = 0; code < EASY_LIMIT; code++) {
  // All white space but the one that UAX 29 keeps inside numbers: 10\u202f000 is one word.
  if (/\s/.test(String.fromCharCode(code)) && code !== 0x202f) KINDS[code] = SPACE;
}

const kindAt = (text: string, at: number): number => {
  const code = text.charCodeAt(at);
  if (code < EASY_LIMIT) return KINDS[code]!;
  return code === 0x3000 || code === 0x205f ? SPACE : HARD;
};

/** Counts the Unicode words of a text (UAX 29 word boundaries that hold a letter, digit or ideograph). */
export function countWords(text: string): number {
  const { length } = text;
  let count = 0;
  let wordsOfPiece = 0;
  let start = 0;
  let before = OTHER;
  for (let at = 0; at < length; at++) {
    let kind = kindAt(text, at);
    if (kind === HARD) {
      while (at < length && kindAt(text, at) !== SPACE) at++;
      count += countSegments(text.slice(start, at));
      wordsOfPiece = 0;
      kind = SPACE;
    }
    if (kind === SPACE) {
      count += wordsOfPiece;
      wordsOfPiece = 0;
      start = at + 1;
      before = OTHER;
    } else if (kind === LETTER || kind === DIGIT) {
      if (before === OTHER) wordsOfPiece++;
      before = kind;
    } else if (kind === OTHER || at + 1 === length || !joins(kind, before, kindAt(text, at + 1)))
      before = OTHER;
  }
  return count + wordsOfPiece;
}

const joins = (joiner: number, before: number, after: number): boolean =>
  before === after &&
  ((before === LETTER && joiner !== DIGIT_JOINER) || (before === DIGIT && joiner !== LETTER_JOINER));

function countSegments(piece: string): number {
  let count = 0;
  for (const segment of segmenter.segment(piece)) if (segment.isWordLike) count++;
  return count;
}

/**
 * A warning is given when less than this share of the page's main part is kept and at least this many of its words
 * are left out.
 */
const LEAST_SHARE = 0.5;
const MANY_WORDS = 100;

type Extent = { readonly wordCount: number; readonly mainPart: Choice["mainPart"] };

/** Collects the warnings about a result. */
export function warningsFor({ wordCount, mainPart }: Extent, { minWordCount }: ExtractionOptions): string[] {
  const warnings: string[] = [];
  if (wordCount < minWordCount)
    warnings.push(`Content below minimum word count (${wordCount} < ${minWordCount})`);
  if (mainPart !== null && isPartial(mainPart))
    warnings.push(`partial content (${mainPart.kept} of ${mainPart.total} words of the page's main part)`);
  return warnings;
}

const isPartial = ({ kept, total }: NonNullable<Choice["mainPart"]>): boolean =>
  kept < LEAST_SHARE * total && total - kept > MANY_WORDS;

/** Formats the warning about a selector of `exclude` that matches nothing on a page. */
export const unmatchedExclusion = (selector: string): string =>
  `No element matches the excluded selector ${JSON.stringify(selector)}`;
