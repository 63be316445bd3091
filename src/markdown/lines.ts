// What a line of Markdown begins, by CommonMark 0.31 and GitHub's tables. Every expression is sticky and ends with the line, and
// so takes time in proportion to it.

const SPACE = 0x20;
const TAB = 0x09;
const BAR = 0x7c;
const BACKSLASH = 0x5c;

/** `#` signs of a heading. */
export const HEADING = /(#{1,6})(?=[ \t]|$)/my;
/** What closes such a heading again. */
export const CLOSING_HASHES = /(?:^|(?<=[ \t]))#+$/;
/** Longer than a single sign, which is the name of an option in manuals. */
export const UNDERLINE = /(?:(?<!=)(={2,})|(?<!-)-{3,})[ \t]*$/my;
/** Begins with the first of its signs, so that items within items (`- - - … x`) do not each read the rest of the line. */
export const RULE = /([-_*])(?<!\1[ \t]*\1)[ \t]*(?:\1[ \t]*){2,1000}$/my;
/** A fence and its info string, which holds no backtick behind backticks: that is code inside of a text. */
export const FENCE = /(?:(`{3,})([^`\n]*)|(~{3,})([^\n]*))$/my;
/** A bullet, or a number with its sign. */
const ITEM = /(?:(\d{1,9})([.)])|([-*+]))(?=[ \t]|$)/my;
const FOOTNOTE = /\[\^([^\]\s]{1,100})\]:/y;
export const REFERENCE = /\[([^\]^\n][^\]\n]{0,200})\]:[ \t]{1,9}<?([^\s<>]{1,4000})/y;
const DETAILS = /<details(\s[^>\n]{0,200})?>/iy;
export const END_OF_DETAILS = /<\/details>/i;
/** Comments, scripts and styles, which a reader does not see. */
export const HIDDEN = /<(?:(!--)|(script|style|template)(?![\w-]))/iy;
/** Names of columns are followed by such a line. */
const DASHES = /^[ \t>]{0,100}((?:\|[ \t]*)?:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*){0,200}(?:\|[ \t]*)?)$/my;
/** Longer lines are no table. */
const MAX_ROW = 100_000;

/** The match of a sticky expression at a place. */
export function matchAt(expression: RegExp, text: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at;
  return expression.exec(text);
}

const isBlank = (unit: number): boolean => unit === SPACE || unit === TAB;

/** Where a line or a part of it ends without the blanks and the line break behind it. */
export function trimmedEnd(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && (isBlank(text.charCodeAt(at - 1)) || "\r\n".includes(text[at - 1]!))) at--;
  return at;
}

export function skipBlanks(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && isBlank(text.charCodeAt(at))) at++;
  return at;
}

/** Columns between two places; a tab counts as four. */
export function columnsOf(text: string, start: number, end: number): number {
  let columns = 0;
  for (let at = start; at < end; at++) columns += text.charCodeAt(at) === TAB ? 4 : 1;
  return columns;
}

/** The place after at most so many columns of blanks. */
export function skipColumns(text: string, start: number, end: number, columns: number): number {
  let at = start;
  for (let left = columns; left > 0 && at < end && isBlank(text.charCodeAt(at)); at++)
    left -= text.charCodeAt(at) === TAB ? 4 : 1;
  return at;
}

export const hasBar = (text: string, start: number, end: number): boolean =>
  text.slice(start, end).includes("|");

/** Where the cells of a row are, as pairs of start and end; a bar behind a backslash is text. */
export function cellsOf(text: string, start: number, end: number): readonly number[] {
  const cells: number[] = [];
  let from = text.charCodeAt(start) === BAR ? start + 1 : start;
  const add = (to: number): void => {
    const first = skipBlanks(text, from, to);
    cells.push(first, trimmedEnd(text, first, to));
    from = to + 1;
  };
  for (let at = from; at < end; at++) {
    if (text.charCodeAt(at) === BACKSLASH) at++;
    else if (text.charCodeAt(at) === BAR) add(at);
  }
  if (from < end) add(end);
  return cells;
}

/** Where the line of dashes begins that makes a line the head of a table; -1 when the next line is none. */
export function dashesBelow(text: string, start: number, end: number, next: number): number {
  // Most lines are told by the first character of the next one.
  if (!"|-: \t>".includes(text[next] ?? "x") || end - start > MAX_ROW || !hasBar(text, start, end)) return -1;
  const [whole, dashes] = matchAt(DASHES, text, next) ?? [];
  if (whole === undefined || !dashes?.includes("|")) return -1;
  const first = next + whole.indexOf(dashes);
  const dashesEnd = trimmedEnd(text, first, first + dashes.length);
  const isSame = cellsOf(text, first, dashesEnd).length === cellsOf(text, start, end).length;
  return isSame ? first : -1;
}

/** What contains other blocks; an item's `sign` is its bullet, or what stands behind its number. */
export type Container =
  | { readonly kind: "quote" }
  | { readonly kind: "item"; readonly sign: string; readonly number: number | null }
  | { readonly kind: "footnote"; readonly label: string }
  | { readonly kind: "details"; readonly isOpen: boolean };

/** A container that lines go on with; the text of an item or footnote is indented by its width. */
export type OpenContainer = { readonly kind: Container["kind"]; readonly width: number };

/** A line that is indented this much after a blank line is code. */
export const CODE_INDENT = 4;

/** A line whose containers have been read: what is left of it begins at `at`, its text at `first`. */
export type Line = {
  readonly outerStart: number;
  readonly at: number;
  readonly first: number;
  readonly end: number;
  /** How many of the open containers it belongs to. */
  readonly depth: number;
};

/** Where the text of a container goes on in a line; -1 when the line does not belong to it. */
export function enterContainer(
  { kind, width }: OpenContainer,
  text: string,
  at: number,
  end: number,
): number {
  if (kind === "details") return at;
  const first = skipBlanks(text, at, end);
  const indent = columnsOf(text, at, first);
  if (kind !== "quote") return first === end || indent >= width ? skipColumns(text, at, end, width) : -1;
  return indent < CODE_INDENT && text[first] === ">" ? skipColumns(text, first + 1, end, 1) : -1;
}

type Opened = { readonly container: Container; readonly width: number; readonly inside: number };

/**
 * The container whose mark a line begins with, and where its text begins; null for none.
 * @param isInText whether the line else belongs to a paragraph, which not every mark ends
 */
export function openContainer(text: string, line: Line, isInText: boolean): Opened | null {
  const { first, end, depth } = line;
  switch (text[first]) {
    case ">":
      return { container: { kind: "quote" }, width: 0, inside: skipColumns(text, first + 1, end, 1) };
    case "[": {
      if (isInText || depth > 0) return null;
      const [mark = "", label = ""] = matchAt(FOOTNOTE, text, first) ?? [];
      if (mark === "") return null;
      return { container: { kind: "footnote", label }, width: CODE_INDENT, inside: first + mark.length };
    }
    case "<": {
      const [tag = "", attributes = ""] = matchAt(DETAILS, text, first) ?? [];
      if (tag === "") return null;
      const isOpen = /\bopen\b/i.test(attributes);
      return { container: { kind: "details", isOpen }, width: 0, inside: first + tag.length };
    }
    default:
      return openItem(text, line, isInText);
  }
}

function openItem(text: string, { at, first, end }: Line, isInText: boolean): Opened | null {
  const mark = matchAt(ITEM, text, first);
  if (mark === null || matchAt(RULE, text, first)) return null;
  const [whole, digits, delimiter, bullet] = mark;
  const number = digits === undefined ? null : Number(digits);
  const markEnd = first + whole.length;
  const inner = skipBlanks(text, markEnd, end);
  if (isInText && (inner === end || (number !== null && number !== 1))) return null;
  const markWidth = columnsOf(text, at, markEnd);
  const isTab = text[markEnd] === "\t";
  const gap = isTab ? 4 - (markWidth % 4) : columnsOf(text, markEnd, inner);
  // Five spaces and more belong to code inside the item.
  const isCode = inner === end || (!isTab && gap > CODE_INDENT);
  return {
    container: { kind: "item", sign: bullet ?? delimiter ?? "", number },
    width: markWidth + (isCode ? 1 : gap),
    inside: isCode ? skipColumns(text, markEnd, end, 1) : inner,
  };
}
