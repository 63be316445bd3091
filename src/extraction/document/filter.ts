import { foldForComparison } from "../text.ts";
import { type Block, type Cell, type ContentDocument, type Inline, inlineText } from "./model.ts";
import { isShown, normalisePhrases } from "./normalise.ts";

/** The parts that are left out of a document on request. */
export type Omissions = { readonly images: boolean; readonly code: boolean };

/** Removes images or code blocks from a document, and the blocks that held nothing else. */
export function omit({ blocks, footnotes }: ContentDocument, omissions: Omissions): ContentDocument {
  const kept = new Filter(omissions);
  return {
    blocks: kept.blocks(blocks),
    footnotes: footnotes.map((note) => ({ ...note, blocks: kept.blocks(note.blocks) })),
  };
}

class Filter {
  readonly #omissions: Omissions;

  constructor(omissions: Omissions) {
    this.#omissions = omissions;
  }

  blocks(blocks: readonly Block[]): Block[] {
    return blocks.flatMap((block) => this.#block(block));
  }

  #block(block: Block): Block[] {
    switch (block.kind) {
      case "paragraph":
      case "heading": {
        const children = this.#phrases(block.children);
        return isShown(children) ? [{ ...block, children }] : [];
      }
      case "code-block":
        return this.#omissions.code ? [] : [block];
      case "list": {
        const items = block.items.map((item) => ({ ...item, blocks: this.blocks(item.blocks) }));
        const filled = items.filter((item) => item.blocks.length > 0);
        return filled.length > 0 ? [{ ...block, items: filled }] : [];
      }
      case "quote": {
        const blocks = this.blocks(block.blocks);
        return blocks.length > 0 ? [{ ...block, blocks }] : [];
      }
      case "admonition": {
        const blocks = this.blocks(block.blocks);
        return blocks.length > 0 || isShown(block.title) ? [{ ...block, blocks }] : [];
      }
      case "details": {
        const [summary, blocks] = [this.#phrases(block.summary), this.blocks(block.blocks)];
        return blocks.length > 0 || isShown(summary) ? [{ ...block, summary, blocks }] : [];
      }
      case "figure": {
        const [blocks, caption] = [this.blocks(block.blocks), this.blocks(block.caption)];
        return blocks.length + caption.length > 0 ? [{ ...block, blocks, caption }] : [];
      }
      case "table": {
        const row = (cells: readonly Cell[]): Cell[] =>
          cells.map((cell) => ({ ...cell, blocks: this.blocks(cell.blocks) }));
        const rows = block.rows.map(row);
        const isFilled = rows.some((cells) => cells.some(({ blocks }) => blocks.length > 0));
        return isFilled ? [{ ...block, caption: this.#phrases(block.caption), rows }] : [];
      }
      case "definitions": {
        const groups = block.groups.map(({ terms, definitions }) => ({
          terms: terms.map((term) => this.#phrases(term)),
          definitions: definitions.map((blocks) => this.blocks(blocks)),
        }));
        return [{ ...block, groups }];
      }
      default:
        return [block];
    }
  }

  #phrases(inlines: readonly Inline[]): readonly Inline[] {
    if (!this.#omissions.images || !hasImage(inlines)) return inlines;
    return normalisePhrases(withoutImages(inlines));
  }
}

const hasImage = (inlines: readonly Inline[]): boolean =>
  inlines.some(
    (inline) =>
      inline.kind === "image" ||
      ((inline.kind === "span" || inline.kind === "link") && hasImage(inline.children)),
  );

const withoutImages = (inlines: readonly Inline[]): Inline[] =>
  inlines.flatMap((inline): Inline[] => {
    // An image stood between two words.
    if (inline.kind === "image") return [{ kind: "text", text: " " }];
    if (inline.kind !== "span" && inline.kind !== "link") return [inline];
    return [{ ...inline, children: withoutImages(inline.children) }];
  });

/** Removes a first heading that repeats the title. */
export function withoutTitle(document: ContentDocument, title: string | null): ContentDocument {
  if (title === null) return document;
  const at = document.blocks.findIndex((block) => block.kind === "heading" || saysSomething(block));
  const heading = document.blocks[at];
  if (heading?.kind !== "heading" || heading.level > 2) return document;
  if (foldForComparison(inlineText(heading.children)) !== foldForComparison(title)) return document;
  return { ...document, blocks: document.blocks.filter((block) => block !== heading) };
}

// Images and rules may stand above the title.
const saysSomething = (block: Block): boolean =>
  block.kind === "paragraph"
    ? inlineText(block.children).trim() !== ""
    : block.kind === "figure"
      ? block.caption.length > 0 || block.blocks.some(saysSomething)
      : block.kind !== "rule";

/**
 * Closes gaps between the levels of headings below the title: a page that goes from its title to h3 and h5, as
 * manuals with one section a page do, gets h2 and h3. Headings inside quotations, tables and similar blocks stay as
 * they are.
 */
export function withoutSkippedLevels(document: ContentDocument): ContentDocument {
  return { ...document, blocks: new Leveller().blocks(document.blocks) };
}

class Leveller {
  /** The original levels of the sections around the next heading; the first is the title's. */
  readonly #open: number[] = [1];

  blocks(blocks: readonly Block[]): Block[] {
    return blocks.map((block) => this.#block(block));
  }

  #block(block: Block): Block {
    switch (block.kind) {
      case "heading":
        return { ...block, level: this.#levelOf(block.level) };
      case "details":
        return { ...block, blocks: this.blocks(block.blocks) };
      case "list":
        return {
          ...block,
          items: block.items.map((item) => ({ ...item, blocks: this.blocks(item.blocks) })),
        };
      default:
        return block;
    }
  }

  #levelOf(written: number): number {
    while (this.#open.length > 0 && this.#open.at(-1)! >= written) this.#open.pop();
    this.#open.push(written);
    return this.#open.length;
  }
}
