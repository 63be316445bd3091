import { MarkdownWriter } from "../markdown-writer.ts";
import { codeSpan, strong } from "../phrases.ts";
import { writeDirective } from "./directives.ts";
import { inlineToMarkdown, nameOf, type References } from "./inline.ts";
import {
  BLANK,
  type Block,
  blankMark,
  endOfIndented,
  type Lines,
  leastIndent,
  linesOf,
  type RstReader,
  textOf,
} from "./lines.ts";
import { readGrid, readSimple, writeTable } from "./tables.ts";

/** Blocks inside blocks so deep; what is deeper is text. */
const MAX_DEPTH = 20;
const LEAST_REPEATED = 1_000_000;

// A line of any of these underlines a heading, and overlines it too (docutils, "Sections").
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
  const size = source.reduce((sum, line) => sum + line.length, 0);
  references.budget = Math.max(LEAST_REPEATED, 4 * size);
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
  const references: References = { addresses: new Map(), substitutions: new Map(), budget: 0 };
  for (const [index, line] of source.entries()) {
    const mark = line.indexOf("..");
    const text = mark >= 0 && line.slice(0, mark).trim() === "" ? line.slice(mark + 2).trim() : "";
    const target = /^_(?:`([^`]{1,200})`|([^:`_\\][^:\\]{0,200}(?:\\:[^:\\]{0,200}){0,5})):(?: +(.*))?$/.exec(
      text,
    );
    if (target)
      references.addresses.set(
        nameOf((target[1] ?? target[2] ?? "").replaceAll("\\", "")),
        (target[3] ?? "").slice(0, 500),
      );
    const [, name, kind, rest = ""] = /^\|([^|]{1,100})\| +([\w-]{1,30})::(?: +(.*))?$/.exec(text) ?? [];
    if (name !== undefined)
      references.substitutions.set(nameOf(name), substitutionOf(kind ?? "", rest, source[index + 1] ?? ""));
    const title = source[index - 1]?.trim() ?? "";
    if (
      title !== "" &&
      title.length < 200 &&
      line.length >= 3 &&
      ADORNMENT.test(line.trimEnd()) &&
      !references.addresses.has(nameOf(title))
    )
      references.addresses.set(nameOf(title), "");
  }
  return references;
}

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

class BlockReader implements RstReader {
  readonly lines: Lines;
  readonly writer: MarkdownWriter;
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

  readonly blocks = (block: Block): void => {
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
  };

  #line(at: number, indent: number): string {
    return (this.lines.text[at] ?? "").slice(indent).trimEnd();
  }

  /** Reads a block and returns where the next one may begin. */
  #block(at: number, block: Block): number {
    const { end, indent } = block;
    const line = this.#line(at, indent);
    if (line === ".." || line.startsWith(".. ")) return this.#explicit(at, block, line);
    if (line.startsWith("__ ")) return at + 1;
    if (line.startsWith(">>> ") || line === ">>>") return this.#verbatim(at, block, "python");
    if (line === "|" || line.startsWith("| ")) return this.#lineBlock(at, block);
    if (GRID.test(line) || SIMPLE.test(line)) return this.#table(at, block, line);
    const heading = this.#heading(at, block, line);
    if (heading > at) return heading;
    const mark =
      BULLET.exec(line)?.[0] ??
      (this.#isEnumerated(at, block, line) ? ENUMERATOR.exec(line)?.[0] : undefined);
    if (mark !== undefined) return this.#item(at, block, mark);
    const field = FIELD.exec(line);
    if (field) return this.#field(at, block, field);
    const option = optionOf(line);
    const hasBelow = at + 1 < end && this.lines.indent[at + 1]! > indent;
    if (option !== null && (option.length < line.length || hasBelow))
      return this.#definition(at, block, { terms: [codeSpan(option)], markEnd: option.length });
    if (hasBelow && !line.endsWith("::")) {
      const [term = "", ...classifiers] = line.split(" : ");
      const terms = [[strong(this.inline(term)), ...classifiers.map((one) => this.inline(one))].join(" : ")];
      return this.#definition(at, block, { terms, markEnd: line.length });
    }
    return this.#paragraph(at, block);
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

  /** A line that begins like an item is text when the next line goes on with it at the margin. */
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

  #field(at: number, block: Block, [mark, name = ""]: RegExpExecArray): number {
    return this.#definition(at, block, { terms: [strong(this.inline(name))], markEnd: mark.length });
  }

  /** Writes what a term, a field or an option is about. */
  #definition(
    at: number,
    { end, indent, depth }: Block,
    term: { readonly terms: readonly string[]; readonly markEnd: number },
  ): number {
    blankMark(this.lines, at, indent + term.markEnd);
    const last = Math.max(at + 1, endOfIndented(this.lines, at + 1, end, indent));
    const hasText = this.lines.indent[at] !== BLANK;
    // The text below may be indented less than that behind the mark.
    const below = leastIndent(this.lines, at + 1, last);
    const column =
      hasText && below > indent
        ? Math.min(this.lines.indent[at]!, below)
        : hasText
          ? this.lines.indent[at]!
          : below;
    if (hasText) this.lines.text[at] = " ".repeat(column) + this.lines.text[at]!.trim();
    if (hasText) this.lines.indent[at] = column;
    const inner = { start: at, end: last, indent: column, depth: depth + 1 };
    for (const one of term.terms) this.writer.paragraph(one);
    this.writer.item(null, () => this.blocks(inner));
    return last;
  }

  #lineBlock(at: number, { end, indent }: Block): number {
    let last = at;
    while (last < end && this.lines.indent[last] !== BLANK && /^(?:\||\s)/.test(this.#line(last, indent)))
      last++;
    const lines = textOf(this.lines, { start: at, end: last, indent }).map((line) =>
      line.replace(/^\|? ?/, ""),
    );
    this.writer.paragraph(this.inline(lines.join("\n")).replace(/\n/g, "\\\n"));
    return last;
  }

  #verbatim(at: number, { end, indent }: Block, language: string): number {
    let last = at;
    while (last < end && this.lines.indent[last] !== BLANK) last++;
    this.writer.code(textOf(this.lines, { start: at, end: last, indent }).join("\n"), language);
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
    const lines = textOf(this.lines, { start: at, end: last, indent });
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
    return this.#definition(
      at,
      { start: at, end: last, indent, depth },
      { terms: [this.inline(`[${note[1]?.replace(/^#/, "")}]`)], markEnd },
    );
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
      textOf(this.lines, { start: from, end: last, indent: column }).join("\n"),
      this.language,
    );
    return last;
  }
}
