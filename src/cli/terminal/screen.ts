import type { CrawlProgress } from "../../crawler/index.ts";
import type { Io } from "../io.ts";

/** Stderr with one line at its end that is redrawn again and again, while other lines scroll above it. */
export interface Screen extends Disposable {
  /** Like the `Io` that the screen was made from; what is written to its stderr appears above the line. */
  readonly io: Io;
  /** Whether there is such a line; without it, `show` does nothing. */
  readonly isLive: boolean;
  /** The number of columns for the line. */
  readonly columns: number;
  show(line: string): void;
}

/** The least time between two redraws, because they must not cost more than the work. */
export const REDRAW_MS = 200;

/** Moves to the start of the line and erases it (ECMA-48, CR and EL). */
const ERASE = "\r\u001b[K";

/** @param options.isLive whether there is a line at all: a terminal that can erase, and a person who wants it */
export function openScreen(io: Io, { isLive }: { readonly isLive: boolean }): Screen {
  if (!isLive) {
    return { io, isLive, columns: 0, show: () => {}, [Symbol.dispose]: () => {} };
  }
  let line = "";
  const write = (text: string): void => {
    const redrawn = text.endsWith("\n") ? line : "";
    io.stderr.write(`${line === "" ? "" : ERASE}${text}${redrawn}`);
    if (redrawn === "") line = "";
  };
  const { stderr } = io;
  return {
    io: {
      ...io,
      stderr: {
        get isTerminal() {
          return stderr.isTerminal;
        },
        get columns() {
          return stderr.columns;
        },
        get identity() {
          return stderr.identity;
        },
        write,
      },
    },
    isLive,
    get columns() {
      // Some terminals start a new line in the last column.
      return stderr.columns - 1;
    },
    show(next) {
      if (next === line) return;
      io.stderr.write(ERASE + next);
      line = next;
    },
    [Symbol.dispose]() {
      if (line !== "") io.stderr.write(ERASE);
      line = "";
    },
  };
}

/** The speed of a crawl, measured over the last seconds rather than from its start. */
export class Pace {
  private readonly windowMs: number;
  private readonly marks: { readonly atMs: number; readonly done: number }[] = [];

  constructor(windowMs = 15_000) {
    this.windowMs = windowMs;
  }

  /** Notes how many pages are done; times and counts must not decrease. */
  mark(atMs: number, done: number): void {
    const last = this.marks.at(-1);
    // One mark a quarter of a second is enough, and keeps the list short whatever the speed.
    if (last && this.marks.length > 1 && atMs - last.atMs < 250) this.marks.pop();
    this.marks.push({ atMs, done });
    while (this.marks.length > 2 && atMs - (this.marks[1]?.atMs ?? atMs) > this.windowMs) this.marks.shift();
  }

  /** Returns the pages per second; 0 while nothing is known. */
  pagesPerSecond(nowMs: number): number {
    const [first] = this.marks;
    const last = this.marks.at(-1);
    if (!first || !last || nowMs <= first.atMs) return 0;
    return ((last.done - first.done) * 1000) / (nowMs - first.atMs);
  }
}

/** Formats the progress of a crawl on one line of at most `columns` characters, in the fullest wording that fits. */
export function formatProgress(progress: CrawlProgress, pagesPerSecond: number, columns: number): string {
  const { failed, skipped, inFlight } = progress;
  const done = `${progress.progress}/${progress.total}`;
  const rate = pagesPerSecond.toFixed(pagesPerSecond < 10 ? 1 : 0);
  const eta = formatEta(progress.total - progress.progress, pagesPerSecond);
  const wordings = [
    [
      `${done} pages`,
      `${rate}/s`,
      `${failed} failed`,
      `${skipped} skipped`,
      `${inFlight} in flight`,
      `ETA ${eta}`,
    ],
    [done, `${rate}/s`, `${failed} fail`, `${skipped} skip`, `${inFlight} run`, eta],
    [done, `${rate}/s`, `${failed}!`, `${skipped}-`, `${inFlight}>`, eta],
    [done, `${failed}!`],
  ];
  return fitting(wordings, columns);
}

/** The progress of a list of pages. */
type ListCount = { readonly done: number; readonly failed: number; readonly total: number };

/** Formats the progress of a list on one line, like `formatProgress`. */
export function formatListProgress(count: ListCount, pagesPerSecond: number, columns: number): string {
  const ended = count.done + count.failed;
  const rate = pagesPerSecond.toFixed(pagesPerSecond < 10 ? 1 : 0);
  const eta = formatEta(count.total - ended, pagesPerSecond);
  const wordings = [
    [`${count.done} of ${count.total} pages done`, `${count.failed} failed`, `${rate}/s`, `ETA ${eta}`],
    [`${count.done}/${count.total}`, `${count.failed} failed`, `${rate}/s`, eta],
    [`${count.done}/${count.total}`, `${count.failed}!`],
  ];
  return fitting(wordings, columns);
}

/** Returns the first wording that fits, from the fullest to the shortest. */
function fitting(wordings: readonly (readonly string[])[], columns: number): string {
  const lines = wordings.map((parts, index) => parts.join(index === 0 ? " · " : " "));
  return lines.find((line) => line.length <= columns) ?? (wordings.at(-1)?.[0] ?? "").slice(0, columns);
}

function formatEta(left: number, pagesPerSecond: number): string {
  if (left === 0) return "0:00";
  const seconds = left / pagesPerSecond;
  return Number.isFinite(seconds) && seconds < 360_000 ? formatClock(seconds) : "-:--";
}

/** Formats a duration as `1:05` or `2:03:04`. */
function formatClock(seconds: number): string {
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const two = (part: number): string => String(part).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** Formats a duration as `850 ms`, `12.3 s`, `4 min 5 s` or `2 h 3 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
