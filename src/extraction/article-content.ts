import type { PageUrl } from "../urls/index.ts";
import { type ChosenContent, walkContent } from "./assembly/content-walk.ts";
import { HtmlSink } from "./assembly/html-sink.ts";
import { TextSink } from "./assembly/text-sink.ts";
import { chooseBlocks } from "./choice/choose.ts";
import {
  cleanContent,
  removeCodeBlocks,
  removeImages,
  removePermalinks,
  removeRepeatedTitle,
} from "./clean.ts";
import { renderMarkdown } from "./markdown.ts";
import { ElementFlag, type PageModel, type ScannedPage } from "./page/page-model.ts";
import { Tag } from "./page/tags.ts";
import { parseDocument, selectAll } from "./parse.ts";
import { foldForComparison, renderText } from "./text.ts";
import type { ExtractionOptions, PageType, Rendering } from "./types.ts";
import { findByline, firstParagraph } from "./visible-text.ts";

/** The renderings of a page's content; those not asked for are null. */
export type RenderedContent = {
  /** Null when no choice was made. */
  readonly pageType: PageType | null;
  readonly confidence: number | null;
  /** The author and the first paragraph as the page shows them; null when no choice was made. */
  readonly shownByline: string | null;
  readonly firstParagraph: string | null;
  readonly text: string;
  readonly content: string | null;
  readonly markdown: string | null;
};

export type RenderingContext = {
  readonly url: PageUrl | null;
  readonly base: PageUrl | null;
  readonly title: string | null;
  readonly options: ExtractionOptions;
};

/** Finds a page's content and renders it; no document is built unless a rendering needs one. */
export function renderPage(
  page: ScannedPage,
  { url, base, title, options }: RenderingContext,
): RenderedContent {
  const { model } = page;
  const choice = chooseBlocks(page, url);
  const { pageType, confidence } = choice;
  const blocks = withCaptions(model, choice.blocks);
  const kept = withoutTitle(model, options.includeCode ? blocks : withoutCode(model, blocks), title);
  const chosen: ChosenContent = { model, blocks: kept, includeImages: options.includeImages };
  const writer = new TextSink(model);
  walkContent(chosen, writer);
  const text = writer.finish();
  const isRendered = options.renderings.length > 0 && kept.length > 0;
  return {
    pageType,
    confidence,
    shownByline: findByline(model, blocks),
    firstParagraph: firstParagraph(model, kept),
    text,
    ...renderAsked(isRendered ? cleanHtml(chosen, base) : "", options),
  };
}

const NO_CHOICE = { pageType: null, confidence: null, shownByline: null, firstParagraph: null } as const;

/** Renders the elements that a selector names; null when there are none. Consumes the document. */
export function renderSelected(
  document: Document,
  select: string,
  { base, title, options }: RenderingContext,
): RenderedContent | null {
  removePermalinks(document);
  const selected = selectAll(document, select, "--select");
  const root = document.createElement("div");
  for (const element of selected) {
    // A match inside another match is there already.
    if (!selected.some((other) => other !== element && other.contains(element))) root.append(element);
  }
  if (!root.firstChild) return null;
  cleanContent(root, base);
  if (!options.includeImages) removeImages(root);
  if (!options.includeCode) removeCodeBlocks(root);
  removeRepeatedTitle(root, title);
  const html = options.renderings.length > 0 ? root.innerHTML.trim() : "";
  return { ...NO_CHOICE, text: renderText(root), ...renderAsked(html, options) };
}

const renderAsked = (html: string, { renderings }: ExtractionOptions): Pick<RenderedContent, Rendering> => ({
  content: renderings.includes("content") ? html : null,
  markdown: renderings.includes("markdown") ? renderMarkdown(html) : null,
});

function cleanHtml(chosen: ChosenContent, base: PageUrl | null): string {
  const sink = new HtmlSink(chosen.model);
  walkContent(chosen, sink);
  const { body } = parseDocument(`<html><head></head><body>${sink.html}</body></html>`);
  cleanContent(body, base);
  return body.innerHTML.trim();
}

/** A caption between two chosen blocks belongs to them with its picture. */
function withCaptions({ blocks, tag }: PageModel, chosen: Int32Array): Int32Array {
  const kept: number[] = [];
  for (let index = 0; index < chosen.length; index++) {
    const block = chosen[index]!;
    const previous = kept.at(-1) ?? block - 1;
    let isCaptioned = previous + 1 < block;
    for (let between = previous + 1; between < block && isCaptioned; between++) {
      isCaptioned = tag[blocks.element[between]!] === Tag.figcaption;
    }
    for (let between = previous + 1; isCaptioned && between < block; between++) kept.push(between);
    kept.push(block);
  }
  return Int32Array.from(kept);
}

const withoutCode = ({ blocks }: PageModel, chosen: Int32Array): Int32Array =>
  chosen.filter((block) => (blocks.flags[block]! & ElementFlag.preformatted) === 0);

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
