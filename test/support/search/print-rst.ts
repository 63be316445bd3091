import {
  indented,
  type ModelBlock,
  type ModelSection,
  type ModelText,
  printPhrases,
} from "./document-model.ts";

const escaped = (text: string): string => text.replace(/[^\p{L}\p{N}\s]/gu, "\\$&");

const printText = (phrases: ModelText): string =>
  printPhrases(phrases, {
    text: escaped,
    code: (text) => `\`\`${text}\`\``,
    strong: (text) => `**${text}**`,
    em: (text) => `*${text}*`,
  });

function printGrid(rows: readonly (readonly string[])[]): string[] {
  const columns = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)) + 2);
  const border = (sign: string): string => `+${columns.map((width) => sign.repeat(width)).join("+")}+`;
  const lines = [border("-")];
  for (const [index, row] of rows.entries())
    lines.push(
      `|${row.map((cell, column) => ` ${cell}`.padEnd(columns[column]!)).join("|")}|`,
      border(index === 0 ? "=" : "-"),
    );
  return lines;
}

/** Prints blocks with a blank line after each, and an empty comment where two would become one. */
function printBlocks(blocks: readonly ModelBlock[]): string[] {
  return blocks.flatMap((block) => [...printBlock(block), "", "..", ""]);
}

function printBlock(block: ModelBlock): string[] {
  switch (block.kind) {
    case "paragraph":
      return [printText(block.text)];
    case "code":
      return [`.. code-block:: ${block.language}`, "", ...indented(block.lines, "   ")];
    case "table":
      return printGrid([block.header, ...block.rows].map((row) => row.map(escaped)));
    case "list":
      return block.items.flatMap((item, index) => {
        const mark = block.isOrdered ? `${index + 1}. ` : "- ";
        const [first = "", ...others] = indented(printBlocks(item), " ".repeat(mark.length));
        return [mark + first.trim(), ...others, ""];
      });
    case "definition":
      return [escaped(block.term), ...indented(printBlocks(block.blocks), "    ")];
    case "note":
      return [".. note::", "", ...indented(printBlocks(block.blocks), "   ")];
  }
}

export const printRst = (sections: readonly ModelSection[]): string =>
  sections
    .flatMap(({ level, title, blocks }) => [
      title,
      "=-~"[level - 1]!.repeat(title.length + 3),
      "",
      ...printBlocks(blocks),
    ])
    .join("\n");
