import type { PageUrl } from "../urls/index.ts";
import { treeOfContent } from "./assembly/content-walk.ts";
import { treeOfHtml } from "./assembly/tree-builder.ts";
import { WholeElements, withNotes } from "./assembly/whole-elements.ts";
import { withWholeStructures, withWholeTables } from "./assembly/whole-structures.ts";
import type { Choice } from "./classification/choose.ts";
import {
  type RenderedContent as ContentRenderings,
  readContent,
  renderHtml,
  writeContent,
} from "./content.ts";
import type { ContentElement } from "./document/tree.ts";
import { toText } from "./document/write/text.ts";
import type { JsonLdObject } from "./metadata/declared.ts";
import { ElementFlag, type PageModel, type ScannedPage, Tag, tagsNamed } from "./page/page-model.ts";
import { statOf, TextStat } from "./page/word-stats.ts";
import { listBlocks } from "./page-blocks.ts";
import { type Recovered, recoverContent } from "./recovery.ts";
import { foldForComparison } from "./text.ts";
import type { ContentAnchor, ExtractionOptions, PageBlock, PageType } from "./types.ts";

/** The renderings of a page's content, with what the classifier says about it. */
export type RenderedContent = ContentRenderings & {
  /** Null when no choice was made. */
  readonly pageType: PageType | null;
  readonly confidence: number | null;
  /** How many words of the page's main part are in the content; null when the page has no main part. */
  readonly mainPart: Choice["mainPart"];
  /** The first paragraph of the content; null when no choice was made. */
  readonly firstParagraph: string | null;
  /** See `Article.anchors`. */
  readonly anchors: readonly ContentAnchor[] | null;
  /** See `Article.blocks`. */
  readonly blocks: readonly PageBlock[] | null;
};

export type RenderingContext = {
  readonly url: PageUrl | null;
  readonly base: PageUrl | null;
  readonly jsonLd: readonly JsonLdObject[];
  readonly title: string | null;
  /** The address of the image that the page declares as its own. */
  readonly image: string | null;
  readonly options: ExtractionOptions;
};

/** Finds a page's content and renders it. */
export function renderPage(
  page: ScannedPage,
  choice: Choice,
  { base, jsonLd, title, image, options }: RenderingContext,
): RenderedContent {
  const { model } = page;
  const { pageType, confidence, mainPart } = choice;
  const wholes = new WholeElements(model);
  const structures = withWholeStructures(wholes, withWholeTables(model, choice.blocks));
  const titled = withNotes(model, withCaptionsAndCode(model, structures));
  const blocks = withoutTitle(model, titled, title);
  const tree = (): ContentElement => treeOfContent({ wholes, blocks, leadImage: image });
  const context = { base, title: null, drawsFormulas: () => drawsTex(model) };
  const document = readContent(tree(), context);
  const found = writeContent(document, options);
  const text = options.includeCode ? found.text : toText(document);
  const recovered = recoverContent({ facts: page.facts, jsonLd, text, pageType });
  const content =
    recovered === null ? found : writeContent(readContent(withRecovered(tree, recovered), context), options);
  const { markdown } = content;
  const isAnchored = markdown !== null && options.renderings.includes("anchors");
  const titleBlock = blocks.length < titled.length ? titled[0]! : -1;
  const includesCode = options.includeCode;
  const isReplaced = recovered?.placement === "instead";
  const listed =
    choice.verdicts &&
    listBlocks(model, {
      verdicts: choice.verdicts,
      blocks,
      titleBlock: titleBlock < 0 ? findTitle(model, title) : titleBlock,
      includesCode,
      isReplaced,
    });
  return {
    pageType,
    confidence,
    mainPart,
    firstParagraph: firstParagraph(model, blocks),
    ...content,
    anchors: isAnchored ? anchorsOf(model, { blocks, titleBlock, markdown }) : null,
    blocks: listed?.blocks ?? null,
    omissions: [...content.omissions, ...(listed?.omissions ?? [])],
  };
}

function withRecovered(found: () => ContentElement, { html, placement }: Recovered): ContentElement {
  const recovered = treeOfHtml(html);
  if (placement === "instead") return recovered;
  const root = found();
  root.append(recovered);
  return root;
}

const NO_CHOICE = {
  pageType: null,
  confidence: null,
  mainPart: null,
  firstParagraph: null,
  anchors: null,
  blocks: null,
} as const;

/** Renders a part of a page that a selector chose; all of it counts as content. */
export function renderChosen(
  html: string,
  page: PageModel,
  { base, title, options }: RenderingContext,
): RenderedContent {
  const context = { base, title, drawsFormulas: () => drawsTex(page) };
  return { ...NO_CHOICE, ...renderHtml(html, context, options) };
}

const TEX_SCRIPT = /\bsrc\s*=\s*["']?[^"'>]{0,500}?(?:mathjax|katex|auto-render)/i;
const TEX_CODE = /\bMathJax\s*[=.{]|\brenderMathInElement\s*\(/;

/** Whether a script of the page draws formulas from their TeX. */
function drawsTex({ html, elementCount, tag, openStart, openEnd, closeEnd }: PageModel): boolean {
  for (let element = 0; element < elementCount; element++) {
    if (tag[element] !== Tag.script) continue;
    if (TEX_SCRIPT.test(html.slice(openStart[element]!, openEnd[element]!))) return true;
    const code = html.slice(openEnd[element]!, closeEnd[element]!);
    const mayBe = code.includes("MathJax") || code.includes("renderMathInElement");
    if (mayBe && TEX_CODE.test(code)) return true;
  }
  return false;
}

/**
 * Adds captions and code that stand between two chosen blocks when nothing else stands there, or when all three are
 * siblings.
 */
function withCaptionsAndCode(model: PageModel, chosen: Int32Array): Int32Array {
  const kept: number[] = [];
  for (const block of chosen) {
    const previous = kept.at(-1) ?? block - 1;
    const between = Array.from({ length: block - previous - 1 }, (_, index) => previous + 1 + index);
    const belonging = between.filter((other) => isCaption(model, other) || isCode(model, other));
    const container = containerOf(model, previous);
    const isRun = containerOf(model, block) === container;
    for (const other of belonging) {
      const isBeside = isRun && containerOf(model, other) === container;
      if (isBeside || belonging.length === between.length) kept.push(other);
    }
    kept.push(block);
  }
  return Int32Array.from(kept);
}

const isCaption = ({ blocks, tag }: PageModel, block: number): boolean =>
  tag[blocks.element[block]!] === Tag.figcaption;

const isCode = ({ blocks }: PageModel, block: number): boolean =>
  (blocks.flags[block]! & ElementFlag.preformatted) !== 0;

/** The element that a block, or the figure of a caption, stands in. */
function containerOf(model: PageModel, block: number): number {
  const { blocks, parent } = model;
  const element = blocks.element[block] ?? -1;
  const holder = element >= 0 && isCaption(model, block) ? parent[element]! : element;
  return holder < 0 ? -1 : parent[holder]!;
}

// The title is shown apart from the content, so a first heading that repeats it is dropped.
function withoutTitle(model: PageModel, chosen: Int32Array, title: string | null): Int32Array {
  const first = chosen[0];
  if (title === null || first === undefined) return chosen;
  return isTitle(model, first, foldForComparison(title)) ? chosen.subarray(1) : chosen;
}

const isTitle = (model: PageModel, block: number, folded: string): boolean =>
  isTopHeading(model, model.blocks.element[block]!) &&
  foldForComparison(model.blocks.text[block]!) === folded;

/** The first block that is the title, which may stand apart from the content; -1 for none. */
export function findTitle(model: PageModel, title: string | null): number {
  const folded = foldForComparison(title ?? "");
  for (let block = 0; block < model.blocks.count; block++)
    if (folded !== "" && isTitle(model, block, folded)) return block;
  return -1;
}

function isTopHeading({ tag, parent }: PageModel, element: number): boolean {
  for (let step = 0, at = element; step < 3 && at >= 0; step++, at = parent[at]!) {
    if (tag[at] === Tag.h1 || tag[at] === Tag.h2) return true;
  }
  return false;
}

const FEWEST_EXCERPT_WORDS = 10;

/** The first paragraph of the content, for an excerpt where the page offers none. */
function firstParagraph(model: PageModel, chosen: Int32Array): string | null {
  const { blocks, tag } = model;
  for (const block of chosen) {
    const isParagraph = tag[blocks.element[block]!] !== Tag.li && (blocks.flags[block]! & NO_PROSE) === 0;
    const words = statOf(model, block, TextStat.words);
    if (isParagraph && words >= FEWEST_EXCERPT_WORDS) return blocks.text[block]!;
  }
  return null;
}

const NO_PROSE = ElementFlag.heading | ElementFlag.preformatted | ElementFlag.cell;

/** A page that gives each line an id has this many; an index needs no more. */
const MAX_ANCHORS = 2000;
const MAX_ID = 200;

/** Where a dropped title stands: before the Markdown. */
const AT_TITLE = -1;

type AnchoredContent = {
  /** The blocks of the content, ascending. */
  readonly blocks: Int32Array;
  /** The block of the title, which the content leaves out; -1 for none. */
  readonly titleBlock: number;
  readonly markdown: string;
};

type Found = { readonly id: string; readonly block: number; readonly rank: number };

/**
 * The fragments that lead into a page's content, in the order of their places in the Markdown. An id leads to
 * the first block in its element or, where that is empty, right after it. Of the ids of one place the
 * heading's own comes first, then those in it, then those of the elements around it, the nearest first.
 */
function anchorsOf(model: PageModel, { blocks, titleBlock, markdown }: AnchoredContent): ContentAnchor[] {
  const found = findIds(model, blocks, titleBlock);
  const places = placesOf(model, { blocks, markdown, wanted: new Set(found.map(({ block }) => block)) });
  places.set(titleBlock, AT_TITLE);
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
  const { blocks, elementCount, elementEnd, openEnd, textStart } = model;
  const isChosen = new Uint8Array(blocks.count);
  for (const block of chosen) isChosen[block] = 1;
  if (titleBlock >= 0) isChosen[titleBlock] = 1;
  const found: Found[] = [];
  let next = 0;
  for (let element = 0; element < elementCount; element++) {
    // The first block with a text after the start tag.
    while (next < blocks.count && textStart[blocks.endText[next]! - 1]! < openEnd[element]!) next++;
    const id = idOf(model, element);
    if (id === "" || next === blocks.count) continue;
    let block = next;
    if (!isChosen[block]) {
      const end = elementEnd[element]!;
      while (block < blocks.count && !isChosen[block] && blocks.element[block]! < end) block++;
      if (block === blocks.count || !isChosen[block] || blocks.element[block]! >= end) continue;
    }
    found.push({ id, block, rank: rankOf(element, headingOf(model, block)) });
  }
  return found;
}

function idOf({ html, names, idId, tag, openStart, openEnd }: PageModel, element: number): string {
  let id = names[idId[element]!] ?? "";
  if (id === "" && tag[element] === Tag.a) {
    const open = html.slice(openStart[element]!, Math.min(openEnd[element]!, openStart[element]! + 1000));
    const [, double, single, bare] = NAME.exec(open) ?? [];
    id = double ?? single ?? bare ?? "";
  }
  return id.length > MAX_ID || /[\s&<>]/.test(id) ? "" : id;
}

const NAME = /\sname\s{0,3}=\s{0,3}(?:"([^"]{1,200})"|'([^']{1,200})'|([^\s"'>]{1,200}))/i;

const HEADINGS = tagsNamed("h1 h2 h3 h4 h5 h6");

/** The heading that a block stands in, else its own element. */
function headingOf({ tag, parent, blocks }: PageModel, block: number): number {
  const own = blocks.element[block]!;
  for (let step = 0, at = own; step < 3 && at >= 0; step++, at = parent[at]!)
    if (HEADINGS.has(tag[at]!)) return at;
  return own;
}

const rankOf = (element: number, heading: number): number =>
  element === heading ? 0 : element > heading ? 1 : 2 + heading - element;

/** How far a block may be from the one before it, in letters and digits. */
const WINDOW = 20_000;
/** A short text is at many places; it must come soon. */
const SHORT_WINDOW = 400;
const KEY = 32;
const SHORT_KEY = 10;

type Placed = {
  readonly blocks: Int32Array;
  readonly markdown: string;
  readonly wanted: ReadonlySet<number>;
};

/**
 * Where the lines of blocks begin in the Markdown. Both have the same words in the same order, so that each
 * block is looked for after the one before it, by its first letters and digits.
 */
function placesOf(model: PageModel, { blocks, markdown, wanted }: Placed): Map<number, number> {
  const places = new Map<number, number>();
  const { letters, offsets } = lettersOf(
    markdown.replace(LINK_TARGET, (target) => " ".repeat(target.length)),
  );
  let from = 0;
  for (const block of blocks) {
    const text = lettersOf(model.blocks.text[block]!).letters;
    const isHeading = HEADINGS.has(model.tag[headingOf(model, block)]!);
    const at = find(letters, text, {
      from,
      accepts: (place) => !isHeading || isInHeading(markdown, offsets[place]!),
    });
    if (at < 0) continue;
    from = at + text.length;
    if (wanted.has(block)) places.set(block, markdown.lastIndexOf("\n", offsets[at]!) + 1);
  }
  return places;
}

const LINK_TARGET = /\]\((?:[^()\n]|\([^()\n]{0,300}\)){0,2000}\)/g;

type Search = { readonly from: number; readonly accepts: (place: number) => boolean };

function find(letters: string, text: string, { from, accepts }: Search): number {
  for (const length of [KEY, SHORT_KEY]) {
    const key = text.slice(0, length);
    if (key === "") return -1;
    const end = from + (key.length < SHORT_KEY ? SHORT_WINDOW : WINDOW);
    const near = letters.slice(from, end + key.length);
    for (let at = near.indexOf(key); at >= 0; at = near.indexOf(key, at + 1))
      if (accepts(from + at)) return from + at;
  }
  return -1;
}

function isInHeading(markdown: string, offset: number): boolean {
  const start = markdown.lastIndexOf("\n", offset) + 1;
  return /^[\s>*+-]{0,40}#{1,6}\s/.test(markdown.slice(start, start + 60));
}

/** The letters and digits of a text, and the offset of each. */
function lettersOf(text: string): { readonly letters: string; readonly offsets: Uint32Array } {
  const offsets = new Uint32Array(text.length);
  const units = new Uint16Array(text.length);
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    const isLetter = (unit >= 0x30 && unit <= 0x39) || ((unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a);
    if (!isLetter && (unit < 0xc0 || (unit >= 0x2000 && unit < 0x2070))) continue;
    units[count] = unit;
    offsets[count++] = at;
  }
  return { letters: new TextDecoder("utf-16le").decode(units.subarray(0, count)), offsets };
}
