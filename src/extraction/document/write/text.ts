import { TextWriter } from "../../text.ts";
import { type Block, type Cell, type ContentDocument, type Inline, inlineText } from "../model.ts";
import { isShown } from "../normalise.ts";

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
  switch (block.kind) {
    case "paragraph":
      phrasesIn(writer, "P", parent, block.children);
      break;
    case "heading":
      phrasesIn(writer, "H2", parent, block.children);
      break;
    case "list":
      inside(writer, block.isOrdered ? "OL" : "UL", parent, () => {
        for (const item of block.items)
          inside(writer, "LI", "UL", () => writeTight(writer, item.blocks, "LI"));
      });
      break;
    case "code-block":
      if (block.label !== null) inside(writer, "P", parent, () => writer.text(block.label ?? ""));
      preformatted(writer, parent, block.text);
      break;
    case "math-block":
      preformatted(writer, parent, block.tex);
      break;
    case "table":
      inside(writer, "TABLE", parent, () => {
        phrasesIn(writer, "CAPTION", "TABLE", block.caption);
        for (const row of block.rows) writeRow(writer, row);
      });
      break;
    case "quote":
      inside(writer, "BLOCKQUOTE", parent, () => writeBlocks(writer, block.blocks, "BLOCKQUOTE"));
      break;
    case "admonition":
      inside(writer, "BLOCKQUOTE", parent, () => {
        phrasesIn(writer, "P", "BLOCKQUOTE", block.title);
        writeBlocks(writer, block.blocks, "BLOCKQUOTE");
      });
      break;
    case "details":
      inside(writer, "DETAILS", parent, () => {
        phrasesIn(writer, "SUMMARY", "DETAILS", block.summary);
        writeBlocks(writer, block.blocks, "DETAILS");
      });
      break;
    case "definitions":
      inside(writer, "DL", parent, () => {
        for (const { terms, definitions } of block.groups) {
          for (const term of terms) phrasesIn(writer, "DT", "DL", term);
          for (const blocks of definitions)
            inside(writer, "DD", "DL", () => writeTight(writer, blocks, "DD"));
        }
      });
      break;
    case "figure":
      inside(writer, "FIGURE", parent, () => {
        writeBlocks(writer, block.blocks, "FIGURE");
        if (block.caption.length > 0) {
          inside(writer, "FIGCAPTION", "FIGURE", () => writeTight(writer, block.caption, "FIGCAPTION"));
        }
      });
      break;
    case "rule":
      inside(writer, "HR", parent, () => undefined);
      break;
  }
}

function preformatted(writer: TextWriter, parent: string, text: string): void {
  // The writer drops the first line break, as HTML does.
  inside(writer, "PRE", parent, () => writer.text(text.startsWith("\n") ? `\n${text}` : text));
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
