// Longer texts are no titles, and this limit keeps the front matter within the part of a file that is
// searched for it.
const MAX_TITLE_LENGTH = 2000;

// A longer line, links and escapes included, cannot be the heading of such a title.
const MAX_HEADING_LENGTH = 8 * MAX_TITLE_LENGTH;

/** Makes a title one well-formed line without control characters, of at most 2000 characters. Idempotent. */
export function normalizeTitle(title: string): string {
  const line = oneLine(title.slice(0, 4 * MAX_TITLE_LENGTH).toWellFormed());
  // The cut may split a surrogate pair.
  return line
    .slice(0, MAX_TITLE_LENGTH)
    .replace(/[\ud800-\udbff]$/, "")
    .trimEnd();
}

/** Removes the headings at a body's start, of any level, that only repeat the title. */
export function withoutLeadingTitle(markdown: string, title: string): string {
  const wanted = comparable(title);
  let rest = markdown;
  while (wanted !== "") {
    const heading = readLeadingHeading(rest);
    if (!heading || comparable(heading.text) !== wanted) break;
    rest = rest.slice(heading.end).replace(/^(?:[ \t]*\r?\n)+/, "");
  }
  return rest;
}

type Heading = { readonly text: string; readonly end: number };

// ATX and setext headings (CommonMark 0.31, sections 4.2 and 4.3; a setext heading of one line).
function readLeadingHeading(markdown: string): Heading | null {
  const start = /^(?:[ \t]*\r?\n)*/.exec(markdown)?.[0].length ?? 0;
  const line = lineAt(markdown, start);
  if (line.text.length > MAX_HEADING_LENGTH) return null;
  const atx = /^ {0,3}#{1,6}(?=[ \t]|$)/.exec(line.text);
  if (atx) return { text: withoutClosingMarks(line.text.slice(atx[0].length)), end: line.end };
  const underline = lineAt(markdown, line.end);
  const isSetext = /^ {0,3}\S/.test(line.text) && /^ {0,3}(?:=+|-+)[ \t]*$/.test(underline.text);
  return isSetext ? { text: line.text, end: underline.end } : null;
}

function lineAt(text: string, start: number): Heading {
  const newline = text.indexOf("\n", start);
  const end = newline < 0 ? text.length : newline + 1;
  return { text: text.slice(start, newline < 0 ? end : newline).replace(/\r$/, ""), end };
}

function withoutClosingMarks(text: string): string {
  const trimmed = text.trim();
  let end = trimmed.length;
  while (end > 0 && trimmed[end - 1] === "#") end--;
  const isClosing = end === 0 || trimmed[end - 1] === " " || trimmed[end - 1] === "\t";
  return isClosing ? trimmed.slice(0, end) : trimmed;
}

// This strips the Markdown of a title or heading well enough to compare them.
const comparable = (text: string): string =>
  oneLine(text.replace(/\[([^[\]]*)\]\([^()]*\)/g, "$1").replace(/[\\*_`~]/g, ""));

function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
  const printable = text.replace(/[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f]/g, "");
  return printable.replace(/[\s\u0085]+/g, " ").trim();
}
