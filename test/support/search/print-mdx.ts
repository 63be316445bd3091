import {
  indented,
  type ModelBlock,
  type ModelSection,
  type ModelText,
  printPhrases,
} from "./document-model.ts";

const escaped = (text: string): string =>
  text
    .replace(/[^\p{L}\p{N}\s<&]/gu, "\\$&")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;");

const printText = (phrases: ModelText): string =>
  printPhrases(phrases, {
    text: escaped,
    code: (text) => `\`${text}\``,
    strong: (text) => `**${text}**`,
    em: (text) => `*${text}*`,
  });

const printBlocks = (blocks: readonly ModelBlock[]): string[] =>
  blocks.flatMap((block) => [...printBlock(block), ""]);

function printBlock(block: ModelBlock): string[] {
  switch (block.kind) {
    case "paragraph":
      return [printText(block.text)];
    case "code":
      return [`\`\`\`${block.language}`, ...block.lines, "```"];
    case "table": {
      const row = (cells: readonly string[]): string => `| ${cells.map(escaped).join(" | ")} |`;
      return [row(block.header), `|${"-|".repeat(block.header.length)}`, ...block.rows.map(row)];
    }
    case "list":
      return block.items.flatMap((item, index) => {
        const mark = block.isOrdered ? `${index + 1}. ` : "- ";
        const [first = "", ...others] = indented(printBlocks(item), " ".repeat(mark.length));
        return [mark + first.trim(), ...others, ""];
      });
    case "definition":
      return [
        `**${block.term}**`,
        "",
        ...printBlock({ kind: "list", isOrdered: false, items: [block.blocks] }),
      ];
    case "note":
      return ["> [!NOTE]", ...printBlocks(block.blocks).map((line) => `> ${line}`.trim())];
  }
}

/** Prints each block of a section inside a component that indents it. */
export const printMdx = (sections: readonly ModelSection[]): string =>
  [
    "import { Box } from './box'",
    "",
    ...sections.flatMap(({ level, title, blocks }) => [
      `${"#".repeat(level)} ${title} {/* a word */}`,
      "",
      ...blocks.flatMap((block) => [
        "<Box on={() => { a > 1 }} hidden={false}>",
        ...indented(printBlock(block), "    "),
        "</Box>",
        "",
      ]),
    ]),
    "export const meta = { a: 1 }",
  ].join("\n");
