import { ElementFlag, type PageModel } from "./page/page-model.ts";
import { Tag } from "./page/tags.ts";

/** A data table's cells are short: longer ones make it a layout, of which parts may be refused. */
const MAX_CELL_LENGTH = 200;
/** Refused cells come back when at least this share of a table's text was chosen. */
const MIN_CHOSEN_SHARE = 0.5;

type TableTally = { readonly blocks: number[]; chosenLength: number; length: number; isLayout: boolean };

/**
 * Adds the refused cells of data tables that were chosen for the most part: a number alone says little to a
 * choice by blocks, and a table without some of its cells says something else than the page.
 * @param chosen blocks in page order
 */
export function withWholeTables(model: PageModel, chosen: Int32Array): Int32Array {
  const isChosen = new Uint8Array(model.blocks.count);
  for (const block of chosen) isChosen[block] = 1;
  let isChanged = false;
  for (const tally of tallyTables(model, isChosen).values()) {
    if (tally.isLayout || tally.chosenLength < tally.length * MIN_CHOSEN_SHARE) continue;
    for (const block of tally.blocks) {
      isChanged ||= isChosen[block] === 0;
      isChosen[block] = 1;
    }
  }
  if (!isChanged) return chosen;
  return Int32Array.from(isChosen.keys()).filter((block) => isChosen[block] === 1);
}

function tallyTables(model: PageModel, isChosen: Uint8Array): ReadonlyMap<number, TableTally> {
  const { blocks } = model;
  const tallies = new Map<number, TableTally>();
  for (let block = 0; block < blocks.count; block++) {
    const flags = blocks.flags[block]!;
    if ((flags & ElementFlag.cell) === 0 || (flags & ElementFlag.hidden) !== 0) continue;
    const table = tableOf(model, blocks.element[block]!);
    const tally = tallies.get(table) ?? { blocks: [], chosenLength: 0, length: 0, isLayout: table < 0 };
    tallies.set(table, tally);
    const length = blocks.text[block]!.length;
    tally.blocks.push(block);
    tally.length += length;
    if (isChosen[block] === 1) tally.chosenLength += length;
    if (length > MAX_CELL_LENGTH) tally.isLayout = true;
  }
  return tallies;
}

function tableOf({ parent, tag }: PageModel, element: number): number {
  let at = element;
  // Deeper markup between a cell's text and its table is no table that people read.
  for (let step = 0; step < 12 && at >= 0; step++, at = parent[at]!) if (tag[at] === Tag.table) return at;
  return -1;
}
