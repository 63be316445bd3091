/** Blocks that contain lines; `info` is the text after the opening fence of code. */
export type Leaf =
  | { readonly kind: "paragraph" | "math" | "table" }
  | { readonly kind: "heading"; readonly level: number }
  | { readonly kind: "code"; readonly info: string };

/** Receives a document's blocks in their order. Places are UTF-16 code units of the Markdown, ends exclusive. */
type BlockSink = {
  /** @param start where the mark of the container begins; so for a rule and a reference */
  readonly open?: (container: Container, start: number) => void;
  readonly close?: () => void;
  /** @param start where the leaf begins, behind the marks of its containers */
  readonly begin: (leaf: Leaf, start: number) => void;
  /** @param outerStart where the marks of the containers begin that stand before the line's text */
  readonly line: (start: number, end: number, outerStart: number) => void;
  /** @param closing where the fence that ends code ends; -1 without one */
  readonly end?: (closing: number) => void;
  readonly rule?: (start: number) => void;
  readonly reference?: (label: string, address: string, start: number) => void;
};

/** Deepest nesting of containers; marks of deeper containers are text. */
const MAX_DEPTH = 16;
/** Formulas are short; a pair of dollars far below belongs to something else. */
const MATH_END = /(?:[^\n]{0,200}\n){0,200}?[ \t>]{0,100}\$\$[ \t]*$/my;

/** Blocks that take all following lines as they are, up to their end. */
type Verbatim =
  | { readonly kind: "fence"; readonly marks: string; readonly indent: number }
  | { readonly kind: "math" }
  | { readonly kind: "hidden"; readonly until: string };

/**
 * Reads the blocks of GitHub-flavoured Markdown in one pass over its lines (CommonMark 0.31, sections 3 to 5, with tables,
 * footnotes, formulas between `$$`, and `<details>`). Any text is a document, and each line is read a limited number of
 * times. It is the one grammar of blocks: what is indexed and what snippets and pages show comes from here.
 */
export function scanBlocks(markdown: string, sink: BlockSink): void {
  new BlockScanner(markdown, sink).scan();
}

class BlockScanner {
  readonly #text: string;
  readonly #sink: BlockSink;
  readonly #containers: OpenContainer[] = [];
  /** The positions of the open paragraph's lines, three numbers each: an underline may turn it into a heading. */
  #paragraph: number[] = [];
  #verbatim: Verbatim | null = null;
  /** Whether the open leaf is a table, or code that is indented. */
  #isTable = false;
  #isCode = false;
  /** Whether lines are those of a `<pre>`, in which nothing begins a block. */
  #isPre = false;
  /** Blank lines of indented code, which belong to it when more code follows. */
  #blanks: number[] = [];
  #nextLine = 0;
  /** The last position of each end mark of hidden parts. */
  readonly #lastPlaces = new Map<string, number>();

  constructor(text: string, sink: BlockSink) {
    this.#text = text;
    this.#sink = sink;
  }

  scan(): void {
    for (let start = 0; start < this.#text.length; start = this.#nextLine) {
      this.#nextLine = this.#endOfLine(start);
      this.#readLine(start, trimmedEnd(this.#text, start, this.#nextLine));
    }
    this.#closeTo(0);
  }

  #endOfLine(start: number): number {
    const newline = this.#text.indexOf("\n", start);
    return newline < 0 ? this.#text.length : newline + 1;
  }

  #readLine(start: number, end: number): void {
    let at = start;
    let depth = 0;
    for (; depth < this.#containers.length; depth++) {
      const inside = enterContainer(this.#containers[depth]!, this.#text, at, end);
      if (inside < 0) break;
      at = inside;
    }
    if (this.#verbatim && depth < this.#containers.length) this.#closeTo(depth);
    if (this.#verbatim) at = this.#readVerbatim(this.#verbatim, at, end);
    if (at < 0) return;
    const first = skipBlanks(this.#text, at, end);
    if (first === end) this.#readBlank(depth, at, end);
    else this.#readBlocks({ outerStart: skipBlanks(this.#text, start, end), at, first, end, depth });
  }

  /** Reads a line of code, of a formula or of what is hidden. @returns where other text begins behind it; -1 for none */
  #readVerbatim(verbatim: Verbatim, at: number, end: number): number {
    const text = this.#text;
    if (verbatim.kind === "hidden") return this.#skipHidden(verbatim.until, at, end);
    const first = skipBlanks(text, at, end);
    const isFence = verbatim.kind === "fence";
    const line = text.slice(first, end);
    const closes = isFence
      ? line.startsWith(verbatim.marks) && line === verbatim.marks[0]!.repeat(line.length)
      : line === "$$";
    if (closes && columnsOf(text, at, first) < CODE_INDENT) this.#closeLeaf(end);
    else this.#sink.line(skipColumns(text, at, end, isFence ? verbatim.indent : 0), end, first);
    return -1;
  }

  #skipHidden(until: string, at: number, end: number): number {
    const place = this.#text.slice(at, end).toLowerCase().indexOf(until);
    this.#verbatim = place < 0 ? { kind: "hidden", until } : null;
    return place < 0 ? -1 : at + place + until.length;
  }

  #readBlank(depth: number, at: number, end: number): void {
    if (this.#isCode) this.#blanks.push(skipColumns(this.#text, at, end, CODE_INDENT), end);
    else this.#closeLeaf();
    // A blank line ends quotations, but no item and no footnote.
    const quote = this.#containers.findIndex(({ kind }, place) => place >= depth && kind === "quote");
    if (quote >= 0) this.#closeTo(quote);
  }

  #readBlocks(given: Line): void {
    let line = given;
    for (;;) {
      const { at, first, end, depth, outerStart } = line;
      if (this.#isPreformatted(line)) {
        this.#addText(line);
        return;
      }
      const isInText = this.#paragraph.length > 0 && depth === this.#containers.length;
      if (columnsOf(this.#text, at, first) >= CODE_INDENT || (line === given && this.#goesOnWithCode(line))) {
        if (this.#paragraph.length > 0) this.#addText(line);
        else this.#addCode(line);
        return;
      }
      if (isInText && this.#underline(first)) return;
      const opened = depth < MAX_DEPTH ? openContainer(this.#text, line, isInText) : null;
      if (opened === null) {
        if (!this.#readLeaf(line, isInText)) this.#addText(line);
        return;
      }
      this.#closeTo(depth);
      this.#containers.push({ kind: opened.container.kind, width: opened.width });
      this.#sink.open?.(opened.container, first);
      const next = skipBlanks(this.#text, opened.inside, end);
      if (next === end) return;
      line = { outerStart, at: opened.inside, first: next, end, depth: this.#containers.length };
    }
  }

  #isPreformatted({ at, first, end }: Line): boolean {
    const wasPre = this.#isPre;
    if (!wasPre && (this.#text[first] !== "<" || columnsOf(this.#text, at, first) >= CODE_INDENT))
      return false;
    const line = this.#text.slice(first, end).toLowerCase();
    const begins = !wasPre && PRE.test(line) && this.#lastPlaceOf("</pre>") > end;
    this.#isPre = (wasPre || begins) && !line.includes("</pre>");
    return wasPre || this.#isPre;
  }

  /** Converters indent only the first line of the code of an item by more than its text. */
  #goesOnWithCode({ at, first, depth }: Line): boolean {
    if (!this.#isCode || this.#blanks.length > 0 || depth === 0 || depth < this.#containers.length)
      return false;
    const start = this.#text.lastIndexOf("\n", at - 1) + 1;
    return (
      columnsOf(this.#text, start, first) >= CODE_INDENT && skipBlanks(this.#text, start, first) === first
    );
  }

  /** Reads a block that its first line tells. @returns whether there is one */
  #readLeaf(line: Line, isInText: boolean): boolean {
    const { first, end, depth } = line;
    const text = this.#text;
    if (this.#isTable && depth === this.#containers.length && hasBar(text, first, end)) {
      this.#sink.line(first, end, line.outerStart);
      return true;
    }
    switch (text[first]) {
      case "#":
        return this.#readHeading(line);
      case "`":
      case "~":
        return this.#readFence(line) || this.#readTable(line);
      case "$":
        return this.#readMath(line) || this.#readTable(line);
      case "<":
        return this.#readMarkup(line) || this.#readTable(line);
      case "[":
        return this.#readReference(line, isInText) || this.#readTable(line);
    }
    if (matchAt(RULE, text, first) === null) return this.#readTable(line);
    this.#closeTo(depth);
    this.#sink.rule?.(first);
    return true;
  }

  #readHeading({ first, end, depth, outerStart }: Line): boolean {
    const [signs] = matchAt(HEADING, this.#text, first) ?? [];
    if (signs === undefined) return false;
    this.#closeTo(depth);
    const start = skipBlanks(this.#text, first + signs.length, end);
    const closing = this.#text.endsWith("#", end) ? this.#text.slice(start, end).search(CLOSING_HASHES) : -1;
    const textEnd = closing < 0 ? end : trimmedEnd(this.#text, start, start + closing);
    this.#addLeaf({ kind: "heading", level: signs.length }, [start, textEnd, outerStart]);
    return true;
  }

  /** Makes the open paragraph the heading that a line underlines. */
  #underline(first: number): boolean {
    const found = matchAt(UNDERLINE, this.#text, first);
    const lines = this.#paragraph;
    if (found === null) return false;
    this.#paragraph = [];
    this.#addLeaf({ kind: "heading", level: found[1] === undefined ? 2 : 1 }, lines);
    return true;
  }

  /** @param lines starts, ends and outer starts */
  #addLeaf(leaf: Leaf, lines: readonly number[]): void {
    this.#sink.begin(leaf, lines[0]!);
    for (let at = 0; at < lines.length; at += 3) this.#sink.line(lines[at]!, lines[at + 1]!, lines[at + 2]!);
    this.#sink.end?.(-1);
  }

  #readFence({ at, first, depth }: Line): boolean {
    const [, backticks, info, tildes, other] = matchAt(FENCE, this.#text, first) ?? [];
    const marks = backticks ?? tildes;
    if (marks === undefined) return false;
    this.#closeTo(depth);
    this.#sink.begin({ kind: "code", info: (info ?? other ?? "").trim() }, first);
    this.#verbatim = { kind: "fence", marks, indent: columnsOf(this.#text, at, first) };
    return true;
  }

  #readMath({ first, end, depth, outerStart }: Line): boolean {
    const text = this.#text;
    if (text[first + 1] !== "$") return false;
    const inner = text.slice(first + 2, end);
    const isOneLine = inner.length > 2 && inner.indexOf("$$") === inner.length - 2;
    if (!isOneLine && (inner !== "" || matchAt(MATH_END, text, this.#nextLine) === null)) return false;
    this.#closeTo(depth);
    const start = skipBlanks(text, first + 2, end);
    if (isOneLine) this.#addLeaf({ kind: "math" }, [start, trimmedEnd(text, start, end - 2), outerStart]);
    else {
      this.#sink.begin({ kind: "math" }, first);
      this.#verbatim = { kind: "math" };
    }
    return true;
  }

  /** Skips what a reader does not see, and ends details. */
  #readMarkup({ first, end, depth, outerStart }: Line): boolean {
    const text = this.#text;
    const closing = "</details>";
    const isEnd = text.slice(first, first + closing.length).toLowerCase() === closing;
    const details = isEnd ? this.#containers.findLastIndex(({ kind }) => kind === "details") : -1;
    const [start, comment, name = ""] = matchAt(HIDDEN, text, first) ?? [];
    const until = comment === undefined ? `</${name.toLowerCase()}>` : "-->";
    // `<script>` that nothing closes is a placeholder.
    if (details < 0 && (start === undefined || this.#lastPlaceOf(until) < first)) return false;
    this.#closeTo(details < 0 ? depth : details);
    const rest =
      start === undefined ? first + closing.length : this.#skipHidden(until, first + start.length, end);
    const next = skipBlanks(text, rest, end);
    if (rest >= 0 && next < end)
      this.#addText({ outerStart, at: rest, first: next, end, depth: this.#containers.length });
    return true;
  }

  #lastPlaceOf(end: string): number {
    const known = this.#lastPlaces.get(end) ?? this.#text.toLowerCase().lastIndexOf(end);
    this.#lastPlaces.set(end, known);
    return known;
  }

  #readReference({ first, depth }: Line, isInText: boolean): boolean {
    const [, label, address] = matchAt(REFERENCE, this.#text, first) ?? [];
    if (isInText || label === undefined || address === undefined) return false;
    this.#closeTo(depth);
    this.#sink.reference?.(label, address, first);
    return true;
  }

  #readTable({ first, end, depth, outerStart }: Line): boolean {
    const next = this.#nextLine;
    const dashes = dashesBelow(this.#text, first, end, next);
    if (dashes < 0) return false;
    this.#closeTo(depth);
    this.#nextLine = this.#endOfLine(next);
    this.#sink.begin({ kind: "table" }, first);
    this.#sink.line(first, end, outerStart);
    this.#sink.line(dashes, trimmedEnd(this.#text, dashes, this.#nextLine), dashes);
    this.#isTable = true;
    return true;
  }

  #addCode({ at, first, end, depth }: Line): void {
    if (!this.#isCode || depth < this.#containers.length) {
      this.#closeTo(depth);
      this.#sink.begin({ kind: "code", info: "" }, first);
      this.#isCode = true;
    }
    const blanks = this.#blanks;
    for (let blank = 0; blank < blanks.length; blank += 2)
      this.#sink.line(blanks[blank]!, blanks[blank + 1]!, blanks[blank]!);
    this.#blanks = [];
    this.#sink.line(skipColumns(this.#text, at, end, CODE_INDENT), end, first);
  }

  #addText({ first, end, depth, outerStart }: Line): void {
    // A paragraph continues without the marks of the containers around it.
    if (this.#paragraph.length === 0) this.#closeTo(depth);
    const details = this.#containers.findLastIndex(({ kind }) => kind === "details");
    const closing = details < 0 ? -1 : this.#text.slice(first, end).search(END_OF_DETAILS);
    this.#paragraph.push(first, closing < 0 ? end : first + closing, outerStart);
    if (closing >= 0) this.#closeTo(details);
  }

  /** Ends the open leaf. @param closing where its fence ends; -1 without one */
  #closeLeaf(closing = -1): void {
    const lines = this.#paragraph;
    this.#paragraph = [];
    this.#blanks = [];
    if (lines.length > 0) this.#addLeaf({ kind: "paragraph" }, lines);
    const isVerbatim = this.#verbatim !== null && this.#verbatim.kind !== "hidden";
    if (this.#isTable || this.#isCode || isVerbatim) this.#sink.end?.(closing);
    this.#isTable = false;
    this.#isCode = false;
    this.#verbatim = null;
  }

  /** Ends the open leaf and the containers from a depth on. */
  #closeTo(depth: number): void {
    this.#closeLeaf();
    for (; this.#containers.length > depth; this.#containers.pop()) this.#sink.close?.();
  }
}

// Beginnings of lines by CommonMark 0.31 and GitHub's tables. Every expression is sticky and ends with the line, so its
// time is in proportion to the line's length.

const SPACE = 0x20;
const TAB = 0x09;
const BAR = 0x7c;
const BACKSLASH = 0x5c;

/** `#` signs of a heading. */
const HEADING = /(#{1,6})(?=[ \t]|$)/my;
/** The optional closing sequence of such a heading. */
const CLOSING_HASHES = /(?:^|(?<=[ \t]))#+$/;
/** Longer than a single sign, which is the name of an option in manuals. */
const UNDERLINE = /(?:(?<!=)(={2,})|(?<!-)-{3,})[ \t]*$/my;
/** Begins with the first of its signs, so that items within items (`- - - … x`) do not each read the rest of the line. */
const RULE = /([-_*])(?<!\1[ \t]*\1)[ \t]*(?:\1[ \t]*){2,1000}$/my;
/** A fence and its info string, which holds no backtick behind backticks: that is code inside of a text. */
const FENCE = /(?:(`{3,})([^`\n]*)|(~{3,})([^\n]*))$/my;
/** A bullet, or a number with its sign. */
const ITEM = /(?:(\d{1,9})([.)])|([-*+]))(?=[ \t]|$)/my;
const FOOTNOTE = /\[\^([^\]\s]{1,100})\]:/y;
const REFERENCE = /\[([^\]^\n][^\]\n]{0,200})\]:[ \t]{1,9}<?([^\s<>]{1,4000})/y;
const DETAILS = /<details(\s[^>\n]{0,200})?>/iy;
const END_OF_DETAILS = /<\/details>/i;
const PRE = /^<pre[\s>]/;
/** Comments, scripts and styles, which a reader does not see. */
const HIDDEN = /<(?:(!--)|(script|style|template)(?![\w-]))/iy;
/** Names of columns are followed by such a line. */
const DASHES = /^[ \t>]{0,100}((?:\|[ \t]*)?:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*){0,200}(?:\|[ \t]*)?)$/my;
/** Longest row of a table in UTF-16 code units; a longer line is text. */
const MAX_ROW = 100_000;

/** The match of a sticky expression at a place. */
function matchAt(expression: RegExp, text: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at;
  return expression.exec(text);
}

const isBlank = (unit: number): boolean => unit === SPACE || unit === TAB;

/** Returns the end of a line, or of a part of it, without trailing blanks and the line break. */
function trimmedEnd(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && (isBlank(text.charCodeAt(at - 1)) || "\r\n".includes(text[at - 1]!))) at--;
  return at;
}

function skipBlanks(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && isBlank(text.charCodeAt(at))) at++;
  return at;
}

/** Columns between two places; a tab counts as four. */
function columnsOf(text: string, start: number, end: number): number {
  let columns = 0;
  for (let at = start; at < end; at++) columns += text.charCodeAt(at) === TAB ? 4 : 1;
  return columns;
}

/** Returns the position after at most `columns` columns of blanks. */
function skipColumns(text: string, start: number, end: number, columns: number): number {
  let at = start;
  for (let left = columns; left > 0 && at < end && isBlank(text.charCodeAt(at)); at++)
    left -= text.charCodeAt(at) === TAB ? 4 : 1;
  return at;
}

const hasBar = (text: string, start: number, end: number): boolean => text.slice(start, end).includes("|");

/** Returns the start and end of each cell of a row; a bar after a backslash is text. */
export function cellsOf(text: string, start: number, end: number): readonly (readonly [number, number])[] {
  const cells: [number, number][] = [];
  let from = text.charCodeAt(start) === BAR ? start + 1 : start;
  const add = (to: number): void => {
    const first = skipBlanks(text, from, to);
    cells.push([first, trimmedEnd(text, first, to)]);
    from = to + 1;
  };
  for (let at = from; at < end; at++) {
    if (text.charCodeAt(at) === BACKSLASH) at++;
    else if (text.charCodeAt(at) === BAR) add(at);
  }
  if (from < end) add(end);
  return cells;
}

/** Returns the start of the line of dashes below the head of a table, or -1 if the next line is another. */
function dashesBelow(text: string, start: number, end: number, next: number): number {
  // The first character of the next line rules most lines out.
  if (!"|-: \t>".includes(text[next] ?? "x") || end - start > MAX_ROW || !hasBar(text, start, end)) return -1;
  const [whole, dashes] = matchAt(DASHES, text, next) ?? [];
  if (whole === undefined || !dashes?.includes("|")) return -1;
  const first = next + whole.indexOf(dashes);
  const dashesEnd = trimmedEnd(text, first, first + dashes.length);
  const isSame = cellsOf(text, first, dashesEnd).length === cellsOf(text, start, end).length;
  return isSame ? first : -1;
}

/** Blocks that contain other blocks; an item's `sign` is its bullet, or the character after its number. */
export type Container =
  | { readonly kind: "quote" }
  | { readonly kind: "item"; readonly sign: string; readonly number: number | null }
  | { readonly kind: "footnote"; readonly label: string }
  | { readonly kind: "details"; readonly isOpen: boolean };

/** A container that further lines can continue; the text of an item or footnote is indented by its width. */
type OpenContainer = { readonly kind: Container["kind"]; readonly width: number };

/** A line that is indented this much after a blank line is code. */
const CODE_INDENT = 4;

/** A line whose containers have been read: what is left of it begins at `at`, its text at `first`. */
type Line = {
  readonly outerStart: number;
  readonly at: number;
  readonly first: number;
  readonly end: number;
  /** How many of the open containers it belongs to. */
  readonly depth: number;
};

/** Returns the position in a line at which a container's text continues, or -1 if the line does not belong to it. */
function enterContainer({ kind, width }: OpenContainer, text: string, at: number, end: number): number {
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
function openContainer(text: string, line: Line, isInText: boolean): Opened | null {
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
