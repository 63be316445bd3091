import { wordsOf } from "../../../base/text.ts";
import type { StoredDocument } from "../../../search/index.ts";

/** A part of a document's Markdown, UTF-16 code units, end exclusive. */
export type Range = { readonly start: number; readonly end: number };

/**
 * The paragraph that has most of some words, with so many characters on either side, up to where a paragraph
 * ends.
 * @returns null when the document has none of the words
 */
export function rangeOfWords(document: StoredDocument, text: string, surroundingChars: number): Range | null {
  const core = passageOf(document, text);
  if (!core) return null;
  const { markdown } = document;
  return {
    start: paragraphStart(markdown, core.start - surroundingChars),
    end: paragraphEnd(markdown, core.end + surroundingChars),
  };
}

/** The paragraph with most of the words, each counted once; the first of several. */
function passageOf({ markdown }: StoredDocument, text: string): Range | null {
  const words = new Set(wordsOf(text));
  if (words.size === 0) return null;
  let best: Range | null = null;
  let bestCount = 0;
  for (const { 0: paragraph, index } of markdown.matchAll(/[^\n](?:[^\n]|\n(?!\s*\n))*/g)) {
    const present = new Set(wordsOf(paragraph));
    let count = 0;
    for (const word of words) if (present.has(word)) count++;
    if (count <= bestCount) continue;
    bestCount = count;
    best = { start: index, end: index + paragraph.length };
  }
  return best;
}

function paragraphStart(markdown: string, at: number): number {
  if (at <= 0) return 0;
  const end = markdown.lastIndexOf("\n\n", at);
  return end < 0 ? 0 : end + 2;
}

function paragraphEnd(markdown: string, at: number): number {
  if (at >= markdown.length) return markdown.length;
  const end = markdown.indexOf("\n\n", at);
  return end < 0 ? markdown.length : end;
}

/**
 * Where a part of at most so many characters ends: at the last end of a paragraph in its second half that is
 * not inside code, else of a line, else of a word. It is one more where that would split a character.
 */
export function endOfPart(markdown: string, { start, end }: Range, maxChars: number): number {
  if (end - start <= maxChars) return end;
  const limit = start + maxChars;
  const half = start + Math.floor(maxChars / 2);
  const fence = openFence(markdown, start, limit);
  const before = fence > half ? fence : limit;
  for (const [boundary, from] of [
    ["\n\n", before],
    ["\n", limit],
    [" ", limit],
  ] as const) {
    const at = markdown.lastIndexOf(boundary, from);
    if (at > half) return at;
  }
  if (!isLowSurrogate(markdown, limit)) return limit;
  return limit - 1 > start ? limit - 1 : limit + 1;
}

/** Where the code begins that is still open at the end of a range; -1 when there is none. */
function openFence(markdown: string, start: number, end: number): number {
  let open = -1;
  for (const { index } of markdown.slice(start, end).matchAll(/^ {0,3}(?:```|~~~)/gm))
    open = open < 0 ? start + index - 1 : -1;
  return open;
}

/** A part of the text, moved so that it cuts no surrogate pair. */
export function sliceWhole(text: string, { start, end }: Range): string {
  const from = isLowSurrogate(text, start) ? start + 1 : start;
  const to = isLowSurrogate(text, end) ? end - 1 : end;
  return text.slice(from, Math.max(from, to));
}

const isLowSurrogate = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
};
