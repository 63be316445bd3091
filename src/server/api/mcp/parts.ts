import { codeBlocksOf } from "../../../markdown/index.ts";

/** A part of a document's Markdown, UTF-16 code units, end exclusive. */
export type Range = { readonly start: number; readonly end: number };

export type TextRange = { readonly offset: number; readonly maxChars: number };

/**
 * Takes at most `maxChars` characters of a Markdown text, up to the end of a paragraph, and not inside a block of
 * code. A longer paragraph is cut at a line, a longer line at a blank. Between two pages only line breaks, or one
 * blank, are left out.
 * @param range.offset UTF-16 code units
 * @param range.maxChars at least 1; a character of two code units is not cut
 * @returns the text with the start of the next part; null at the end
 */
export function pageOfText(
  text: string,
  { offset, maxChars }: TextRange,
): { readonly content: string; readonly nextOffset: number | null } {
  const start = offset > 0 && isLowSurrogate(text, offset) ? offset + 1 : Math.min(offset, text.length);
  const limit = start + maxChars;
  if (limit >= text.length) return { content: text.slice(start), nextOffset: null };
  const end = placeOfCut(text, { start, least: start, limit });
  // Empty lines are left out, but not the indentation of the next one, which may have a meaning.
  const empty = /(?:[\t ]*\n)+| |/y;
  empty.lastIndex = end;
  const next = end + empty.exec(text)![0].length;
  return { content: text.slice(start, end), nextOffset: next < text.length ? next : null };
}

/**
 * Returns the end of a part of at most `maxChars` characters: the last end of a paragraph in its second half that is
 * not inside code, else before the code, else at a line, else at a word. It is one more if it would split a character.
 */
export function endOfPart(markdown: string, { start, end }: Range, maxChars: number): number {
  if (end - start <= maxChars) return end;
  return placeOfCut(markdown, { start, least: start + Math.floor(maxChars / 2), limit: start + maxChars });
}

type Cut = { readonly start: number; readonly least: number; readonly limit: number };

function placeOfCut(text: string, { start, least, limit }: Cut): number {
  const blocks = codeBlocksOf(text).filter((code) => code.end > start && code.start < limit);
  const paragraph = paragraphBefore(text, limit, blocks);
  if (paragraph > least && hasText(text, start, paragraph)) return paragraph;
  const open = blocks.at(-1);
  // Code that is longer than a part is cut anyway.
  const isWorthIt =
    open && limit < open.end && (open.start > least || open.end - open.start <= limit - start);
  if (isWorthIt && hasText(text, start, open.start)) return trimmedEnd(text, open.start);
  for (const boundary of ["\n", " "]) {
    const at = text.lastIndexOf(boundary, limit);
    if (at > least && hasText(text, start, at)) return at;
  }
  if (!isLowSurrogate(text, limit)) return limit;
  return limit - 1 > start ? limit - 1 : limit + 1;
}

const hasText = (text: string, start: number, end: number): boolean => /\S/.test(text.slice(start, end));

function trimmedEnd(text: string, before: number): number {
  let end = before;
  while (end > 0 && " \t\r\n".includes(text[end - 1]!)) end--;
  return end;
}

/** The block that a place is inside of, of blocks in their order; undefined for none. */
function blockAt(blocks: readonly Range[], at: number): Range | undefined {
  let low = 0;
  for (let high = blocks.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if (blocks[middle]!.end - 1 <= at) low = middle + 1;
    else high = middle;
  }
  const found = blocks[low];
  return found && found.start <= at ? found : undefined;
}

/** Returns the end of the last paragraph outside of code that an empty line follows; 0 without one. */
function paragraphBefore(text: string, limit: number, blocks: readonly Range[]): number {
  const empty = /[\t ]{0,200}\n/y;
  for (let at = text.lastIndexOf("\n", limit); at > 0; at = text.lastIndexOf("\n", at - 1)) {
    empty.lastIndex = at + 1;
    if (empty.test(text) && !blockAt(blocks, at)) return trimmedEnd(text, at);
  }
  return 0;
}

/** Longer code is read in parts, so that a page of data does not fill an answer. */
const LONGEST_WHOLE = 10_000;

/** The paragraphs of a document, of which a block of code is one with the paragraphs that touch it. */
export class Paragraphs {
  readonly #markdown: string;
  readonly #code: readonly Range[];

  constructor(markdown: string) {
    this.#markdown = markdown;
    this.#code = codeBlocksOf(markdown).filter(({ start, end }) => end - start <= LONGEST_WHOLE);
  }

  *[Symbol.iterator](): Generator<Range> {
    for (let start = 0; start < this.#markdown.length; ) {
      const end = this.endAt(start);
      yield { start, end };
      start = end + (/^\s*/.exec(this.#markdown.slice(end, end + 1000))?.[0].length || 1);
    }
  }

  /** Returns the start of the paragraph around a position. */
  startAt(at: number): number {
    if (at <= 0) return 0;
    const end = this.#markdown.lastIndexOf("\n\n", at);
    const code = blockAt(this.#code, end + 1);
    return code ? this.startAt(code.start - 1) : end < 0 ? 0 : end + 2;
  }

  /** Returns the end of the paragraph around a position. */
  endAt(at: number): number {
    const end = this.#markdown.indexOf("\n\n", at);
    if (end < 0 || at >= this.#markdown.length) return this.#markdown.length;
    const code = blockAt(this.#code, end);
    return code ? this.endAt(code.end - 1) : end;
  }
}

/** A part of a text, moved so that it cuts no surrogate pair. */
export function sliceWhole(text: string, { start, end }: Range): string {
  const from = isLowSurrogate(text, start) ? start + 1 : start;
  const to = isLowSurrogate(text, end) ? end - 1 : end;
  return text.slice(from, Math.max(from, to));
}

const isLowSurrogate = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
};
