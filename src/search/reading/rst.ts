import { byWord, meaningsIn } from "../../base/text.ts";
import { readCsv } from "./csv.ts";
import { codeSpan, image, MarkdownWriter, type NoteKind, strong } from "./markdown-writer.ts";
import { inlineToMarkdown, nameOf, type References } from "./rst-inline.ts";

/** Deepest nesting of blocks; deeper blocks are text. */
const MAX_DEPTH = 20;
const LEAST_REPEATED = 1_000_000;

// A line of any of these characters underlines a heading, or overlines it as well (docutils, "Sections").
const ADORNMENT = /^([!-/:-@[-`{-~])\1*$/;
const BULLET = /^[-*+•‣⁃](?: +|$)/;
const ENUMERATOR =
  /^(?:(?:\d{1,9}|[A-Za-z#]|[ivxlcdmIVXLCDM]{1,9})[.)]|\((?:\d{1,9}|[A-Za-z#]|[ivxlcdmIVXLCDM]{1,9})\))(?: +|$)/;
const FIELD = /^:(?![\s:])([^:\n\\]{1,200}(?:\\?:[^:\s\n\\][^:\n\\]{0,200}){0,5}):(?: +|$)/;
const OPTION = /^(?:--?[\w?][\w-]*|\/[A-Z])(?:[ =](?:<[^>]{1,100}>|[\w.,-]+)|<[^>]{1,100}>)?$/;
const GRID = /^\+(?:[-=]+\+)+$/;
const SIMPLE = /^=+(?: +=+)+$/;
const DIRECTIVE = /^([A-Za-z][\w+.-]{0,60}(?::[A-Za-z][\w+.-]{0,60}){0,3}) ?::(?: +(.*))?$/;
const FOOTNOTE = /^\[([#\w*.-]{1,100})\](?: +|$)/;

/** Converts reStructuredText, with the directives and roles of Docutils and Sphinx, to Markdown. No file is included. */
export function rstToMarkdown(source: readonly string[]): string {
  const references = referencesIn(source);
  const writer = new MarkdownWriter();
  const lines = linesOf(source);
  new BlockReader(lines, writer, references).blocks({
    start: firstLine(lines),
    end: source.length,
    indent: 0,
    depth: 0,
  });
  return writer.toString();
}

/** Fields at the start tell Sphinx how to treat the file (`:orphan:`). */
function firstLine({ text, indent }: Lines): number {
  let at = 0;
  while (
    at < text.length &&
    (indent[at] !== 0 ||
      /^:(?:orphan|tocdepth|nosearch|nocomments|html_theme[\w.]*|og:[\w:]+|description|keywords):/.test(
        text[at]!,
      ))
  ) {
    if (indent[at] !== BLANK && indent[at] !== 0) return 0;
    at++;
  }
  return at;
}

function referencesIn(source: readonly string[]): References {
  const addresses = new Map<string, string>();
  const substitutions = new Map<string, string>();
  for (const [index, line] of source.entries()) {
    const text = /^\s*\.\.(.*)$/.exec(line)?.[1]?.trim() ?? "";
    const [target, quoted, bare = "", address = ""] = TARGET.exec(text) ?? [];
    if (target !== undefined)
      addresses.set(nameOf((quoted ?? bare).replaceAll("\\", "")), address.slice(0, 500));
    const [, name, kind = "", rest = ""] = SUBSTITUTION.exec(text) ?? [];
    if (name !== undefined)
      substitutions.set(nameOf(name), substitutionOf(kind, rest, source[index + 1] ?? ""));
    const title = isUnderline(line) ? (source[index - 1]?.trim() ?? "") : "";
    if (title !== "" && title.length < 200 && !addresses.has(nameOf(title))) addresses.set(nameOf(title), "");
  }
  const size = source.reduce((sum, line) => sum + line.length, 0);
  return { addresses, substitutions, budget: Math.max(LEAST_REPEATED, 4 * size) };
}

const TARGET = /^_(?:`([^`]{1,200})`|([^:`_\\][^:\\]{0,200}(?:\\:[^:\\]{0,200}){0,5})):(?: +(.*))?$/;
const SUBSTITUTION = /^\|([^|]{1,100})\| +([\w-]{1,30})::(?: +(.*))?$/;

const isUnderline = (line: string): boolean => line.length >= 3 && ADORNMENT.test(line.trimEnd());

function substitutionOf(kind: string, rest: string, below: string): string {
  if (kind === "replace") return rest.slice(0, 1000);
  if (kind === "image") return /^\s+:alt: +(.{1,200})/.exec(below)?.[1] ?? "";
  if (kind !== "unicode") return "";
  return rest
    .split(" ")
    .map((code) => /^(?:0x|x|\\x|U\+|u|\\u|&#x)([0-9a-f]{1,6});?$/i.exec(code)?.[1] ?? code)
    .map((code, at, all) =>
      code === all[at] && /^[0-9a-f]{2,6}$/i.test(code) ? characterOf(code) : code === ".." ? "" : code,
    )
    .join("");
}

function characterOf(hex: string): string {
  const code = Number.parseInt(hex, 16);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "";
}

const MAX_OPTION = 300;

/** The options that a line describes (`-a, --all=WORD`), up to the two spaces before their description. */
function optionOf(line: string): string | null {
  const gap = line.indexOf("  ");
  const option = gap < 0 ? line : line.slice(0, gap);
  return option.length < MAX_OPTION && option.split(/, +/).every((one) => OPTION.test(one)) ? option : null;
}

class BlockReader {
  readonly lines: Lines;
  readonly writer: MarkdownWriter;
  /** The language of literal blocks that name none. */
  language = "";
  readonly #references: References;
  readonly #levels: string[];

  constructor(lines: Lines, writer: MarkdownWriter, references: References, levels: string[] = []) {
    this.lines = lines;
    this.writer = writer;
    this.#references = references;
    this.#levels = levels;
  }

  readonly inline = (text: string): string => inlineToMarkdown(text, this.#references);

  /** Reads lines into the phrase of a table's cell. */
  readonly cell = (lines: readonly string[], depth: number): string => {
    const writer = new MarkdownWriter(true);
    const inner = linesOf(lines);
    const indent = leastIndent(inner, 0, lines.length);
    new BlockReader(inner, writer, this.#references, this.#levels).blocks({
      start: 0,
      end: lines.length,
      indent,
      depth: depth + 1,
    });
    return writer.toString();
  };

  blocks(block: Block): void {
    const { end, indent, depth } = block;
    const { lines } = this;
    for (let at = block.start; at < end; ) {
      if (lines.indent[at] === BLANK) at++;
      else if (depth >= MAX_DEPTH) at = this.#paragraph(at, block);
      else if (lines.indent[at]! > indent) {
        const last = endOfIndented(lines, at, end, indent);
        const inner = { start: at, end: last, indent: leastIndent(lines, at, last), depth: depth + 1 };
        this.writer.quote(() => this.blocks(inner));
        at = last;
      } else at = this.#block(at, block);
    }
  }

  #line(at: number, indent: number): string {
    return (this.lines.text[at] ?? "").slice(indent).trimEnd();
  }

  /** Reads a block and returns where the next one may begin. */
  #block(at: number, block: Block): number {
    const line = this.#line(at, block.indent);
    if (line === ".." || line.startsWith(".. ")) return this.#explicit(at, block, line);
    if (line.startsWith("__ ")) return at + 1;
    if (line.startsWith(">>> ") || line === ">>>") return this.#verbatim(at, block);
    if (line === "|" || line.startsWith("| ")) return this.#lineBlock(at, block);
    if (GRID.test(line) || SIMPLE.test(line)) return this.#table(at, block, line);
    const heading = this.#heading(at, block, line);
    if (heading > at) return heading;
    const mark = this.#markOf(at, block, line);
    if (mark !== undefined) return this.#item(at, block, mark);
    return this.#termed(at, block, line) ?? this.#paragraph(at, block);
  }

  #markOf(at: number, block: Block, line: string): string | undefined {
    const isEnumerated = this.#isEnumerated(at, block, line);
    return BULLET.exec(line)?.[0] ?? (isEnumerated ? ENUMERATOR.exec(line)?.[0] : undefined);
  }

  /** Reads a field, an option or a term with its description; null for any other line. */
  #termed(at: number, block: Block, line: string): number | null {
    const [mark, name = ""] = FIELD.exec(line) ?? [];
    if (mark !== undefined) return this.#definition(at, block, strong(this.inline(name)), mark.length);
    const option = optionOf(line);
    const hasBelow = at + 1 < block.end && this.lines.indent[at + 1]! > block.indent;
    if (option !== null && (option.length < line.length || hasBelow))
      return this.#definition(at, block, codeSpan(option), option.length);
    if (!hasBelow || line.endsWith("::")) return null;
    const [term = "", ...classifiers] = line.split(" : ").map(this.inline);
    return this.#definition(at, block, [strong(term), ...classifiers].join(" : "), line.length);
  }

  /** Reads a title with its lines, or a transition; returns the place itself when there is none. */
  #heading(at: number, { end, indent }: Block, line: string): number {
    const below = this.#line(at + 1, indent);
    const isAdornment = ADORNMENT.test(line);
    if (
      isAdornment &&
      line.length >= 3 &&
      below !== "" &&
      at + 2 < end &&
      this.#line(at + 2, indent) === line
    ) {
      this.#addHeading(`${line[0]}${line[0]}`, below);
      return at + 3;
    }
    if (isAdornment && line.length >= 4 && (below === "" || at + 1 >= end)) {
      this.writer.rule();
      return at + 1;
    }
    const underlines = at + 1 < end && this.lines.indent[at + 1] === indent && ADORNMENT.test(below);
    if (!underlines || below === "::" || below.length < Math.min(4, line.length)) return at;
    this.#addHeading(below[0]!, line);
    return at + 2;
  }

  /** The level of an adornment is the order of its first use. */
  #addHeading(adornment: string, title: string): void {
    if (!this.#levels.includes(adornment)) this.#levels.push(adornment);
    this.writer.heading(this.#levels.indexOf(adornment) + 1, this.inline(title.trim()));
  }

  /** A line that begins like an item is text if the next line continues it at the margin. */
  #isEnumerated(at: number, { end, indent }: Block, line: string): boolean {
    if (!ENUMERATOR.test(line)) return false;
    const below = at + 1 < end ? this.#line(at + 1, indent) : "";
    return below === "" || below.startsWith(" ") || ENUMERATOR.test(below);
  }

  #item(at: number, { end, indent, depth }: Block, mark: string): number {
    const number = /\d+/.exec(mark);
    const isBullet = BULLET.test(mark);
    blankMark(this.lines, at, indent + mark.length);
    const last = Math.max(at + 1, endOfIndented(this.lines, at + 1, end, indent));
    // Below a mark alone the text stands at its own column.
    const column = mark.endsWith(" ") ? indent + mark.trimEnd().length + 1 : indent + 1;
    const inner = {
      start: at,
      end: last,
      indent: Math.max(column, leastIndent(this.lines, at, last)),
      depth: depth + 1,
    };
    this.writer.item(isBullet ? null : number ? Number(number[0]) : 1, () => this.blocks(inner));
    return last;
  }

  /** Writes what a term, a field or an option is about. */
  #definition(at: number, { end, indent, depth }: Block, term: string, markEnd: number): number {
    blankMark(this.lines, at, indent + markEnd);
    const last = Math.max(at + 1, endOfIndented(this.lines, at + 1, end, indent));
    const hasText = this.lines.indent[at] !== BLANK;
    // The text below may be indented less than that behind the mark.
    const below = leastIndent(this.lines, at + 1, last);
    const own = hasText ? this.lines.indent[at]! : below;
    const column = below > indent ? Math.min(own, below) : own;
    if (hasText) this.lines.text[at] = " ".repeat(column) + this.lines.text[at]!.trim();
    if (hasText) this.lines.indent[at] = column;
    const inner = { start: at, end: last, indent: column, depth: depth + 1 };
    this.writer.paragraph(term);
    this.writer.item(null, () => this.blocks(inner));
    return last;
  }

  #lineBlock(at: number, { end, indent }: Block): number {
    let last = at;
    while (last < end && this.lines.indent[last] !== BLANK && /^(?:\||\s)/.test(this.#line(last, indent)))
      last++;
    const lines = blockLines(this.lines, { start: at, end: last, indent }).map((line) =>
      line.replace(/^\|? ?/, ""),
    );
    this.writer.paragraph(this.inline(lines.join("\n")).replace(/\n/g, "\\\n"));
    return last;
  }

  #verbatim(at: number, { end, indent }: Block): number {
    let last = at;
    while (last < end && this.lines.indent[last] !== BLANK) last++;
    this.writer.code(blockLines(this.lines, { start: at, end: last, indent }).join("\n"), "python");
    return last;
  }

  #table(at: number, { end, indent, depth }: Block, line: string): number {
    const isGrid = line.startsWith("+");
    let last = at + 1;
    for (let borders = 1; last < end; last++) {
      const text = this.#line(last, indent);
      if (isGrid && !/^[|+]/.test(text)) break;
      if (!isGrid && SIMPLE.test(text)) borders++;
      if (
        !isGrid &&
        borders > 1 &&
        SIMPLE.test(text) &&
        (last + 1 >= end || this.lines.indent[last + 1] === BLANK)
      ) {
        last++;
        break;
      }
      if (!isGrid && this.lines.indent[last] !== BLANK && this.lines.indent[last]! < indent) break;
    }
    const lines = blockLines(this.lines, { start: at, end: last, indent });
    writeTable(this, isGrid ? readGrid(this, lines, depth) : readSimple(this, lines, depth));
    return last;
  }

  #explicit(at: number, { end, indent, depth }: Block, line: string): number {
    const last = Math.max(at + 1, endOfIndented(this.lines, at + 1, end, indent));
    const rest = line.slice(2).trim();
    if (rest === "" && (at + 1 >= end || this.lines.indent[at + 1] === BLANK)) return at + 1;
    const [, name, argument = ""] = DIRECTIVE.exec(rest) ?? [];
    if (name !== undefined) {
      writeDirective(this, { name, argument: argument.trim(), start: at + 1, end: last, indent, depth });
      return last;
    }
    const note = FOOTNOTE.exec(rest);
    if (!note) return last; // a target, a substitution or a comment
    const markEnd = line.indexOf("]") + 1;
    const term = this.inline(`[${note[1]?.replace(/^#/, "")}]`);
    return this.#definition(at, { start: at, end: last, indent, depth }, term, markEnd);
  }

  #paragraph(at: number, { end, indent, depth }: Block): number {
    const { lines } = this;
    let last = at;
    while (
      last < end &&
      lines.indent[last] !== BLANK &&
      (last === at || depth >= MAX_DEPTH || this.#goesOn(last, indent))
    )
      last++;
    const text = lines.text
      .slice(at, last)
      .map((line) => line.trim())
      .join("\n");
    if (!text.endsWith("::")) {
      this.writer.paragraph(this.inline(text));
      return last;
    }
    this.writer.paragraph(this.inline(text.slice(0, /(?:^|\s)::$/.test(text) ? -2 : -1)));
    return this.#literal(last, end, indent);
  }

  #goesOn(at: number, indent: number): boolean {
    const line = this.#line(at, indent);
    return (
      this.lines.indent[at]! >= indent &&
      !line.startsWith(".. ") &&
      !(ADORNMENT.test(line) && line.length > 3)
    );
  }

  #literalEnd(from: number, end: number, indent: number): number {
    let first = from;
    while (first < end && this.lines.indent[first] === BLANK) first++;
    if (first === end) return from;
    if (this.lines.indent[first]! > indent) return endOfIndented(this.lines, first, end, indent);
    // Lines that all begin with the same sign are literal too.
    const sign = this.#line(first, indent)[0] ?? "";
    let last = first;
    while (/[!-/:-@[-`{-~]/.test(sign) && last < end && this.#line(last, indent).startsWith(sign)) last++;
    return first === from ? from : Math.max(from, last);
  }

  #literal(from: number, end: number, indent: number): number {
    const last = this.#literalEnd(from, end, indent);
    if (last === from) return from;
    const column = leastIndent(this.lines, from, last);
    this.writer.code(
      blockLines(this.lines, { start: from, end: last, indent: column }).join("\n"),
      this.language,
    );
    return last;
  }
}

/** A directive; its lines may begin with more of its argument and with options. */
type Directive = {
  /** With its domain, as it is written. */
  readonly name: string;
  readonly argument: string;
  readonly start: number;
  readonly end: number;
  readonly indent: number;
  readonly depth: number;
};

/** A directive whose options have been read. */
type Parsed = {
  readonly name: string;
  /** The lines of its argument. */
  readonly argument: readonly string[];
  readonly options: ReadonlyMap<string, string>;
  readonly content: Block;
};

const NOTES = meaningsIn<NoteKind>({
  NOTE: "note seealso todo",
  TIP: "tip hint",
  IMPORTANT: "important",
  WARNING: "warning attention",
  CAUTION: "caution danger error",
});

/** Writes what a directive of Docutils or Sphinx shows; of one that is unknown its argument and its blocks. */
function writeDirective(reader: BlockReader, directive: Directive): void {
  const name = directive.name.toLowerCase();
  const note = Object.hasOwn(NOTES, name) ? NOTES[name] : undefined;
  if (note !== undefined) {
    const content = contentOf(reader, directive);
    const title = name === "seealso" ? "See also" : name === "todo" ? "To do" : "";
    reader.writer.note(note, title, () => reader.blocks(content));
    return;
  }
  const write = WRITERS.get(name) ?? (name.startsWith("sphinx") ? writeNothing : writeObject);
  write(reader, parse(reader, directive));
}

/** The content of a directive without argument, which begins in its own line. */
function contentOf({ lines }: BlockReader, { argument, start, end, indent, depth }: Directive): Block {
  let first = start;
  while (first < end && /^\s+:[\w-]+:(?:\s|$)/.test(lines.text[first] ?? "")) first++;
  if (argument === "") return { start: first, end, indent: leastIndent(lines, first, end), depth: depth + 1 };
  const below = leastIndent(lines, start, end) || indent + 3;
  lines.text[start - 1] = " ".repeat(below) + argument;
  lines.indent[start - 1] = below;
  for (let at = start; at < first; at++) {
    lines.text[at] = "";
    lines.indent[at] = BLANK;
  }
  return { start: start - 1, end, indent: below, depth: depth + 1 };
}

function parse({ lines }: BlockReader, { name, argument, start, end, depth }: Directive): Parsed {
  const options = new Map<string, string>();
  const argumentLines = argument === "" ? [] : [argument];
  let at = start;
  let last: string | null = null;
  for (; at < end && lines.indent[at] !== BLANK; at++) {
    const line = lines.text[at]!.trim();
    const [, key, value = ""] = /^:([\w-]{1,60}):(?:\s+(.*))?$/.exec(line) ?? [];
    if (key !== undefined) {
      last = key.toLowerCase();
      options.set(last, value);
    } else if (last !== null) options.set(last, `${options.get(last)} ${line}`.slice(0, MAX_OPTION_VALUE));
    else if (argument === "") break;
    else argumentLines.push(line);
  }
  const content = { start: at, end, indent: leastIndent(lines, at, end), depth: depth + 1 };
  return { name: name.toLowerCase(), argument: argumentLines, options, content };
}

const MAX_OPTION_VALUE = 2000;

function writeCode(reader: BlockReader, { name, argument, options, content }: Parsed): void {
  const caption = options.get("caption");
  if (caption !== undefined) reader.writer.paragraph(strong(reader.inline(caption)));
  const language = CODE.get(name) ?? (argument[0] || reader.language);
  // Lines below the first are code without the blank line before it.
  const early = argument.slice(1);
  reader.writer.code([...early, ...blockLines(reader.lines, content)].join("\n"), language.toLowerCase());
}

/** The language of directives that show a text as it is, and name none in their argument. */
const CODE = byWord({
  "doctest testcode testsetup ipython ipython3 jupyter-execute plot pyplot": "python",
  testoutput: "text",
  "graphviz digraph graph": "dot",
  mermaid: "mermaid",
  "uml plantuml": "plantuml",
  "parsed-literal productionlist": "",
});

function writeRaw(reader: BlockReader, { argument, content }: Parsed): void {
  if (!/\bhtml\b/.test(argument[0] ?? "")) return;
  // An indented line would be code.
  reader.writer.markdown(
    [...argument.slice(1), ...blockLines(reader.lines, content).map((line) => line.trim())].join("\n"),
  );
}

function writeChange(reader: BlockReader, { name, argument, content }: Parsed): void {
  const [version = "", ...text] = argument.join("\n").split(/[ \n](?=\S)/);
  const title = strong(reader.inline(`${CHANGES.get(name)} ${version}:`));
  reader.writer.paragraph(`${title} ${reader.inline(text.join(" "))}`);
  reader.blocks(content);
}

const CHANGES = byWord({
  versionadded: "New in version",
  versionchanged: "Changed in version",
  "deprecated deprecated-removed": "Deprecated since version",
  versionremoved: "Removed in version",
});

function writeTitled(reader: BlockReader, { argument, content }: Parsed): void {
  reader.writer.paragraph(strong(reader.inline(argument.join(" "))));
  reader.blocks(content);
}

/** Writes a table of lists in a list, or of comma-separated values. */
function writeRows(reader: BlockReader, { name, argument, options, content }: Parsed): void {
  reader.writer.paragraph(strong(reader.inline(argument.join(" "))));
  const headerRows = Number(options.get("header-rows") ?? 0) || 0;
  const lines = blockLines(reader.lines, content);
  const cell = (text: readonly string[]): string => reader.cell(text, content.depth);
  if (name === "list-table") {
    const rows = itemsOf(lines).map((row) => itemsOf(row).map(cell));
    writeTable(reader, { rows, headerRows });
    return;
  }
  const separator =
    { tab: "\t", space: " " }[options.get("delim") ?? ""] ?? (options.get("delim")?.[0] || ",");
  const header = options.get("header");
  const rows = [
    ...(header === undefined ? [] : readCsv(header, separator)),
    ...readCsv(lines.join("\n"), separator),
  ];
  writeTable(reader, {
    rows: rows.map((row) => row.map((field) => cell(field.split("\n")))),
    headerRows: header === undefined ? headerRows : 1,
  });
}

/** The items of a list, each without its mark. */
function itemsOf(lines: readonly string[]): string[][] {
  const items: string[][] = [];
  let width = 0;
  for (const line of lines) {
    const [mark] = /^[-*+](?: +|$)/.exec(line) ?? [];
    if (mark !== undefined) {
      width = mark.length;
      items.push([line.slice(width)]);
    } else items.at(-1)?.push(line.slice(0, width).trim() === "" ? line.slice(width) : line.trim());
  }
  return items;
}

/** Writes the signatures of a function, class, option or the like as terms, with their description. */
function writeObject(reader: BlockReader, { argument, content }: Parsed): void {
  if (argument.length === 0) reader.blocks(content);
  else {
    const signatures = argument.join("\n").replace(/\\\n/g, " ").split("\n");
    reader.writer.definition(
      signatures.map((one) => codeSpan(one.replace(/\\(.)/g, "$1"))),
      () => reader.blocks(content),
    );
  }
}

const writeNothing = (): void => {};

/** How directives are written; the others are taken for descriptions of objects. */
const WRITERS = byWord<(reader: BlockReader, directive: Parsed) => void>({
  [["code code-block sourcecode code-tab prompt", ...CODE.keys()].join(" ")]: writeCode,
  highlight: (reader, { argument }) => {
    reader.language = argument.join(" ");
  },
  math: ({ writer, lines }, { argument, content }) =>
    writer.math([argument.join(" "), ...blockLines(lines, content)].join("\n").trim()),
  raw: writeRaw,
  admonition: (reader, { argument, content }) =>
    reader.writer.note("NOTE", reader.inline(argument.join(" ")), () => reader.blocks(content)),
  [[...CHANGES.keys()].join(" ")]: writeChange,
  "image figure": (reader, { argument, options, content }) => {
    const alt = options.get("alt");
    reader.writer.paragraph(alt === undefined ? "" : image(alt, argument.join("").replace(/\s+/g, "")));
    reader.blocks(content);
  },
  "list-table csv-table": writeRows,
  // Their argument only says how blocks are laid out.
  [`container class rst-class cssclass only ifconfig hlist tabs tab-set grid grid-item compound highlights epigraph
  pull-quote panels toggle glossary centered-block div column columns flat-table`]: (reader, { content }) =>
    reader.blocks(content),
  // Their argument is a title, before blocks.
  [`rubric topic sidebar centered tab tab-item group-tab dropdown details collapse card grid-item-card step table
  figure-title`]: writeTitled,
  // They lead elsewhere, set something, or would read another file.
  [`toctree contents include literalinclude index highlightlang currentmodule sectnum section-numbering default-role
  default-domain role meta tabularcolumns target-notes header footer title bibliography todolist date
  restructuredtext-test-directive`]: writeNothing,
});

type Rows = { readonly rows: readonly (readonly string[])[]; readonly headerRows: number };

/** Writes a table whose first rows name the columns. */
function writeTable({ writer }: BlockReader, { rows, headerRows }: Rows): void {
  const [header = [], ...others] = headerRows > 0 ? rows : [[], ...rows];
  writer.table(header, others);
}

/** The most cells in a row of a grid. */
const MAX_COLUMNS = 200;

/** Reads a grid table (docutils, "Grid Tables"). A cell over several rows or columns stands in the first. */
function readGrid(reader: BlockReader, lines: readonly string[], depth: number): Rows {
  const edges = edgesOf(lines);
  const rows: Map<number, string[]>[] = [];
  let open: (string[] | undefined)[] = [];
  let headerRows = 0;
  for (const line of lines) {
    const isBorder = edges.slice(1).map((edge, at) => /^[-=]+$/.test(line.slice(edges[at]! + 1, edge)));
    if (isBorder.some(Boolean)) {
      if (line.includes("=") && isBorder.every(Boolean) && rows.length > 0) headerRows = rows.length;
      open = open.map((cell, column) => (isBorder[column] ? undefined : cell));
      rows.push(new Map());
      if (isBorder.every(Boolean)) continue;
    }
    for (let column = 0; column < edges.length - 1; column++) {
      if (isBorder[column]) continue;
      const start = column;
      while (column < edges.length - 2 && !"|+".includes(line[edges[column + 1]!] ?? "|")) column++;
      const cell = open[start] ?? [];
      if (open[start] === undefined) rows.at(-1)?.set(start, cell);
      open.fill(cell, start, column + 1);
      for (let at = start; at <= column; at++) open[at] = cell;
      cell.push(line.slice(edges[start]! + 1, edges[column + 1]).replace(/^ /, ""));
    }
  }
  const filled = rows.filter(({ size }) => size > 0);
  return {
    headerRows,
    rows: filled.map((row) =>
      Array.from({ length: edges.length - 1 }, (_, column) => reader.cell(row.get(column) ?? [], depth)),
    ),
  };
}

/** The columns at which a border of the grid has a corner. */
function edgesOf(lines: readonly string[]): readonly number[] {
  const edges = new Set<number>();
  for (const line of lines) {
    if (!/\+[-=]/.test(line)) continue;
    for (let at = line.indexOf("+"); at >= 0 && edges.size < MAX_COLUMNS; at = line.indexOf("+", at + 1))
      if (/[-=]/.test(`${line[at - 1] ?? ""}${line[at + 1] ?? ""}`)) edges.add(at);
  }
  return [...edges].sort((a, b) => a - b);
}

/** Reads a simple table (docutils, "Simple Tables"): a line without a first cell continues the row above. */
function readSimple(reader: BlockReader, lines: readonly string[], depth: number): Rows {
  const columns = [...(lines[0] ?? "").matchAll(/=+/g)].slice(0, MAX_COLUMNS).map(({ index }) => index);
  const rows: string[][][] = [];
  let headerRows = 0;
  let isNew = true;
  for (const [index, line] of lines.entries()) {
    if (/^=+(?: +=+)*$/.test(line)) {
      if (index > 0 && index < lines.length - 1) headerRows = rows.length;
      isNew = true;
    } else if (line === "" || /^-+(?: +-+)*$/.test(line)) isNew ||= line !== "";
    else {
      const cells = columns.map((start, at) => line.slice(start, columns[at + 1]).trimEnd());
      if (isNew || cells[0]?.trim() !== "" || rows.length === 0) rows.push(columns.map(() => []));
      for (const [at, cell] of cells.entries()) rows.at(-1)?.[at]?.push(cell);
      isNew = false;
    }
  }
  return { headerRows, rows: rows.map((row) => row.map((cell) => reader.cell(cell, depth))) };
}

/** The lines of a document with the columns at which their text begins; a blank line begins nowhere. */
type Lines = { readonly text: string[]; readonly indent: number[] };

const BLANK = -1;

/** Tabs are eight columns wide. */
function linesOf(lines: readonly string[]): Lines {
  const text = lines.map((line) =>
    line.includes("\t") ? line.replace(/^[ \t]{0,400}/, (gap) => gap.replaceAll("\t", "        ")) : line,
  );
  return { text, indent: text.map((line) => line.search(/\S/)) };
}

/** A range of lines whose text begins at a column or behind it. */
type Block = {
  readonly start: number;
  readonly end: number;
  readonly indent: number;
  /** How many blocks are around it. */
  readonly depth: number;
};

/** The end of the lines from a place on that are blank or indented by more than a column. */
function endOfIndented({ indent }: Lines, from: number, end: number, column: number): number {
  let last = from;
  for (let at = from; at < end && (indent[at] === BLANK || indent[at]! > column); at++)
    if (indent[at] !== BLANK) last = at + 1;
  return last;
}

/** The smallest column at which a line's text begins. */
function leastIndent({ indent }: Lines, start: number, end: number): number {
  let least = Number.MAX_SAFE_INTEGER;
  for (let at = start; at < end; at++) if (indent[at] !== BLANK) least = Math.min(least, indent[at]!);
  return least === Number.MAX_SAFE_INTEGER ? 0 : least;
}

/** Lines without the columns before a block. */
const blockLines = (
  { text }: Lines,
  { start, end, indent }: Pick<Block, "start" | "end" | "indent">,
): string[] => text.slice(start, end).map((line) => line.slice(indent).trimEnd());

/** Puts blanks in the place of a mark, so that what follows it is a block of its own. */
function blankMark(lines: Lines, at: number, column: number): void {
  const line = lines.text[at] ?? "";
  lines.text[at] = " ".repeat(column) + line.slice(column);
  lines.indent[at] = lines.text[at]!.search(/\S/);
}
