import type { PageUrl } from "../urls/index.ts";
import { treeOfHtml } from "./document/build-tree.ts";
import {
  canonicalAdmonition,
  canonicalMedia,
  canonicalNoscript,
  canonicalTask,
  labelTabs,
} from "./document/canonical/admonition.ts";
import { canonicalCode } from "./document/canonical/code.ts";
import { canonicalEmphasis } from "./document/canonical/emphasis.ts";
import { canonicalFootnotes } from "./document/canonical/footnotes.ts";
import { canonicalDelimiters, canonicalMath } from "./document/canonical/math.ts";
import { listOfParagraphs } from "./document/canonical/paragraph-lists.ts";
import { canonicalSignature, dropTools } from "./document/canonical/signature.ts";
import {
  type Block,
  type ContentDocument,
  type Image,
  type Inline,
  inlineText,
  mapBlock,
  omit,
  withoutSkippedLevels,
  withoutTitle,
} from "./document/model.ts";
import { readDocument } from "./document/read.ts";
import { type ContentElement, type ContentNode, following, nextNode } from "./document/tree.ts";
import { toHtml } from "./document/write/html.ts";
import { toMarkdown } from "./document/write/markdown.ts";
import { toText } from "./document/write/text.ts";
import { pixels, References } from "./links.ts";
import { collapseSpace } from "./text.ts";
import type { ContentImage, ContentLink, ExtractionOptions, Rendering } from "./types.ts";

/**
 * The renderings of a page's content. All hold the same things in the same order; a rendering that was not requested is
 * null.
 */
export type RenderedContent = ListedContent & {
  readonly text: string;
  readonly content: string | null;
  readonly markdown: string | null;
};

export type ListedContent = {
  readonly links: readonly ContentLink[] | null;
  readonly images: readonly ContentImage[] | null;
  /** Says what the renderings leave out because there is too much of it. */
  readonly omissions: readonly string[];
};

type ContentContext = {
  /** The base of relative references; null leaves them relative. */
  readonly base: PageUrl | null;
  /** A first heading that repeats this title is left out; null keeps every heading. */
  readonly title: string | null;
  /**
   * Tells whether a script of the page draws the formulas between `$…$` and similar delimiters. It is called only
   * when the text holds such delimiters.
   */
  readonly drawsFormulas: () => boolean;
  /** The source of the page, for its own style sheets; none unless given. */
  readonly html?: string;
  /** The encoding of the page; UTF-8 unless given. */
  readonly encoding?: string | undefined;
  /** Whether the title is shown as the only heading of the first level, above all others; it is with a `title`. */
  readonly isTitled?: boolean;
  /** Keeps the levels of headings even where they skip some. */
  readonly keepsLevels?: boolean;
  /** As of `ExtractionOptions`. */
  readonly keepsDataPictures?: boolean | undefined;
};

type WritingOptions = Pick<ExtractionOptions, "includeImages" | "includeCode" | "renderings">;

/** Reads the content below an element. The element is changed on the way and must not be used again. */
export function readContent(
  root: ContentElement,
  { base, title, isTitled = title !== null, keepsLevels = false, ...page }: ContentContext,
): ContentDocument {
  canonicalise(root, page);
  const { encoding = "utf-8", keepsDataPictures = false } = page;
  const references = new References(base, encoding, keepsDataPictures);
  const read = withoutTitle(readDocument(root, references), title);
  return keepsLevels ? read : withoutSkippedLevels(read, isTitled);
}

export function writeContent(
  document: ContentDocument,
  { includeImages, includeCode, renderings }: WritingOptions,
): RenderedContent {
  const isWhole = includeImages && includeCode;
  const shown = isWhole ? document : omit(document, { images: !includeImages, code: !includeCode });
  return {
    text: toText(shown),
    content: renderings.includes("content") ? toHtml(shown) : null,
    markdown: renderings.includes("markdown") ? toMarkdown(shown) : null,
    ...listLinked(shown, renderings),
  };
}

const LISTS = ["links", "images"] as const;

function listLinked(document: ContentDocument, renderings: readonly Rendering[]): ListedContent {
  const asked = LISTS.filter((name) => renderings.includes(name));
  if (asked.length === 0) return { links: null, images: null, omissions: [] };
  const walk = new LinkWalk();
  for (const { blocks } of [document, ...document.footnotes]) walk.blocks(blocks);
  const { links, images } = walk;
  const counts = { links: walk.linkCount, images: walk.imageCount };
  return {
    links: asked.includes("links") ? links : null,
    images: asked.includes("images") ? images : null,
    omissions: asked
      .filter((name) => counts[name] > MAX_LISTED)
      .map((name) => `${name}: the first ${MAX_LISTED} of ${counts[name]} are listed`),
  };
}

/**
 * Renders everything that a piece of HTML shows.
 * @throws Failure `too_complex` for too many elements, see `scanPage`
 */
export const renderHtml = (html: string, context: ContentContext, options: WritingOptions): RenderedContent =>
  writeContent(readContent(treeOfHtml(html), context), options);

/**
 * Rewrites code, formulas, admonitions, tabs, tasks, footnotes and embedded media in place into one form each,
 * whatever generator, highlighter or formula renderer wrote them. It is the form that our own HTML uses, so our HTML
 * reads back as the same content. The function is idempotent.
 * @param drawsFormulas whether a script of the page draws the formulas between `$…$` and the like in its text
 */
function canonicalise(
  root: ContentElement,
  { drawsFormulas, html = "" }: Pick<ContentContext, "drawsFormulas" | "html">,
): void {
  let node = root.firstChild;
  while (node) node = node.kind === "text" ? following(node, root) : rewrite(node, root);
  canonicalDelimiters(root, drawsFormulas);
  canonicalFootnotes(root);
  canonicalEmphasis(root, html);
}

/** Rewrites one element and returns the node to continue with. */
function rewrite(element: ContentElement, root: ContentElement): ContentNode | null {
  labelTabs(element);
  canonicalTask(element);
  const replacement = leafOf(element);
  if (replacement !== undefined) {
    const next = following(element, root);
    if (replacement === null) element.remove();
    else element.replaceWith(replacement);
    return next;
  }
  const rewritten = canonicalAdmonition(element) ?? listOfParagraphs(element);
  if (rewritten) {
    element.replaceWith(rewritten);
    return nextNode(rewritten, root);
  }
  return nextNode(element, root);
}

// The visitor does not descend into the elements that this returns.
function leafOf(element: ContentElement): ContentElement | null | undefined {
  const math = canonicalMath(element);
  if (math !== undefined) return math;
  const image = canonicalNoscript(element);
  if (image !== undefined) return image;
  const { name } = element;
  if (name === "CODE" && element.className.includes("math-inline")) return undefined;
  dropTools(element);
  return canonicalCode(element) ?? canonicalSignature(element) ?? canonicalMedia(element);
}

/** The maximum number of links, and of images, that are listed. */
const MAX_LISTED = 10_000;

/** Lists the links and images of blocks, in order and with repetitions. */
class LinkWalk {
  readonly links: ContentLink[] = [];
  readonly images: ContentImage[] = [];
  /** The number of links, including those beyond the limit. */
  linkCount = 0;
  imageCount = 0;
  readonly #parts = {
    blocks: (blocks: readonly Block[]): readonly Block[] => {
      this.blocks(blocks);
      return blocks;
    },
    phrases: (inlines: readonly Inline[]): readonly Inline[] => {
      this.#phrases(inlines);
      return inlines;
    },
  };

  blocks(blocks: readonly Block[]): void {
    for (const block of blocks) mapBlock(block, this.#parts);
  }

  #phrases(inlines: readonly Inline[]): void {
    for (const inline of inlines) {
      if (inline.kind === "image") this.#image(inline);
      else if (inline.kind === "span") this.#phrases(inline.children);
      else if (inline.kind === "ruby") for (const { base } of inline.parts) this.#phrases(base);
      else if (inline.kind === "link") {
        this.linkCount++;
        if (this.links.length < MAX_LISTED)
          this.links.push({ url: inline.href, text: textOfLink(inline.children) });
        this.#phrases(inline.children);
      }
    }
  }

  #image({ src, alt, width, height }: Image): void {
    this.imageCount++;
    if (this.images.length < MAX_LISTED)
      this.images.push({ url: src, alt, width: pixels(width), height: pixels(height) });
  }
}

/** Returns the visible text of a link; for an image, its alternative text. */
const textOfLink = (children: readonly Inline[]): string =>
  collapseSpace(inlineText(children)) || collapseSpace(altOf(children));

function altOf(inlines: readonly Inline[]): string {
  let alt = "";
  for (const inline of inlines) {
    if (inline.kind === "image") alt += `${inline.alt} `;
    else if (inline.kind === "span") alt += altOf(inline.children);
  }
  return alt;
}
