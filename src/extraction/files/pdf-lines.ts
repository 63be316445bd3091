/** A text as a PDF draws it, in points, upright: y grows upwards. */
export type TextRun = {
  readonly text: string;
  /** Quarter turns against the clock that the text has on its page. */
  readonly turn: number;
  readonly x: number;
  /** The base line. */
  readonly y: number;
  readonly size: number;
  readonly width: number;
  readonly isCode: boolean;
  readonly isRightToLeft: boolean;
  readonly href: string | null;
  /** The table that this text stands for. */
  readonly table?: Table;
};

/** The texts of each cell in each row, and how many columns it spans. */
export type Table = readonly (readonly { readonly runs: readonly TextRun[]; readonly columns: number }[])[];

export type Span = { readonly text: string; readonly href: string | null };

export type Line = {
  readonly spans: readonly Span[];
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly y: number;
  readonly size: number;
  readonly isCode: boolean;
  readonly turn: number;
  readonly table?: Table | undefined;
};

/** A column, or what stands between columns: lines that are read one after the other. */
export type Region = readonly Line[];

/** A stretch of a row without a wide gap. */
type Segment = {
  readonly runs: readonly TextRun[];
  readonly left: number;
  readonly right: number;
  readonly y: number;
  readonly size: number;
};

/** The rows of each region, in reading order. */
export type Layout = readonly (readonly (readonly Segment[])[])[];

/** Puts the texts of a page into rows, and these into regions in reading order. */
export function layoutOf(runs: readonly TextRun[]): Layout {
  return [0, 1, 2, 3].flatMap((turn) => {
    const rows = rowsOf(runs.filter((run) => run.turn === turn));
    return inReadingOrder(rows.flatMap(segmentsOf), 0);
  });
}

export const linesOf = (layout: Layout): Region[] => layout.map((rows) => rows.flatMap(linesOfRow));

/** Rows of a table are no further apart, since cells have some lines. */
const ROWS_BESIDE = 4;
/** What stands before an item of a list. */
const MARK = /^(?:[^\p{L}\p{N}]|[\p{L}\p{N}]{1,3}[.)])$/u;

/** Whether two rows near each other have parts that begin, end or are centred at one place, as columns of tables. */
export const hasColumns = (layout: Layout): boolean =>
  layout.some((rows) => {
    const last = new Map<number, number>();
    return rows.some((row, index) => {
      const [first, ...rest] = row;
      const isOther = first!.runs.every((run) => run.isCode || MARK.test(run.text.trim()));
      const places = isOther
        ? []
        : rest.flatMap(({ left, right }) => [left, right + 1e5, (left + right) / 2 + 2e5]);
      return places
        .map((place) => Math.round(place / 4))
        .some((place) => {
          const before = last.get(place);
          last.set(place, index);
          return before !== undefined && before !== index && index - before <= ROWS_BESIDE;
        });
    });
  });

/** Of two base lines this near, in parts of the size of the text, one is a subscript of the other. */
const SAME_ROW = 0.5;

/** Groups what stands on one base line, the highest first. */
function rowsOf<T extends { readonly y: number; readonly size: number }>(parts: readonly T[]): T[][] {
  const rows: T[][] = [];
  let row: T[] = [];
  for (const part of parts.toSorted((a, b) => b.y - a.y)) {
    const first = row[0];
    if (first && first.y - part.y > SAME_ROW * Math.max(first.size, part.size)) {
      rows.push(row);
      row = [];
    }
    row.push(part);
  }
  return row.length === 0 ? rows : [...rows, row];
}

/** A gap of more than this, in parts of the size of the text, is wider than between words. */
const WIDE_GAP = 0.9;

function segmentsOf(row: readonly TextRun[]): Segment[] {
  const groups: TextRun[][] = [];
  let right = Number.NEGATIVE_INFINITY;
  for (const run of row.toSorted((a, b) => a.x - b.x)) {
    const isApart = run.table !== undefined || groups.at(-1)?.[0]?.table !== undefined;
    if (isApart || run.x - right > WIDE_GAP * run.size) groups.push([]);
    groups.at(-1)!.push(run);
    right = Math.max(right, run.x + run.width);
  }
  return groups.map((runs) => {
    const largest = runs.reduce((a, b) => (b.size > a.size ? b : a));
    const end = Math.max(...runs.map(({ x, width }) => x + width));
    return { runs, left: runs[0]!.x, right: end, y: largest.y, size: largest.size };
  });
}

/** Columns in columns in columns are enough for newspapers. */
const MAX_DEPTH = 4;

function inReadingOrder(segments: readonly Segment[], depth: number): Segment[][][] {
  const gutter = depth < MAX_DEPTH ? findGutter(segments) : null;
  if (gutter === null) return segments.length === 0 ? [] : [rowsOf(segments)];
  const regions: Segment[][][] = [];
  let [across, left, right]: Segment[][] = [[], [], []];
  const flush = (): void => {
    regions.push(...inReadingOrder(across!, MAX_DEPTH));
    for (const column of [left!, right!]) regions.push(...inReadingOrder(column, depth + 1));
    [across, left, right] = [[], [], []];
  };
  for (const segment of segments.toSorted((a, b) => b.y - a.y)) {
    const isAcross = segment.left < gutter && segment.right > gutter;
    // What stands across the columns ends them.
    if (isAcross && left!.length + right!.length > 0) flush();
    (isAcross ? across! : segment.right <= gutter ? left! : right!).push(segment);
  }
  flush();
  return regions;
}

/** Columns have at least this many lines, of which one of two fills so much of its column; cells of tables do not. */
const FEWEST_LINES = 4;
const FILLED = 0.45;
const STEP = 2;

/** Finds the x of the gap between two columns; null where the lines go across the whole width. */
function findGutter(segments: readonly Segment[]): number | null {
  if (segments.length < 2 * FEWEST_LINES) return null;
  const left = Math.min(...segments.map((segment) => segment.left));
  const right = Math.max(...segments.map((segment) => segment.right));
  const width = right - left;
  const steps = Math.min(5000, Math.floor(width / STEP));
  if (!(steps > 10)) return null;
  const at = (x: number): number => Math.floor(((x - left) / width) * steps);
  const changes = new Int32Array(steps + 2);
  for (const segment of segments) {
    changes[at(segment.left)]!++;
    changes[at(segment.right) + 1]!--;
  }
  const gap = emptiest(changes, Math.floor(steps * 0.25), Math.ceil(steps * 0.75));
  const gutter = left + ((gap + 0.5) / steps) * width;
  const before = segments.filter((segment) => segment.right <= gutter);
  const after = segments.filter((segment) => segment.left >= gutter);
  const crossing = segments.length - before.length - after.length;
  const fewer = Math.min(before.length, after.length);
  if (fewer < FEWEST_LINES || crossing > fewer / 2) return null;
  const areColumns = isFilled(before, gutter - left) && isFilled(after, right - gutter);
  return areColumns && overlaps(before, after) ? gutter : null;
}

/** The middle of the longest stretch that the fewest segments cover. */
function emptiest(changes: Int32Array, from: number, to: number): number {
  let covered = 0;
  let [best, bestStart, bestLength, length] = [Number.POSITIVE_INFINITY, from, 0, 0];
  let previous = -1;
  for (let step = 0; step < to; step++) {
    covered += changes[step]!;
    if (step < from) continue;
    length = covered === previous ? length + 1 : 1;
    previous = covered;
    if (covered > best || (covered === best && length <= bestLength)) continue;
    [best, bestStart, bestLength] = [covered, step - length + 1, length];
  }
  return bestStart + bestLength / 2;
}

function isFilled(segments: readonly Segment[], width: number): boolean {
  const widths = segments.map(({ left, right }) => right - left).sort((a, b) => a - b);
  return widths[widths.length >> 1]! >= FILLED * width;
}

/** Whether two columns stand beside each other for half of the shorter one. */
function overlaps(before: readonly Segment[], after: readonly Segment[]): boolean {
  const [a, b] = [before, after].map((column) => {
    const ys = column.map(({ y }) => y);
    return { top: Math.max(...ys), bottom: Math.min(...ys) };
  });
  const common = Math.min(a!.top, b!.top) - Math.max(a!.bottom, b!.bottom);
  return common >= 0.5 * Math.min(a!.top - a!.bottom, b!.top - b!.bottom);
}

/** Tables in a row are lines of their own, and so is the text beside them. */
function linesOfRow(row: readonly Segment[]): Line[] {
  const texts = row.filter(({ runs }) => !runs[0]!.table);
  const tables = row.filter(({ runs }) => runs[0]!.table);
  return [...(texts.length > 0 ? [texts] : []), ...tables.map((one) => [one])].map(lineOf);
}

function lineOf(row: readonly Segment[]): Line {
  const runs = row.flatMap((segment) => segment.runs).sort((a, b) => a.x - b.x);
  const letters = (keep: (run: TextRun) => boolean): number =>
    runs.reduce((sum, run) => sum + (keep(run) ? run.text.length : 0), 0);
  const half = letters(() => true) / 2;
  const left = runs[0]!.x;
  const right = Math.max(...runs.map(({ x, width }) => x + width));
  const isCode = letters((run) => run.isCode) > 1.8 * half;
  if (letters((run) => run.isRightToLeft) > half) runs.reverse();
  const spans = spansOf(runs, isCode);
  const sizes = new Map<number, number>();
  for (const { size, text } of runs) sizes.set(size, (sizes.get(size) ?? 0) + text.length);
  const [size] = [...sizes].reduce((a, b) => (b[1] > a[1] ? b : a));
  const text = spans.map((span) => span.text).join("");
  return { spans, text, left, right, y: row[0]!.y, size, isCode, turn: runs[0]!.turn, table: runs[0]!.table };
}

/** A gap of more than this, in parts of the size of the text, is one between words. */
const WORD_GAP = 0.12;
/** A line of code is no longer than this, whatever its gaps. */
const MAX_SPACES = 200;

function spansOf(runs: readonly TextRun[], isCode: boolean): Span[] {
  const spans: Span[] = [];
  let before: TextRun | null = null;
  for (const run of runs) {
    const text = before ? spaceBetween(before, run, isCode) + run.text : run.text;
    const last = spans.at(-1);
    if (last && last.href === run.href) spans[spans.length - 1] = { ...last, text: last.text + text };
    else spans.push({ text, href: run.href });
    before = run;
  }
  return spans;
}

function spaceBetween(before: TextRun, run: TextRun, isCode: boolean): string {
  const [first, second] = before.x <= run.x ? [before, run] : [run, before];
  const gap = second.x - first.x - first.width;
  if (gap < WORD_GAP * run.size || /\s$/.test(before.text) || /^\s/.test(run.text)) return "";
  const character = before.width / before.text.length;
  return isCode && character > 0
    ? " ".repeat(Math.min(MAX_SPACES, Math.max(1, Math.round(gap / character))))
    : " ";
}
