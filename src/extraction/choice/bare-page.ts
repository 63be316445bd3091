import { Tag } from "../page/tags.ts";
import { TextStat } from "../page/word-stats.ts";
import type { PageTree } from "./page-tree.ts";

const FRAME_TAGS: ReadonlySet<number> = new Set([
  Tag.nav,
  Tag.header,
  Tag.footer,
  Tag.aside,
  Tag.form,
  Tag.dialog,
  Tag.button,
]);
/** Groups of names that speak of content, of dates and of code, not of the frame around it. */
const CONTENT_GROUPS = (1 << 11) | (1 << 12) | (1 << 16) | (1 << 20) | (1 << 27) | (1 << 29);
/** DocBook writes its navigation into these, as one word. */
const FRAME_NAME = /(?:^|\s)nav(?:header|footer)(?:\s|$)/;
const MOST_LINKED = 0.5;
/** So short a page may well be a sentence with a link. */
const SHORT_CHARS = 200;

/**
 * True for a page without any sign of a frame around its content: no navigation, header, sidebar or form by
 * tag or by name, and few links. A document written by hand is all content, which pages of sites never are,
 * so trees trained on sites cannot know.
 */
export function isBarePage({ model, candidates }: PageTree): boolean {
  for (let element = 0; element < model.elementCount; element++) {
    if (FRAME_TAGS.has(model.tag[element]!)) return false;
    if ((model.groups[element]! & ~CONTENT_GROUPS) !== 0) return false;
  }
  if (model.names.some((name) => FRAME_NAME.test(name))) return false;
  let all = 0;
  let linked = 0;
  for (const block of candidates) {
    all += model.blocks.stats[block * TextStat.count + TextStat.chars]!;
    linked += model.blocks.stats[block * TextStat.count + TextStat.linkChars]!;
  }
  return all <= SHORT_CHARS || linked <= MOST_LINKED * all;
}
