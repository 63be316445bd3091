import { ElementFlag } from "../page/page-model.ts";
import { Tag, type TagId } from "../page/tags.ts";
import { TextStat } from "../page/word-stats.ts";
import type { PageTree } from "./page-tree.ts";

/** A longer page in which the trees choose nothing is a shell of menus. */
const MAX_WORDS = 200;
const NOT_SHOWN = ElementFlag.hidden | ElementFlag.template | ElementFlag.noscript | ElementFlag.button;
const MOSTLY_LINKS = 0.5;
const MAIN_TAGS: ReadonlySet<TagId> = new Set([Tag.main, Tag.article]);
const FRAME_TAGS: ReadonlySet<TagId> = new Set([
  Tag.nav,
  Tag.header,
  Tag.footer,
  Tag.aside,
  Tag.form,
  Tag.dialog,
  Tag.button,
]);
/** Outside of a main part, text directly in a box is a message such as "Loading". */
const TEXT_TAGS: ReadonlySet<TagId> = new Set([
  Tag.p,
  Tag.pre,
  Tag.li,
  Tag.td,
  Tag.th,
  Tag.dt,
  Tag.dd,
  Tag.blockquote,
  Tag.h1,
  Tag.h2,
  Tag.h3,
]);

const IN_FRAME = 1;
const IN_MAIN = 2;

/**
 * Returns the content of a page that is too short for the trees, which were trained on pages of sites: what is
 * visible in its main part or, without one, outside of its header, navigation, sidebar and footer.
 */
export function shortPageBlocks(tree: PageTree): Int32Array {
  const { elementCount, parent, tag, blocks } = tree.model;
  const place = new Uint8Array(elementCount);
  for (let element = 0; element < elementCount; element++) {
    const around = parent[element]! < 0 ? 0 : place[parent[element]!]!;
    if (around === 0 && MAIN_TAGS.has(tag[element]!)) place[element] = IN_MAIN;
    // The header of an article contains its heading.
    else if (FRAME_TAGS.has(tag[element]!) && !(around === IN_MAIN && tag[element] === Tag.header))
      place[element] = IN_FRAME;
    else place[element] = around;
  }
  const stat = (block: number, which: number): number => blocks.stats[block * TextStat.count + which]!;
  const shown = tree.candidates.filter((block) => {
    if ((blocks.flags[block]! & NOT_SHOWN) !== 0) return false;
    return stat(block, TextStat.linkChars) <= MOSTLY_LINKS * stat(block, TextStat.chars);
  });
  const inMain = shown.filter((block) => place[blocks.element[block]!] === IN_MAIN);
  const found =
    inMain.length > 0
      ? inMain
      : shown.filter((block) => {
          const element = blocks.element[block]!;
          return place[element] === 0 && TEXT_TAGS.has(tag[element]!);
        });
  const words = found.reduce((sum, block) => sum + stat(block, TextStat.words), 0);
  return words > MAX_WORDS ? new Int32Array(0) : found;
}

/** The groups of names for content, dates and code, which do not mark a frame. */
const CONTENT_GROUPS = (1 << 11) | (1 << 12) | (1 << 16) | (1 << 20) | (1 << 27) | (1 << 29);
/** DocBook uses these one-word names for its navigation. */
const FRAME_NAME = /(?:^|\s)nav(?:header|footer)(?:\s|$)/;
const MOST_LINKED = 0.5;
/** A page this short may be a sentence with a link. */
const SHORT_CHARS = 200;

/**
 * Tells whether a page has no sign of a frame around its content: no navigation, header, sidebar or form by tag or by
 * name, and few links. A document written by hand is all content. Pages of sites never are, so trees trained on them
 * cannot know.
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
