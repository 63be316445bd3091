import { isoDate } from "./dates.ts";
import { tidyValue } from "./meta-tags.ts";
import { ElementFlag, type PageModel } from "./page/page-model.ts";
import { Tag } from "./page/tags.ts";
import { TextStat } from "./page/word-stats.ts";

const AUTHOR_GROUP = 1 << 15;
/** Blocks before and after the first one of the content in which a byline is looked for. */
const BLOCKS_BEFORE = 8;
const BLOCKS_AFTER = 6;
const MAX_BYLINE_CHARS = 60;
const SPOKEN = /^(?:by|von|par|por|di|door|written by|posted by)[:\s]+(?=\p{Lu})/iu;
const NAME = /^\p{Lu}[\p{L}.'’-]*(?: (?:\p{Lu}[\p{L}.'’-]*|de|van|von|der|la|del|bin|al)){1,3}$/u;

/**
 * The author as the page shows it beside the start of its content: "By" and a name, or a name in an element
 * that is called author or byline; null where no such line is plain.
 * @param chosen numbers of the blocks that are content
 */
export function findByline(model: PageModel, chosen: Int32Array): string | null {
  const first = chosen[0];
  if (first === undefined) return null;
  const { text } = model.blocks;
  const end = Math.min(first + BLOCKS_AFTER, text.length);
  for (let block = Math.max(0, first - BLOCKS_BEFORE); block < end; block++) {
    const line = tidyValue(text[block]!.split("\n")[0] ?? "");
    if (line.length > MAX_BYLINE_CHARS) continue;
    const isSpoken = SPOKEN.test(line);
    const name = line.replace(SPOKEN, "").split(/\s+[|•·–—]\s+|,\s/)[0] ?? "";
    if (NAME.test(name) && (isSpoken || isNamedAuthor(model, block))) return name;
  }
  return null;
}

function isNamedAuthor({ blocks, textParent, parent, groups }: PageModel, block: number): boolean {
  let element = textParent[blocks.firstText[block]!]!;
  for (let step = 0; step < 3 && element >= 0; step++, element = parent[element]!) {
    if ((groups[element]! & AUTHOR_GROUP) !== 0) return true;
  }
  return false;
}

/** Lines with a date before and after the first block of the content. */
const DATE_BLOCKS_BEFORE = 10;
const DATE_BLOCKS_AFTER = 8;
const MAX_DATE_CHARS = 160;

/**
 * The first date written in a short line beside the start of the content, in ISO 8601; null where there is
 * none.
 * @param chosen numbers of the blocks that are content
 */
export function findDate({ blocks: { text } }: PageModel, chosen: Int32Array): string | null {
  const first = chosen[0];
  if (first === undefined) return null;
  const end = Math.min(first + DATE_BLOCKS_AFTER, text.length);
  for (let block = Math.max(0, first - DATE_BLOCKS_BEFORE); block < end; block++) {
    if (text[block]!.length > MAX_DATE_CHARS || !/\d{4}/.test(text[block]!)) continue;
    for (const part of text[block]!.split(/\n|\s[|•·–—-]\s/)) {
      const date = isoDate(tidyValue(part));
      if (date !== null) return date;
    }
  }
  return null;
}

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
