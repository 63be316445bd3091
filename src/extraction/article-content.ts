import type { PageUrl } from "../urls/index.ts";
import { anchorsOf } from "./anchors.ts";
import type { Choice } from "./classification/choose.ts";
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
import { ElementFlag, type PageModel, type ScannedPage, Tag } from "./page/page-model.ts";
import { statOf, TextStat } from "./page/word-stats.ts";
import { type Recovered, recoverContent } from "./recovery.ts";
import type { MainPart } from "./selection/by-container.ts";
import { listBlocks } from "./selection/listed-blocks.ts";
import { finishSelection } from "./selection/selection.ts";
import { findLongerTitle } from "./selection/title.ts";
import type { ContentAnchor, ExtractionOptions, PageBlock, PageType } from "./types.ts";

/** The renderings of a page's content, with what the classifier says about it. */
export type RenderedContent = ContentRenderings & {
  /** Null when no choice was made. */
  readonly pageType: PageType | null;
  readonly confidence: number | null;
  /** How many words of the page's main part are in the content; null when the page has no main part. */
  readonly mainPart: MainPart | null;
  /** The first paragraph of the content; null when no choice was made. */
  readonly firstParagraph: string | null;
  /** See `Article.anchors`. */
  readonly anchors: readonly ContentAnchor[] | null;
  /** See `Article.blocks`. */
  readonly blocks: readonly PageBlock[] | null;
};

export type RenderingContext = {
  readonly encoding?: string | undefined;
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
  { base, encoding, jsonLd, title, image, options }: RenderingContext,
): RenderedContent {
  const { model } = page;
  const { pageType, confidence, selection } = choice;
  const { blocks, titled } = finishSelection(selection, title);
  const { wholes, titleBlock, region } = selection.draft;
  const isInside = region?.isInside ?? null;
  const host = hostOf((base && URL.parse("/", base)?.href) ?? "");
  const pictures = new Pictures({ model, chosen: titled, isInside, leadImage: image, host });
  const tree = (): ContentElement => treeOfContent({ wholes, blocks, pictures });
  const isTitled = title !== null;
  const drawsFormulas = (): boolean => drawsTex(model);
  const { keepsDataPictures } = options;
  const surroundings = { base, encoding, html: model.html, drawsFormulas, keepsDataPictures };
  const context = { ...surroundings, title: null, isTitled };
  const document = readContent(tree(), context);
  const found = writeContent(document, options);
  const text = options.includeCode ? found.text : toText(document);
  const recovered = recoverContent({ facts: page.facts, jsonLd, text, pageType });
  const content =
    recovered === null
      ? found
      : writeContent(readContent(withRecovered(tree, recovered), { ...context, title }), options);
  const { markdown } = content;
  const isAnchored = markdown !== null && options.renderings.includes("anchors");
  const includesCode = options.includeCode;
  const isReplaced = recovered?.placement === "instead";
  const { verdicts } = choice;
  const listed = verdicts && listBlocks(model, { verdicts, selection, includesCode, isReplaced });
  return {
    pageType,
    confidence,
    mainPart: selection.mainPart,
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
  { base, encoding, title, options }: RenderingContext,
): RenderedContent {
  const { keepsDataPictures } = options;
  const drawsFormulas = (): boolean => drawsTex(page);
  const context = { base, encoding, title, html: page.html, drawsFormulas, keepsDataPictures };
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
