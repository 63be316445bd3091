import type { PageUrl } from "../urls/index.ts";
import { type ChosenContent, framesFor, type PageFrames, walkContent } from "./assembly/content-walk.ts";
import { HtmlSink } from "./assembly/html-sink.ts";
import { drawsTex, joinTexts, type PlainText, plainTextOf } from "./assembly/plain-text.ts";
import type { TextPiece } from "./assembly/text-sink.ts";
import type { Choice } from "./choice/choose.ts";
import { type RenderedContent as ContentRenderings, renderContent } from "./content.ts";
import { firstParagraph } from "./first-paragraph.ts";
import type { JsonLdObject } from "./json-ld.ts";
import { ElementFlag, type PageModel, type ScannedPage } from "./page/page-model.ts";
import { scanPage } from "./page/scan.ts";
import { Tag } from "./page/tags.ts";
import { parseDocument, selectAll } from "./parse.ts";
import { drawsFormulas, removeHidden, removePermalinks } from "./prepare.ts";
import { recoverContent } from "./recovery.ts";
import { foldForComparison } from "./text.ts";
import type { ExtractionOptions, PageType } from "./types.ts";
import { withNotes } from "./whole-notes.ts";
import { withWholeStructures } from "./whole-structures.ts";
import { withWholeTables } from "./whole-tables.ts";

/** The renderings of a page's content; those not asked for are null. */
export type RenderedContent = {
  /** Null when no choice was made. */
  readonly pageType: PageType | null;
  readonly confidence: number | null;
  /** How much of the page's main part the content is; null when there is none. */
  readonly mainPart: Choice["mainPart"];
  /** The first paragraph of the content; null when no choice was made. */
  readonly firstParagraph: string | null;
  readonly text: string;
  readonly content: string | null;
  readonly markdown: string | null;
};

export type RenderingContext = {
  readonly url: PageUrl | null;
  readonly base: PageUrl | null;
  readonly jsonLd: readonly JsonLdObject[];
  readonly title: string | null;
  /** Address of the image that the page names as its own. */
  readonly image: string | null;
  readonly options: ExtractionOptions;
};

/** Finds a page's content and renders it; no document is built unless a rendering needs one. */
export function renderPage(
  page: ScannedPage,
  choice: Choice,
  { base, jsonLd, title, image, options }: RenderingContext,
): RenderedContent {
  const { model } = page;
  const { pageType, confidence, mainPart } = choice;
  const structures = withWholeStructures(model, withWholeTables(model, choice.blocks));
  const blocks = withNotes(model, withCaptionsAndCode(model, structures));
  const kept = withoutTitle(model, blocks, title);
  const chosen: ChosenContent = { model, blocks: kept, leadImage: image };
  const plain = plainTextOf(chosen);
  const recovered = recoverContent({ facts: page.facts, jsonLd, text: plain.text, pageType });
  const parts = recovered?.placement === "instead" ? [] : [{ chosen, plain }];
  if (recovered) parts.push(allOf(recovered.html));
  return {
    pageType,
    confidence,
    mainPart,
    firstParagraph: firstParagraph(model, kept),
    ...renderParts(parts, base, options),
  };
}

const NO_CHOICE = {
  pageType: null,
  confidence: null,
  mainPart: null,
  firstParagraph: null,
} as const;

/** Renders the elements that a selector matches, and counts them. Consumes the document. */
export function renderSelected(
  document: Document,
  select: string,
  { base, title, options }: RenderingContext,
): { readonly rendered: RenderedContent | null; readonly elements: number } {
  removePermalinks(document);
  removeHidden(document);
  const hasFormulas = drawsFormulas(document);
  const selected = selectAll(document, select, "--select");
  const root = document.createElement("div");
  for (const element of selected) {
    // A match inside another match is there already.
    if (!selected.some((other) => other !== element && other.contains(element))) root.append(element);
  }
  const elements = selected.length;
  if (elements === 0) return { rendered: null, elements };
  const content = renderContent(root, { base, title, drawsFormulas: hasFormulas, options });
  return { rendered: { ...NO_CHOICE, ...content }, elements };
}

type Part = { readonly chosen: ChosenContent; readonly plain: PlainText };

function renderParts(
  parts: readonly Part[],
  base: PageUrl | null,
  options: ExtractionOptions,
): ContentRenderings {
  const text = options.renderings.length === 0 ? textOfParts(parts, options) : null;
  if (text !== null) return { text, content: null, markdown: null };
  const html = parts.map(({ chosen }) => htmlOf(chosen));
  const document = parseDocument(`<html><head></head><body>${html.join("\n")}</body></html>`);
  const hasFormulas = parts.some(({ chosen }) => drawsTex(chosen.model));
  return renderContent(document.body, { base, title: null, drawsFormulas: hasFormulas, options });
}

function htmlOf(chosen: ChosenContent, frames?: PageFrames): string {
  const sink = new HtmlSink(chosen.model);
  walkContent(chosen, sink, frames);
  return sink.html;
}

/** More pieces of a page than this share a document. */
const MAX_DOCUMENTS = 32;

/** The text alone needs a document only of pieces that are no prose; null where it needs one of everything. */
function textOfParts(parts: readonly Part[], options: ExtractionOptions): string | null {
  const texts: string[] = [];
  for (const { chosen, plain } of parts) {
    if (plain.pieces === null) return null;
    const isWritten = (piece: TextPiece): boolean => piece.isExact && (options.includeCode || !piece.hasCode);
    const others = plain.pieces.filter((piece) => !isWritten(piece)).length;
    if (others > MAX_DOCUMENTS) return null;
    const frames = others > 0 ? framesFor(chosen.model, true) : undefined;
    for (const piece of plain.pieces) {
      texts.push(isWritten(piece) ? piece.text : modelledText({ chosen, piece, frames, options }));
    }
  }
  return joinTexts(texts);
}

type ModelledPiece = {
  readonly chosen: ChosenContent;
  readonly piece: TextPiece;
  readonly frames: PageFrames | undefined;
  readonly options: ExtractionOptions;
};

function modelledText({ chosen, piece, frames, options }: ModelledPiece): string {
  const blocks = Array.from(
    { length: piece.until - piece.from },
    (_, index) => chosen.blocks[piece.from + index]!,
  );
  const html = htmlOf({ ...chosen, blocks, leadImage: null }, frames);
  const { body } = parseDocument(`<html><head></head><body>${html}</body></html>`);
  // What may hold a formula has a document of all the content.
  return renderContent(body, { base: null, title: null, drawsFormulas: false, options }).text;
}

/** Everything in a piece of HTML that is content already. */
function allOf(html: string): Part {
  const { model } = scanPage(html);
  const blocks = Int32Array.from({ length: model.blocks.count }, (_, block) => block);
  const chosen = { model, blocks, leadImage: null };
  return { chosen, plain: plainTextOf(chosen) };
}

/**
 * Adds the captions and the code between two chosen blocks: where nothing else stands between the two, or
 * where all three stand side by side.
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

// The first heading says the title again; what shows the content shows the title already.
function withoutTitle(model: PageModel, chosen: Int32Array, title: string | null): Int32Array {
  const first = chosen[0];
  if (title === null || first === undefined) return chosen;
  const isHeading = isTopHeading(model, model.blocks.element[first]!);
  const repeats = foldForComparison(model.blocks.text[first]!) === foldForComparison(title);
  return isHeading && repeats ? chosen.subarray(1) : chosen;
}

function isTopHeading({ tag, parent }: PageModel, element: number): boolean {
  for (let step = 0, at = element; step < 3 && at >= 0; step++, at = parent[at]!) {
    if (tag[at] === Tag.h1 || tag[at] === Tag.h2) return true;
  }
  return false;
}
