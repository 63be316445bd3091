import { NOT_SHOWN } from "../classification/region.ts";
import { ElementFlag, firstFrom, isInside, type PageModel, Tag } from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import { type Draft, keptBlocks } from "./draft.ts";

/** Keeps captions and code that stand alone between two kept blocks, or beside both as their sibling. */
export function addCaptionsAndCode({ tree: { model }, isKept, isBarred }: Draft): void {
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

/** Longer texts beside a picture are no captions, and whose picture it is says nothing of what it shows. */
const MAX_CAPTION = 400;
const CREDIT =
  /^[\s([]*(?:©|(?:photos?|fotos?|photographs?|images?|bild(?:er)?|pictures?|quelle|source|credits?|фото|φωτογραφία|zdjęcie) ?(?::|by\b|©|\())/iu;

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
