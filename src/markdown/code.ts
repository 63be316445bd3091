import { scanBlocks } from "./scan.ts";

const NEWLINE = 0x0a;
const BACKTICK = 0x60;

/** A block of code with its fences, UTF-16 code units. */
type CodeBlock = {
  /** The beginning of its first line, where marks of containers may stand before it. */
  readonly start: number;
  /** Its start in the line. */
  readonly mark: number;
  /** Behind the line break of its last line. */
  readonly end: number;
};

/** The blocks of code in Markdown, in their order; also those in lists and quotations. */
export function codeBlocksOf(markdown: string): readonly CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let isCode = false;
  let mark = 0;
  let last = 0;
  scanBlocks(markdown, {
    begin: ({ kind }, start) => {
      isCode = kind === "code";
      mark = start;
      last = start;
    },
    line: (_, end) => {
      last = end;
    },
    end: (closing) => {
      if (!isCode) return;
      const newline = markdown.indexOf("\n", Math.max(last, closing));
      const start = mark === 0 ? 0 : markdown.lastIndexOf("\n", mark - 1) + 1;
      blocks.push({ start, mark, end: newline < 0 ? markdown.length : newline + 1 });
    },
  });
  return blocks;
}

/** A line that may be a fence; the marks of lists and quotations may stand before it. */
const FENCE = /^[ \t>]{0,100}(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,100}){0,16}(`{3,}(?!.*`)|~{3,})(.*)$/;

/** Tells which lines are code while a text is not Markdown yet: its indentation may mean something else. */
export class FenceReader {
  #marks = "";

  get isOpen(): boolean {
    return this.#marks !== "";
  }

  /** Whether the next line is a fence or stands between two. */
  isCode(line: string): boolean {
    const [, marks = "", info = ""] = FENCE.exec(line) ?? [];
    const wasOpen = this.isOpen;
    if (!wasOpen) this.#marks = marks;
    else if (marks.startsWith(this.#marks) && info.trim() === "") this.close();
    return wasOpen || marks !== "";
  }

  close(): void {
    this.#marks = "";
  }
}

const MAX_CODE_SPAN = 2000;

/** Returns the end of the code span that begins at a backtick; without a code span, the position after the backticks. */
export function endOfCodeSpan(text: string, at: number): number {
  const after = runEnd(text, at, BACKTICK);
  const limit = Math.min(text.length, after + MAX_CODE_SPAN);
  for (let place = after; place < limit; place++) {
    const unit = text.charCodeAt(place);
    if (unit === NEWLINE && text.charCodeAt(place + 1) === NEWLINE) return after;
    if (unit !== BACKTICK) continue;
    // The limit matters: without it a run of megabytes would be read again for every opening before it.
    const end = runEnd(text, place, BACKTICK, limit);
    if (end - place === after - at && text.charCodeAt(end) !== BACKTICK) return end;
    place = end - 1;
  }
  return after;
}

function runEnd(text: string, start: number, unit: number, limit = text.length): number {
  let end = start;
  while (end < limit && text.charCodeAt(end) === unit) end++;
  return end;
}
