import { ElementFlag, type PageModel } from "./page/page-model.ts";
import { Tag } from "./page/tags.ts";
import { TextStat } from "./page/word-stats.ts";

const FEWEST_EXCERPT_WORDS = 10;

/** The first paragraph of the content, for an excerpt where the page offers none. */
export function firstParagraph({ blocks, tag }: PageModel, chosen: Int32Array): string | null {
  for (const block of chosen) {
    const isParagraph = tag[blocks.element[block]!] !== Tag.li && (blocks.flags[block]! & NO_PROSE) === 0;
    const words = blocks.stats[block * TextStat.count + TextStat.words]!;
    if (isParagraph && words >= FEWEST_EXCERPT_WORDS) return blocks.text[block]!;
  }
  return null;
}

const NO_PROSE = ElementFlag.heading | ElementFlag.preformatted | ElementFlag.cell;
