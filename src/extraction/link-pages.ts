import { ElementFlag, type PageModel, startTagOf, Tag, tagsNamed } from "./page/page-model.ts";

const NOT_SHOWN = ElementFlag.hidden | ElementFlag.template | ElementFlag.noscript | ElementFlag.textless;
const LISTED = ElementFlag.link | ElementFlag.heading;
const MAIN_PARTS = tagsNamed("main article");
const BESIDE = tagsNamed("nav header footer aside form dialog");
const MAIN_ROLE = /\brole\s{0,3}=\s{0,3}["']?main\b/i;

/** The first level-1 heading that the page shows; -1 for none. */
export const firstHeading = ({ tag, blocks }: PageModel): number =>
  blocks.element.findIndex(
    (element, block) => tag[element] === Tag.h1 && (blocks.flags[block]! & NOT_SHOWN) === 0,
  );

/**
 * The blocks of a page that has nothing but a heading and links to say: the heading, and the links after it in the
 * page's main part or, where none is marked, in the nearest element around the heading that holds any.
 * @param heading the block of the page's title
 */
export function linksUnder(model: PageModel, heading: number): Int32Array {
  const { parent, tag, blocks } = model;
  const own = blocks.element[heading]!;
  const around: number[] = [];
  for (let at = parent[own]!; at >= 0 && tag[at] !== Tag.body && tag[at] !== Tag.html; at = parent[at]!)
    around.push(at);
  const main = around.find((element) => isMainPart(model, element));
  const places = main === undefined ? around : [main];
  const found = places.map((place) => linksIn(model, place, heading)).find((links) => links.length > 0);
  return Int32Array.from([heading, ...(found ?? [])]);
}

const isMainPart = (model: PageModel, element: number): boolean =>
  MAIN_PARTS.has(model.tag[element]!) || MAIN_ROLE.test(startTagOf(model, element, 1000));

function linksIn(model: PageModel, place: number, heading: number): number[] {
  const { blocks, elementEnd } = model;
  const found: number[] = [];
  for (let block = heading + 1; block < blocks.count; block++) {
    const element = blocks.element[block]!;
    if (element >= elementEnd[place]!) break;
    const flags = blocks.flags[block]!;
    if ((flags & LISTED) !== 0 && (flags & NOT_SHOWN) === 0 && !isBeside(model, element, place))
      found.push(block);
  }
  return found;
}

function isBeside({ parent, tag }: PageModel, element: number, place: number): boolean {
  for (let at = element; at > place; at = parent[at]!) if (BESIDE.has(tag[at]!)) return true;
  return false;
}
