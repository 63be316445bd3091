import { type PageModel, Tag, tagsNamed } from "../page/page-model.ts";

const PAGE_PARTS = tagsNamed("h1 h2 h3 article main nav");

/**
 * Finds the tables that only lay out the page: those with a part of a page or another table in a cell, and those of
 * one column without a head. Their cells are boxes, not values.
 * @returns for each element 1 where the innermost table around it, itself included, is such a layout
 */
export function findLayoutTables({ elementCount, parent, tag }: PageModel): Uint8Array {
  const tableOf = new Int32Array(elementCount).fill(-1);
  const rowCount = new Int32Array(elementCount);
  const cellCount = new Int32Array(elementCount);
  const isData = new Uint8Array(elementCount);
  const isLayout = new Uint8Array(elementCount);
  /** Marks the tables around an element, up to the first that is marked with all around it. */
  const markAround = (element: number): void => {
    for (let at = element; at >= 0; ) {
      const table = tableOf[at]!;
      if (table < 0 || isLayout[table] === 1) return;
      isLayout[table] = 1;
      at = parent[table]!;
    }
  };
  for (let element = 0; element < elementCount; element++) {
    const outer = parent[element]!;
    const table = outer < 0 ? -1 : tableOf[outer]!;
    tableOf[element] = tag[element] === Tag.table ? element : table;
    if (table < 0) continue;
    if (PAGE_PARTS.has(tag[element]!)) markAround(outer);
    // One row alone may be a frame around a word.
    if (tag[element] === Tag.tr && ++rowCount[table]! === 2) markAround(parent[table]!);
    const isHead = tag[element] === Tag.th;
    if (isHead || (tag[element] === Tag.td && ++cellCount[outer]! === 2)) isData[table] = 1;
  }
  return Uint8Array.from(tableOf, (table) => (table >= 0 && (isLayout[table] || !isData[table]) ? 1 : 0));
}
