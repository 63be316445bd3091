import type { MainPart } from "./selection/by-container.ts";
import type { ExtractionOptions } from "./types.ts";

/** Collapses white space as a browser does: one space between words, none at the ends. */
export const collapseSpace = (text: string): string => withSingleSpaces(text).trim();

export const withSingleSpaces = (text: string): string => text.replace(/\s+/g, " ");

/** Folds a text: case, white space, punctuation and compatibility forms make no difference in comparisons. */
export const foldForComparison = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/**
 * Removes characters that people cannot see but language models read: zero-width characters, bidirectional overrides,
 * Unicode tags and control characters. Joiners and variation selectors stay where they belong: one after a character
 * whose shape they can change. The function is idempotent.
 */
export const removeInvisible = (text: string): string =>
  SUSPECT.test(text) ? text.replace(INVISIBLE, "").replace(SHAPERS_WITH_BASE, keepShapers) : text;

const SHAPER_CLASS = "\\u200c\\u200d\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}";
// Mongolian has its own selectors, which hide nothing beyond what its letters show.
const KEPT_CLASS = `[${SHAPER_CLASS}\\u180b-\\u180d\\u180f]`;
const IGNORABLE_CLASS =
  "\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\ufff9-\\ufffb";
const SUSPECT = new RegExp(`[${IGNORABLE_CLASS}]`, "v");
const INVISIBLE = new RegExp(`[[${IGNORABLE_CLASS}]--${KEPT_CLASS}]`, "gv");
const SHAPERS_WITH_BASE = new RegExp(`(^|[^${SHAPER_CLASS}])([${SHAPER_CLASS}]+)`, "gsv");

const JOINER = /^[\u200c\u200d]/u;
// Joiners belong in Indic and Arabic words and in emoji sequences; between other characters they hide data.
const JOINABLE =
  /[\p{M}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Extended_Pictographic}\p{Emoji_Modifier}]/u;
const SELECTOR = /^[\ufe00-\ufe0f]/u;
const SELECTABLE = /[\p{Emoji}\p{Script=Han}\p{Script=Myanmar}\p{Script=Phags_Pa}\p{S}\p{P}]/u;
const IDEOGRAPHIC_SELECTOR = /^[\u{e0100}-\u{e01ef}]/u;
const IDEOGRAPH = /\p{Script=Han}/u;

// A run of them can encode bytes, so a base character keeps at most one selector and one joiner.
function keepShapers(_match: string, base: string, run: string): string {
  let rest = run;
  const isSelected =
    (SELECTOR.test(run) && SELECTABLE.test(base)) || (IDEOGRAPHIC_SELECTOR.test(run) && IDEOGRAPH.test(base));
  const selector = isSelected ? String.fromCodePoint(run.codePointAt(0) ?? 0) : "";
  rest = rest.slice(selector.length);
  const joiner = JOINER.test(rest) && (isSelected || JOINABLE.test(base)) ? rest.charAt(0) : "";
  return base + selector + joiner;
}

/**
 * Matches the text of a heading's link to itself: a sign, a character of an icon font (from the private use area), or
 * nothing. Such a link is a tool of the site, not content.
 */
export const PERMALINK_SIGN =
  /^(?:[\s¶§#🔗\u2060\u200b\ue000-\uf8ff]*|\s*(?:permalink|link to this (?:heading|section))\s*)$/iu;

/** Matches the address at which a wiki lets its readers edit a page or a section. */
export const EDIT_ADDRESS = /[?&;](?:ve)?(?:action|do)=edit(?:[&;#]|$)/i;

const UNSPACED = /([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])/gu;

/** Splits a text into folded words; scripts without spaces are split into characters. */
export function foldedWords(text: string): string[] {
  const folded = foldForComparison(text).replace(UNSPACED, " $1 ").trim();
  return folded === "" ? [] : folded.split(/ +/);
}

/** Titles and names have few words, so searching them is faster than building a set. */
const FEW = 24;

/** Returns the share of the words that the others contain; -1 when either list is empty. */
export function shareIn(words: readonly string[], others: readonly string[]): number {
  if (words.length === 0 || others.length === 0) return -1;
  const known = others.length > FEW ? new Set(others) : null;
  let held = 0;
  for (const word of words) if (known ? known.has(word) : others.includes(word)) held++;
  return held / words.length;
}

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  quot: '"',
  apos: "'",
  nbsp: " ",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  ndash: "–",
  mdash: "—",
  hellip: "…",
};

/**
 * Decodes character references that a template escaped twice when it wrote a text into an attribute or into JSON.
 * "&lt;" stays, because text about markup means it.
 */
export function unescapeTwice(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(
    /&(?:#(\d{1,6})|#x([0-9a-f]{1,5})|([a-z]{3,6}));/gi,
    (reference, decimal, hex, name) => {
      if (name !== undefined) return NAMED[String(name).toLowerCase()] ?? reference;
      const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
      return code >= 32 && code <= 0x10ffff ? String.fromCodePoint(code) : reference;
    },
  );
}

const MAX_VALUE_LENGTH = 1000;

/** Reduces a value to one visible line of at most 1000 characters, which may share memory with the page. */
export const visibleLine = (text: string): string =>
  cut(collapseSpace(removeInvisible(text)), MAX_VALUE_LENGTH);

/** Does the same and returns a copy that shares no memory with the page. */
export const tidyValue = (text: string): string => detached(visibleLine(text));

/** Copies a text: a substring of a page keeps the whole page in memory as long as it lives. */
export const detached = (text: string): string => JSON.parse(JSON.stringify(text)) as string;

/** Copies many texts, much faster than one by one. */
export const detachedAll = (texts: readonly string[]): string[] =>
  JSON.parse(JSON.stringify(texts)) as string[];

/** Returns at most the first `length` UTF-16 units of a text, without splitting a surrogate pair. */
export const cut = (text: string, length: number): string =>
  text.slice(0, /[\ud800-\udbff]/.test(text.charAt(length - 1)) ? length - 1 : length);

/**
 * Returns where the next match begins, or the end of the text.
 * @param wanted global
 */
export function nextMatch(text: string, from: number, wanted: RegExp): number {
  wanted.lastIndex = from;
  return wanted.exec(text)?.index ?? text.length;
}

const segmenter = new Intl.Segmenter("und", { granularity: "word" });

const OTHER = 0;
const LETTER = 1;
const DIGIT = 2;
/** It joins two letters or two digits; alone it is not a word. */
const LETTER_JOINER = 3;
const DIGIT_JOINER = 4;
const ANY_JOINER = 5;
/** It separates words, so that a text can be counted piece by piece. */
const BETWEEN_WORDS = 6;
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
  [ANY_JOINER, "'' .. ‘’"],
] as const) {
  for (const range of ranges.split(" ")) KINDS.fill(kind, range.charCodeAt(0), range.charCodeAt(1) + 1);
}
for (let code = 0; code < EASY_LIMIT; code++) {
  // All white space but the one that UAX 29 keeps inside numbers: 10\u202f000 is one word.
  if (/\s/.test(String.fromCharCode(code)) && code !== 0x202f) KINDS[code] = BETWEEN_WORDS;
}

const kindAt = (text: string, at: number): number => {
  const code = text.charCodeAt(at);
  if (code < EASY_LIMIT) return KINDS[code]!;
  return code === 0x3000 || code === 0x205f ? BETWEEN_WORDS : HARD;
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
      while (at < length && kindAt(text, at) !== BETWEEN_WORDS) at++;
      count += countSegments(text.slice(start, at));
      wordsOfPiece = 0;
      kind = BETWEEN_WORDS;
    }
    if (kind === BETWEEN_WORDS) {
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

/** Below this share of the page's main part, with at least this many words left out, a warning is given. */
const LEAST_SHARE = 0.5;
const MANY_WORDS = 100;

type Extent = { readonly wordCount: number; readonly mainPart: MainPart | null };

/** Collects the warnings about a result. */
export function warningsFor({ wordCount, mainPart }: Extent, { minWordCount }: ExtractionOptions): string[] {
  const warnings: string[] = [];
  if (wordCount < minWordCount)
    warnings.push(`Content below minimum word count (${wordCount} < ${minWordCount})`);
  if (mainPart !== null && isPartial(mainPart))
    warnings.push(`partial content (${mainPart.kept} of ${mainPart.total} words of the page's main part)`);
  return warnings;
}

const isPartial = ({ kept, total }: MainPart): boolean =>
  kept < LEAST_SHARE * total && total - kept > MANY_WORDS;

/** Formats the warning about a selector of `exclude` that matches nothing on a page. */
export const unmatchedExclusion = (selector: string): string =>
  `No element matches the excluded selector ${JSON.stringify(selector)}`;

/** Nothing longer is a signature. */
export const MAX_SIGNATURE = 2000;
const MAX_TYPE_WORDS = 8;
/** A run of this many words without a sign of code is prose. */
const PROSE_RUN = 4;

export const KEYWORDS: ReadonlySet<string> = new Set(
  `abstract async auto bool boolean char class classmethod const constexpr constructor declare def default defmacro
   double enum explicit export extern final float fn friend fun func function get inline int interface internal
   let long macro method mut native new object operator override private procedure property protected pub public
   readonly set short signed size_t static staticmethod string struct sub synchronized template throws trait type
   typedef typename unsafe unsigned using val var virtual void volatile where`.split(/\s+/),
);
/** In brackets behind a word, these say something about it. */
const REMARKS = new Set(
  "s es n i ii iii a b c optional required default deprecated new beta free paid online pdf".split(" "),
);

/** How a page sets the parts of a signature apart: not at all, by elements in its line, or by cells and breaks. */
type SignatureLayout = "plain" | "spans" | "apart";

/** Tells whether a text is one signature and nothing else; the less its layout says, the more its words must. */
export function isSignature(text: string, layout: SignatureLayout): boolean {
  const open = text.indexOf("(");
  const close = open < 1 ? -1 : closingOf(text, open);
  if (text.length > MAX_SIGNATURE || close < 0) return isTyped(text);
  return isCall(text.slice(0, open), text.slice(open + 1, close), text.slice(close + 1), layout);
}

function isCall(before: string, inside: string, rest: string, layout: SignatureLayout): boolean {
  const words = before.trim().split(/\s+/);
  const name = words.pop() ?? "";
  if (words.length > MAX_TYPE_WORDS || !words.every(isTypeLike) || !NAME.test(name)) return false;
  if (!isTail(rest) || readsAsProse(inside)) return false;
  if (layout === "apart") return true;
  if (before.endsWith(" ") || !isType(rest) || !saysCode(name, inside, words.length > 0)) return false;
  return layout === "spans" || areTypes(words) || isOfTyped(name, inside);
}

const NAME = /^[*&]*[A-Za-z_$~@][\w$.:~<>,*&!?\\#/-]*$/;
const TAIL = /^\s*(?:$|[;:,={[?]|->|=>|&|const\b|noexcept\b|throws?\b|override\b|where\b|final\b|\|)/;
const isTail = (rest: string): boolean => TAIL.test(rest) && !readsAsProse(rest);
// The subject of a commit is written `fix(parser): what it does`.
const isType = (rest: string): boolean =>
  /^[ -~]*$/.test(rest) && (!/^\s*:/.test(rest) || !/\w\s+\w/.test(rest) || /[<>|[\]_]/.test(rest));
const isTypeLike = (word: string): boolean => /^[\w$.:<>,*&@[\]~|?=()"-]*[^\s:]$/.test(word);

/** Before the name stand types: one of the words is a keyword or has a sign of code. */
const areTypes = (words: readonly string[]): boolean =>
  words.length === 0 || words.some((word) => KEYWORDS.has(word) || /[_<>*&@[\]]/.test(word));

/** A name of several words, called with something of a named type. */
const isOfTyped = (name: string, inside: string): boolean =>
  /[a-z][A-Z]/.test(name) && inside.split(/[\s,]+/).some((word) => KEYWORDS.has(word));

function saysCode(name: string, inside: string, hasType: boolean): boolean {
  const argument = inside.trim().toLowerCase();
  if (REMARKS.has(argument) || /^[\d\s.,%-]+$/.test(argument) || /[^ -~]/.test(inside)) return false;
  if (hasType || argument === "" || /[=:*&$[\]|<>]/.test(inside) || /[_.:]\w/.test(name)) return true;
  return /^[a-z][\w!?]+$/.test(name) && /^[\w$.*, -]+$/.test(inside);
}

// Haskell and its like write `name :: type`.
const isTyped = (text: string): boolean =>
  /^\(?[\w'.$]{1,80}\)? :: [^:]{1,1500}(?:->|=>)/.test(text) && !readsAsProse(text);

export function closingOf(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length && at < MAX_SIGNATURE; at++) {
    if (text[at] === "(") depth++;
    else if (text[at] === ")" && --depth === 0) return at;
  }
  return -1;
}

function readsAsProse(text: string): boolean {
  if (/[a-z]{2}[.!?] +[A-Z]/.test(text)) return true;
  let run = 0;
  for (const word of text.split(/\s+/)) {
    run = /^[a-z’']+$/i.test(word) && !KEYWORDS.has(word) ? run + 1 : 0;
    if (run === PROSE_RUN) return true;
  }
  return false;
}
