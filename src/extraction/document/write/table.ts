import type { Alignment, Block, Cell, Inline, Table } from "../model.ts";
import { htmlInMarkdown, phrasesToMarkdown, texForMarkdown } from "./phrases.ts";

/** Writes a GFM table: one header row, one line for each row (GFM 0.29, section 4.10). */
export function tableToMarkdown(table: Table): string[] {
  const rows = unfoldTable(table);
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
  if (columns === 0) return [];
  const head = headerOf(rows.slice(0, table.headerRows), columns);
  const lines = [line(head, columns), delimiters(rows, columns)];
  for (const row of rows.slice(table.headerRows)) lines.push(line(row.map(cellText), columns));
  return lines;
}

/** Several header rows become one: "2024 Q1" under "2024". */
function headerOf(rows: readonly (readonly Cell[])[], columns: number): string[] {
  if (rows.length === 1) return rows[0]!.map(cellText);
  return Array.from({ length: rows.length === 0 ? 0 : columns }, (_, column) => {
    const texts = rows.map((row) => (row[column] ? cellText(row[column]) : ""));
    return texts.filter((text, index) => text !== "" && text !== texts[index - 1]).join(" ");
  });
}

function line(cells: readonly string[], columns: number): string {
  const texts = cells.length > 0 ? cells : Array.from({ length: columns }, () => "");
  return `| ${texts.join(" | ")} |`;
}

const DELIMITER: Readonly<Record<NonNullable<Alignment>, string>> = {
  left: ":--",
  center: ":-:",
  right: "--:",
};

/** A column gets the alignment of most of its cells. */
function delimiters(rows: readonly (readonly Cell[])[], columns: number): string {
  const marks: string[] = [];
  for (let column = 0; column < columns; column++) {
    const counts = new Map<string, number>();
    for (const row of rows) {
      const alignment = row[column]?.alignment;
      if (alignment) counts.set(DELIMITER[alignment], (counts.get(DELIMITER[alignment]) ?? 0) + 1);
    }
    const [most] = [...counts].sort((a, b) => b[1] - a[1]);
    marks.push(most && most[1] * 2 >= rows.length - 1 ? most[0] : "---");
  }
  return `| ${marks.join(" | ")} |`;
}

const IN_CELL = { isInCell: true, isHeading: false } as const;
const phrases = (inlines: readonly Inline[]): string => phrasesToMarkdown(inlines, IN_CELL);

const cellText = (cell: Cell): string => blocksInCell(cell.blocks);

/** Writes blocks on one line: paragraphs separated by <br>, lists as HTML, code as code. */
function blocksInCell(blocks: readonly Block[]): string {
  let out = "";
  for (const block of blocks) {
    const text = blockInCell(block);
    if (text === "") continue;
    out +=
      out === "" || /^<(?:ul|ol|pre)/.test(text) || /<\/(?:ul|ol|pre)>$/.test(out) ? text : `<br>${text}`;
  }
  return out;
}

function blockInCell(block: Block): string {
  switch (block.kind) {
    case "paragraph":
    case "heading":
      return phrases(block.children);
    case "list": {
      const name = block.isOrdered ? "ol" : "ul";
      const start = block.isOrdered && block.start !== 1 ? ` start="${block.start}"` : "";
      const items = block.items.map(
        ({ isDone, blocks }) => `<li>${tick(isDone)}${blocksInCell(blocks)}</li>`,
      );
      return `<${name}${start}>${items.join("")}</${name}>`;
    }
    case "code-block":
      return codeInCell(block.text);
    case "table":
      return [phrases(block.caption), ...unfoldTable(block).map((row) => row.map(cellText).join(" "))]
        .filter((text) => text.trim() !== "")
        .join("<br>");
    case "figure":
      return [blocksInCell(block.blocks), blocksInCell(block.caption)].filter(Boolean).join("<br>");
    case "admonition":
    case "details": {
      const title = phrases(block.kind === "details" ? block.summary : block.title);
      return [title, blocksInCell(block.blocks)].filter(Boolean).join("<br>");
    }
    case "quote":
      return blocksInCell(block.blocks);
    case "definitions":
      return block.groups
        .flatMap(({ terms, definitions }) => [
          ...terms.map((term) => phrases([{ kind: "span", tag: "strong", children: term }])),
          ...definitions.map(blocksInCell),
        ])
        .join("<br>");
    case "math-block":
      return `$${texForMarkdown(block.tex).replace(/\s+/g, " ").replaceAll("|", "\\|")}$`;
    case "rule":
      return "";
  }
}

const tick = (isDone: boolean | null): string => (isDone === null ? "" : isDone ? "☑ " : "☐ ");

function codeInCell(text: string): string {
  if (!text.includes("\n")) return phrases([{ kind: "code", text }]);
  const lines = text.split("\n").map((line) => htmlInMarkdown(line).replaceAll("|", "&#124;"));
  return `<pre>${lines.join("<br>")}</pre>`;
}

/**
 * The maximum number of cells that spans may add to a table; a hostile table is written without expansion.
 */
const MAX_UNFOLDED = 20_000;

const EMPTY: Cell = { blocks: [], isHeader: false, colspan: 1, rowspan: 1, alignment: null };

/**
 * Expands spans, so that each row has one cell in each column. A cell over several rows is repeated in each of them,
 * so that a row is complete by itself; a cell over several columns is repeated in the header and written once in the
 * body.
 */
function unfoldTable({ rows, headerRows }: Table): Cell[][] {
  const isSane = addedCells(rows) <= MAX_UNFOLDED;
  const grid: Cell[][] = [];
  let pending = new Map<number, { cell: Cell; rows: number }>();
  for (const [index, row] of rows.entries()) {
    const line: Cell[] = [];
    const next: typeof pending = new Map();
    const place = (cell: Cell, rowsLeft: number): void => {
      if (rowsLeft > 1) next.set(line.length, { cell, rows: rowsLeft - 1 });
      line.push(cell);
    };
    const takePending = (): void => {
      for (let above = pending.get(line.length); above; above = pending.get(line.length)) {
        place(above.cell, above.rows);
      }
    };
    for (const cell of row) {
      takePending();
      const columns = isSane ? cell.colspan : 1;
      const rowsLeft = isSane ? cell.rowspan : 1;
      place(cell, rowsLeft);
      for (let column = 1; column < columns; column++) place(index < headerRows ? cell : EMPTY, rowsLeft);
    }
    takePending();
    grid.push(line);
    pending = next;
  }
  return squared(grid);
}

function addedCells(rows: Table["rows"]): number {
  let added = 0;
  for (const row of rows) for (const cell of row) added += cell.colspan * cell.rowspan - 1;
  return added;
}

/** Pads all rows to the length of the longest, except in tables that would then be mostly padding. */
function squared(grid: Cell[][]): Cell[][] {
  for (const row of grid) while (row.at(-1) === EMPTY) row.pop();
  const width = grid.reduce((most, row) => Math.max(most, row.length), 0);
  const cells = grid.reduce((total, row) => total + row.length, 0);
  if (width * grid.length > 8 * cells + MAX_UNFOLDED) return grid;
  for (const row of grid) while (row.length < width) row.push(EMPTY);
  return grid;
}
