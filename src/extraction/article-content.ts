import type { PageUrl } from "../urls/index.ts";
import { anchorsOf } from "./anchors.ts";
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
import { ElementFlag, type PageModel, type ScannedPage, Tag } from "./page/page-model.ts";
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
  const titleBlock = titled[titled.length - blocks.length - 1] ?? findTitle(model, title);
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

// The title is shown apart from the content, so a first heading that repeats it is dropped, with the end of a trail of
// links that does too.
function withoutTitle(model: PageModel, chosen: Int32Array, title: string | null): Int32Array {
  const folded = foldForComparison(title ?? "");
  let heading = 0;
  while (heading < chosen.length && foldForComparison(model.blocks.text[chosen[heading]!]!) === folded) {
    if (folded !== "" && isTopHeading(model, model.blocks.element[chosen[heading]!]!))
      return chosen.subarray(heading + 1);
    heading++;
  }
  return chosen;
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

function findTop({ blocks, ...model }: PageModel, isWanted: (folded: string) => boolean): number {
  for (let block = 0; block < blocks.count; block++)
    if (isTopHeading(model, blocks.element[block]!) && isWanted(foldForComparison(blocks.text[block]!)))
      return block;
  return -1;
}

function isTopHeading({ tag, parent }: Pick<PageModel, "tag" | "parent">, element: number): boolean {
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
