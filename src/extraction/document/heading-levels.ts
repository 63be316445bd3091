import type { Block, ContentDocument } from "./model.ts";

/**
 * A document whose headings skip no level below its title: a page that goes from its title to h3 and h5, as manuals
 * of one section a page do, gets h2 and h3. Headings of quotations, tables and the like belong to these and stay.
 */
export function withoutSkippedLevels(document: ContentDocument): ContentDocument {
  return { ...document, blocks: new Leveller().blocks(document.blocks) };
}

class Leveller {
  /** Levels, as written, of the sections around the next heading; the first is the title's. */
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
