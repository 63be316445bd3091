/** The kinds of ranges that the index tells apart in Markdown. */
export type BlockKind = "heading" | "text" | "code";

/**
 * Receives a document's ranges in order, in UTF-16 code units of the Markdown, end exclusive.
 * @param level the level of a heading, 1–6; 0 otherwise
 */
export type BlockSink = (kind: BlockKind, start: number, end: number, level: number) => void;

// By CommonMark, a line that is indented this much after a blank line is code.
const CODE_INDENT = 4;

const SPACE = 0x20;
const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const HASH = 0x23;
const BACKTICK = 0x60;
const TILDE = 0x7e;
const EQUALS = 0x3d;
const HYPHEN = 0x2d;

/**
 * Splits Markdown into headings, text lines and code lines in one pass over its lines (CommonMark 0.31,
 * sections 4.2–4.5, as far as a search index needs them: lists, quotes and tables count as text). It leaves
 * out the markers of fences and the underlines of headings. Linear for any input.
 */
export function scanBlocks(markdown: string, sink: BlockSink): void {
  let fence = 0;
  let fenceUnit = 0;
  let isAfterBlank = true;
  let isInCode = false;
  // The previous line is held back, because an underline may turn it into a heading.
  let heldStart = -1;
  let heldEnd = -1;
  const release = () => {
    if (heldStart >= 0) sink("text", heldStart, heldEnd, 0);
    heldStart = -1;
  };
  for (let lineStart = 0; lineStart < markdown.length; ) {
    const newline = markdown.indexOf("\n", lineStart);
    const next = newline < 0 ? markdown.length : newline + 1;
    const end = lineEnd(markdown, lineStart, newline < 0 ? next : newline);
    const first = skipBlanks(markdown, lineStart, end);
    const indent = indentOf(markdown, lineStart, first);
    const start = lineStart;
    lineStart = next;
    if (fence > 0) {
      if (closesFence(markdown, first, end, fence, fenceUnit)) fence = 0;
      else if (first < end) sink("code", start, end, 0);
      isAfterBlank = true;
      continue;
    }
    if (first === end) {
      release();
      isAfterBlank = true;
      continue;
    }
    const unit = markdown.charCodeAt(first);
    const run = runLength(markdown, first, end, unit);
    if ((unit === BACKTICK || unit === TILDE) && run >= 3 && opensFence(markdown, first + run, end, unit)) {
      release();
      fence = run;
      fenceUnit = unit;
      isInCode = false;
      continue;
    }
    if (
      indent >= CODE_INDENT &&
      (isInCode || isAfterBlank) &&
      heldStart < 0 &&
      !isListItem(markdown, first)
    ) {
      isInCode = true;
      isAfterBlank = false;
      sink("code", start, end, 0);
      continue;
    }
    isInCode = false;
    isAfterBlank = false;
    if (unit === HASH && run <= 6 && indent < CODE_INDENT && isBlankAt(markdown, first + run, end)) {
      release();
      sink("heading", first + run, withoutClosing(markdown, first + run, end), run);
      isAfterBlank = true;
      continue;
    }
    const isUnderline =
      heldStart >= 0 && (unit === EQUALS || unit === HYPHEN) && isOnly(markdown, first + run, end);
    if (isUnderline && indent < CODE_INDENT && (run >= 3 || unit === EQUALS)) {
      sink("heading", heldStart, heldEnd, unit === EQUALS ? 1 : 2);
      heldStart = -1;
      isAfterBlank = true;
      continue;
    }
    const continues = heldStart >= 0;
    release();
    // Only the last line of a paragraph can be underlined; a longer paragraph is no heading.
    if (continues) sink("text", first, end, 0);
    else {
      heldStart = first;
      heldEnd = end;
    }
  }
  release();
}

function lineEnd(text: string, start: number, newline: number): number {
  let end = newline;
  while (end > start && isTrailing(text.charCodeAt(end - 1))) end--;
  return end;
}

const isTrailing = (unit: number): boolean =>
  unit === SPACE || unit === TAB || unit === RETURN || unit === NEWLINE;

function skipBlanks(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && (text.charCodeAt(at) === SPACE || text.charCodeAt(at) === TAB)) at++;
  return at;
}

function indentOf(text: string, start: number, first: number): number {
  let columns = 0;
  for (let i = start; i < first; i++) columns += text.charCodeAt(i) === TAB ? 4 - (columns % 4) : 1;
  return columns;
}

function runLength(text: string, start: number, end: number, unit: number): number {
  let at = start;
  while (at < end && text.charCodeAt(at) === unit) at++;
  return at - start;
}

// The info string of a backtick fence contains no backtick; otherwise it is inline code.
const opensFence = (text: string, from: number, end: number, unit: number): boolean =>
  unit === TILDE || text.slice(from, end).indexOf("`") < 0;

const closesFence = (text: string, first: number, end: number, length: number, unit: number): boolean => {
  const run = runLength(text, first, end, unit);
  return run >= length && first + run === end;
};

const isBlankAt = (text: string, at: number, end: number): boolean =>
  at >= end || text.charCodeAt(at) === SPACE || text.charCodeAt(at) === TAB;

const isOnly = (text: string, at: number, end: number): boolean => skipBlanks(text, at, end) === end;

function withoutClosing(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && text.charCodeAt(at - 1) === HASH) at--;
  return at > start && isBlankAt(text, at - 1, end) ? at : end;
}

// Items of a nested list are indented like code.
function isListItem(text: string, first: number): boolean {
  const unit = text.charCodeAt(first);
  const isBullet = unit === HYPHEN || unit === 0x2a || unit === 0x2b;
  if (isBullet) return text.charCodeAt(first + 1) === SPACE;
  let at = first;
  while (at < first + 9 && text.charCodeAt(at) >= 0x30 && text.charCodeAt(at) <= 0x39) at++;
  const mark = text.charCodeAt(at);
  return at > first && (mark === DOT || mark === PARENTHESIS) && text.charCodeAt(at + 1) === SPACE;
}

const DOT = 0x2e;
const PARENTHESIS = 0x29;
