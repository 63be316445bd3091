import { meaningsIn } from "../../../base/text.ts";
import { readCsv } from "../csv.ts";
import type { NoteKind } from "../markdown-writer.ts";
import { codeSpan, image, strong } from "../phrases.ts";
import { BLANK, type Block, leastIndent, type RstReader, textOf } from "./lines.ts";
import { writeTable } from "./tables.ts";

/** A directive; its lines may begin with more of its argument and with options. */
export type Directive = {
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

/** Directives that show a text as it is, by their language. */
const CODE = meaningsIn({
  python: "doctest testcode testsetup ipython ipython3 jupyter-execute plot pyplot",
  text: "testoutput",
  dot: "graphviz digraph graph",
  mermaid: "mermaid",
  plantuml: "uml plantuml",
  "": "parsed-literal productionlist",
});
/** Those that name their language in the argument. */
const CODE_OF_LANGUAGE = /^(?:code|code-block|sourcecode|code-tab|prompt)$/;

const NOTES = meaningsIn<NoteKind>({
  NOTE: "note admonition seealso todo",
  TIP: "tip hint",
  IMPORTANT: "important",
  WARNING: "warning attention",
  CAUTION: "caution danger error",
});

/** Notes whose first line is their title. */
const TITLED_NOTES: ReadonlySet<string> = new Set(["admonition"]);

const CHANGES: Readonly<Record<string, string>> = {
  versionadded: "New in version",
  versionchanged: "Changed in version",
  deprecated: "Deprecated since version",
  versionremoved: "Removed in version",
  "deprecated-removed": "Deprecated since version",
};

/** Directives that show nothing of their own: they lead elsewhere, set something, or would read another file. */
const SILENT =
  /^(?:toctree|contents|include|literalinclude|index|highlight|highlightlang|currentmodule|sectnum|section-numbering|default-role|default-domain|role|meta|tabularcolumns|target-notes|header|footer|title|bibliography|todolist|raw|date|restructuredtext-test-directive|sphinx.*)$/;

/** Directives whose argument is a title, before blocks. */
const TITLED =
  /^(?:rubric|topic|sidebar|centered|tab|tab-item|group-tab|dropdown|details|collapse|card|grid-item-card|step|table|figure-title)$/;

/** Directives whose argument only says how blocks are laid out. */
const LAYOUT =
  /^(?:container|class|rst-class|cssclass|only|ifconfig|hlist|tabs|tab-set|grid|grid-item|compound|highlights|epigraph|pull-quote|panels|toggle|glossary|centered-block|div|columns?|flat-table)$/;

/** Writes what a directive of Docutils or Sphinx shows; of one that is unknown its argument and its blocks. */
export function writeDirective(reader: RstReader, directive: Directive): void {
  const name = directive.name.toLowerCase();
  const { writer, inline } = reader;
  const note = NOTES[name];
  if (note !== undefined && !TITLED_NOTES.has(name)) {
    const content = contentOf(reader, directive);
    const title = name === "seealso" ? "See also" : name === "todo" ? "To do" : "";
    writer.note(note, title, () => reader.blocks(content));
    return;
  }
  const parsed = parse(reader, directive);
  const { argument, options, content } = parsed;
  const title = argument.join(" ");
  if (Object.hasOwn(CODE, name) || CODE_OF_LANGUAGE.test(name)) writeCode(reader, parsed, CODE[name] ?? null);
  else if (name === "highlight") reader.language = title;
  else if (name === "math") writer.math([title, ...codeLines(reader, content)].join("\n").trim());
  else if (name === "raw") writeRaw(reader, parsed);
  else if (note !== undefined) writer.note(note, inline(title), () => reader.blocks(content));
  else if (CHANGES[name] !== undefined) writeChange(reader, parsed, CHANGES[name]);
  else if (name === "image" || name === "figure") {
    writer.paragraph(options.has("alt") ? image(options.get("alt") ?? "", title.replace(/\s+/g, "")) : "");
    reader.blocks(content);
  } else if (name === "list-table" || name === "csv-table") writeRows(reader, parsed);
  else if (SILENT.test(name)) return;
  else if (LAYOUT.test(name)) reader.blocks(content);
  else if (TITLED.test(name)) {
    writer.paragraph(strong(inline(title)));
    reader.blocks(content);
  } else writeObject(reader, parsed);
}

/** The content of a directive without argument, which begins in its own line. */
function contentOf({ lines }: RstReader, { argument, start, end, indent, depth }: Directive): Block {
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

function parse({ lines }: RstReader, { name, argument, start, end, depth }: Directive): Parsed {
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
    } else if (last !== null) options.set(last, `${options.get(last)} ${line}`.slice(0, MAX_OPTION));
    else if (argument === "") break;
    else argumentLines.push(line);
  }
  const content = { start: at, end, indent: leastIndent(lines, at, end), depth: depth + 1 };
  return { name: name.toLowerCase(), argument: argumentLines, options, content };
}

const MAX_OPTION = 2000;

function codeLines({ lines }: RstReader, content: Block): string[] {
  return textOf(lines, content);
}

function writeCode(reader: RstReader, { argument, options, content }: Parsed, known: string | null): void {
  const caption = options.get("caption");
  if (caption !== undefined) reader.writer.paragraph(strong(reader.inline(caption)));
  const language = known ?? (argument[0] || reader.language);
  // Lines below the first are code without the blank line before it.
  const early = argument.slice(1);
  reader.writer.code([...early, ...codeLines(reader, content)].join("\n"), language.toLowerCase());
}

function writeRaw(reader: RstReader, { argument, content }: Parsed): void {
  if (!/\bhtml\b/.test(argument[0] ?? "")) return;
  // An indented line would be code.
  reader.writer.markdown(
    [...argument.slice(1), ...codeLines(reader, content).map((line) => line.trim())].join("\n"),
  );
}

function writeChange(reader: RstReader, { argument, content }: Parsed, words: string): void {
  const [version = "", ...text] = argument.join("\n").split(/[ \n](?=\S)/);
  reader.writer.paragraph(
    `${strong(reader.inline(`${words} ${version}:`))} ${reader.inline(text.join(" "))}`,
  );
  reader.blocks(content);
}

/** Writes a table of lists in a list, or of comma-separated values. */
function writeRows(reader: RstReader, { name, argument, options, content }: Parsed): void {
  const title = argument.join(" ");
  if (title !== "") reader.writer.paragraph(strong(reader.inline(title)));
  const headerRows = Number(options.get("header-rows") ?? 0) || 0;
  const lines = codeLines(reader, content);
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

/** Writes the signatures of a function, class, option or the like as terms, with what is said about them. */
function writeObject(reader: RstReader, { argument, content }: Parsed): void {
  if (argument.length === 0) reader.blocks(content);
  else {
    const signatures = argument.join("\n").replace(/\\\n/g, " ").split("\n");
    reader.writer.definition(
      signatures.map((one) => codeSpan(one.replace(/\\(.)/g, "$1"))),
      () => reader.blocks(content),
    );
  }
}
