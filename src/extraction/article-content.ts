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

/** The renderings of a page's content; those not asked for are null. */
export type RenderedContent = {
  /** Null when no choice was made. */
  readonly pageType: PageType | null;
  readonly confidence: number | null;
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
  const { blocks, pageType, confidence } = chooseBlocks(page, url);
  const kept = withoutTitle(model, options.includeCode ? blocks : withoutCode(model, blocks), title);
  const chosen: ChosenContent = { model, blocks: kept, includeImages: options.includeImages };
  const writer = new TextSink(model);
  walkContent(chosen, writer);
  const text = writer.finish();
  const isRendered = options.renderings.length > 0 && kept.length > 0;
  return { pageType, confidence, text, ...renderAsked(isRendered ? cleanHtml(chosen, base) : "", options) };
}

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
  return { pageType: null, confidence: null, text: renderText(root), ...renderAsked(html, options) };
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
