import type { Alignment, TableBlock } from "./model.ts";

/** A longer line is not part of a table. */
const MAX_LINE = 100_000;
const MAX_COLUMNS = 200;

/** Reads a table: a line of names, a line of dashes, lines of cells up to a blank one. */
export function readTable(
  lines: readonly string[],
  at: number,
): { readonly block: TableBlock; readonly next: number } | null {
  const first = lines[at]!;
  const second = lines[at + 1];
  if (second === undefined || !first.includes("|") || first.length > MAX_LINE) return null;
  const alignments = alignmentsOf(second);
  if (!alignments) return null;
  const header = cellsOf(first);
  if (header.length !== alignments.length) return null;
  const rows: string[][] = [];
  let next = at + 2;
  for (; next < lines.length; next++) {
    const line = lines[next]!;
    if (line.trim() === "" || line.length > MAX_LINE || !line.includes("|")) break;
    const cells = cellsOf(line).slice(0, header.length);
    while (cells.length < header.length) cells.push("");
    rows.push(cells);
  }
  return { block: { kind: "table", alignments, header, rows }, next };
}

function alignmentsOf(line: string): Alignment[] | null {
  if (line.length > MAX_LINE || !/^[\s|:-]+$/.test(line) || !line.includes("-") || !line.includes("|"))
    return null;
  const cells = cellsOf(line);
  if (cells.length > MAX_COLUMNS) return null;
  if (!cells.every((cell) => /^:?-+:?$/.test(cell))) return null;
  return cells.map((cell) => (cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : "left"));
}

/** Splits a row into cells; a bar after a backslash is text. */
function cellsOf(line: string): string[] {
  const text = line.trim();
  const cells: string[] = [];
  let cell = "";
  for (let at = text.startsWith("|") ? 1 : 0; at < text.length; at++) {
    const one = text[at]!;
    if (one === "\\" && text[at + 1] === "|") {
      cell += "|";
      at++;
    } else if (one === "|") {
      cells.push(cell.trim());
      cell = "";
    } else cell += one;
  }
  if (cell.trim() !== "" || !text.endsWith("|")) cells.push(cell.trim());
  return cells;
}
