import { NOT_SHOWN } from "../classification/region.ts";
import {
  ElementFlag,
  firstFrom,
  isInside,
  nearestOf,
  type PageModel,
  Tag,
  tagsNamed,
} from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import { type Draft, keptBlocks } from "./draft.ts";

/** Keeps captions and code that stand alone between two kept blocks, or beside one as their sibling. */
export function addCaptionsAndCode({ tree: { model }, isKept, isBarred }: Draft): void {
  addFigures(model, isKept, isBarred);
  let previous = -1;
  for (const block of keptBlocks({ isKept })) {
    if (previous < 0) previous = block - 1;
    const between = Array.from({ length: block - previous - 1 }, (_, index) => previous + 1 + index);
    const belonging = between.filter(
      (other) => isBarred[other] === 0 && (isCaption(model, other) || isCode(model, other)),
    );
    const container = containerOf(model, previous);
    const isRun = containerOf(model, block) === container;
    for (const other of belonging) {
      const isBeside = isRun && containerOf(model, other) === container;
      if (isBeside || belonging.length === between.length) isKept[other] = 1;
    }
    previous = block;
  }
}

/** Number of siblings to look at on each side of a figure. */
const NEIGHBOURS = 3;
const FLOW = tagsNamed("p h1 h2 h3 h4 h5 h6 ul ol pre blockquote table");

/** Keeps the caption of a picture, and the preview of a link, that an author set between kept paragraphs. */
function addFigures(model: PageModel, isKept: Uint8Array, isBarred: Uint8Array): void {
  const { blocks, tag } = model;
  const isFlow = flowOf(model, isKept);
  for (let block = 0; block < blocks.count; block++) {
    const element = blocks.element[block] ?? -1;
    const isFree = isKept[block] === 0 && isBarred[block] === 0 && (blocks.flags[block]! & NOT_SHOWN) === 0;
    const figure = isFree ? nearestOf(model, element, MAX_LEVELS, FIGURES) : -1;
    if (figure < 0 || !isBesideFlow(model, figure, isFlow)) continue;
    const isOfPicture = tag[element] === Tag.figcaption && holdsPicture(model, figure);
    if (isOfPicture ? !CREDIT.test(blocks.text[block]!) : isPreview(model, figure)) isKept[block] = 1;
  }
}

/** Marks the paragraphs, lists and headings that hold kept blocks. */
function flowOf(model: PageModel, isKept: Uint8Array): Uint8Array {
  const { blocks, tag, parent, elementCount } = model;
  const isFlow = new Uint8Array(elementCount);
  for (const block of keptBlocks({ isKept })) {
    let at = blocks.element[block] ?? -1;
    for (let level = 0; at >= 0 && level < NEIGHBOURS; at = parent[at]!, level++)
      if (FLOW.has(tag[at]!)) isFlow[at] = 1;
  }
  return isFlow;
}

/** Tells whether a figure has one of those beside it. */
function isBesideFlow({ parent, elementEnd }: PageModel, figure: number, isFlow: Uint8Array): boolean {
  const outer = parent[figure]!;
  if (outer < 0) return false;
  let seen = 0;
  for (
    let at = elementEnd[figure]!;
    at < elementEnd[outer]! && seen < NEIGHBOURS;
    at = elementEnd[at]!, seen++
  )
    if (isFlow[at] === 1) return true;
  seen = 0;
  for (let at = figure - 1; at > outer && seen < NEIGHBOURS; at--) {
    if (parent[at] !== outer) continue;
    seen++;
    if (isFlow[at] === 1) return true;
  }
  return false;
}

/** Tells whether a figure holds only a link. With a caption, such a figure announces another story of the site. */
function isPreview({ tag, elementEnd }: PageModel, figure: number): boolean {
  const link = figure + 1;
  const end = elementEnd[figure]!;
  return tag[link] === Tag.a && elementEnd[link] === end && !tag.subarray(link, end).includes(Tag.figcaption);
}

/** Tells whether a block is what stands below a picture: the caption of a figure, or the only text of a picture's box. */
function isCaption(model: PageModel, block: number): boolean {
  const { blocks, tag, parent, flags } = model;
  const element = blocks.element[block] ?? -1;
  if (element < 0 || tag[element] === Tag.figcaption) return element >= 0;
  // A button beside a picture enlarges it, and what is hidden there is for programs.
  if ((blocks.flags[block]! & NOT_SHOWN) !== 0) return false;
  const text = blocks.text[block]!;
  if (text.length > MAX_CAPTION || CREDIT.test(text) || statOf(model, block, TextStat.linkChars) > 0)
    return false;
  const box = holdsPicture(model, element) ? element : parent[element]!;
  if (box < 0 || (flags[box]! & ElementFlag.link) !== 0 || !holdsPicture(model, box)) return false;
  return [block - 1, block + 1].every((other) => !isInside(model, blocks.element[other] ?? -1, box));
}

/** Longest caption in characters. A text that only names the picture's owner does not describe the picture. */
const MAX_CAPTION = 400;
const MAX_LEVELS = 5;
const FIGURES = tagsNamed("figure");
const CREDIT =
  /^[\s([|]*(?:©|(?:photos?|fotos?|fotocredits?|photographs?|images?|bild(?:er)?|pictures?|quelle|source|credits?|фото|φωτογραφία|zdjęcie) ?(?::|by\b|©|\())/iu;

function holdsPicture({ media, tag, elementEnd }: PageModel, box: number): boolean {
  const first = media[firstFrom(media, box)] ?? -1;
  return first >= 0 && first < elementEnd[box]! && tag[first] === Tag.img;
}

const isCode = ({ blocks }: PageModel, block: number): boolean =>
  (blocks.flags[block]! & ElementFlag.preformatted) !== 0;

/** The element that a block, or the figure of a caption, stands in. */
function containerOf(model: PageModel, block: number): number {
  const { blocks, parent } = model;
  const element = blocks.element[block] ?? -1;
  const holder = element >= 0 && isCaption(model, block) ? parent[element]! : element;
  return holder < 0 ? -1 : parent[holder]!;
}
