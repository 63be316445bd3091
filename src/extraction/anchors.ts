import { scanBlocks } from "../markdown/index.ts";
import {
  firstFrom,
  nearestOf,
  type PageModel,
  startTagOf,
  Tag,
  tagsNamed,
  textAt,
  valueIn,
} from "./page/page-model.ts";
import type { ContentAnchor } from "./types.ts";

/** Only a page that gives each line an id has more. */
const MAX_ANCHORS = 20_000;
const MAX_ID = 200;

/** Position of a dropped title: before the Markdown. */
const AT_TITLE = -1;

type AnchoredContent = {
  /** The blocks of the content, ascending. */
  readonly blocks: Int32Array;
  /** The block of the title, which the content usually leaves out; -1 for none. */
  readonly titleBlock: number;
  readonly markdown: string;
};

type Found = { readonly id: string; readonly block: number; readonly rank: number };

/**
 * The fragments that lead into a page's content, in the order of their places in the Markdown. An id leads to
 * the first block in its element or, where that is empty, right after it. Of the ids of one place the
 * heading's own comes first, then those in it, then those of the elements around it, the nearest first.
 */
export function anchorsOf(model: PageModel, content: AnchoredContent): ContentAnchor[] {
  const { blocks, titleBlock } = content;
  const found = findIds(model, blocks, titleBlock);
  const places = placesOf(model, content, new Set(found.map(({ block }) => block)));
  if (!blocks.includes(titleBlock)) places.set(titleBlock, AT_TITLE);
  const taken = new Set<string>();
  return found
    .flatMap(({ id, block, rank }) => {
      const start = places.get(block);
      if (start === undefined || taken.has(id)) return [];
      taken.add(id);
      return [{ id, start, rank }];
    })
    .sort((a, b) => a.start - b.start || a.rank - b.rank)
    .slice(0, MAX_ANCHORS)
    .map(({ id, start }) => ({ id, start }));
}

function findIds(model: PageModel, chosen: Int32Array, titleBlock: number): Found[] {
  const { blocks, elementCount, elementEnd, openEnd, tag } = model;
  const isChosen = new Uint8Array(blocks.count);
  for (const block of chosen) isChosen[block] = 1;
  if (titleBlock >= 0) isChosen[titleBlock] = 1;
  const found: Found[] = [];
  let next = 0;
  let nextText = lastTextOf(model, next);
  let heading = { end: 0, block: 0 };
  for (let element = 0; element < elementCount; element++) {
    // The first block with a text after the start tag.
    while (next < blocks.count && nextText < openEnd[element]!) nextText = lastTextOf(model, ++next);
    if (HEADINGS.has(tag[element]!)) heading = { end: elementEnd[element]!, block: next };
    const id = idOf(model, element);
    // An id at the end of a heading, such as that of a link to it, leads to the heading.
    const first = element < heading.end ? heading.block : next;
    if (id === "") continue;
    let block = first;
    while (!isChosen[block] && blocks.element[block]! < elementEnd[element]!) block++;
    const isIn = block === first || blocks.element[block]! < elementEnd[element]!;
    if (isChosen[block] && isIn) found.push({ id, block, rank: rankOf(element, headingOf(model, block)) });
  }
  return found;
}

/** Returns the start of a block's last text that is more than white space. */
function lastTextOf(model: PageModel, block: number): number {
  const { firstText, endText } = model.blocks;
  let text = endText[block]! - 1;
  while (text > firstText[block]! && textAt(model, text).trim() === "") text--;
  return model.textStart[text]!;
}

function idOf(model: PageModel, element: number): string {
  let id = model.names[model.idId[element]!] ?? "";
  if (id === "" && model.tag[element] === Tag.a) {
    id = valueIn(startTagOf(model, element, 1000), NAME) ?? "";
    // The entities of names are not decoded.
    if (id.includes("&")) return "";
  }
  const isUsable = id.length <= MAX_ID && id.trim() !== "" && id.isWellFormed() && !CONTROL.test(id);
  return isUsable ? id : "";
}

const CONTROL = /\p{Cc}/u;

const NAME = /\sname\s{0,3}=\s{0,3}(?:"([^"]{1,200})"|'([^']{1,200})'|([^\s"'>]{1,200}))/i;

const HEADINGS = tagsNamed("h1 h2 h3 h4 h5 h6");

/** The heading that a block stands in, else its own element. */
function headingOf(model: PageModel, block: number): number {
  const own = model.blocks.element[block]!;
  const heading = nearestOf(model, own, 3, HEADINGS);
  return heading < 0 ? own : heading;
}

const rankOf = (element: number, heading: number): number =>
  element === heading ? 0 : element > heading ? 1 : 2 + heading - element;

/** How far a block may be from the one before it, in letters and digits. */
const WINDOW = 20_000;
/** A short text is at many places; it must come soon. */
const SHORT_WINDOW = 400;
const KEY = 32;
const SHORT_KEY = 10;

/**
 * Returns the position in the Markdown at which each block's line begins. Both have the same words in the same order, so
 * each block is looked for after the block before it, by its first letters and digits.
 */
function placesOf(
  model: PageModel,
  { blocks, markdown }: AnchoredContent,
  wanted: ReadonlySet<number>,
): Map<number, number> {
  const places = new Map<number, number>();
  const shown = withoutTargets(markdown);
  const letters = lettersIn(shown);
  const offsets = offsetsIn(shown);
  const lines = new HeadingLines(markdown);
  let from = 0;
  for (const block of blocks) {
    const text = lettersIn(model.blocks.text[block]!);
    const isHeading = HEADINGS.has(model.tag[headingOf(model, block)]!);
    const line = isHeading ? lines.next(text) : -1;
    if (isHeading && line < 0) continue;
    const at = isHeading ? firstFrom(offsets, line) : find(letters, text, from);
    if (at < 0) continue;
    from = at + text.length;
    if (wanted.has(block)) places.set(block, isHeading ? line : markdown.lastIndexOf("\n", offsets[at]!) + 1);
  }
  return places;
}

/**
 * Ways in which a heading of the page may differ from its line in the Markdown, each with the number of following lines
 * to search. A page may show a word beside the heading, such as a link to it, that the Markdown leaves out. The Markdown
 * may have more text for a formula or a picture. The title of a note is not a heading there, and other lines may begin
 * with the same words.
 */
const LIKENESSES: readonly (readonly [isSame: (written: string, shown: string) => boolean, most: number])[] =
  [
    [(written, shown) => written === shown, 30],
    [(written, shown) => written.length > 2 && shown.startsWith(written), 30],
    [(written, shown) => shown.length > 2 && written.startsWith(shown), 1],
  ];

/** The headings of a Markdown text, to be asked for in their order. */
class HeadingLines {
  readonly #lines: { readonly start: number; readonly forms: readonly string[] }[] = [];
  #at = 0;

  constructor(markdown: string) {
    let isHeading = false;
    scanBlocks(markdown, {
      begin: ({ kind }) => {
        isHeading = kind === "heading";
      },
      line: (from, end) => {
        const written = markdown.slice(from, end);
        // A text that looks like a link target may be code.
        const forms = [withoutTargets(written), written].map(lettersIn);
        if (isHeading) this.#lines.push({ start: markdown.lastIndexOf("\n", from - 1) + 1, forms });
      },
    });
  }

  /** Returns the start of the next heading's line that has the given letters and digits, or -1. */
  next(letters: string): number {
    for (const [isSame, most] of LIKENESSES)
      for (let at = this.#at; at < Math.min(this.#lines.length, this.#at + most); at++) {
        const { start, forms } = this.#lines[at]!;
        if (!forms.some((form) => isSame(form, letters))) continue;
        this.#at = at + 1;
        return start;
      }
    return -1;
  }
}

const LINK_TARGET = /(?<!\\)\]\((?:[^()\n]|\([^()\n]{0,300}\)){0,2000}\)/g;

const withoutTargets = (markdown: string): string =>
  markdown.replace(LINK_TARGET, (target) => " ".repeat(target.length));

function find(letters: string, text: string, from: number): number {
  for (const length of [KEY, SHORT_KEY]) {
    const key = text.slice(0, length);
    if (key === "") return -1;
    const end = from + (key.length < SHORT_KEY ? SHORT_WINDOW : WINDOW);
    const at = letters.slice(from, end + key.length).indexOf(key);
    if (at >= 0) return from + at;
  }
  return -1;
}

const LETTERS = /[0-9A-Za-z\u00c0-\u1fff\u2070-\uffff]+/g;

/** The letters and digits of a text. */
const lettersIn = (text: string): string => text.match(LETTERS)?.join("") ?? "";

function offsetsIn(text: string): Uint32Array {
  const offsets = new Uint32Array(text.length);
  let count = 0;
  for (const { 0: run, index } of text.matchAll(LETTERS))
    for (let at = 0; at < run.length; at++) offsets[count++] = index + at;
  return offsets.subarray(0, count);
}
