import { escapeAttribute } from "../../base/text.ts";
import { type Block, type Inline, inlineText, readInline, readMarkdown } from "../../markdown/index.ts";
import type { Analyser } from "../analysis/analyser.ts";
import { foldWord } from "../analysis/run-words.ts";
import type { QueryTerm } from "../query/compile.ts";
import type { Phrase } from "../query/phrases.ts";
import { FUNCTION_WORDS } from "../query/word-lists.ts";
import type { DocumentParts } from "../types.ts";
import { chooseFragments, type Fragment, findMatches, type Match } from "./fragments.ts";

export const SNIPPET_STYLES = ["plain", "html", "rich"] as const;

/**
 * `plain` is the text itself; `html` is escaped for HTML with matched words in `<mark>`; `rich` has code in `<code>`
 * besides. Words such as `the` and `of` are marked only if nothing else was asked for, or in quotes.
 */
export type SnippetStyle = (typeof SNIPPET_STYLES)[number];

export type SnippetSettings = {
  readonly style: SnippetStyle;
  /** The most characters of a fragment, before escaping; 80–2000. */
  readonly fragmentChars: number;
  /** The most fragments, 1–5. */
  readonly maxFragments: number;
  /** How many characters are shown on either side of a fragment's matches; 40–800. */
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
  const matchesIn = (text: string): Match[] => findMatches(text, query.analyser, query.terms);
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
  const fragments = chooseFragments(text, matches, {
    characters: settings.fragmentChars,
    count: settings.maxFragments,
    context: settings.contextChars,
  });
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

export type SnippetQuery = {
  readonly analyser: Analyser;
  readonly terms: readonly QueryTerm[];
  readonly phrases: readonly Phrase[];
};

/** The terms whose words are marked: those that say something, unless there is none. */
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
export const plainText = (source: string): string => printable(readText(source).text);

/** The ranges of `plainText` that are code. */
export function codeIn(source: string): Fragment[] {
  const { text, code } = readText(source);
  const ranges: Fragment[] = [];
  let printed = "";
  let at = 0;
  // What `printable` does, piece by piece, tells where each piece comes to stand.
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
export const printable = (text: string): string => (isOneLine(text) ? text.trim() : oneLine(text).trim());

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
