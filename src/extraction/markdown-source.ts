import { marked } from "marked";

/** Markdown without its code blocks, those inside lists and quotations included; all else stays as it is. */
export const withoutCodeBlocks = (source: string): string =>
  piecesOf(source)
    .filter((piece) => !piece.isCode)
    .map((piece) => piece.text)
    .join("");

/** Markdown without its images; what looks like one inside code is none, and stays. */
export const withoutImages = (source: string): string =>
  piecesOf(source)
    .map((piece) => (piece.isCode ? piece.text : removeImages(piece.text)))
    .join("");

/** A stretch of the source; put together the pieces are the source. */
type Piece = { readonly text: string; readonly isCode: boolean };

function piecesOf(source: string): Piece[] {
  return marked
    .lexer(source)
    .flatMap(({ type, raw }) =>
      type === "list" || type === "blockquote" ? fencedPieces(raw) : [{ text: raw, isCode: type === "code" }],
    );
}

// What stands before a fence on its line: indentation, quotation marks, the marker of a list item.
const FENCE = /^([\s>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(`{3,}|~{3,})([^\n]*)/;

// Inside lists and quotations the lexer's tokens have lost their indentation, so lines are read here.
function fencedPieces(raw: string): Piece[] {
  const pieces: Piece[] = [];
  let fence: string | null = null;
  for (const line of raw.split(/(?<=\n)/)) {
    const [, prefix = "", marks = "", rest = ""] = FENCE.exec(line) ?? [];
    if (fence !== null) {
      pieces.push({ text: line, isCode: true });
      if (marks.startsWith(fence) && rest.trim() === "") fence = null;
    } else if (marks !== "" && !(marks.startsWith("`") && rest.includes("`"))) {
      fence = marks;
      // The item stays when its code goes.
      const marker = /[-*+\d]/.test(prefix) ? prefix : "";
      if (marker !== "") pieces.push({ text: marker, isCode: false });
      pieces.push({ text: line.slice(marker.length), isCode: true });
    } else pieces.push({ text: line, isCode: false });
  }
  return pieces;
}

// A backslash takes the meaning of what follows; a run of backticks opens code up to the next equal run.
const INLINE =
  /\\[\s\S]|`+|!\[[^\]\n]{0,500}\](?:\([^()\n]{0,2000}\)|\[[^\]\n]{0,200}\])|<img\b[^>\n]{0,2000}>/gi;

function removeImages(text: string): string {
  const runs = backtickRuns(text);
  let out = "";
  let from = 0;
  const inline = new RegExp(INLINE);
  for (let match = inline.exec(text); match; match = inline.exec(text)) {
    const [found] = match;
    if (found.startsWith("`")) inline.lastIndex = endOfCode(runs, match.index, found.length);
    else if (!found.startsWith("\\")) {
      out += text.slice(from, match.index);
      from = match.index + found.length;
    }
  }
  return out + text.slice(from);
}

/** The runs of backticks of one length: where they start, ascending, and how many have been passed. */
type BacktickRuns = { readonly starts: number[]; passed: number };

function backtickRuns(text: string): Map<number, BacktickRuns> {
  const runs = new Map<number, BacktickRuns>();
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    const known = runs.get(run.length);
    if (known) known.starts.push(index);
    else runs.set(run.length, { starts: [index], passed: 0 });
  }
  return runs;
}

function endOfCode(runs: Map<number, BacktickRuns>, start: number, length: number): number {
  const equal = runs.get(length);
  if (!equal) return start + length;
  while ((equal.starts[equal.passed] ?? Number.POSITIVE_INFINITY) <= start) equal.passed++;
  return (equal.starts[equal.passed] ?? start) + length;
}
