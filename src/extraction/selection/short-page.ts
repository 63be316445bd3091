import { Layout } from "../classification/layout-tables.ts";
import type { PageTree } from "../classification/page-tree.ts";
import { NOT_SHOWN } from "../classification/region.ts";
import { Tag, tagsNamed } from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import { type Draft, keepOnly } from "./draft.ts";

/** A longer page in which the trees choose nothing is a shell of menus. */
const MAX_WORDS = 200;
const MOSTLY_LINKS = 0.5;
const MAIN_TAGS = tagsNamed("main article");
const FRAME_TAGS = tagsNamed("nav header footer aside form dialog button");
/** Outside of a main part, text directly in a box is a message such as "Loading". */
const TEXT_TAGS = tagsNamed("p pre li td th dt dd blockquote h1 h2 h3");

const IN_FRAME = 1;
const IN_MAIN = 2;

/**
 * Keeps the content of a page that is too short for the trees, which were trained on pages of sites: what is
 * visible in its main part or, without one, outside of its header, navigation, sidebar and footer.
 */
export function addShortPage({ tree, isKept }: Draft): void {
  const { model } = tree;
  const { elementCount, parent, tag, blocks } = model;
  const place = new Uint8Array(elementCount);
  for (let element = 0; element < elementCount; element++) {
    const around = parent[element]! < 0 ? 0 : place[parent[element]!]!;
    if (around === 0 && MAIN_TAGS.has(tag[element]!)) place[element] = IN_MAIN;
    // The header of an article contains its heading.
    else if (FRAME_TAGS.has(tag[element]!) && !(around === IN_MAIN && tag[element] === Tag.header))
      place[element] = IN_FRAME;
    else place[element] = around;
  }
  const shown = tree.candidates.filter((block) => {
    if ((blocks.flags[block]! & NOT_SHOWN) !== 0) return false;
    return statOf(model, block, TextStat.linkChars) <= MOSTLY_LINKS * statOf(model, block, TextStat.chars);
  });
  const inMain = shown.filter((block) => place[blocks.element[block]!] === IN_MAIN);
  const found =
    inMain.length > 0
      ? inMain
      : shown.filter((block) => {
          const element = blocks.element[block]!;
          return place[element] === 0 && TEXT_TAGS.has(tag[element]!);
        });
  const words = found.reduce((sum, block) => sum + statOf(model, block, TextStat.words), 0);
  if (words <= MAX_WORDS) keepOnly({ isKept }, found);
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
 * name, no tables in a table that lays it out, and few links. A document written by hand is all content. Pages of sites
 * never are, so trees trained on them cannot know.
 */
export function isBarePage({ model, candidates, layouts }: PageTree): boolean {
  for (let element = 0; element < model.elementCount; element++) {
    if (model.tag[element] === Tag.table && layouts[model.parent[element]!] === Layout.page) return false;
    if (FRAME_TAGS.has(model.tag[element]!)) return false;
    if ((model.groups[element]! & ~CONTENT_GROUPS) !== 0) return false;
  }
  if (model.names.some((name) => FRAME_NAME.test(name))) return false;
  let all = 0;
  let linked = 0;
  for (const block of candidates) {
    all += statOf(model, block, TextStat.chars);
    linked += statOf(model, block, TextStat.linkChars);
  }
  return all <= SHORT_CHARS || linked <= MOST_LINKED * all;
}
