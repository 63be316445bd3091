import type { RstReader } from "./lines.ts";

type Rows = { readonly rows: readonly (readonly string[])[]; readonly headerRows: number };

/** Writes a table whose first rows name the columns. */
export function writeTable({ writer }: RstReader, { rows, headerRows }: Rows): void {
  const [header = [], ...others] = headerRows > 0 ? rows : [[], ...rows];
  writer.table(header, others);
}

/** A row of a grid has at most so many cells. */
const MAX_COLUMNS = 200;

/**
 * Reads a grid table (docutils, "Grid Tables"). A cell over several rows stands in the first, one over several
 * columns in the first of them.
 */
export function readGrid(reader: RstReader, lines: readonly string[], depth: number): Rows {
  const edges = edgesOf(lines);
  const rows: Map<number, string[]>[] = [];
  let open: (string[] | undefined)[] = [];
  let headerRows = 0;
  for (const line of lines) {
    const isBorder = edges.slice(1).map((edge, at) => /^[-=]+$/.test(line.slice(edges[at]! + 1, edge)));
    if (isBorder.some(Boolean)) {
      if (line.includes("=") && isBorder.every(Boolean) && rows.length > 0) headerRows = rows.length;
      open = open.map((cell, column) => (isBorder[column] ? undefined : cell));
      rows.push(new Map());
      if (isBorder.every(Boolean)) continue;
    }
    for (let column = 0; column < edges.length - 1; column++) {
      if (isBorder[column]) continue;
      const start = column;
      while (column < edges.length - 2 && !"|+".includes(line[edges[column + 1]!] ?? "|")) column++;
      const cell = open[start] ?? [];
      if (open[start] === undefined) rows.at(-1)?.set(start, cell);
      open.fill(cell, start, column + 1);
      for (let at = start; at <= column; at++) open[at] = cell;
      cell.push(line.slice(edges[start]! + 1, edges[column + 1]).replace(/^ /, ""));
    }
  }
  const filled = rows.filter(({ size }) => size > 0);
  return {
    headerRows,
    rows: filled.map((row) =>
      Array.from({ length: edges.length - 1 }, (_, column) => reader.cell(row.get(column) ?? [], depth)),
    ),
  };
}

/** The columns at which a border of the grid has a corner. */
function edgesOf(lines: readonly string[]): readonly number[] {
  const edges = new Set<number>();
  for (const line of lines) {
    if (!/\+[-=]/.test(line)) continue;
    for (let at = line.indexOf("+"); at >= 0 && edges.size < MAX_COLUMNS; at = line.indexOf("+", at + 1))
      if (/[-=]/.test(`${line[at - 1] ?? ""}${line[at + 1] ?? ""}`)) edges.add(at);
  }
  return [...edges].sort((a, b) => a - b);
}

/** Reads a simple table (docutils, "Simple Tables"): a line without a first cell goes on with the row above. */
export function readSimple(reader: RstReader, lines: readonly string[], depth: number): Rows {
  const columns = [...(lines[0] ?? "").matchAll(/=+/g)].slice(0, MAX_COLUMNS).map(({ index }) => index);
  const rows: string[][][] = [];
  let headerRows = 0;
  let isNew = true;
  for (const [index, line] of lines.entries()) {
    if (/^=+(?: +=+)*$/.test(line)) {
      if (index > 0 && index < lines.length - 1) headerRows = rows.length;
      isNew = true;
    } else if (line === "" || /^-+(?: +-+)*$/.test(line)) isNew ||= line !== "";
    else {
      const cells = columns.map((start, at) => line.slice(start, columns[at + 1]).trimEnd());
      if (isNew || cells[0]?.trim() !== "" || rows.length === 0) rows.push(columns.map(() => []));
      for (const [at, cell] of cells.entries()) rows.at(-1)?.[at]?.push(cell);
      isNew = false;
    }
  }
  return { headerRows, rows: rows.map((row) => row.map((cell) => reader.cell(cell, depth))) };
}
