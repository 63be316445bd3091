import { scanBlocks } from "../../markdown/index.ts";

/** The kinds of ranges that the index tells apart in Markdown. */
type LineKind = "heading" | "text" | "code";

/**
 * Receives a document's headings and lines in order, in UTF-16 code units of the Markdown, end exclusive.
 * @param level the level of a heading, 1–6; 0 otherwise
 * @param textStart where the text begins behind the marks of its list item or quotation
 */
type LineSink = (kind: LineKind, start: number, end: number, level: number, textStart: number) => void;

/** Splits Markdown into headings, lines of text and lines of code, without marks of blocks and references. */
export function scanLines(markdown: string, sink: LineSink): void {
  let kind: LineKind = "text";
  let level = 0;
  let isTable = false;
  let count = 0;
  let headingStart = 0;
  let headingEnd = 0;
  scanBlocks(markdown, {
    begin: (leaf) => {
      kind = leaf.kind === "heading" || leaf.kind === "code" ? leaf.kind : "text";
      level = leaf.kind === "heading" ? leaf.level : 0;
      isTable = leaf.kind === "table";
      count = 0;
    },
    line: (start, end, outerStart) => {
      count++;
      const isDashes = isTable && count === 2;
      if (kind === "heading") {
        if (count === 1) headingStart = start;
        headingEnd = end;
      }
      if (kind === "heading" || start === end || isDashes) return;
      const textStart = isTable && markdown[start] === "|" ? start + 1 : start;
      sink(kind, kind === "text" ? outerStart : start, end, level, textStart);
    },
    end: () => {
      if (kind === "heading") sink(kind, headingStart, headingEnd, level, headingStart);
    },
  });
}

const SPACE = 0x20;
const TAB = 0x09;
const RETURN = 0x0d;
const NEWLINE = 0x0a;
const HASH = 0x23;
const DEFINED_NAME =
  /^[\s>|*+`-]*[`*_$./-]*[\p{L}_][\p{L}\p{N}]*(?:[_.:(-][\p{L}\p{N}_(]|\p{Ll}\p{Lu}|\p{N}|`|\*\*)/u;

const MAX_TERM_LENGTH = 90;
const MAX_TERM_RUNS = 4;

/**
 * Counts how many of a line's first words are being defined by the line or the text below it: the term of a
 * definition list, the signature of a function, the first cell of a row, an option before its description.
 * Reference pages define hundreds of names in this way without giving them headings.
 * @param start the start of the line's text after its indentation, in UTF-16 code units
 * @param previousEnd where the previous range ended
 */
export function definedRuns(markdown: string, start: number, end: number, previousEnd: number): number {
  const mark = listMarkEnd(markdown, start, end);
  const isItem = mark > 0 && mark < end && isBlank(markdown.charCodeAt(mark));
  if (!isItem && !opensParagraph(markdown, start, previousEnd)) return 0;
  const line = markdown.slice(start, Math.min(end, start + 2 * MAX_TERM_LENGTH));
  const isShort =
    end - start <= MAX_TERM_LENGTH && !/[.!?,;:]$/.test(line) && !isWrapped(markdown, start, end);
  if (!isShort) return DEFINED_NAME.test(line) ? 1 : 0;
  const signature = line.search(/[([|]/);
  const named = signature > 0 ? line.slice(0, signature) : line;
  return Math.min(MAX_TERM_RUNS, named.split(/[\s,]+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length);
}

/** The end of the bullet, quote mark, row mark or item number at the start of a text; 0 without one. */
function listMarkEnd(text: string, start: number, end: number): number {
  if (start >= end) return 0;
  if (MARKS.includes(text[start]!)) return start + 1;
  let at = start;
  while (at < end && at < start + MAX_ITEM_DIGITS && isDigit(text.charCodeAt(at))) at++;
  return at > start && at < end && (text[at] === "." || text[at] === ")") ? at + 1 : 0;
}

const MARKS = "-*+>|";
const MAX_ITEM_DIGITS = 9;

/** Whether a line follows a blank line, a heading, or a line that is indented more. */
function opensParagraph(markdown: string, start: number, previousEnd: number): boolean {
  if (previousEnd === 0) return true;
  let own = start - previousEnd;
  let isLineBlank = false;
  for (let at = previousEnd; at < start; at++) {
    const unit = markdown.charCodeAt(at);
    if (unit !== NEWLINE) {
      isLineBlank &&= isBlank(unit) || unit === RETURN;
      continue;
    }
    if (isLineBlank) return true;
    isLineBlank = true;
    own = start - 1 - at;
  }
  const lineStart = markdown.lastIndexOf("\n", previousEnd - 1) + 1;
  let indent = 0;
  while (indent < MAX_INDENT && isBlank(markdown.charCodeAt(lineStart + indent))) indent++;
  return indent > own;
}

const MAX_INDENT = 40;

/** Whether the next line continues the paragraph, so that this is wrapped prose. */
function isWrapped(markdown: string, start: number, end: number): boolean {
  const newline = markdown.indexOf("\n", end);
  if (newline < 0) return false;
  const limit = Math.min(markdown.length, newline + 1 + MAX_TERM_LENGTH);
  let first = newline + 1;
  while (first < limit && isSpace(markdown.charCodeAt(first))) {
    if (markdown.charCodeAt(first) === NEWLINE) return false;
    first++;
  }
  if (first === limit || markdown.charCodeAt(first) === HASH) return false;
  const mark = listMarkEnd(markdown, first, limit);
  if (mark > 0 && (mark === limit || isBlank(markdown.charCodeAt(mark)) || markdown[mark] === "\n"))
    return false;
  const lineStart = markdown.lastIndexOf("\n", start - 1) + 1;
  return first - newline - 1 <= start - lineStart;
}

const isBlank = (unit: number): boolean => unit === SPACE || unit === TAB;

const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39;

/** Whether `trim` would remove the character. */
const isSpace = (unit: number): boolean =>
  unit < 0x80
    ? unit === SPACE || (unit >= TAB && unit <= RETURN)
    : unit >= 0xa0 && /\s/.test(String.fromCharCode(unit));
