import { wordsIn } from "../../base/text.ts";
import { type Alignment, type Block, type Cell, type Inline, inlineText, type ListItem } from "./model.ts";
import { isShown, normalisePhrases } from "./normalise.ts";
import type { BlockReader, Place } from "./read-inlines.ts";
import { type ContentElement, find, findAll, named, textOf } from "./tree.ts";

type Row = { readonly element: ContentElement; readonly isHead: boolean; readonly isFoot: boolean };

/** A longer cell holds a part of a page, not a value. */
const LONG_CELL = 1200;
/** This is the limit for a table with a single row. */
const LONG_SINGLE_CELL = 120;
const MAX_SPAN = 100;

/** Reads a table of values; a table that only lays out the page becomes the blocks of its cells. */
export function readTable(reader: BlockReader, table: ContentElement, place: Place): Block[] {
  const rows = rowsOf(table);
  const caption = captionOf(reader, table, place);
  if (isLayout(table, rows, isShown(caption))) {
    const before: Block[] = isShown(caption) ? [{ kind: "paragraph", children: caption }] : [];
    return [
      ...before,
      ...rows.flatMap((row) => cellsOf(row.element).flatMap((cell) => reader.blocks(cell, deeper(place)))),
    ];
  }
  const read = rows.map((row) => cellsOf(row.element).map((cell) => readCell(reader, cell, place)));
  const shown = read
    .map((cells, index) => ({ cells, row: rows[index]! }))
    .filter(({ cells }) => cells.length > 0);
  if (!shown.some(({ cells }) => cells.some((cell) => cell.blocks.length > 0))) return [];
  // A `<tfoot>` may precede the body in the source, but is shown last.
  const ordered = [...shown.filter(({ row }) => !row.isFoot), ...shown.filter(({ row }) => row.isFoot)];
  const headerRows = countHeaderRows(ordered);
  return [{ kind: "table", caption, headerRows, rows: ordered.map(({ cells }) => cells), ...place.locale }];
}

const deeper = (place: Place): Place => ({
  ...place,
  depth: place.depth + 2,
  nesting: place.nesting + 1,
  link: null,
});

function rowsOf(table: ContentElement): Row[] {
  const rows: Row[] = [];
  for (let child = table.firstElementChild; child; child = child.nextElementSibling) {
    const name = child.name;
    if (name === "TR") rows.push({ element: child, isHead: false, isFoot: false });
    if (!/^T(?:HEAD|BODY|FOOT)$/.test(name)) continue;
    for (let row = child.firstElementChild; row; row = row.nextElementSibling) {
      if (row.name === "TR") rows.push({ element: row, isHead: name === "THEAD", isFoot: name === "TFOOT" });
    }
  }
  return rows;
}

const cellsOf = (row: ContentElement): ContentElement[] =>
  row.children.filter((cell) => cell.name === "TD" || cell.name === "TH");

function captionOf(reader: BlockReader, table: ContentElement, place: Place): Inline[] {
  const caption = table.children.find((child) => child.name === "CAPTION");
  return caption ? reader.phrases(caption, place) : [];
}

function isLayout(table: ContentElement, rows: readonly Row[], hasCaption: boolean): boolean {
  if (/^(?:presentation|none)$/.test(table.getAttribute("role") ?? "")) return true;
  const cells = rows.map((row) => cellsOf(row.element));
  const widest = cells.reduce((most, row) => Math.max(most, row.length), 0);
  const all = cells.flat();
  const hasHeader = all.some((cell) => cell.name === "TH") || rows.some((row) => row.isHead);
  if (all.some(holdsPage)) return true;
  if (widest <= 1) return !(hasHeader && rows.length > 1);
  if (hasHeader || hasCaption) return false;
  const limit = rows.length === 1 ? LONG_SINGLE_CELL : LONG_CELL;
  return all.some(
    (cell) => textOf(cell).length > limit || (rows.length === 1 && find(cell, isImage) !== null),
  );
}

const isImage = named("IMG");
const isPagePart = named("H1 H2 H3 ARTICLE MAIN NAV");
const isTable = named("TABLE");
const isRow = named("TR");

function holdsPage(cell: ContentElement): boolean {
  return (
    (cell.name === "TD" && find(cell, isPagePart) !== null) ||
    findAll(cell, isTable).some((inner) => findAll(inner, isRow).length > 1)
  );
}

function readCell(reader: BlockReader, cell: ContentElement, place: Place): Cell {
  return {
    blocks: reader.blocks(cell, { ...deeper(place), locale: {} }),
    isHeader: cell.name === "TH",
    colspan: spanOf(cell, "colspan"),
    rowspan: spanOf(cell, "rowspan"),
    alignment: alignmentOf(cell),
  };
}

function spanOf(cell: ContentElement, name: string): number {
  const span = Number.parseInt(cell.getAttribute(name) ?? "1", 10);
  return Number.isInteger(span) && span > 1 ? Math.min(span, MAX_SPAN) : 1;
}

function alignmentOf(cell: ContentElement): Alignment {
  const style = (cell.getAttribute("style") ?? "").slice(0, 300);
  const value =
    /text-align\s*:\s*(left|center|right)/i.exec(style)?.[1] ??
    /^(left|center|right)$/i.exec(cell.getAttribute("align") ?? "")?.[1] ??
    /(?:^|\s)(?:has-)?(?:text-)?(?:align-)?(left|center|right)(?:-align)?(?:$|\s)/i.exec(
      cell.className.slice(0, 200),
    )?.[1];
  const alignment = value?.toLowerCase();
  return alignment === "left" || alignment === "center" || alignment === "right" ? alignment : null;
}

type ReadRow = { readonly cells: readonly Cell[]; readonly row: Row };

function countHeaderRows(rows: readonly ReadRow[]): number {
  const heads = rows.findIndex(({ row }) => !row.isHead);
  if (heads !== 0) return heads < 0 ? Math.min(1, rows.length) : heads;
  const isHeaderRow = ({ cells }: ReadRow): boolean =>
    cells.every((cell) => cell.isHeader || cell.blocks.length === 0) && cells.some((cell) => cell.isHeader);
  const first = rows[0];
  if (first && isHeaderRow(first)) return rows.length > 2 && isHeaderRow(rows[1]!) ? 2 : 1;
  if (!first || rows.length < 2) return 0;
  return (isBold(first) && !isBold(rows[1]!)) || namesColumns(first, rows.slice(1)) ? 1 : 0;
}

const MAX_NAME = 40;

/**
 * Tells whether a row names the columns: short words above columns of figures, or above all columns but the first.
 */
function namesColumns({ cells }: ReadRow, rows: readonly ReadRow[]): boolean {
  const names = cells.map(plainCell);
  const [corner, ...others] = names;
  if (cells.length < 2 || cells.some(({ colspan, rowspan }) => colspan > 1 || rowspan > 1)) return false;
  if (others.some((name) => name === null || name === "" || name.length > MAX_NAME || /\d/.test(name)))
    return false;
  if (corner === "") return rows.every((row) => plainCell(row.cells[0]) !== "");
  if (corner == null || corner.length > MAX_NAME || /\d/.test(corner) || rows.length < 2) return false;
  return others.some((_, column) => rows.every((row) => /\d/.test(plainCell(row.cells[column + 1]) ?? "")));
}

/** Returns the text of a cell that is one phrase; null for any other. */
function plainCell(cell: Cell | undefined): string | null {
  if (!cell || cell.blocks.length === 0) return "";
  const [only, ...more] = cell.blocks;
  return only?.kind === "paragraph" && more.length === 0 ? inlineText(only.children).trim() : null;
}

// Old pages mark their header with bold type.
const isBold = ({ cells }: ReadRow): boolean =>
  cells.length > 0 &&
  cells.every(({ blocks: [only, more] }) => {
    if (more || only?.kind !== "paragraph" || only.children.length !== 1) return false;
    const [span] = only.children;
    return span?.kind === "span" && span.tag === "strong";
  });

/** Adds the blocks of an item, or blocks between items, which belong to the item before them. */
export function addToItems(
  items: ListItem[],
  blocks: readonly Block[],
  isNew: boolean,
  isDone: boolean | null = null,
): void {
  if (blocks.length === 0) return;
  const last = items.at(-1);
  if (isNew || !last) items.push({ isDone, blocks: isDone === null ? blocks : withoutTick(blocks) });
  else items[items.length - 1] = { ...last, blocks: [...last.blocks, ...blocks] };
}

/**
 * Tells whether a list lays out a page: its items are sections of their own, as Javadoc writes them. A card with a
 * heading and a paragraph is still an item, unless its element is a section.
 * @param holdsSections whether an item is a `<section>`
 */
export const isListLayout = (items: readonly ListItem[], holdsSections: boolean): boolean =>
  items.some(({ blocks }) => isItemSection(blocks, holdsSections));

function isItemSection(blocks: readonly Block[], isMarked: boolean): boolean {
  const at = blocks.findIndex((block) => block.kind === "heading");
  if (at < 0) return false;
  return isMarked || blocks.slice(at + 1).some((block) => SECTION_PARTS.has(block.kind));
}

const SECTION_PARTS: ReadonlySet<Block["kind"]> = new Set(
  wordsIn("heading list code-block table definitions admonition"),
);

/** The number in an attribute of a list or an item; null where it gives none that Markdown can write. */
export function numberOf(element: ContentElement, attribute: "start" | "value"): number | null {
  const number = Number.parseInt(element.getAttribute(attribute) ?? "", 10);
  return Number.isInteger(number) && number >= 0 && number < 1e9 ? number : null;
}

/** The items of an ordered list as lists that count on from their first number: a new one where an item skips numbers. */
export function runsOf(
  items: readonly ListItem[],
  numbers: readonly (number | null)[],
  start: number,
): readonly { readonly start: number; readonly items: readonly ListItem[] }[] {
  const runs: { readonly start: number; readonly items: ListItem[] }[] = [];
  let next = start;
  for (const [index, item] of items.entries()) {
    // Scripts write values of their own that do not count on.
    const number = Math.max(numbers[index] ?? next, next);
    const run = runs.at(-1);
    if (run === undefined || number !== next) runs.push({ start: number, items: [item] });
    else run.items.push(item);
    next = number + 1;
  }
  return runs;
}

/** Reads whether a task is done; null for an item that is not a task. */
export function taskState(item: ContentElement): boolean | null {
  const classes = item.classes;
  if (!classes.includes("task-list-item")) return null;
  const sign = /^\s*([☑☐])/u.exec(textOf(item).slice(0, 40))?.[1];
  return sign === undefined ? classes.includes("done") : sign === "☑";
}

// Removes the sign with which our own HTML shows the state.
const withoutTick = (blocks: readonly Block[]): readonly Block[] => withoutStart(blocks, /^[☑☐]\s*/u);

/** Removes GitHub's own mark from the blocks of an alert. */
export const withoutMark = (blocks: readonly Block[]): readonly Block[] =>
  withoutStart(blocks, /^\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*/);

function withoutStart(blocks: readonly Block[], start: RegExp): readonly Block[] {
  const [first, ...rest] = blocks;
  if (first?.kind !== "paragraph") return blocks;
  const [text, ...others] = first.children;
  if (text?.kind !== "text") return blocks;
  const children = normalisePhrases([{ kind: "text", text: text.text.replace(start, "") }, ...others]);
  return isShown(children) ? [{ ...first, children }, ...rest] : rest;
}
