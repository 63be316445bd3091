import { withSingleSpaces } from "../../text.ts";
import {
  type Block,
  type Cell,
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
  writeBlocks(writer, blocks, "");
  for (const { label, blocks: note } of footnotes) {
    writer.open("P", "");
    writer.text(`[${label}] `);
    writeTight(writer, note, "P");
    writer.close("P", "");
  }
  return writer.finish();
}

function writeBlocks(writer: TextWriter, blocks: readonly Block[], parent: string): void {
  for (const block of blocks) writeBlock(writer, block, parent);
}

/** Writes the first paragraph of an item or cell on the same line. */
function writeTight(writer: TextWriter, blocks: readonly Block[], parent: string): void {
  const start = blocks.findIndex((block) => !isPicture(block));
  const [first, ...rest] = start < 0 ? [] : blocks.slice(start);
  if (first?.kind === "paragraph") {
    writePhrases(writer, first.children);
    writeBlocks(writer, rest, parent);
  } else writeBlocks(writer, start < 0 ? [] : blocks.slice(start), parent);
}

// Tells whether a block is a picture without text of its own.
const isPicture = (block: Block): boolean =>
  block.kind === "paragraph"
    ? inlineText(block.children).trim() === ""
    : block.kind === "figure" && block.caption.length === 0 && block.blocks.every(isPicture);

function inside(writer: TextWriter, name: string, parent: string, write: () => void): void {
  writer.open(name, parent);
  write();
  writer.close(name, parent);
}

function phrasesIn(writer: TextWriter, name: string, parent: string, inlines: readonly Inline[]): void {
  if (isShown(inlines)) inside(writer, name, parent, () => writePhrases(writer, inlines));
}

function writeBlock(writer: TextWriter, block: Block, parent: string): void {
  const within = (name: string, write: () => void): void => inside(writer, name, parent, write);
  switch (block.kind) {
    case "paragraph":
      phrasesIn(writer, "P", parent, block.children);
      break;
    case "heading":
      phrasesIn(writer, "H2", parent, block.children);
      break;
    case "list":
      within(block.isOrdered ? "OL" : "UL", () => {
        for (const item of block.items)
          inside(writer, "LI", "UL", () => writeTight(writer, item.blocks, "LI"));
      });
      break;
    case "code-block": {
      const { label, text } = block;
      if (label !== null) within("P", () => writer.text(label));
      within("PRE", () => writer.text(text));
      break;
    }
    case "math-block":
      within("PRE", () => writer.text(block.tex));
      break;
    case "table":
      within("TABLE", () => {
        phrasesIn(writer, "CAPTION", "TABLE", block.caption);
        for (const row of block.rows) writeRow(writer, row);
      });
      break;
    case "quote":
    case "admonition":
      within("BLOCKQUOTE", () => {
        if (block.kind === "admonition") phrasesIn(writer, "P", "BLOCKQUOTE", block.title);
        writeBlocks(writer, block.blocks, "BLOCKQUOTE");
      });
      break;
    case "details":
      within("DETAILS", () => {
        phrasesIn(writer, "SUMMARY", "DETAILS", block.summary);
        writeBlocks(writer, block.blocks, "DETAILS");
      });
      break;
    case "definitions":
      within("DL", () => writeDefinitions(writer, block.groups));
      break;
    case "figure":
      within("FIGURE", () => {
        writeBlocks(writer, block.blocks, "FIGURE");
        if (block.caption.length > 0)
          inside(writer, "FIGCAPTION", "FIGURE", () => writeTight(writer, block.caption, "FIGCAPTION"));
      });
      break;
    case "rule":
      within("HR", () => undefined);
      break;
  }
}

function writeDefinitions(writer: TextWriter, groups: readonly Definition[]): void {
  for (const { terms, definitions } of groups) {
    for (const term of terms) phrasesIn(writer, "DT", "DL", term);
    for (const blocks of definitions) inside(writer, "DD", "DL", () => writeTight(writer, blocks, "DD"));
  }
}

function writeRow(writer: TextWriter, row: readonly Cell[]): void {
  inside(writer, "TR", "TABLE", () => {
    for (const cell of row) inside(writer, "TD", "TR", () => writeTight(writer, cell.blocks, "TD"));
  });
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
        writer.open("BR", "");
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

  open(name: string, parent: string): void {
    if (name === "TABLE") this.#rowCells.push(0);
    if (name === "TD") this.#openCell();
    // The second line break in a row ends the paragraph.
    else if (name === "BR") this.#breakBlock(this.#line.trim() === "" ? 2 : 1, name);
    else this.#breakBlock(breaksAround(name, parent), name);
    if (name === "PRE") this.#preDepth++;
  }

  close(name: string, parent: string): void {
    if (name === "PRE") this.#preDepth--;
    if (name === "TD") this.#cellDepth--;
    else this.#breakBlock(breaksAround(name, parent), name);
    if (name === "TABLE" && this.#rowCells.length > 1) this.#rowCells.pop();
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
