/** Part of a text, and where the next part begins; null at the end. */
export type TextPage = { readonly content: string; readonly nextOffset: number | null };

/**
 * Takes at most so many characters of a Markdown text, up to the end of a paragraph, and not inside a fenced
 * code block. A paragraph that alone is longer is cut at a line, a longer line at a blank. Between two pages
 * only line breaks, or one blank, are left out.
 * @param range.offset UTF-16 code units
 * @param range.maxChars at least 1; a character of two code units is not cut
 */
export function pageOfText(
  text: string,
  { offset, maxChars }: { readonly offset: number; readonly maxChars: number },
): TextPage {
  const start = isInsidePair(text, offset) ? offset + 1 : Math.min(offset, text.length);
  const limit = start + maxChars;
  if (limit >= text.length) return { content: text.slice(start), nextOffset: null };
  const { end, next } = cutBefore(text, start, limit);
  return { content: text.slice(start, end), nextOffset: next < text.length ? next : null };
}

type Cut = { readonly end: number; readonly next: number };

function cutBefore(text: string, start: number, limit: number): Cut {
  // The blank line behind the last paragraph does not count.
  const window = text.slice(start, limit + 2);
  const paragraph = lastParagraphEnd(window, openFence(text.slice(0, start)));
  if (paragraph > 0) return afterLineBreaks(text, start + paragraph);
  const line = lastBreak(window, "\n", limit - start);
  if (line > 0) return afterLineBreaks(text, start + line);
  const blank = lastBreak(window, " ", limit - start);
  if (blank > 0) return { end: start + blank, next: start + blank + 1 };
  const pair = isInsidePair(text, limit) ? (limit - 1 > start ? -1 : 1) : 0;
  return { end: limit + pair, next: limit + pair };
}

/** Where the last such mark stands with words before it; 0 when there is none. */
function lastBreak(window: string, mark: string, length: number): number {
  const at = window.lastIndexOf(mark, length);
  return at > 0 && window.slice(0, at).trim() !== "" ? at : 0;
}

/** Skips empty lines, but not the indentation of the next one, which may have a meaning. */
function afterLineBreaks(text: string, end: number): Cut {
  const empty = /(?:[\t ]*\n)*/y;
  empty.lastIndex = end;
  return { end, next: end + (empty.exec(text)?.[0].length ?? 0) };
}

// A block's fence may stand in a list or a quotation.
const FENCE = /^[\t >]*(?:(?:[-*+]|\d{1,9}[.)])[\t >]+)?(`{3,}|~{3,})(.*)$/;

/** The fence of the code block that is open behind a line. @param open the one before it */
function fenceAfter(line: string, open: string | null): string | null {
  const [, marks, rest = ""] = FENCE.exec(line) ?? [];
  if (marks === undefined) return open;
  if (open === null) return marks;
  return marks.startsWith(open) && rest.trim() === "" ? null : open;
}

/** The fence of the code block in which a text ends. */
function openFence(text: string): string | null {
  let fence: string | null = null;
  for (const [line] of text.matchAll(/^.*(?:```|~~~).*$/gm)) fence = fenceAfter(line, fence);
  return fence;
}

/** The end of the last paragraph with an empty line behind it; 0 when there is none outside code blocks. */
function lastParagraphEnd(window: string, openBefore: string | null): number {
  let fence = openBefore;
  let end = 0;
  let textEnd = 0;
  for (let at = 0; at < window.length; ) {
    const lineEnd = window.indexOf("\n", at);
    if (lineEnd < 0) return end;
    const line = window.slice(at, lineEnd);
    fence = fenceAfter(line, fence);
    if (line.trim() !== "") textEnd = at + line.trimEnd().length;
    else if (fence === null) end = textEnd;
    at = lineEnd + 1;
  }
  return end;
}

const isInsidePair = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at);
  return at > 0 && unit >= 0xdc00 && unit <= 0xdfff;
};
