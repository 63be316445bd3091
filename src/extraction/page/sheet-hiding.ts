import { hiddenNames } from "./hidden.ts";
import { ElementFlag, type PageModel } from "./page-model.ts";
import { Tag } from "./tags.ts";

const PANEL_GROUPS = 1 << 23;

/**
 * Marks what the page's own style sheets hide, with everything inside: as a panel where the reader can
 * open it (`controlled` holds the ids that buttons open), else as hidden.
 */
export function hideBySheets(
  model: PageModel,
  sheets: readonly string[],
  controlled: ReadonlySet<string>,
): void {
  if (sheets.length === 0) return;
  const { classes, ids } = hiddenNames(sheets);
  if (classes.size === 0 && ids.size === 0) return;
  const hidesName = model.names.map((name) => name.split(/\s+/).some((word) => classes.has(word)));
  const { flags, elementEnd } = model;
  for (let element = 0; element < model.elementCount; element++) {
    const id = model.names[model.idId[element]!] ?? "";
    const isHidden = hidesName[model.classId[element]!] || (id !== "" && ids.has(id));
    const tag = model.tag[element];
    if (!isHidden || tag === Tag.html || tag === Tag.body) continue;
    const isPanel = (model.groups[element]! & PANEL_GROUPS) !== 0 || controlled.has(id);
    const flag = (isPanel ? ElementFlag.panel : ElementFlag.hidden) | ElementFlag.sheetHidden;
    const end = elementEnd[element]!;
    for (let inner = element; inner < end; inner++) flags[inner]! |= flag;
    element = end - 1;
  }
  updateBlocks(model);
}

function updateBlocks({ blocks, flags, textParent }: PageModel): void {
  const hiding = ElementFlag.hidden | ElementFlag.panel | ElementFlag.sheetHidden;
  for (let block = 0; block < blocks.count; block++) {
    const element = textParent[blocks.firstText[block]!]!;
    if (element >= 0) blocks.flags[block]! |= flags[element]! & hiding;
  }
}
