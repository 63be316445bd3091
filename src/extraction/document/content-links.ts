import { pixels } from "../references.ts";
import { collapseSpace } from "../text.ts";
import type { ContentImage, ContentLink } from "../types.ts";
import { type Block, type ContentDocument, type Image, type Inline, inlineText } from "./model.ts";

/** The links and images of a page's content, in order and with repetitions. */
export type LinkedContent = {
  readonly links: readonly ContentLink[];
  readonly images: readonly ContentImage[];
  /** The number of links, including those beyond the limit. */
  readonly linkCount: number;
  readonly imageCount: number;
};

/** The maximum number of links, and of images, that are listed. */
export const MAX_LISTED = 10_000;

/** Lists the links and images of a document, whose addresses are absolute when its base is known. */
export function readLinkedContent({ blocks, footnotes }: ContentDocument): LinkedContent {
  const walk = new LinkWalk();
  walk.blocks(blocks);
  for (const note of footnotes) walk.blocks(note.blocks);
  return walk;
}

class LinkWalk implements LinkedContent {
  readonly links: ContentLink[] = [];
  readonly images: ContentImage[] = [];
  linkCount = 0;
  imageCount = 0;

  blocks(blocks: readonly Block[]): void {
    for (const block of blocks) this.#block(block);
  }

  #block(block: Block): void {
    switch (block.kind) {
      case "paragraph":
      case "heading":
        this.#phrases(block.children);
        break;
      case "list":
        for (const item of block.items) this.blocks(item.blocks);
        break;
      case "quote":
        this.blocks(block.blocks);
        break;
      case "admonition":
        this.#phrases(block.title);
        this.blocks(block.blocks);
        break;
      case "details":
        this.#phrases(block.summary);
        this.blocks(block.blocks);
        break;
      case "figure":
        this.blocks(block.blocks);
        this.blocks(block.caption);
        break;
      case "table":
        this.#phrases(block.caption);
        for (const cell of block.rows.flat()) this.blocks(cell.blocks);
        break;
      case "definitions":
        for (const { terms, definitions } of block.groups) {
          for (const term of terms) this.#phrases(term);
          for (const definition of definitions) this.blocks(definition);
        }
        break;
      default: // code, formulas and rules hold no links
    }
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
