import { type Attributes, inlineToMarkdown } from "./asciidoc-inline.ts";
import { readCsv } from "./csv.ts";
import { image, MarkdownWriter, type NoteKind, strong } from "./markdown-writer.ts";

/** Deepest nesting of blocks; deeper blocks are text. */
const MAX_DEPTH = 20;
const LEAST_REPEATED = 1_000_000;

const ATTRIBUTE = /^:(!?[\w-]{1,60}!?):(?:\s+(.*))?$/;
const HEADING = /^(={1,6}|#{1,6})[ \t]+(\S.*)$/;
const DELIMITER = /^(?:-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|\/{4,}|--|[|,:!]={3,})$/;
const TERM = /^[ \t]*(\S.{0,500}?)(:{2,4}|;;)(?:[ \t]+(.*))?$/;
const NOTE = /^(NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+/;
const MACRO = /^(image|video|audio|toc|stem|latexmath|plantuml|ditaa|kroki|a2s)::([^\s[]{0,500})\[(.*)\]$/;

type Nesting = {
  readonly end: number;
  /** How many blocks are around. */
  readonly depth: number;
  /** The marks of the lists around. */
  readonly marks: readonly string[];
};

/** Converts AsciiDoc to Markdown. No file is included, and of conditions all branches are kept. */
export function asciidocToMarkdown(written: readonly string[]): string {
  const source = withoutDirectives(written);
  const size = source.reduce((sum, line) => sum + line.length, 0);
  const attributes: Attributes = { values: new Map(), budget: Math.max(LEAST_REPEATED, 4 * size) };
  const writer = new MarkdownWriter();
  const reader = new BlockReader(source, writer, attributes);
  reader.blocks(reader.header(), { end: source.length, depth: 0, marks: [] });
  return writer.toString();
}

const DIRECTIVE = /^(?:include|if(?:n?def|eval)|endif)::[^\s[]{0,500}\[(.*)\]\s*$/;

/** Takes out the lines that would include files or choose lines; what a condition holds in its own line stays. */
const withoutDirectives = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => {
    const content = line.startsWith("i") || line.startsWith("e") ? DIRECTIVE.exec(line)?.[1] : undefined;
    return content === undefined ? [line] : /^ifn?def/.test(line) && content !== "" ? [content] : [];
  });

class BlockReader {
  readonly #lines: readonly string[];
  readonly #writer: MarkdownWriter;
  readonly #attributes: Attributes;

  constructor(lines: readonly string[], writer: MarkdownWriter, attributes: Attributes) {
    this.#lines = lines;
    this.#writer = writer;
    this.#attributes = attributes;
  }

  readonly #inline = (text: string): string => inlineToMarkdown(text, this.#attributes);

  #line(at: number): string {
    return (this.#lines[at] ?? "").trimEnd();
  }

  /** Reads the title, the lines of authors and revision below it, and the attributes; returns where the text begins. */
  header(): number {
    let at = 0;
    while (at < this.#lines.length && (this.#line(at) === "" || this.#line(at).startsWith("//"))) at++;
    if (!/^[=#] /.test(this.#line(at))) return 0;
    this.#writer.heading(1, this.#inline(this.#line(at).slice(2)));
    for (at++; at < this.#lines.length && this.#line(at) !== ""; at++) {
      const line = this.#line(at);
      if (HEADING.test(line) || DELIMITER.test(line) || BLOCK_LINE.test(line)) break;
      if (
        !line.startsWith("//") &&
        !this.#setAttribute(line) &&
        !/[@<;]|^v?\d|^[\p{Lu}][\p{L}.'-]*(?: [\p{L}.'-]+){0,3}$/u.test(line)
      )
        break;
    }
    return at;
  }

  #setAttribute(line: string): boolean {
    const [, name, value = ""] = ATTRIBUTE.exec(line) ?? [];
    if (name === undefined) return false;
    const key = name.replaceAll("!", "").toLowerCase();
    if (name.includes("!")) this.#attributes.values.delete(key);
    else this.#attributes.values.set(key, value.replace(/ \\$/, "").slice(0, 500));
    return true;
  }

  blocks(start: number, place: Nesting): void {
    let metadata: Metadata = NO_METADATA;
    for (let at = start; at < place.end; ) {
      const line = this.#line(at);
      const next = noted(line, metadata);
      if (next !== null) {
        metadata = next;
        at++;
        continue;
      }
      at = line === "" ? at + 1 : this.#block(at, place, metadata);
      if (line !== "") metadata = NO_METADATA;
    }
  }

  /** Reads a block and returns where the next one may begin. */
  #block(at: number, place: Nesting, metadata: Metadata): number {
    const line = this.#line(at);
    if (this.#isSilent(line) || this.#headingOrRule(line, metadata)) return at + 1;
    if (place.depth >= MAX_DEPTH) return this.#paragraph(at, place, metadata);
    if (DELIMITER.test(line) || FENCE.test(line)) return this.#delimited(at, place, metadata);
    if (this.#macro(line, metadata)) return at + 1;
    if (ITEM.test(line) || this.#termAt(at)) {
      this.#titleOf(metadata);
      return this.#list(at, place);
    }
    return /^[ \t]/.test(line) ? this.#literal(at, place) : this.#paragraph(at, place, metadata);
  }

  /** Whether a line sets an attribute, is a comment, or only parts what stands around it. */
  #isSilent(line: string): boolean {
    return this.#setAttribute(line) || /^(?:\/\/(?!\/\/)|<<<$|\+$)/.test(line);
  }

  #headingOrRule(line: string, { id }: Metadata): boolean {
    const [, signs, title = ""] = HEADING.exec(line) ?? [];
    const isRule = /^(?:'{3,}|-{3}|\*{3})$/.test(line);
    if (signs !== undefined) this.#writer.heading(signs.length, this.#inline(title), id);
    else if (isRule) this.#writer.rule();
    return signs !== undefined || isRule;
  }

  #titleOf({ title }: Metadata): void {
    if (title !== "") this.#writer.paragraph(strong(this.#inline(title)));
  }

  #macro(line: string, metadata: Metadata): boolean {
    const [whole, name, target = "", content = ""] = MACRO.exec(line) ?? [];
    const alt = /^(?:alt=)?"?([^",=]{1,500})"?(?:,|$)/.exec(content)?.[1];
    if (name === "image") {
      this.#titleOf(metadata);
      if (alt !== undefined) this.#writer.paragraph(image(alt, target));
    }
    return whole !== undefined;
  }

  #delimited(at: number, place: Nesting, metadata: Metadata): number {
    const line = this.#line(at);
    const closing = FENCE.test(line) ? "```" : line;
    let end = at + 1;
    while (end < place.end && this.#line(end) !== closing) end++;
    if (!line.startsWith("/")) this.#contents(at, end, place.depth, metadata);
    return Math.min(place.end, end + 1);
  }

  /** Writes what stands between the delimiter in a line and the one that closes it. */
  #contents(at: number, end: number, depth: number, metadata: Metadata): void {
    const writer = this.#writer;
    const line = this.#line(at);
    const style = metadata.attributes.replace(/[,#.%].*$/s, "").trim();
    const text = (): string => this.#lines.slice(at + 1, end).join("\n");
    const inside = (): void => this.blocks(at + 1, { end, depth: depth + 1, marks: [] });
    if (NOTE_STYLES.has(style)) {
      writer.note(style as NoteKind, this.#inline(metadata.title), inside);
      return;
    }
    this.#titleOf(metadata);
    if (/stem|latexmath|asciimath/.test(style)) writer.math(text());
    else if (/^(?:-{4}|\.{4}|`)/.test(line) || (/^(?:--$|=)/.test(line) && CODE_STYLE.test(style)))
      writer.code(withoutCallouts(text()), languageOf(line, metadata, this.#attributes));
    else if (line.startsWith("+")) writer.markdown(text().replace(/^[ \t]+/gm, ""));
    else if (/^[|,:!]=/.test(line)) this.#table(line, this.#lines.slice(at + 1, end), metadata, depth);
    else if (style === "verse")
      writer.quote(() => writer.paragraph(this.#inline(text()).replaceAll("\n", "\\\n")));
    else if (line.startsWith("_") || style === "quote") {
      writer.quote(inside);
      this.#attribution(metadata);
    } else inside();
  }

  #attribution({ attributes }: Metadata): void {
    const [, ...names] = attributes.split(",").map((one) => one.trim().replace(/^"|"$/g, ""));
    if (names.length > 0) this.#writer.paragraph(this.#inline(`— ${names.join(", ")}`));
  }

  #table(line: string, lines: readonly string[], { attributes }: Metadata, depth: number): void {
    const separator = /separator="?([^",\]])/.exec(attributes)?.[1];
    const isCsv = line.startsWith(",") || /format="?csv/.test(attributes);
    if (isCsv || line.startsWith(":") || /format="?dsv/.test(attributes)) {
      const rows = readCsv(lines.join("\n"), separator ?? (isCsv ? "," : ":")).map((row) =>
        row.map(this.#inline),
      );
      const hasHeader = /header/.test(attributes) || lines[1]?.trim() === "";
      this.#writer.table(hasHeader ? (rows[0] ?? []) : [], hasHeader ? rows.slice(1) : rows);
      return;
    }
    const kept = lines.filter((one) => !/^\/\/(?!\/)/.test(one));
    const [header = [], ...rows] = readTable(kept, attributes, separator ?? line[0]!).map((row) =>
      row.map((cell) => {
        if (cell === null) return "";
        return cell.style === "a" ? this.#cell(cell.text.split("\n"), depth) : this.#inline(cell.text.trim());
      }),
    );
    this.#writer.table(header, rows);
  }

  #cell(lines: readonly string[], depth: number): string {
    const writer = new MarkdownWriter(true);
    const place = { end: lines.length, depth: depth + 1, marks: [] };
    new BlockReader(lines, writer, this.#attributes).blocks(0, place);
    return writer.toString();
  }

  #termAt(at: number): RegExpExecArray | null {
    const line = this.#line(at);
    const term = line.includes("::") || line.includes(";;") ? TERM.exec(line) : null;
    return term && !/^(?:https?|image|include)$/.test(term[1] ?? "") ? term : null;
  }

  /** The mark of the list that a line belongs to; empty for any other line. */
  #markAt(at: number): string {
    const mark = ITEM.exec(this.#line(at))?.[1];
    if (mark !== undefined) return mark.replace(/\d+|(?<=<)\./, "1");
    return this.#termAt(at)?.[2] ?? "";
  }

  #list(start: number, place: Nesting): number {
    const mark = this.#markAt(start);
    const inner = { ...place, marks: [...place.marks, mark], depth: place.depth + 1 };
    const isBullet = mark === "-" || mark.startsWith("*");
    let at = start;
    for (let number = 1; at < place.end && this.#markAt(at) === mark; number++) {
      const [whole] = ITEM.exec(this.#line(at)) ?? [];
      if (whole === undefined) at = this.#definition(at, inner);
      else {
        const from = at;
        this.#writer.item(isBullet ? null : number, () => {
          at = this.#itemBlocks(from, whole.length, inner);
        });
      }
      const next = this.#afterBlanks(at, place.end);
      if (this.#markAt(next) === mark) at = next;
    }
    return at;
  }

  #definition(at: number, inner: Nesting): number {
    const terms: string[] = [];
    let next = at;
    let text = "";
    while (text === "" && next < inner.end && this.#markAt(next) === inner.marks.at(-1)) {
      const [, term = "", , behind = ""] = this.#termAt(next) ?? [];
      terms.push(this.#inline(term));
      text = behind;
      if (text === "") next = this.#afterBlanks(next + 1, inner.end);
    }
    this.#writer.definition(terms, () => {
      const from = text === "" ? 0 : this.#line(next).length - text.length;
      next = this.#itemBlocks(next, from, inner, text !== "" || this.#mayGoOn(next, inner.end));
    });
    return next;
  }

  #afterBlanks(from: number, end: number): number {
    let at = from;
    while (at < end && this.#line(at) === "") at++;
    return at;
  }

  /** Tells whether a line continues a text. */
  #mayGoOn(at: number, end: number): boolean {
    const line = this.#line(at);
    if (at >= end || line === "" || line === "+" || line.startsWith("//")) return false;
    return this.#markAt(at) === "" && ![DELIMITER, FENCE, BLOCK_LINE, HEADING].some((one) => one.test(line));
  }

  /** Reads an item's text, the lists inside it and the blocks that `+` attaches. */
  #itemBlocks(start: number, from: number, place: Nesting, hasText = true): number {
    let at = start;
    if (hasText) {
      const lines = [this.#line(at).slice(from)];
      for (at++; this.#mayGoOn(at, place.end); at++) lines.push(this.#line(at));
      this.#text(lines.map((line) => line.trim()).join("\n"));
    }
    for (;;) {
      const next = this.#afterBlanks(at, place.end);
      const mark = next < place.end ? this.#markAt(next) : "";
      // Numbers of callouts are a list at its own place, and hold none.
      const isCallout = mark.startsWith("<") || place.marks.at(-1)?.startsWith("<");
      const isInside = mark !== "" && !place.marks.includes(mark) && !(isCallout && next > at);
      if (isInside && place.depth < MAX_DEPTH) at = this.#list(next, place);
      else if (this.#line(at) === "+" && at + 1 < place.end) at = this.#attached(at + 1, place);
      else return at;
    }
  }

  #attached(start: number, place: Nesting): number {
    let metadata: Metadata = NO_METADATA;
    for (let at = start; at < place.end; at++) {
      const next = noted(this.#line(at), metadata);
      if (next === null) return this.#line(at) === "" ? at : this.#block(at, place, metadata);
      metadata = next;
    }
    return place.end;
  }

  #literal(at: number, { end }: Nesting): number {
    let last = at;
    while (last < end && this.#line(last) !== "" && this.#line(last) !== "+") last++;
    const lines = this.#lines.slice(at, last);
    const indent = Math.min(...lines.slice(0, 10_000).map((line) => line.search(/\S/)));
    this.#writer.code(lines.map((line) => line.slice(Math.max(0, indent))).join("\n"));
    return last;
  }

  #paragraph(at: number, place: Nesting, metadata: Metadata): number {
    let last = at;
    while (last < place.end && (last === at || this.#isOfParagraph(last, place.end))) last++;
    const source = this.#lines.slice(at, last);
    const [style = "", language = ""] = metadata.attributes.split(",").map((one) => one.trim());
    const text = source.map((line) => line.trim()).join("\n");
    const [mark = "", kind = style] = NOTE.exec(text) ?? [];
    if (CODE_STYLE.test(style)) {
      this.#titleOf(metadata);
      this.#writer.code(source.join("\n"), language);
    } else if (NOTE_STYLES.has(kind)) {
      const title = this.#inline(metadata.title);
      this.#writer.note(kind as NoteKind, title, () => this.#text(text.slice(mark.length)));
    } else if (style === "quote" || style === "verse") {
      this.#writer.quote(() => this.#text(text));
      this.#attribution(metadata);
    } else {
      this.#titleOf(metadata);
      this.#text(text);
    }
    return Math.max(at + 1, last);
  }

  #isOfParagraph(at: number, end: number): boolean {
    const line = this.#line(at);
    return this.#mayGoOn(at, end) || (line !== "+" && ITEM.test(line));
  }

  /** Writes a text; a plus behind a line breaks it. */
  #text(text: string): void {
    this.#writer.paragraph(
      this.#inline(text.replace(/^\[[ *x]\] /, "").replace(/ \+$/gm, HARD)).replaceAll(HARD, "\\"),
    );
  }
}

const CODE_STYLE = /^(?:source|listing|literal)$/;

/** Stands for a break until the phrases are written. */
const HARD = "\u000b";

const NOTE_STYLES: ReadonlySet<string> = new Set(["NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"]);

/** Numbers at the end of lines refer to notes below the code. */
const withoutCallouts = (text: string): string =>
  text.replace(/[ \t]{0,20}(?:\/\/|#|--|;;)?[ \t]{0,3}(?:<(?:\d{1,3}|\.)>[ \t]{0,3}){1,9}$/gm, "");

const FENCE = /^```([\w+#-]{0,40})/;
const BLOCK_LINE = /^\[(?:[^\]\n]|\](?=.)){0,1000}\]$/;
const ITEM = /^[ \t]*(\*{1,10}|-|\.{1,10}|\d{1,9}\.|<(?:\d{1,3}|\.)>)[ \t]+(?=\S)/;

/** Statements in the lines before a block. */
type Metadata = { readonly attributes: string; readonly title: string; readonly id: string };

const NO_METADATA: Metadata = { attributes: "", title: "", id: "" };

/** Adds what a line says about the next block; null for any other line. */
function noted(line: string, metadata: Metadata): Metadata | null {
  if (/^\[\[[^\]\n]{1,200}\]\]$/.test(line)) return { ...metadata, id: line.slice(2, -2).split(",")[0]! };
  if (/^\.[^\s.]/.test(line) && !ITEM.test(line)) return { ...metadata, title: line.slice(1) };
  if (!BLOCK_LINE.test(line)) return null;
  const attributes = line.slice(1, -1);
  const id = /^[^,]{0,60}#([\w.:-]{1,100})/.exec(attributes)?.[1] ?? metadata.id;
  return {
    ...metadata,
    id,
    attributes: metadata.attributes === "" ? attributes : `${metadata.attributes},${attributes}`,
  };
}

/** The language of code by its fence, its attributes or that of the document. */
function languageOf(line: string, { attributes }: Metadata, { values }: Attributes): string {
  const [style = "", second = ""] = attributes.split(",").map((one) => one.trim());
  const named = FENCE.exec(line)?.[1] || /language="?([\w+#-]{1,40})/.exec(attributes)?.[1];
  if (named) return named;
  if (/^(?:source(?:%[\w%]{1,60})?|%[\w%]{1,60})?$/.test(style) && !second.includes("="))
    return second || (style === "source" ? (values.get("source-language") ?? "") : "");
  return "";
}

type Cell = {
  text: string;
  readonly columns: number;
  readonly rows: number;
  readonly repeat: number;
  readonly style: string;
};

const MAX_COLUMNS = 200;
/** How many cells of a table may be copies of others. */
const MAX_COPIES = 10_000;
/** Matches the text before a bar: the cell's span, and the way to read it. */
const SPEC = /(?<=^|\s)(?:(\d{1,3})?(?:\.(\d{1,3}))?([+*]))?[<^>]?(?:\.[<^>])?([adehlmsv])?$/;

/**
 * Reads the rows of a table (`|===`), the first of which is the header, without cells if the table has none. A cell over several
 * columns or rows stands in the first of them.
 * @param attributes those of the block, such as `cols="1,2",options="header"`
 * @param sign what separates cells: `|`, or `!` in a table inside a cell
 */
function readTable(lines: readonly string[], attributes: string, sign: string): (Cell | null)[][] {
  const cells = cellsOf(lines, sign);
  const first = lines.findIndex((line) => line.trim() !== "");
  const width = Math.min(
    MAX_COLUMNS,
    columnsIn(attributes) ||
      cellsOf(lines.slice(0, first + 1), sign).reduce((sum, one) => sum + one.columns * one.repeat, 0) ||
      1,
  );
  const rows = placed(cells, width);
  const isImplied = first === 0 && lines[1]?.trim() === "" && !/noheader/.test(attributes);
  const hasHeader =
    /%header|options?="?[^"]{0,100}\bheader\b|opts="?[^"]{0,100}\bheader\b/.test(attributes) || isImplied;
  return hasHeader ? rows : [[], ...rows];
}

function columnsIn(attributes: string): number {
  const [, quoted, bare] = /cols=(?:"([^"]{1,1000})"|([^,\]]{1,100}))/.exec(attributes) ?? [];
  const columns = quoted ?? bare;
  if (columns === undefined) return 0;
  if (/^\d{1,3}$/.test(columns)) return Number(columns);
  return columns.split(/[,;]/).reduce((sum, one) => sum + (Number(/^\s*(\d{1,3})\*/.exec(one)?.[1]) || 1), 0);
}

function cellsOf(lines: readonly string[], sign: string): Cell[] {
  const cells: Cell[] = [];
  for (const line of lines) {
    const parts = splitAt(line, sign);
    for (const [index, part] of parts.entries()) {
      const isLast = index === parts.length - 1;
      const spec = isLast ? null : SPEC.exec(part.slice(-20));
      const text = spec ? part.slice(0, part.length - spec[0].length) : part;
      const open = cells.at(-1);
      if (open) open.text += `${index === 0 ? "\n" : ""}${text}`;
      if (isLast) continue;
      const [, across, down, kind, style = ""] = spec ?? [];
      const isRepeated = kind === "*";
      cells.push({
        text: "",
        style,
        repeat: isRepeated ? Number(across ?? 1) : 1,
        columns: !isRepeated && kind ? Number(across ?? 1) : 1,
        rows: Number(down ?? 1),
      });
    }
  }
  return cells;
}

/** Splits a line at its bars; one behind a backslash is text. */
function splitAt(line: string, sign: string): string[] {
  const parts: string[] = [];
  let part = "";
  for (const [index, one] of line.split(sign).entries()) {
    const isKept = index > 0 && part.endsWith("\\");
    if (index > 0 && !isKept) parts.push(part);
    part = isKept ? `${part.slice(0, -1)}${sign}${one}` : one;
  }
  return [...parts, part];
}

/** Arranges cells in rows of one width; null marks the continuation of a cell from the left or from above. */
function placed(cells: readonly Cell[], width: number): (Cell | null)[][] {
  const rows: (Cell | null)[][] = [];
  /** For how many more rows each column is taken. */
  const taken = new Array<number>(width).fill(0);
  let row: (Cell | null)[] = [];
  let copies = MAX_COPIES;
  const end = (): void => {
    rows.push(row);
    row = [];
    for (const [column, left] of taken.entries()) taken[column] = Math.max(0, left - 1);
  };
  const skip = (): void => {
    while (row.length < width && taken[row.length]! > 0) row.push(null);
    if (row.length === width) end();
  };
  for (const cell of cells) {
    for (let copy = 0; copy < cell.repeat && (copy === 0 || copies-- > 0); copy++) {
      skip();
      for (let column = 0; column < cell.columns && row.length < width; column++) {
        taken[row.length] = Math.min(cell.rows, 1000);
        row.push(column === 0 ? cell : null);
      }
      if (row.length === width) end();
    }
  }
  if (row.length > 0) rows.push(row);
  return rows;
}
