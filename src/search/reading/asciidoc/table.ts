/** What the readers of a table need of a document. */
type CellReader = {
  readonly inline: (text: string) => string;
  readonly cell: (lines: readonly string[]) => string;
};

export type AsciidocTable = {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
};

type Cell = {
  text: string;
  readonly columns: number;
  readonly rows: number;
  readonly repeat: number;
  readonly style: string;
};

const MAX_COLUMNS = 200;
/** How many cells of a table may be copies of others. */
const MAX_COPIES = 10_000;
/** What stands before a bar: how far the cell reaches, and how it is read. */
const SPEC = /(?<=^|\s)(?:(\d{1,3})?(?:\.(\d{1,3}))?([+*]))?[<^>]?(?:\.[<^>])?([adehlmsv])?$/;

/**
 * Reads the cells of a table (`|===`). A cell over several columns or rows stands in the first of them.
 * @param attributes those of the block, such as `cols="1,2",options="header"`
 * @param sign what separates cells: `|`, or `!` in a table inside a cell
 */
export function readTable(
  lines: readonly string[],
  attributes: string,
  { inline, cell }: CellReader,
  sign: string,
): AsciidocTable {
  const cells = cellsOf(lines, sign);
  const first = lines.findIndex((line) => line.trim() !== "");
  const width = Math.min(
    MAX_COLUMNS,
    columnsIn(attributes) ||
      cellsOf(lines.slice(0, first + 1), sign).reduce((sum, one) => sum + one.columns * one.repeat, 0) ||
      1,
  );
  const rows = placed(cells, width).map((row) =>
    row.map((one) =>
      one === null ? "" : one.style === "a" ? cell(one.text.split("\n")) : inline(one.text.trim()),
    ),
  );
  const isImplied = first === 0 && lines[1]?.trim() === "" && !/noheader/.test(attributes);
  const hasHeader =
    /%header|options?="?[^"]{0,100}\bheader\b|opts="?[^"]{0,100}\bheader\b/.test(attributes) || isImplied;
  const [header = [], ...others] = hasHeader ? rows : [[], ...rows];
  return { header, rows: others };
}

function columnsIn(attributes: string): number {
  const [, quoted, bare] = /cols=(?:"([^"]{1,1000})"|([^,\]]{1,100}))/.exec(attributes) ?? [];
  const columns = quoted ?? bare;
  if (columns === undefined) return 0;
  if (/^\d{1,3}$/.test(columns)) return Number(columns);
  return columns.split(/[,;]/).reduce((sum, one) => sum + (Number(/^\s*(\d{1,3})\*/.exec(one)?.[1]) || 1), 0);
}

function cellsOf(lines: readonly string[], sign: string): Cell[] {
  const cells: Cell[] = [];
  for (const line of lines) {
    const parts = splitAt(line, sign);
    for (const [index, part] of parts.entries()) {
      const isLast = index === parts.length - 1;
      const spec = isLast ? null : SPEC.exec(part.slice(-20));
      const text = spec ? part.slice(0, part.length - spec[0].length) : part;
      const open = cells.at(-1);
      if (open) open.text += `${index === 0 ? "\n" : ""}${text}`;
      if (isLast) continue;
      const [, across, down, kind, style = ""] = spec ?? [];
      const isRepeated = kind === "*";
      cells.push({
        text: "",
        style,
        repeat: isRepeated ? Number(across ?? 1) : 1,
        columns: !isRepeated && kind ? Number(across ?? 1) : 1,
        rows: Number(down ?? 1),
      });
    }
  }
  return cells;
}

/** Splits a line at its bars; one behind a backslash is text. */
function splitAt(line: string, sign: string): string[] {
  const parts: string[] = [];
  let part = "";
  for (const [index, one] of line.split(sign).entries()) {
    const isKept = index > 0 && part.endsWith("\\");
    if (index > 0 && !isKept) parts.push(part);
    part = isKept ? `${part.slice(0, -1)}${sign}${one}` : one;
  }
  return [...parts, part];
}

/** The cells in rows of one width; null where one from the left or from above goes on. */
function placed(cells: readonly Cell[], width: number): (Cell | null)[][] {
  const rows: (Cell | null)[][] = [];
  /** For how many more rows each column is taken. */
  const taken = new Array<number>(width).fill(0);
  let row: (Cell | null)[] = [];
  let copies = MAX_COPIES;
  const end = (): void => {
    rows.push(row);
    row = [];
    for (const [column, left] of taken.entries()) taken[column] = Math.max(0, left - 1);
  };
  const skip = (): void => {
    while (row.length < width && taken[row.length]! > 0) row.push(null);
    if (row.length === width) end();
  };
  for (const cell of cells) {
    for (let copy = 0; copy < cell.repeat && (copy === 0 || copies-- > 0); copy++) {
      skip();
      for (let column = 0; column < cell.columns && row.length < width; column++) {
        taken[row.length] = Math.min(cell.rows, 1000);
        row.push(column === 0 ? cell : null);
      }
      if (row.length === width) end();
    }
  }
  if (row.length > 0) rows.push(row);
  return rows;
}
