import type { Cell, Table } from "./model.ts";

/** Cells that spans may add to a table beyond those written; a hostile table stays as it is written. */
const MAX_UNFOLDED = 20_000;

const EMPTY: Cell = { blocks: [], isHeader: false, colspan: 1, rowspan: 1, alignment: null };

/**
 * A table's rows with one cell in each column. A cell over several rows is repeated in each, so that a row
 * says all by itself; over several columns it is repeated in the header and stands once in the body.
 */
export function unfoldTable({ rows, headerRows }: Table): Cell[][] {
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

/** All rows as long as the longest, but for tables where that would make most cells up. */
function squared(grid: Cell[][]): Cell[][] {
  for (const row of grid) while (row.at(-1) === EMPTY) row.pop();
  const width = grid.reduce((most, row) => Math.max(most, row.length), 0);
  const cells = grid.reduce((total, row) => total + row.length, 0);
  if (width * grid.length > 8 * cells + MAX_UNFOLDED) return grid;
  for (const row of grid) while (row.length < width) row.push(EMPTY);
  return grid;
}
