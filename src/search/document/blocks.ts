import { scanBlocks } from "../../markdown/index.ts";

/** The kinds of ranges that the index tells apart in Markdown. */
export type LineKind = "heading" | "text" | "code";

/**
 * Receives a document's headings and lines in order, in UTF-16 code units of the Markdown, end exclusive.
 * @param level the level of a heading, 1–6; 0 otherwise
 * @param textStart where the text begins behind the marks of its list item or quotation
 */
export type LineSink = (kind: LineKind, start: number, end: number, level: number, textStart: number) => void;

const ignore = (): void => {};

/**
 * Splits Markdown into headings, lines of text and lines of code. Marks of fences, underlines, rules and the addresses of
 * references are left out.
 */
export function scanLines(markdown: string, sink: LineSink): void {
  let kind: LineKind = "text";
  let level = 0;
  let isTable = false;
  let count = 0;
  let headingStart = 0;
  let headingEnd = 0;
  scanBlocks(markdown, {
    open: ignore,
    close: ignore,
    begin: (leaf) => {
      kind = leaf.kind === "heading" || leaf.kind === "code" ? leaf.kind : "text";
      level = leaf.kind === "heading" ? leaf.level : 0;
      isTable = leaf.kind === "table";
      count = 0;
    },
    line: (start, end, outerStart) => {
      count++;
      const isDashes = isTable && count === 2;
      if (kind === "heading") {
        if (count === 1) headingStart = start;
        headingEnd = end;
      }
      if (kind === "heading" || start === end || isDashes) return;
      const textStart = isTable && markdown[start] === "|" ? start + 1 : start;
      sink(kind, kind === "text" ? outerStart : start, end, level, textStart);
    },
    end: () => {
      if (kind === "heading") sink(kind, headingStart, headingEnd, level, headingStart);
    },
    rule: ignore,
    reference: ignore,
  });
}
