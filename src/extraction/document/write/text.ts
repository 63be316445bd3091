import { withSingleSpaces } from "../../text.ts";
import {
  type Block,
  type ContentDocument,
  type Definition,
  type Inline,
  inlineText,
  isShown,
} from "../model.ts";

/**
 * Writes the plain text of a document: blocks separated by a blank line, list items and table rows on lines of their
 * own, table cells separated by a tab, code unchanged, footnotes at the end.
 */
export function toText({ blocks, footnotes }: ContentDocument): string {
  const writer = new TextWriter();
  writeBlocks(writer, blocks);
  for (const { label, blocks: note } of footnotes) {
    writer.inside("P", () => {
      writer.text(`[${label}] `);
      writeTight(writer, note);
    });
  }
  return writer.finish();
}

function writeBlocks(writer: TextWriter, blocks: readonly Block[]): void {
  for (const block of blocks) writeBlock(writer, block);
}

/** Writes the first paragraph of an item or cell on the same line. */
function writeTight(writer: TextWriter, blocks: readonly Block[]): void {
  const start = blocks.findIndex((block) => !isPicture(block));
  const [first, ...rest] = start < 0 ? [] : blocks.slice(start);
  if (first?.kind === "paragraph") writePhrases(writer, first.children);
  else if (first) writeBlock(writer, first);
  writeBlocks(writer, rest);
}

// Tells whether a block is a picture without text of its own.
const isPicture = (block: Block): boolean =>
  block.kind === "paragraph"
    ? inlineText(block.children).trim() === ""
    : block.kind === "figure" && block.caption.length === 0 && block.blocks.every(isPicture);

function phrasesIn(writer: TextWriter, name: string, inlines: readonly Inline[]): void {
  if (isShown(inlines)) writer.inside(name, () => writePhrases(writer, inlines));
}

const tightIn = (writer: TextWriter, name: string, blocks: readonly Block[]): void =>
  writer.inside(name, () => writeTight(writer, blocks));

function writeBlock(writer: TextWriter, block: Block): void {
  switch (block.kind) {
    case "paragraph":
      phrasesIn(writer, "P", block.children);
      break;
    case "heading":
      phrasesIn(writer, "H2", block.children);
      break;
    case "list":
      writer.inside(block.isOrdered ? "OL" : "UL", () => {
        for (const item of block.items) tightIn(writer, "LI", item.blocks);
      });
      break;
    case "code-block": {
      const { label, text } = block;
      if (label !== null) writer.inside("P", () => writer.text(label));
      writer.inside("PRE", () => writer.text(text));
      break;
    }
    case "math-block":
      writer.inside("PRE", () => writer.text(block.tex));
      break;
    case "table":
      writer.inside("TABLE", () => {
        phrasesIn(writer, "CAPTION", block.caption);
        for (const row of block.rows)
          writer.inside("TR", () => {
            for (const cell of row) tightIn(writer, "TD", cell.blocks);
          });
      });
      break;
    case "quote":
    case "admonition":
      writer.inside("BLOCKQUOTE", () => {
        if (block.kind === "admonition") phrasesIn(writer, "P", block.title);
        writeBlocks(writer, block.blocks);
      });
      break;
    case "details":
      writer.inside("DETAILS", () => {
        phrasesIn(writer, "SUMMARY", block.summary);
        writeBlocks(writer, block.blocks);
      });
      break;
    case "definitions":
      writer.inside("DL", () => {
        for (const group of block.groups) writeDefinition(writer, group);
      });
      break;
    case "figure":
      writer.inside("FIGURE", () => {
        writeBlocks(writer, block.blocks);
        if (block.caption.length > 0) tightIn(writer, "FIGCAPTION", block.caption);
      });
      break;
    case "rule":
      writer.inside("HR", () => undefined);
      break;
  }
}

function writeDefinition(writer: TextWriter, { terms, definitions }: Definition): void {
  for (const term of terms) phrasesIn(writer, "DT", term);
  for (const blocks of definitions) tightIn(writer, "DD", blocks);
}

function writePhrases(writer: TextWriter, inlines: readonly Inline[]): void {
  for (const inline of inlines) {
    switch (inline.kind) {
      case "text":
      case "code":
        writer.text(inline.text);
        break;
      case "math":
        writer.text(inline.tex);
        break;
      case "break":
        writer.lineBreak();
        break;
      case "footnote-ref":
        writer.text(`[${inline.label}]`);
        break;
      case "ruby":
        for (const { base, annotation } of inline.parts) {
          writePhrases(writer, base);
          if (annotation !== "") writer.text(`(${annotation})`);
        }
        break;
      case "span":
      case "link":
        writePhrases(writer, inline.children);
        break;
      case "image":
        writer.text(" ");
        break;
    }
  }
}

// These blocks follow each other line by line; all others are separated by a blank line.
const LINES = new Set(["LI", "TR", "DT", "DD", "SUMMARY"]);

/** Collects the lines of a text as its elements, named as in HTML, open and close; all but cells are blocks. */
class TextWriter {
  #out = "";
  /** The names of the open elements, the innermost last. */
  readonly #open: string[] = [];
  /** The line's finished cells, apart from what follows: one string of both would be copied for each cell. */
  #cells: string[] = [];
  #line = "";
  /** White space would not be shown here: at the start of a line or cell, or after a space. */
  #isSpaced = true;
  #preDepth = 0;
  #cellDepth = 0;
  /** The number of cells so far in the row of each open table; the first entry is for rows outside a table. */
  readonly #rowCells: number[] = [0];
  /** A block has ended inside the cell: the next text starts a line, if any comes before the cell ends. */
  #hasCellBreak = false;
  #isCellEmpty = true;
  #pendingBreaks = 0;

  text(value: string): void {
    const isCode = this.#preDepth > 0;
    const collapsed = isCode ? value : withSingleSpaces(value);
    const isAtStart = this.#isSpaced || this.#hasCellBreak;
    const shown = isAtStart && !isCode ? collapsed.trimStart() : collapsed;
    if (shown === "") return;
    this.#breakCellLine();
    this.#line += shown;
    this.#isSpaced = shown.endsWith(" ");
    this.#isCellEmpty = false;
  }

  /** The second line break in a row ends the paragraph. */
  lineBreak(): void {
    this.#breakBlock(this.#line.trim() === "" ? 2 : 1, "BR");
  }

  /** Opens an element, writes what is in it, and closes it. */
  inside(name: string, write: () => void): void {
    const breaks = breaksAround(name, this.#open.at(-1) ?? "");
    if (name === "TABLE") this.#rowCells.push(0);
    if (name === "TD") this.#openCell();
    else this.#breakBlock(breaks, name);
    if (name === "PRE") this.#preDepth++;
    this.#open.push(name);
    write();
    this.#open.pop();
    if (name === "PRE") this.#preDepth--;
    if (name === "TD") this.#cellDepth--;
    else this.#breakBlock(breaks, name);
    if (name === "TABLE") this.#rowCells.pop();
  }

  finish(): string {
    this.#endLine(0);
    return this.#out;
  }

  #openCell(): void {
    const row = this.#rowCells.length - 1;
    if ((this.#rowCells[row] ?? 0) > 0) {
      this.#cells.push(this.#line.trimEnd());
      this.#line = "";
    }
    this.#rowCells[row] = (this.#rowCells[row] ?? 0) + 1;
    this.#cellDepth++;
    this.#isSpaced = true;
    this.#isCellEmpty = true;
    this.#hasCellBreak = false;
  }

  #breakBlock(breaks: number, name: string): void {
    if (this.#preDepth > 0) {
      const isStarted = this.#cells.length > 0 || this.#line !== "";
      if (name === "BR" || (isStarted && !this.#line.endsWith("\n"))) this.#line += "\n";
    } else if (name === "TR" || name === "TABLE") {
      this.#endLine(this.#cellDepth > 0 ? 1 : breaks);
      if (name === "TR") this.#rowCells[this.#rowCells.length - 1] = 0;
    } else if (this.#cellDepth > 0) this.#hasCellBreak = true;
    else this.#endLine(breaks);
  }

  // Breaks the line inside a cell without ending the row.
  #breakCellLine(): void {
    if (this.#hasCellBreak && !this.#isCellEmpty) this.#endLine(1);
    this.#hasCellBreak = false;
  }

  #endLine(breaks: number): void {
    // Empty cells keep the others in their columns, except at the end of the row.
    const line = (this.#cells.length > 0 ? [...this.#cells, this.#line].join("\t") : this.#line).trimEnd();
    if (line !== "") {
      if (this.#out !== "") this.#out += "\n".repeat(Math.max(this.#pendingBreaks, 1));
      this.#out += line;
      this.#pendingBreaks = breaks;
    } else this.#pendingBreaks = Math.max(this.#pendingBreaks, breaks);
    if (this.#cells.length > 0) this.#cells = [];
    this.#line = "";
    this.#isSpaced = true;
  }
}

const LISTS = new Set(["UL", "OL", "DL"]);

function breaksAround(name: string, parent: string): number {
  const isInnerList = LISTS.has(name) && (LINES.has(parent) || LISTS.has(parent));
  return isInnerList || LINES.has(name) ? 1 : 2;
}
