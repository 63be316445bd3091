import type { Io } from "../io.ts";
import type { Paint } from "./paint.ts";

/** What the person is told on stderr, whatever the log level. */
export interface Notices {
  /** Left out with `--quiet`. */
  warn(message: string): void;
  /** A plain line, such as one of a summary; left out with `--quiet`. */
  tell(message: string): void;
  error(message: string): void;
}

type NoticeOptions = {
  readonly io: Io;
  /** Asked for only when there is something to say: finding out about the terminal takes time. */
  readonly paint: () => Paint;
  readonly isQuiet: boolean;
};

/** One line a notice, without control characters that a page could have put into a message. */
export function createNotices({ io, paint, isQuiet }: NoticeOptions): Notices {
  return {
    warn: (message) => {
      if (!isQuiet) io.stderr.write(`${paint().yellow("warning:")} ${printable(message)}\n`);
    },
    tell: (message) => {
      if (!isQuiet) io.stderr.write(`${printable(message)}\n`);
    },
    error: (message) => {
      io.stderr.write(`${paint().red("error:")} ${printable(message)}
`);
    },
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
const printable = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
