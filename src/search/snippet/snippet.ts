import { escapeAttribute } from "../../base/text.ts";
import { type Block, inlineText, readInline, readMarkdown } from "../../markdown/index.ts";
import type { Analyser } from "../analysis/analyser.ts";
import type { QueryTerm } from "../query/compile.ts";
import type { DocumentParts } from "../types.ts";
import { chooseFragments, type Fragment, findMatches, type Match } from "./fragments.ts";

export const SNIPPET_STYLES = ["plain", "html"] as const;

/** `plain` is the text itself; `html` is escaped for HTML with matched words in `<mark>`. */
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
  query: { readonly analyser: Analyser; readonly terms: readonly QueryTerm[] },
  settings: SnippetSettings,
): string {
  const range = document.sections[section] ?? { heading: "", start: 0, end: Number.POSITIVE_INFINITY };
  let text = textOf(document, range);
  let matches = findMatches(text, query.analyser, query.terms);
  const isAboutHeading = (): boolean => findMatches(range.heading, query.analyser, query.terms).length > 0;
  if (matches.length === 0 && (text === "" || !isAboutHeading())) {
    const whole = textOf(document, { start: 0, end: Number.POSITIVE_INFINITY });
    const found = findMatches(whole, query.analyser, query.terms);
    if (found.length > 0 || text === "") {
      text = whole;
      matches = found;
    }
  }
  const fragments = chooseFragments(text, matches, {
    characters: settings.fragmentChars,
    count: settings.maxFragments,
    context: settings.contextChars,
  });
  return joinFragments(text, fragments, settings.style === "html" ? matches : null);
}

// A snippet's text is searched within this much of a section; people rarely read more of one section either.
const MAX_CHARACTERS = 50_000;

const textOf = (document: DocumentParts, { start, end }: Fragment): string =>
  plainText(document.markdownOf(start, Math.min(end, start + MAX_CHARACTERS)));

/** @param matches the words to mark; null for plain text */
function joinFragments(
  text: string,
  fragments: readonly Fragment[],
  matches: readonly Match[] | null,
): string {
  if (fragments.length === 0) return "";
  const shown = fragments.map((fragment) =>
    matches ? markedHtml(text, fragment, matches) : text.slice(fragment.start, fragment.end),
  );
  const opening = fragments[0]!.start > 0 ? "… " : "";
  const closing = fragments[fragments.length - 1]!.end < text.length ? " …" : "";
  return opening + shown.join(" … ") + closing;
}

function markedHtml(text: string, { start, end }: Fragment, matches: readonly Match[]): string {
  let html = "";
  let at = start;
  for (const match of matches) {
    if (match.start < at || match.end > end) continue;
    html += `${escaped(text.slice(at, match.start))}<mark>${escaped(text.slice(match.start, match.end))}</mark>`;
    at = match.end;
  }
  return html + escaped(text.slice(at, end));
}

const escaped = (text: string): string => escapeAttribute(text).replaceAll("'", "&#39;");

const SPACE = 0x20;
const TILDE = 0x7e;

/**
 * Turns a range of Markdown into one line of plain text, without its headings. The reader of the pages reads
 * it too, so no mark, link target or tag is left or cut in half.
 */
export function plainText(source: string): string {
  const document = readMarkdown(source);
  const parts: string[] = [];
  const addText = (text: string): void => {
    parts.push(inlineText(readInline(text, document)));
  };
  const add = (block: Block): void => {
    switch (block.kind) {
      case "paragraph":
        addText(block.text);
        break;
      case "code":
        parts.push(block.text);
        break;
      case "math":
        parts.push(block.tex);
        break;
      case "table":
        for (const row of [block.header, ...block.rows]) addText(row.join(" | "));
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
  return printable(parts.join(" "));
}

/** Makes text one line without control characters and lone surrogates. */
export const printable = (text: string): string =>
  isOneLine(text)
    ? text.trim()
    : text
        .toWellFormed()
        .replace(/[\p{Cc}\s]+/gu, " ")
        .trim();

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
