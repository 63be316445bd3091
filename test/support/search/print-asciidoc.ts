import { type ModelBlock, type ModelSection, type ModelText, printPhrases } from "./document-model.ts";

const escaped = (text: string): string =>
  text
    .split(" ")
    .map((word) => (/^[\p{L}\p{N}]*$/u.test(word) ? word : `pass:[${word.replaceAll("]", "\\]")}]`))
    .join(" ");

const printText = (phrases: ModelText): string =>
  printPhrases(phrases, {
    text: escaped,
    code: (text) => `\`+${text}+\``,
    strong: (text) => `*${text}*`,
    em: (text) => `_${text}_`,
  });

/** Prints blocks with a comment between them, which keeps two lists apart. */
const printBlocks = (blocks: readonly ModelBlock[], depth: number): string[] =>
  blocks.flatMap((block) => [...printBlock(block, depth), "", "//-", ""]);

const boxed = (blocks: readonly ModelBlock[], depth: number): string[] => {
  const box = "=".repeat(4 + depth);
  return [box, ...printBlocks(blocks, depth + 1), box];
};

function printBlock(block: ModelBlock, depth: number): string[] {
  switch (block.kind) {
    case "paragraph":
      return [printText(block.text)];
    case "code":
      return [`[source,${block.language}]`, "------", ...block.lines, "------"];
    case "table": {
      const rows = [block.header, ...block.rows].map((row) =>
        row.map((cell) => `|${escaped(cell).replaceAll("|", "\\|")}`).join(" "),
      );
      return [`[cols="${block.header.length}*",options="header"]`, "|===", ...rows, "|==="];
    }
    case "list": {
      const mark = (block.isOrdered ? "." : "*").repeat(depth + 1);
      return block.items.flatMap(([first, ...others]) => [
        `${mark} ${first?.kind === "paragraph" ? printText(first.text) : ""}`,
        ...(others.length > 0 ? ["+", ...boxed(others, depth)] : []),
      ]);
    }
    case "definition":
      return [`${block.term}::`, "+", ...boxed(block.blocks, depth)];
    case "note":
      return ["[NOTE]", ...boxed(block.blocks, depth)];
  }
}

export const printAsciidoc = (sections: readonly ModelSection[]): string =>
  sections
    .flatMap(({ level, title, blocks }) => [`${"=".repeat(level)} ${title}`, "", ...printBlocks(blocks, 0)])
    .join("\n");
