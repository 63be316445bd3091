import { hasColumns, layoutOf, linesOf, type Region, type Table, type TextRun } from "./pdf-lines.ts";

/** A stretch at one height (`at` is y) or at one x, from a lower to a higher place. */
type Rule = { readonly at: number; readonly from: number; readonly to: number };
type Rules = { readonly across: Rule[]; readonly down: Rule[] };

/** What a page draws, as PDF.js tells it: each operation's number with its values, and the numbers by their names. */
export type Drawing = {
  readonly fnArray: readonly number[];
  readonly argsArray: readonly unknown[];
  readonly operations: Readonly<Record<string, number>>;
};

/** More rules than these are a drawing; each is compared with those beside it. */
const MAX_RULES = 3000;
/** A part of a path with more points is no box. */
const MAX_POINTS = 100;
/** Rules this near, in points, are one or touch. */
const NEAR = 3;
/** A filled box that is no higher or wider than this is a rule. */
const THICKEST = 2.5;

/**
 * Puts the texts of a page into lines, where one line stands for each table whose cells have rules between them. The
 * drawing takes as long to read as the text, so it is read only where texts stand in columns.
 */
export async function regionsOf(runs: readonly TextRun[], draw: () => Promise<Drawing>): Promise<Region[]> {
  const layout = layoutOf(runs);
  if (!hasColumns(layout)) return linesOf(layout);
  let rest = runs;
  const tables: TextRun[] = [];
  for (const grid of gridsOf(rulesOf(await draw()))) {
    const inside = new Set(rest.filter((run) => run.turn === 0 && placeIn(grid, run) !== null));
    const table = tableOf(grid, [...inside]);
    if (table === null) continue;
    rest = rest.filter((run) => !inside.has(run));
    tables.push(standIn(grid, [...inside], table));
  }
  return linesOf(tables.length === 0 ? layout : layoutOf([...rest, ...tables]));
}

/** The rules that a page draws: thin boxes that are filled, and lines and boxes that are stroked. */
function rulesOf({ fnArray, argsArray, operations: ops }: Drawing): Rules {
  const rules: Rules = { across: [], down: [] };
  let matrix = [1, 0, 0, 1, 0, 0];
  const saved: number[][] = [];
  const begins = ops["paintFormXObjectBegin"];
  const strokes = [ops["stroke"], ops["closeStroke"], ops["fillStroke"], ops["eoFillStroke"]];
  const paints = [...strokes, ops["fill"], ops["eoFill"]];
  fnArray.forEach((operation, index) => {
    const args = argsArray[index] as readonly unknown[] | null; // as PDF.js gives them for each operation
    if (operation === ops["save"] || operation === begins) saved.push(matrix);
    if (operation === ops["restore"] || operation === ops["paintFormXObjectEnd"])
      matrix = saved.pop() ?? matrix;
    if (operation === ops["transform"]) matrix = multiply(matrix, args as number[]);
    if (operation === begins && args?.[0]) matrix = multiply(matrix, args[0] as number[]);
    if (operation !== ops["constructPath"] || rules.across.length + rules.down.length > MAX_RULES) return;
    const [paint, [path]] = args as [number, [ArrayLike<number> | null]];
    if (!(path && paints.includes(paint))) return;
    readPath(path, strokes.includes(paint), (x1, y1, x2, y2) =>
      addRule(rules, [...pointOf(matrix, x1, y1), ...pointOf(matrix, x2, y2)]),
    );
  });
  return rules;
}

const multiply = ([a, b, c, d, e, f]: readonly number[], [g, h, i, j, k, l]: readonly number[]): number[] => [
  a! * g! + c! * h!,
  b! * g! + d! * h!,
  a! * i! + c! * j!,
  b! * i! + d! * j!,
  a! * k! + c! * l! + e!,
  b! * k! + d! * l! + f!,
];
const pointOf = ([a, b, c, d, e, f]: readonly number[], x: number, y: number): [number, number] => [
  a! * x + c! * y + e!,
  b! * x + d! * y + f!,
];

/** How many numbers follow an operation of a path: move, line, two kinds of curve, close. */
const PATH_NUMBERS = [2, 2, 6, 4, 0];

type Add = (x1: number, y1: number, x2: number, y2: number) => void;

/** Adds the lines of a path that is stroked, or the box of each part of one that is filled. */
function readPath(path: ArrayLike<number>, isStroked: boolean, add: Add): void {
  let points: (readonly [number, number])[] = [];
  const addBox = (): void => {
    const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
    if (!isStroked && points.length < MAX_POINTS)
      add(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys));
    points = [];
  };
  for (let at = 0; at < path.length; ) {
    const operation = path[at]!;
    const count = PATH_NUMBERS[operation];
    if (count === undefined) return;
    if (operation === 0) addBox();
    const to = count > 0 ? ([path[at + count - 1]!, path[at + count]!] as const) : points[0];
    const from = points.at(-1);
    if (isStroked && from && to && count !== 6) add(...from, ...to);
    if (to) points.push(to);
    at += count + 1;
  }
  addBox();
}

function addRule({ across, down }: Rules, [x1, y1, x2, y2]: readonly number[]): void {
  const [width, height] = [Math.abs(x2! - x1!), Math.abs(y2! - y1!)];
  if (height <= THICKEST && width > NEAR)
    across.push({ at: (y1! + y2!) / 2, from: Math.min(x1!, x2!), to: Math.max(x1!, x2!) });
  else if (width <= THICKEST && height > NEAR)
    down.push({ at: (x1! + x2!) / 2, from: Math.min(y1!, y2!), to: Math.max(y1!, y2!) });
}

/** The places of columns from the left and of rows from the top, and the rules between them. */
type Grid = Rules & { readonly xs: readonly number[]; readonly ys: readonly number[] };

/** Rules that cross or touch each other belong to one grid. */
function gridsOf(rules: Rules): Grid[] {
  if (rules.across.length + rules.down.length > MAX_RULES) return [];
  const across = new Set(joined(rules.across));
  const down = new Set(joined(rules.down));
  const grids: Grid[] = [];
  for (const first of across) {
    const grid: Rules = { across: [first], down: [] };
    across.delete(first);
    const waiting: (readonly [Rule, boolean])[] = [[first, true]];
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [rule, isAcross] = next;
      for (const other of isAcross ? down : across) {
        if (!(isOn(rule, other.at) && isOn(other, rule.at))) continue;
        (isAcross ? down : across).delete(other);
        (isAcross ? grid.down : grid.across).push(other);
        waiting.push([other, !isAcross]);
      }
    }
    const xs = places(grid.down, grid.across);
    const ys = places(grid.across, grid.down).reverse();
    if (xs.length > 2 && ys.length > 2 && isTable(grid, xs)) grids.push({ ...grid, xs, ys });
  }
  return grids;
}

/** In drawings, boxes stand beside each other, and lines lead away from them. */
function isTable({ across, down }: Rules, xs: readonly number[]): boolean {
  const isWhole = ({ from, to }: Rule): boolean => from <= xs[0]! + NEAR && to >= xs.at(-1)! - NEAR;
  if (across.filter(isWhole).length < 2) return false;
  const isLoose = (
    rule: Rule,
    end: "from" | "to",
    [others, crossing]: readonly (readonly Rule[])[],
  ): boolean =>
    !crossing!.some((other) => near(other.at, rule[end]) && isOn(other, rule.at)) &&
    !others!.some((other) => other !== rule && near(other[end], rule[end]));
  const all = [
    [across, down],
    [down, across],
  ];
  return all.every((both) =>
    both[0]!.every((one) => !isLoose(one, "from", both) && !isLoose(one, "to", both)),
  );
}

const near = (a: number, b: number): boolean => Math.abs(a - b) <= NEAR;
const isOn = ({ from, to }: Rule, place: number): boolean => place >= from - NEAR && place <= to + NEAR;

/** Makes one rule of the pieces of it, as cells draw their sides. */
function joined(rules: readonly Rule[]): Rule[] {
  const found: Rule[] = [];
  const sorted = rules.toSorted((a, b) => Math.round(a.at - b.at) || a.from - b.from);
  for (const rule of sorted) {
    const last = found.at(-1);
    if (
      last &&
      Math.abs(last.at - rule.at) <= NEAR / 2 &&
      rule.from <= last.to + NEAR &&
      rule.to >= last.from
    )
      found[found.length - 1] = { ...last, to: Math.max(last.to, rule.to) };
    else found.push(rule);
  }
  return found;
}

/** The places of rules, and of the open sides where those that cross them go beyond the outermost. */
function places(rules: readonly Rule[], crossing: readonly Rule[]): number[] {
  const ends = [Math.min(...crossing.map(({ from }) => from)), Math.max(...crossing.map(({ to }) => to))];
  const all = [...rules.map(({ at }) => at), ...ends].filter(Number.isFinite).sort((a, b) => a - b);
  return all.filter((place, index) => index === 0 || place - all[index - 1]! > NEAR);
}

/** The row and the column in which a text stands; null outside of the grid. */
function placeIn({ xs, ys }: Grid, { x, y, size, width }: TextRun): { row: number; column: number } | null {
  const [middle, height] = [x + Math.min(width, size) / 2, y + size / 4];
  const column = xs.findLastIndex((place) => place <= middle);
  const row = ys.findLastIndex((place) => place >= height);
  return column < 0 || row < 0 || column > xs.length - 2 || row > ys.length - 2 ? null : { row, column };
}

/** More cells than these are a sheet of squared paper. */
const MAX_CELLS = 5000;
const FILLED = 0.3;

function tableOf(grid: Grid, runs: readonly TextRun[]): Table | null {
  const { xs, ys, across, down } = grid;
  if (xs.length * ys.length > MAX_CELLS) return null;
  const middle = (all: readonly number[], at: number): number => (all[at]! + all[at + 1]!) / 2;
  const parts = (rules: readonly Rule[], place: number, beside: number): boolean =>
    rules.some((rule) => near(rule.at, place) && rule.from <= beside && rule.to >= beside);
  const cells = ys.slice(1).map((_, row) =>
    xs.slice(1).map((_, column) => ({
      isFirst: column === 0 || parts(down, xs[column]!, middle(ys, row)),
      isTop: row === 0 || parts(across, ys[row]!, middle(xs, column)),
      runs: [] as TextRun[],
    })),
  );
  for (const run of runs) {
    let { row, column } = placeIn(grid, run)!;
    // A text belongs to the first of the rows and columns that no rule parts.
    while (!cells[row]![column]!.isTop) row--;
    while (!cells[row]![column]!.isFirst) column--;
    cells[row]![column]!.runs.push(run);
  }
  const rows = cells.map((row) => {
    const starts = row.flatMap(({ isFirst }, column) => (isFirst ? [column] : []));
    return starts.map((start, at) => ({
      runs: row[start]!.runs,
      columns: (starts[at + 1] ?? row.length) - start,
    }));
  });
  const filledIn = (row: (typeof rows)[number]): number => row.filter((cell) => cell.runs.length > 0).length;
  const filled = rows.reduce((sum, row) => sum + filledIn(row), 0);
  // Frames around texts have fewer cells, and charts have texts in some.
  if (filled < FILLED * rows.flat().length || rows.filter((row) => filledIn(row) > 1).length < 2) return null;
  return rows.filter((row) => filledIn(row) > 0);
}

/** One text with the place of a table, which has its words for what looks for running heads. */
function standIn({ xs, ys }: Grid, runs: readonly TextRun[], table: Table): TextRun {
  const sizes = runs.map(({ size }) => size).sort((a, b) => a - b);
  const [size, left] = [sizes[sizes.length >> 1]!, xs[0]!];
  const text = runs.map((run) => run.text).join(" ");
  const place = { x: left, y: ys[0]! - size, width: xs.at(-1)! - left };
  return { ...runs[0]!, ...place, text, size, href: null, isCode: false, table };
}
