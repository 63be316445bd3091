import { escapeAttribute } from "../base/text.ts";
import { type Block, type Inline, inlineText, readInline, readMarkdown } from "../markdown/index.ts";
import type { Analyser } from "./analysis/analyser.ts";
import { foldWord } from "./analysis/run-words.ts";
import { Tokenizer } from "./analysis/tokenizer.ts";
import type { QueryTerm } from "./query/compile.ts";
import type { Phrase } from "./query/phrases.ts";
import { operator } from "./query/signs.ts";
import { FUNCTION_WORDS } from "./query/word-lists.ts";
import type { DocumentParts } from "./types.ts";

export const SNIPPET_STYLES = ["plain", "html", "rich"] as const;

/**
 * `plain` is the text itself; `html` is escaped for HTML with matched words in `<mark>`; `rich` has code in `<code>`
 * besides. Words such as `the` and `of` are marked only if nothing else was asked for, or in quotes.
 */
export type SnippetStyle = (typeof SNIPPET_STYLES)[number];

export type SnippetSettings = {
  readonly style: SnippetStyle;
  /** The most characters of a fragment without long parameters, before escaping; 80–2000. */
  readonly fragmentChars: number;
  /** The most fragments, 1–5. */
  readonly maxFragments: number;
  /** How many characters are shown before the first and after the last match of a fragment; 40–800. */
  readonly contextChars: number;
};

/**
 * The fragments of a document's section that contain the words of a query, joined by ` … `. When the section
 * has none, and its heading neither, the whole document is used; when that has none, the start of the section is
 * shown. Only the first 50 000 characters of either are read.
 * @param section the number of the section in `document.sections`
 */
export function makeSnippet(
  document: DocumentParts,
  section: number,
  query: SnippetQuery,
  settings: SnippetSettings,
): string {
  const range = document.sections[section] ?? { heading: "", start: 0, end: Number.POSITIVE_INFINITY };
  const { analyser, terms: all, signs } = query;
  const matchesIn = (text: string): Match[] =>
    signs === null ? findMatches(text, analyser, all) : placesOfSigns(text, signs);
  let source = sourceOf(document, range);
  let text = plainText(source);
  let matches = matchesIn(text);
  const isAboutHeading = (): boolean => matchesIn(range.heading).length > 0;
  if (matches.length === 0 && (text === "" || !isAboutHeading())) {
    const whole = sourceOf(document, { start: 0, end: Number.POSITIVE_INFINITY });
    const wholeText = plainText(whole);
    const found = matchesIn(wholeText);
    if (found.length > 0 || text === "") {
      source = whole;
      text = wholeText;
      matches = found;
    }
  }
  const fragments = chooseFragments(text, matches, settings);
  if (settings.style === "plain") return joinFragments(text, fragments, (part) => part);
  const terms = markedTerms(query);
  const code = settings.style === "rich" ? codeIn(source) : [];
  return joinFragments(text, fragments, (part, { start }) => {
    const marks =
      terms === query.terms
        ? matches.map((match) => movedBy(match, -start))
        : findMatches(part, query.analyser, terms);
    const ranges = code.map((one) => movedBy(one, -start));
    return partsAt(part, ranges)
      .map(({ text: piece, at, isInside }) => {
        const html = markedHtml(
          piece,
          marks.map((mark) => movedBy(mark, -at)),
        );
        return isInside ? `<code>${html}</code>` : html;
      })
      .join("");
  });
}

type SnippetQuery = {
  readonly analyser: Analyser;
  readonly terms: readonly QueryTerm[];
  readonly phrases: readonly Phrase[];
  readonly signs: string | null;
};

/** Finds signs that are not part of another operator. */
const placesOfSigns = (text: string, signs: string): Match[] =>
  Array.from(text.matchAll(operator(signs, "gu")).take(MAX_MATCHES), ({ index }) => ({
    start: index,
    end: index + signs.length,
    term: 0,
    weight: 1,
  }));

/** Returns the terms to mark, without function words outside of quotes unless nothing else is left. */
function markedTerms({ analyser, terms, phrases }: SnippetQuery): readonly QueryTerm[] {
  const empty = new Set(FUNCTION_WORDS[analyser.language].map((word) => analyser.stem(foldWord(word))));
  if (!terms.some(({ entry }) => empty.has(entry.term))) return terms;
  const quoted = new Set(phrases.flat(2).map(({ entry }) => entry.term));
  const telling = terms.filter(({ entry }) => !empty.has(entry.term) || quoted.has(entry.term));
  return telling.length === 0 ? terms : telling;
}

// A snippet's text is searched within this much of a section; people rarely read more of one section either.
const MAX_CHARACTERS = 50_000;

const sourceOf = (document: DocumentParts, { start, end }: Fragment): string =>
  document.markdownOf(start, Math.min(end, start + MAX_CHARACTERS));

function joinFragments(
  text: string,
  fragments: readonly Fragment[],
  show: (part: string, fragment: Fragment) => string,
): string {
  if (fragments.length === 0) return "";
  const shown = fragments.map((fragment) => show(text.slice(fragment.start, fragment.end), fragment));
  const opening = fragments[0]!.start > 0 ? "… " : "";
  const closing = fragments[fragments.length - 1]!.end < text.length ? " …" : "";
  return opening + shown.join(" … ") + closing;
}

const movedBy = ({ start, end }: Fragment, by: number): Fragment => ({ start: start + by, end: end + by });

/** A text in pieces, which are inside the ranges (ascending) or between them. */
function partsAt(text: string, ranges: readonly Fragment[]) {
  const pieces: { readonly text: string; readonly at: number; readonly isInside: boolean }[] = [];
  let at = 0;
  const add = (end: number, isInside: boolean): void => {
    if (end > at) pieces.push({ text: text.slice(at, end), at, isInside });
    at = Math.max(at, end);
  };
  for (const { start, end } of ranges) {
    add(Math.min(start, text.length), false);
    add(Math.min(end, text.length), true);
  }
  add(text.length, false);
  return pieces;
}

const markedHtml = (text: string, marks: readonly Fragment[]): string =>
  partsAt(text, marks)
    .map(({ text: piece, isInside }) => (isInside ? `<mark>${escaped(piece)}</mark>` : escaped(piece)))
    .join("");

const escaped = (text: string): string => escapeAttribute(text).replaceAll("'", "&#39;");

const SPACE = 0x20;
const TILDE = 0x7e;

/**
 * Turns a range of Markdown into one line of plain text, without its headings. The reader of the pages reads
 * it too, so no mark, link target or tag is left or cut in half.
 */
export function plainText(source: string): string {
  const known = plainTexts.get(source);
  if (known !== undefined) return known;
  const text = printable(readText(source).text);
  if (plainTexts.size === MAX_PLAIN_TEXTS) plainTexts.clear();
  if (source.length <= LONGEST_KEPT) plainTexts.set(source, text);
  return text;
}

/** The text of sections by their Markdown, at most 16 MB: some are among the hits of many queries. */
const plainTexts = new Map<string, string>();
const MAX_PLAIN_TEXTS = 2000;
const LONGEST_KEPT = 2000;

/** The ranges of `plainText` that are code. */
function codeIn(source: string): Fragment[] {
  const { text, code } = readText(source);
  const ranges: Fragment[] = [];
  let printed = "";
  let at = 0;
  // Runs `printable` piece by piece, to find the new position of each piece.
  const place = (end: number): number => {
    const piece = oneLine(text.slice(at, end));
    printed += printed === "" || printed.endsWith(" ") ? piece.replace(/^ /, "") : piece;
    at = end;
    return printed.length;
  };
  for (const { start, end } of code) {
    const range = { start: place(start), end: place(end) };
    if (range.end > range.start) ranges.push(range);
  }
  return ranges;
}

/** The words of a range of Markdown, and which of them are code. */
function readText(source: string): { readonly text: string; readonly code: readonly Fragment[] } {
  const document = readMarkdown(source);
  const code: Fragment[] = [];
  let text = "";
  const addCode = (words: string): void => {
    code.push({ start: text.length, end: text.length + words.length });
    text += words;
  };
  const addInlines = (inlines: readonly Inline[]): void => {
    for (const inline of inlines)
      if (inline.kind === "code") addCode(inline.text);
      else if (inline.kind === "link" || inline.kind === "span") addInlines(inline.children);
      else text += inlineText([inline]);
  };
  const addText = (words: string): void => {
    addInlines(readInline(words, document));
    text += " ";
  };
  const add = (block: Block): void => {
    switch (block.kind) {
      case "paragraph":
        addText(block.text);
        break;
      case "code":
        addCode(block.text);
        text += " ";
        break;
      case "math":
        text += `${block.tex} `;
        break;
      case "table":
        for (const row of [block.header, ...block.rows]) addText(rowText(row));
        break;
      case "list":
        for (const item of block.items) item.blocks.forEach(add);
        break;
      case "details":
        addText(block.summary);
        block.blocks.forEach(add);
        break;
      case "quote":
      case "note":
        block.blocks.forEach(add);
    }
  };
  document.blocks.forEach(add);
  for (const blocks of document.footnotes.values()) blocks.forEach(add);
  return { text, code };
}

/** A row of a table as a clause: `--size N: how many hits, default 10;`. */
function rowText(cells: readonly string[]): string {
  const [first, ...others] = cells.map((cell) => cell.trim()).filter((cell) => cell !== "");
  if (first === undefined) return "";
  const text = others.length === 0 ? first : `${first.replace(/:$/, "")}: ${others.join(", ")}`;
  return /[.!?;:]$/.test(text) ? text : `${text};`;
}

/** Makes text one line without control characters and lone surrogates. */
const printable = (text: string): string => (isOneLine(text) ? text.trim() : oneLine(text).trim());

const oneLine = (text: string): string => text.toWellFormed().replace(/[\p{Cc}\s]+/gu, " ");

/** Whether a text is printable ASCII with single spaces only, like most texts. */
function isOneLine(text: string): boolean {
  let before = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < SPACE || unit > TILDE || (unit === SPACE && before === SPACE)) return false;
    before = unit;
  }
  return true;
}

/** A range of a text in UTF-16 code units, end exclusive. */
type Fragment = { readonly start: number; readonly end: number };

type FragmentLimits = Omit<SnippetSettings, "style">;

/**
 * Chooses the ranges that show most of what was asked for, in the order of the text and never touching: the
 * first has the highest weight of different terms, each further one that of the terms which are still
 * missing. They end at spaces, so that no word is cut unless it alone is over the limit. The parameters of a function
 * whose name matches are shown to their end; a fragment that is longer for them takes the place of further ones.
 */
export function chooseFragments(text: string, found: readonly Match[], limits: FragmentLimits): Fragment[] {
  if (found.length === 0) return text === "" ? [] : [cutAt(text, 0, text.length, limits.fragmentChars)];
  // Of equal places a definition, or else a call, tells the most.
  const matches = found.map((match) =>
    parametersAfter(text, match.end) < 0 ? match : { ...match, weight: match.weight * DEFINING },
  );
  const chosen: Fragment[] = [];
  const shown = new Set<number>();
  let left = limits.maxFragments;
  while (left > 0) {
    const window = bestWindow(matches, chosen, shown, limits.fragmentChars);
    if (!window) break;
    const fragment = fragmentAround(text, window, chosen, {
      ...limits,
      maxFragments: left,
      parametersEnd: lastParametersEnd(text, window, matches),
    });
    chosen.push(fragment);
    left -= Math.max(1, Math.ceil((fragment.end - fragment.start) / limits.fragmentChars));
    for (const match of matches) if (isInside(match, window)) shown.add(match.term);
  }
  return chosen.sort((a, b) => a.start - b.start);
}

const DEFINING = 1.001;

/** The most characters that may stand between a match and the bracket, such as the rest of a name or its generics. */
const MAX_NAME_REST = 60;
/** Longer lists of parameters are cut. */
const MAX_PARAMETERS = 600;

/** Returns the position of the opening bracket of parameters directly after a name, or -1. */
function parametersAfter(text: string, end: number): number {
  NAME_REST.lastIndex = end;
  const rest = NAME_REST.exec(text)?.[0] ?? "";
  return rest.length <= MAX_NAME_REST && text[end + rest.length] === "(" ? end + rest.length : -1;
}

const NAME_REST = /[\w.:$#<>]{0,61}/y;

/** The end of the window's last parameters of a function that it names, and of what that returns; 0 without any. */
function lastParametersEnd(text: string, window: Fragment, matches: readonly Match[]): number {
  let last = 0;
  for (const match of matches) {
    if (!isInside(match, window)) continue;
    const open = parametersAfter(text, match.end);
    if (open >= 0) last = Math.max(last, parametersEnd(text, open));
  }
  return last;
}

function parametersEnd(text: string, open: number): number {
  const limit = Math.min(text.length, open + MAX_PARAMETERS);
  let depth = 0;
  for (let at = open; at < limit; at++) {
    if (text[at] === "(") depth++;
    else if (text[at] === ")" && --depth === 0) {
      RETURNS.lastIndex = at + 1;
      return RETURNS.test(text) ? RETURNS.lastIndex : at + 1;
    }
  }
  return limit;
}

const RETURNS = /(?: ?->|:) ?[^\s({]{1,60}/y;

const isInside = (match: Match, { start, end }: Fragment): boolean =>
  match.start >= start && match.end <= end;

/** The range of matches with the highest weight of terms that have not been shown; null when there is none. */
function bestWindow(
  matches: readonly Match[],
  taken: readonly Fragment[],
  shown: ReadonlySet<number>,
  limit: number,
): Fragment | null {
  let best: Fragment | null = null;
  let bestValue = 0;
  matches.forEach((first, index) => {
    const seen = new Set<number>();
    let value = 0;
    for (let i = index; i < matches.length; i++) {
      const match = matches[i]!;
      if (i > index && match.end - first.start > limit) break;
      if (taken.some((fragment) => match.start < fragment.end && match.end > fragment.start)) break;
      if (!seen.has(match.term) && !shown.has(match.term)) value += match.weight;
      seen.add(match.term);
      if (value > bestValue * (1 + 1e-9)) {
        bestValue = value;
        best = { start: first.start, end: match.end };
      }
    }
  });
  return best;
}

function fragmentAround(
  text: string,
  { start: first, end: last }: Fragment,
  taken: readonly Fragment[],
  {
    fragmentChars,
    maxFragments,
    contextChars,
    parametersEnd,
  }: FragmentLimits & { readonly parametersEnd: number },
): Fragment {
  const floor = Math.max(0, ...taken.filter(({ end }) => end <= first).map(({ end }) => end + 1));
  const ceiling = Math.min(
    text.length,
    ...taken.filter(({ start }) => start >= last).map(({ start }) => start - 1),
  );
  const earliest = Math.max(last, Math.min(parametersEnd, ceiling));
  // For long parameters the fragment may be as long as all that are left.
  const characters = Math.max(
    fragmentChars,
    Math.min(fragmentChars * maxFragments, earliest - first + KEYWORDS),
  );
  const spare = Math.max(0, characters - (earliest - first));
  const before = Math.min(contextChars, first - floor, Math.floor(spare / 2));
  const after = Math.min(contextChars, Math.max(0, ceiling - earliest), spare - before);
  const start = wordStart(text, first - before, first);
  const end = wordEnd(text, earliest + after, earliest);
  return end - start <= characters ? { start, end } : cutAt(text, start, end, characters);
}

/** Room for `async def` and the like on either side. */
const KEYWORDS = 40;

const isSpace = (text: string, index: number): boolean => text[index] === " ";

/** The first start of a word from `at` up to `latest`; `latest` itself when one word fills the range. */
function wordStart(text: string, at: number, latest: number): number {
  if (at <= 0 || isSpace(text, at - 1)) return Math.max(0, at);
  const space = text.indexOf(" ", at);
  if (space >= 0 && space < latest) return space + 1;
  // A match may begin inside something longer, like `(value`.
  const before = text.lastIndexOf(" ", latest - 1) + 1;
  return latest - before <= MAX_STICKING ? before : wholeCharacter(text, latest);
}

function wordEnd(text: string, at: number, earliest: number): number {
  if (at >= text.length || isSpace(text, at)) return Math.min(at, text.length);
  const space = text.lastIndexOf(" ", at);
  if (space >= earliest) return space;
  const after = text.indexOf(" ", earliest);
  const end = after < 0 ? text.length : after;
  return end - earliest <= MAX_STICKING ? end : wholeCharacter(text, earliest);
}

// Brackets and the like around a match are kept; scripts without spaces are cut between characters.
const MAX_STICKING = 20;

/** A range of at most `limit` characters from `start` on, ended at a space if possible. */
function cutAt(text: string, start: number, end: number, limit: number): Fragment {
  if (end - start <= limit) return { start, end };
  const space = text.lastIndexOf(" ", start + limit);
  return { start, end: space > start ? space : wholeCharacter(text, start + limit) };
}

/** The same index, or one less when it would split a surrogate pair. */
function wholeCharacter(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff ? index - 1 : index;
}

/** A word of a text that the query asks for, as a range of UTF-16 code units, end exclusive. */
type Match = {
  readonly start: number;
  readonly end: number;
  /** The number of the query's term. */
  readonly term: number;
  readonly weight: number;
};

const MAX_MATCHES = 400;

/** Finds the words of a text that a query's terms match, in order. */
function findMatches(text: string, analyser: Analyser, terms: readonly QueryTerm[]): Match[] {
  const numbers = new Map(terms.map(({ entry }, number) => [entry.term, number]));
  const openings = new TermPrefixes(numbers.keys());
  const tokenizer = new Tokenizer();
  const runs = analyser.prose;
  tokenizer.reset(text, 0, text.length);
  const matches: Match[] = [];
  while (matches.length < MAX_MATCHES && tokenizer.next()) {
    const { start, end } = tokenizer;
    // Most words of a text have nothing to do with the query, and analysing them is a snippet's main cost.
    if (!openings.mayBeIn(text, start, end)) continue;
    const code = runs.codeAt(text, start, end);
    for (const word of code >= 0 ? [code] : runs.shape(code).words) {
      const term = numbers.get(analyser.term(word));
      if (term === undefined) continue;
      const { entry, forms, weight } = terms[term]!;
      if (forms && !forms.has(entry.forms.indexOf(analyser.form(word)))) continue;
      matches.push({ start, end, term, weight });
      break;
    }
  }
  return matches;
}

const ASCII = 0x80;
const LETTERS = 26;
const LETTER_A = 0x61;
const LETTER_I = 0x69;
const LETTER_Y = 0x79;
const OTHER_BIT = 1 << LETTERS;
const ALL_BITS = 2 * OTHER_BIT - 1;

/** Shorter stems say too little about the words that they come from. */
const MIN_TERM_LENGTH = 3;

/**
 * The first two letters of some terms, which show without analysis that a written run has none of them.
 * Neither folding nor stemming changes these letters of an ASCII word, except that a second `y` may become
 * `i` (`dying`, `die`); a run outside ASCII may always contain a term.
 */
export class TermPrefixes {
  /** Each first letter has a bit for each possible second one. */
  readonly #seconds = new Int32Array(ASCII);

  constructor(terms: Iterable<string>) {
    for (const term of terms) {
      const first = term.charCodeAt(0);
      // A term outside ASCII is only in runs outside ASCII, or in runs that fold to it; those always pass.
      if (first < ASCII) this.#seconds[first]! |= term.length < MIN_TERM_LENGTH ? ALL_BITS : bitOf(term, 1);
    }
  }

  /** Whether a part of the run from `start` to `end` (exclusive) may be one of the terms. */
  mayBeIn(text: string, start: number, end: number): boolean {
    let isInWord = false;
    let mayBe = false;
    for (let at = start; at < end; at++) {
      const unit = text.charCodeAt(at);
      if (unit >= ASCII) return true;
      const isUpper = unit >= 0x41 && unit <= 0x5a;
      // A part begins with a capital, or after a character that is no letter or digit.
      if (!isInWord || isUpper) {
        const seconds = this.#seconds[isUpper ? unit | 0x20 : unit]!;
        if (seconds !== 0 && (seconds & bitOf(text, at + 1)) !== 0) mayBe = true;
      }
      isInWord = isUpper || (unit >= LETTER_A && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39);
    }
    return mayBe;
  }
}

function bitOf(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  const lower = unit >= 0x41 && unit <= 0x5a ? unit | 0x20 : unit;
  if (lower >= LETTER_A && lower <= 0x7a) return 1 << ((lower === LETTER_Y ? LETTER_I : lower) - LETTER_A);
  return OTHER_BIT;
}
