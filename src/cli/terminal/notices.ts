import type { Log } from "../../base/log.ts";
import type { Io } from "../io.ts";

/** Tells the person something on stderr, whatever the log level. */
export interface Notices {
  /** Writes a warning, unless `--quiet` is given. */
  warn(message: string): void;
  /** Writes a plain line, such as one of a summary, unless `--quiet` is given. */
  tell(message: string): void;
  error(message: string): void;
}

type NoticeOptions = {
  readonly io: Io;
  /** Called only when there is something to write, because detecting the terminal takes time. */
  readonly paint: () => Paint;
  readonly isQuiet: boolean;
};

/** Creates notices of one line each, without control characters that a page could have put into a message. */
export function createNotices({ io, paint, isQuiet }: NoticeOptions): Notices {
  return {
    warn: (message) => {
      if (!isQuiet) io.stderr.write(`${paint().yellow("warning:")} ${printable(message)}\n`);
    },
    tell: (message) => {
      if (!isQuiet) io.stderr.write(`${printable(message)}\n`);
    },
    error: (message) => io.stderr.write(`${paint().red("error:")} ${printable(message)}\n`),
  };
}

/** Notices of a server, whose stderr is its log and nothing else as soon as its settings are read. */
export interface ServerNotices extends Notices {
  /** Sends notices to this log from now on, beginning with the notices that waited for it. */
  become(log: Log): void;
}

/** Creates notices that wait for the log. An error that comes before it is written plainly, as by any command. */
export function createServerNotices(plain: Notices, isQuiet: boolean): ServerNotices {
  let log: Log | null = null;
  const waiting: string[] = [];
  const warn = (message: string): void => {
    if (log === null) waiting.push(message);
    else if (!isQuiet) log.warning(message);
  };
  return {
    warn,
    tell: warn,
    error: (message) => {
      for (const warning of waiting.splice(0)) plain.warn(warning);
      if (log === null) plain.error(message);
      else log.critical(message);
    },
    become: (opened) => {
      log = opened;
      for (const warning of waiting.splice(0)) warn(warning);
    },
  };
}

/** A text in one line without control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
export const printable = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");

/** Formats a count: `1 page`, `2 pages`. */
export const pageCount = (count: number): string => `${count} ${count === 1 ? "page" : "pages"}`;

/** Formats a count: `1 document`, `2 documents`. */
export const countedDocuments = (count: number): string =>
  `${count} ${count === 1 ? "document" : "documents"}`;

/** Functions that colour text for the terminal, or return it unchanged without colours. */
export type Paint = {
  bold(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
};

export function createPaint(isColored: boolean): Paint {
  const style = (code: number) => (text: string) => (isColored ? `\u001b[${code}m${text}\u001b[0m` : text);
  return { bold: style(1), red: style(31), green: style(32), yellow: style(33) };
}

/** Breaks a text at spaces into lines of `width` characters, as `measure` counts them; long words stand alone. */
export function wrap(text: string, width: number, measure = (word: string): number => word.length): string[] {
  const lines: string[] = [];
  let line = "";
  let length = 0;
  for (const word of text.split(" ")) {
    const wordLength = measure(word);
    if (line !== "" && length + 1 + wordLength > width) {
      lines.push(line);
      line = word;
      length = wordLength;
    } else {
      length = line === "" ? wordLength : length + 1 + wordLength;
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return line === "" ? lines : [...lines, line];
}
