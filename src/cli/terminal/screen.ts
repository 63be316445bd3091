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
