import type { PageModel } from "../page/page-model.ts";
import { Tag } from "../page/tags.ts";

/** Groups of names that speak of consent, and of dialogs. */
const DIALOG_GROUPS = (1 << 8) | (1 << 9);
const ROOT_TAGS: ReadonlySet<number> = new Set([Tag.html, Tag.body]);
const CONTENT_TAGS: ReadonlySet<number> = new Set([Tag.h1, Tag.main, Tag.article]);
/** The first purpose of the IAB's consent framework, worded alike on every site of a language. */
const FIRST_PURPOSE =
  /information(?:en)? on (?:a device|your (?:device|browser))|scan device characteristics|Informationen auf einem (?:End)?gerät|informations sur un (?:appareil|terminal)|información en un dispositivo|informazioni su (?:un )?dispositivo|informatie op een apparaat/i;

/**
 * The candidates outside the dialogs that ask for consent to be tracked. They hold more prose than many a
 * page, so neither its length nor its sentences tell it from content.
 */
export function withoutConsent(model: PageModel, candidates: Int32Array): Int32Array {
  const dialogOf = findDialogs(model);
  if (dialogOf === null) return candidates;
  const { element, text } = model.blocks;
  const dropped = new Set<number>();
  for (const block of candidates) {
    const dialog = dialogOf[element[block]!]!;
    if (dialog >= 0 && !dropped.has(dialog) && FIRST_PURPOSE.test(text[block]!)) dropped.add(dialog);
  }
  if (dropped.size === 0) return candidates;
  return candidates.filter((block) => !dropped.has(dialogOf[element[block]!]!));
}

/** For each element the outermost dialog around it that holds no content; -1 for none. */
function findDialogs({ elementCount, groups, tag, parent, elementEnd }: PageModel): Int32Array | null {
  if (!groups.subarray(0, elementCount).some((group) => (group & DIALOG_GROUPS) !== 0)) return null;
  const contentBefore = new Int32Array(elementCount + 1);
  for (let element = 0; element < elementCount; element++) {
    contentBefore[element + 1] = contentBefore[element]! + (CONTENT_TAGS.has(tag[element]!) ? 1 : 0);
  }
  const dialogOf = new Int32Array(elementCount).fill(-1);
  for (let element = 0; element < elementCount; element++) {
    const around = parent[element]! < 0 ? -1 : dialogOf[parent[element]!]!;
    const isDialog = !ROOT_TAGS.has(tag[element]!) && (groups[element]! & DIALOG_GROUPS) !== 0;
    const holdsContent = contentBefore[elementEnd[element]!]! > contentBefore[element]!;
    dialogOf[element] = around >= 0 ? around : isDialog && !holdsContent ? element : -1;
  }
  return dialogOf;
}
