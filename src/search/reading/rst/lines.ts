import type { MarkdownWriter } from "../markdown-writer.ts";

/** The lines of a document with the columns at which their text begins; a blank line begins nowhere. */
export type Lines = { readonly text: string[]; readonly indent: number[] };

export const BLANK = -1;

/** Tabs are eight columns wide. */
export function linesOf(lines: readonly string[]): Lines {
  const text = lines.map((line) =>
    line.includes("\t") ? line.replace(/^[ \t]{0,400}/, (gap) => gap.replaceAll("\t", "        ")) : line,
  );
  return { text, indent: text.map((line) => line.search(/\S/)) };
}

/** A range of lines whose text begins at a column or behind it. */
export type Block = {
  readonly start: number;
  readonly end: number;
  readonly indent: number;
  /** How many blocks are around it. */
  readonly depth: number;
};

/** What the readers of the parts of a document share. */
export type RstReader = {
  readonly lines: Lines;
  readonly writer: MarkdownWriter;
  /** The language of literal blocks that name none. */
  language: string;
  /** Reads a block of blocks. */
  readonly blocks: (block: Block) => void;
  /** Reads lines into the phrase of a table's cell. */
  readonly cell: (lines: readonly string[], depth: number) => string;
  readonly inline: (text: string) => string;
};

/** The end of the lines from a place on that are blank or indented by more than a column. */
export function endOfIndented({ indent }: Lines, from: number, end: number, column: number): number {
  let last = from;
  for (let at = from; at < end && (indent[at] === BLANK || indent[at]! > column); at++)
    if (indent[at] !== BLANK) last = at + 1;
  return last;
}

/** The smallest column at which a line's text begins. */
export function leastIndent({ indent }: Lines, start: number, end: number): number {
  let least = Number.MAX_SAFE_INTEGER;
  for (let at = start; at < end; at++) if (indent[at] !== BLANK) least = Math.min(least, indent[at]!);
  return least === Number.MAX_SAFE_INTEGER ? 0 : least;
}

/** Lines without the columns before a block. */
export const textOf = (
  { text }: Lines,
  { start, end, indent }: Pick<Block, "start" | "end" | "indent">,
): string[] => text.slice(start, end).map((line) => line.slice(indent).trimEnd());

/** Puts blanks in the place of a mark, so that what follows it is a block of its own. */
export function blankMark(lines: Lines, at: number, column: number): void {
  const line = lines.text[at] ?? "";
  lines.text[at] = " ".repeat(column) + line.slice(column);
  lines.indent[at] = lines.text[at]!.search(/\S/);
}
