const LIST_MARK = /^(?:[-*+>|]|\d{1,9}[.)])[ \t]/;
const DEFINED_NAME =
  /^[\s>|*+`-]*[`*_$./-]*[\p{L}_][\p{L}\p{N}]*(?:[_.:(-][\p{L}\p{N}_(]|\p{Ll}\p{Lu}|\p{N}|`|\*\*)/u;

const MAX_TERM_LENGTH = 90;
const MAX_TERM_RUNS = 4;

/**
 * How many of a line's first words are what the line, or the text below it, defines: the term of a definition
 * list, the signature of a function, the first cell of a row, an option before its description. Reference
 * pages define hundreds of names in this way and give them no heading.
 * @param start of the line's text, its indentation left out; UTF-16 code units
 * @param previousEnd where the stretch before it ended
 */
export function definedRuns(markdown: string, start: number, end: number, previousEnd: number): number {
  const line = markdown.slice(start, Math.min(end, start + 2 * MAX_TERM_LENGTH));
  if (!LIST_MARK.test(line) && !opensParagraph(markdown, start, previousEnd)) return 0;
  const isShort =
    end - start <= MAX_TERM_LENGTH && !/[.!?,;:]$/.test(line) && !isWrapped(markdown, start, end);
  if (!isShort) return DEFINED_NAME.test(line) ? 1 : 0;
  const signature = line.search(/[([|]/);
  const named = signature > 0 ? line.slice(0, signature) : line;
  return Math.min(MAX_TERM_RUNS, named.split(/[\s,]+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length);
}

/** Whether a line follows a blank one, a heading, or a line that is indented more. */
function opensParagraph(markdown: string, start: number, previousEnd: number): boolean {
  const between = markdown.slice(previousEnd, start);
  if (/\n[ \t\r]*\n/.test(between) || previousEnd === 0) return true;
  const lineStart = markdown.lastIndexOf("\n", previousEnd - 1) + 1;
  const indent = /^[ \t]*/.exec(markdown.slice(lineStart, lineStart + 40))?.[0].length ?? 0;
  const own = between.length - 1 - between.lastIndexOf("\n");
  return indent > own;
}

/** Whether the line after goes on in the same paragraph: then this is prose that was wrapped. */
function isWrapped(markdown: string, start: number, end: number): boolean {
  const newline = markdown.indexOf("\n", end);
  if (newline < 0) return false;
  const next = markdown.slice(newline + 1, newline + 1 + MAX_TERM_LENGTH).split("\n", 1)[0] ?? "";
  const text = next.trimStart();
  if (text === "" || text.startsWith("#") || LIST_MARK.test(`${text} `)) return false;
  const lineStart = markdown.lastIndexOf("\n", start - 1) + 1;
  return next.length - text.length <= start - lineStart;
}
