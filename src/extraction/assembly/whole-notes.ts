import { ElementFlag, type PageModel } from "../page/page-model.ts";
import { Tag } from "../page/tags.ts";

const NOTES_NAME =
  /(?:^|[\s_-])(?:foot-?notes?(?:-list|-definition)?|endnotes?|reflist|references|wp-block-footnotes)(?=$|[\s_-])/i;
const FRAGMENT = /\shref\s*=\s*["']?[^"'\s>]{0,300}#([^"'\s>]{1,200})/i;
/** Notes with a larger share of the text are the small print of a shop or the bibliography of a paper. */
const MOST_NOTES = 0.4;
/** The maximum number of levels between a phrase and the link around it. */
const MAX_STEPS = 6;

/**
 * Adds the notes that chosen text refers to. They stand apart from it, often in the page's frame, and a reference
 * without its note leads nowhere.
 * @param chosen blocks in page order
 */
export function withNotes(model: PageModel, chosen: Int32Array): Int32Array {
  const holders = findHolders(model);
  if (holders.length === 0) return chosen;
  const { blocks } = model;
  const targets = targetsOf(model, chosen);
  const isChosen = new Uint8Array(blocks.count);
  let chosenLength = 0;
  for (const block of chosen) {
    isChosen[block] = 1;
    chosenLength += blocks.text[block]!.length;
  }
  let block = 0;
  for (const holder of holders) {
    while (block < blocks.count && blocks.element[block]! < holder) block++;
    const notes: number[] = [];
    let length = 0;
    for (; block < blocks.count && blocks.element[block]! < model.elementEnd[holder]!; block++) {
      if ((blocks.flags[block]! & ElementFlag.hidden) !== 0) continue;
      notes.push(block);
      length += blocks.text[block]!.length;
    }
    if (length > MOST_NOTES * chosenLength || !isReferred(model, holder, targets)) continue;
    for (const note of notes) isChosen[note] = 1;
  }
  return Int32Array.from(isChosen.keys()).filter((at) => isChosen[at] === 1);
}

function isReferred(
  { names, idId, elementEnd }: PageModel,
  holder: number,
  targets: ReadonlySet<string>,
): boolean {
  for (let element = holder; element < elementEnd[holder]!; element++) {
    if (idId[element] !== 0 && targets.has(names[idId[element]!] ?? "")) return true;
  }
  return false;
}

/** Finds the outermost elements named as notes, in page order. */
function findHolders({ elementCount, elementEnd, names, classId, idId, tag }: PageModel): number[] {
  const isNamed = names.map((name) => name.length < 500 && NOTES_NAME.test(name));
  if (!isNamed.includes(true)) return [];
  const holders: number[] = [];
  let articleEnd = 0;
  for (let element = 0; element < elementCount; element++) {
    const end = elementEnd[element]!;
    if (tag[element] === Tag.article || tag[element] === Tag.main) articleEnd = Math.max(articleEnd, end);
    // The footer of a site contains the small print of its offers.
    const isSiteFooter = tag[element] === Tag.footer && element >= articleEnd;
    if (!isSiteFooter && !isNamed[classId[element]!] && !isNamed[idId[element]!]) continue;
    if (!isSiteFooter) holders.push(element);
    element = end - 1;
  }
  return holders;
}

/** Collects the ids that links of the chosen text lead to. */
function targetsOf(model: PageModel, chosen: Int32Array): ReadonlySet<string> {
  const { blocks, textParent, flags, html, openStart, openEnd } = model;
  const targets = new Set<string>();
  let last = -1;
  for (const block of chosen) {
    for (let text = blocks.firstText[block]!; text < blocks.endText[block]!; text++) {
      const parent = textParent[text]!;
      if ((flags[parent]! & ElementFlag.link) === 0) continue;
      const anchor = anchorOf(model, parent);
      if (anchor < 0 || anchor === last) continue;
      last = anchor;
      const target = FRAGMENT.exec(html.slice(openStart[anchor]!, openEnd[anchor]!))?.[1];
      if (target !== undefined) targets.add(target);
    }
  }
  return targets;
}

function anchorOf({ tag, parent }: PageModel, element: number): number {
  let at = element;
  for (let step = 0; step < MAX_STEPS && at >= 0; step++, at = parent[at]!) if (tag[at] === Tag.a) return at;
  return -1;
}
