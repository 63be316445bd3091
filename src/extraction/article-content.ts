import type { PageUrl } from "../urls/index.ts";
import { anchorsOf } from "./anchors.ts";
import type { BlockVerdict, Choice } from "./classification/choose.ts";
import { NOT_SHOWN } from "./classification/region.ts";
import { WholeElements, withNotes, withWholeStructures } from "./classification/whole-structures.ts";
import {
  type RenderedContent as ContentRenderings,
  readContent,
  renderHtml,
  writeContent,
} from "./content.ts";
import { treeOfContent, treeOfHtml } from "./document/build-tree.ts";
import { hostOf, Pictures } from "./document/pictures.ts";
import type { ContentElement } from "./document/tree.ts";
import { toText } from "./document/write/text.ts";
import type { JsonLdObject } from "./metadata/metadata-page.ts";
import {
  ElementFlag,
  FIRST_UNKNOWN_TAG,
  firstFrom,
  isInside,
  nearestOf,
  type PageModel,
  type ScannedPage,
  Tag,
  tagName,
  tagsNamed,
} from "./page/page-model.ts";
import { statOf, TextStat } from "./page/word-stats.ts";
import { type Recovered, recoverContent } from "./recovery.ts";
import { foldForComparison } from "./text.ts";
import type { BlockReason, ContentAnchor, ExtractionOptions, PageBlock, PageType } from "./types.ts";

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
  /** The title that the content leaves out: the page's by what it says alone, since it has the same content everywhere. */
  readonly title: string | null;
  /** The address of the image that the page declares as its own. */
  readonly image: string | null;
  readonly options: ExtractionOptions;
};

export function renderPage(
  page: ScannedPage,
  choice: Choice,
  { base, jsonLd, title, image, options }: RenderingContext,
): RenderedContent {
  const { model } = page;
  const { pageType, contentType, confidence, mainPart } = choice;
  const wholes = new WholeElements(model);
  const structures = withWholeStructures(wholes, choice.blocks);
  const titled = withNotes(model, withCaptionsAndCode(model, structures, choice.barred));
  const { blocks, titleBlock } = withoutTitle(model, titled, title);
  const host = hostOf((base && URL.parse("/", base)?.href) ?? "");
  const pictures = new Pictures({ model, chosen: titled, isInside: choice.isInside, leadImage: image, host });
  const tree = (): ContentElement => treeOfContent({ wholes, blocks, pictures });
  const isTitled = title !== null;
  const context = { base, title: null, isTitled, drawsFormulas: () => drawsTex(model) };
  const document = readContent(tree(), context);
  const found = writeContent(document, options);
  const text = options.includeCode ? found.text : toText(document);
  const recovered = recoverContent({ facts: page.facts, jsonLd, text, pageType: contentType });
  const content =
    recovered === null
      ? found
      : writeContent(readContent(withRecovered(tree, recovered), { ...context, title }), options);
  const { markdown } = content;
  const isAnchored = markdown !== null && options.renderings.includes("anchors");
  const includesCode = options.includeCode;
  const isReplaced = recovered?.placement === "instead";
  const listed =
    choice.verdicts &&
    listBlocks(model, {
      verdicts: choice.verdicts,
      blocks,
      titleBlock,
      includesCode,
      isReplaced,
    });
  return {
    pageType,
    confidence,
    mainPart,
    firstParagraph: firstParagraph(model, blocks),
    ...content,
    anchors: isAnchored
      ? anchorsOf(model, {
          blocks,
          titleBlock: titleBlock < 0 ? findLongerTitle(model, title) : titleBlock,
          markdown,
        })
      : null,
    blocks: listed?.blocks ?? null,
    omissions: [
      ...content.omissions,
      ...(content.images === null ? [] : pictures.omissions),
      ...(listed?.omissions ?? []),
    ],
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

/** Adds captions and code that stand alone between two chosen blocks, or beside both as their sibling. */
function withCaptionsAndCode(model: PageModel, chosen: Int32Array, barred: ReadonlySet<number>): Int32Array {
  const kept: number[] = [];
  for (const block of chosen) {
    const previous = kept.at(-1) ?? block - 1;
    const between = Array.from({ length: block - previous - 1 }, (_, index) => previous + 1 + index);
    const belonging = between.filter(
      (other) => !barred.has(other) && (isCaption(model, other) || isCode(model, other)),
    );
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

/** Tells whether a block is what stands below a picture: the caption of a figure, or the only text of a picture's box. */
function isCaption(model: PageModel, block: number): boolean {
  const { blocks, tag, parent, flags } = model;
  const element = blocks.element[block] ?? -1;
  if (element < 0 || tag[element] === Tag.figcaption) return element >= 0;
  // A button beside a picture enlarges it, and what is hidden there is for programs.
  if ((blocks.flags[block]! & NOT_SHOWN) !== 0) return false;
  const text = blocks.text[block]!;
  if (text.length > MAX_CAPTION || CREDIT.test(text) || statOf(model, block, TextStat.linkChars) > 0)
    return false;
  const box = holdsPicture(model, element) ? element : parent[element]!;
  if (box < 0 || (flags[box]! & ElementFlag.link) !== 0 || !holdsPicture(model, box)) return false;
  return [block - 1, block + 1].every((other) => !isInside(model, blocks.element[other] ?? -1, box));
}

/** Longer texts beside a picture are no captions, and whose picture it is says nothing of what it shows. */
const MAX_CAPTION = 400;
const CREDIT =
  /^[\s([]*(?:©|(?:photos?|fotos?|photographs?|images?|bild(?:er)?|pictures?|quelle|source|credits?|фото|φωτογραφία|zdjęcie) ?(?::|by\b|©|\())/iu;

function holdsPicture({ media, tag, elementEnd }: PageModel, box: number): boolean {
  const first = media[firstFrom(media, box)] ?? -1;
  return first >= 0 && first < elementEnd[box]! && tag[first] === Tag.img;
}

const isCode = ({ blocks }: PageModel, block: number): boolean =>
  (blocks.flags[block]! & ElementFlag.preformatted) !== 0;

/** The element that a block, or the figure of a caption, stands in. */
function containerOf(model: PageModel, block: number): number {
  const { blocks, parent } = model;
  const element = blocks.element[block] ?? -1;
  const holder = element >= 0 && isCaption(model, block) ? parent[element]! : element;
  return holder < 0 ? -1 : parent[holder]!;
}

/** How many blocks, and words that are no links, may stand above the title's heading. */
const MAX_ABOVE = 16;
const MAX_WORDS_ABOVE = 80;

/**
 * Takes the title's heading out of the content, since the title is shown apart from it, as often as it is repeated
 * there. Of the lines above it those stay that say something, as a version does, and not those that only lead
 * somewhere. The heading's block, which may stand apart from the content, is -1 for none.
 */
function withoutTitle(model: PageModel, chosen: Int32Array, title: string | null) {
  const { text, element } = model.blocks;
  const wanted = foldForComparison(title ?? "");
  const first = findTitle(model, title);
  // The heading itself may be missing in the content.
  const lines = first < 0 || chosen.includes(first) ? chosen : Int32Array.from([...chosen, first]).sort();
  const above: number[] = [];
  let [end, words] = [0, 0];
  const looked = wanted === "" ? 0 : Math.min(lines.length, MAX_ABOVE);
  for (let at = 0; at < looked && words <= MAX_WORDS_ABOVE; at++) {
    const block = lines[at]!;
    const folded = foldForComparison(text[block]!);
    const heading = topHeading(model, element[block]!);
    if (folded === wanted) {
      if (heading === Tag.h1 || (heading === Tag.h2 && above.length === 0)) end = at + 1;
    } else if (heading !== Tag.h1 && !onlyLeads(model, block, folded, wanted)) {
      above.push(block);
      words += statOf(model, block, TextStat.words);
    }
  }
  if (end === 0) return { blocks: chosen, titleBlock: first };
  const last = lines[end - 1]!;
  const said = withoutLastHeadings(
    model,
    above.filter((block) => block < last),
  );
  return { blocks: Int32Array.from([...said, ...lines.subarray(end)]), titleBlock: last };
}

/** A heading above the title without a line of its own led to those that were left out. */
function withoutLastHeadings({ blocks }: PageModel, lines: readonly number[]): readonly number[] {
  const isHeading = (block: number): boolean => (blocks.flags[block]! & ElementFlag.heading) !== 0;
  return lines.slice(0, lines.findLastIndex((block) => !isHeading(block)) + 1);
}

const READING_TIME =
  /^(?:[\p{L}:]{1,20} ){0,3}\d{1,3} ?(?:min|minutes?|minuten?|minutos?|minuti|分钟?)(?: \p{L}{1,12}){0,2}$/u;

/** Whether a line above the title is links alone, with the title as the end of their trail, or a reading time. */
function onlyLeads(model: PageModel, block: number, folded: string, title: string): boolean {
  const own = folded.endsWith(` ${title}`) ? folded.length - title.length : folded.length;
  return statOf(model, block, TextStat.linkChars) >= 0.8 * own || READING_TIME.test(folded.slice(0, 100));
}

/** The first block that is the title, which may stand apart from the content; -1 for none. */
export function findTitle(model: PageModel, title: string | null): number {
  const folded = foldForComparison(title ?? "");
  return findTop(model, (text) => folded !== "" && text === folded);
}

/** The first top heading that says more than the title, which leaves out what follows a dash; -1 for none. */
function findLongerTitle(model: PageModel, title: string | null): number {
  const folded = foldForComparison(title ?? "");
  return findTop(model, (text) => folded !== "" && text.startsWith(`${folded} `));
}

function findTop(model: PageModel, isWanted: (folded: string) => boolean): number {
  const { blocks } = model;
  for (let block = 0; block < blocks.count; block++)
    if (topHeading(model, blocks.element[block]!) > 0 && isWanted(foldForComparison(blocks.text[block]!)))
      return block;
  return -1;
}

/** The tag of the first or second level that a block's element is, or is just inside of; 0 for none. */
function topHeading(model: PageModel, element: number): number {
  const heading = nearestOf(model, element, 3, TOP_HEADINGS);
  return heading < 0 ? 0 : model.tag[heading]!;
}

const TOP_HEADINGS = tagsNamed("h1 h2");

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

/** The most blocks that are listed; a longer page has its first ones, and a warning. */
const MAX_BLOCKS = 10_000;
const MAX_TEXT = 300;

/** Landmarks do not stand deeper. */
const MAX_DEPTH = 1000;
const LANDMARKS = tagsNamed("header nav main article aside footer form dialog");
/** Reasons of blocks that the choice itself keeps. */
const KEEPING: ReadonlySet<BlockReason> = new Set(["likely", "code", "context", "whole"]);

/** How a page's choice became its content. */
type ContentOfBlocks = {
  readonly verdicts: readonly BlockVerdict[];
  /** The blocks of the content, ascending. */
  readonly blocks: Int32Array;
  /** The block of the title, which the content leaves out; -1 for none. */
  readonly titleBlock: number;
  readonly includesCode: boolean;
  /** Whether the page's data took the place of all blocks. */
  readonly isReplaced: boolean;
};

/** Lists the blocks of a page that have words, in its order, with what became of each and why. */
function listBlocks(
  model: PageModel,
  content: ContentOfBlocks,
): { readonly blocks: readonly PageBlock[]; readonly omissions: readonly string[] } {
  const isInContent = new Uint8Array(model.blocks.count);
  for (const block of content.blocks) isInContent[block] = 1;
  const listed: PageBlock[] = [];
  let count = 0;
  for (let block = 0; block < model.blocks.count; block++) {
    const wordCount = statOf(model, block, TextStat.words);
    if (wordCount === 0 || count++ >= MAX_BLOCKS) continue;
    const element = model.blocks.element[block]!;
    const landmark = nearestOf(model, element, MAX_DEPTH, LANDMARKS);
    listed.push({
      text: model.blocks.text[block]!.slice(0, MAX_TEXT),
      wordCount,
      tag: element < 0 ? "body" : tagName(model.tag[element]!),
      landmark: landmark < 0 ? null : tagName(model.tag[landmark]!),
      selector: selectorOf(model, element),
      isHidden: (model.blocks.flags[block]! & ElementFlag.hidden) !== 0,
      ...outcomeOf(model, block, { ...content, isInContent: isInContent[block] === 1 }),
    });
  }
  const omissions = count > MAX_BLOCKS ? [`blocks: the first ${MAX_BLOCKS} of ${count} are listed`] : [];
  return { blocks: listed, omissions };
}

function outcomeOf(
  model: PageModel,
  block: number,
  content: ContentOfBlocks & { readonly isInContent: boolean },
): Pick<PageBlock, "isKept" | "isUnsure" | "probability" | "reason"> {
  const { probability, reason, isUnsure } = content.verdicts[block]!;
  const outcome = { isKept: false, isUnsure, probability };
  if (block === content.titleBlock) return { ...outcome, isKept: true, isUnsure: false, reason: "title" };
  // What was chosen, and is missing all the same, was taken out with something that the page says twice.
  if (!content.isInContent) return { ...outcome, reason: KEEPING.has(reason) ? "repeated" : reason };
  if (content.isReplaced) return { ...outcome, isUnsure: false, reason: "data" };
  const isCode = (model.blocks.flags[block]! & ElementFlag.preformatted) !== 0;
  if (isCode && !content.includesCode) return { ...outcome, isUnsure: false, reason: "option" };
  return { ...outcome, isKept: true, reason: KEEPING.has(reason) ? reason : "context" };
}

/** How far above an element another one with a name is looked for. */
const MAX_LEVELS = 8;
const ROOTS: ReadonlySet<number> = new Set([Tag.html, Tag.body]);

/** A selector out of the element's own name, or out of its tag and the nearest name above. */
function selectorOf(model: PageModel, element: number): string {
  const { parent, tag } = model;
  if (element < 0) return "body";
  const own = tag[element]! > 0 && tag[element]! < FIRST_UNKNOWN_TAG ? tagName(tag[element]!) : "";
  const name = nameOf(model, element);
  if (name !== "") return own + name;
  for (let level = 0, at = parent[element]!; level < MAX_LEVELS && at >= 0; level++, at = parent[at]!) {
    const isKnown = tag[at]! > 0 && tag[at]! < FIRST_UNKNOWN_TAG;
    const above = ROOTS.has(tag[at]!) ? "" : nameOf(model, at);
    if (above !== "" || LANDMARKS.has(tag[at]!))
      return `${isKnown ? tagName(tag[at]!) : ""}${above} ${own || "*"}`;
  }
  return own || "*";
}

/** Names that selectors take as they are; others would have to be escaped, and are rarely an author's. */
const PLAIN_NAME = /^[A-Za-z][\w-]{0,60}$/;

/** `#id` or `.class` of an element, where one is plain; else an empty text. */
function nameOf({ names, idId, classId }: PageModel, element: number): string {
  const id = names[idId[element]!] ?? "";
  if (PLAIN_NAME.test(id)) return `#${id}`;
  const classes = (names[classId[element]!] ?? "").slice(0, 300).split(/\s+/);
  const plain = classes.find((name) => PLAIN_NAME.test(name));
  return plain === undefined ? "" : `.${plain}`;
}
