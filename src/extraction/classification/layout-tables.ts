import { type PageModel, Tag, tagsNamed } from "../page/page-model.ts";

/** Kinds of the innermost table around an element: no table or a table of values, a single row, a layout of the page. */
export const Layout = { values: 0, row: 1, page: 2 } as const;

const PAGE_PARTS = tagsNamed("h1 h2 h3 article main nav");

/**
 * Tells tables that only lay out the page from tables of values. A layout has a part of a page or another table in a
 * cell, or one column without a head; its cells are boxes. A single row may be either.
 * @returns a value of `Layout` for each element, of the innermost table around it, itself included
 */
export function findLayouts({ elementCount, parent, tag }: PageModel): Uint8Array {
  const tableOf = new Int32Array(elementCount).fill(-1);
  const rowCount = new Int32Array(elementCount);
  const cellCount = new Int32Array(elementCount);
  const hasHead = new Uint8Array(elementCount);
  const hasColumns = new Uint8Array(elementCount);
  const isPage = new Uint8Array(elementCount);
  /** Marks the tables around an element, up to the first that is marked with all around it. */
  const markAround = (element: number): void => {
    for (let at = element; at >= 0; ) {
      const table = tableOf[at]!;
      if (table < 0 || isPage[table] === 1) return;
      isPage[table] = 1;
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
    if (tag[element] === Tag.th) hasHead[table] = 1;
    if (tag[element] === Tag.td && ++cellCount[outer]! === 2) hasColumns[table] = 1;
  }
  return Uint8Array.from(tableOf, (table) => {
    if (table < 0) return Layout.values;
    if (isPage[table] || !(hasHead[table] || hasColumns[table])) return Layout.page;
    return rowCount[table] === 1 && !hasHead[table] ? Layout.row : Layout.values;
  });
}
