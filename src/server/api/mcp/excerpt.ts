import { wordsOf } from "../../../base/text.ts";
import { rangeOfFragment, type StoredDocument } from "../../../search/index.ts";

/** A part of a document's Markdown, UTF-16 code units, end exclusive. */
export type Range = { readonly start: number; readonly end: number };

export type Place =
  | { readonly kind: "anchor"; readonly anchor: string }
  | { readonly kind: "words"; readonly text: string };

/**
 * The part of a document around a place: a section by its anchor, or the passage that has most of some words.
 * So many characters come with it on either side, up to where a paragraph ends.
 * @returns null when the document has no such place
 */
export function rangeAround(document: StoredDocument, place: Place, surroundingChars: number): Range | null {
  const core =
    place.kind === "anchor" ? rangeOfFragment(document, place.anchor) : passageOf(document, place.text);
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
