import {
  type Admonition,
  type Block,
  type CodeBlock,
  type ContentDocument,
  type DefinitionList,
  type Details,
  type Figure,
  type Footnote,
  type Inline,
  inlineText,
  type List,
} from "../model.ts";
import { isShown } from "../normalise.ts";
import { inlinesToHtml } from "./html.ts";
import { longestRun, phrasesToMarkdown, texForMarkdown } from "./phrases.ts";
import { tableToMarkdown } from "./table.ts";

/** Writes a document as GitHub-flavoured Markdown, with formulas between dollars and footnotes at the end. */
export function toMarkdown({ blocks, footnotes }: ContentDocument): string {
  const lines = writeBlocks(blocks, TOP);
  for (const note of footnotes) separate(lines, footnote(note));
  return lines.join("\n");
}

export type BlockPlace = { readonly isInList: boolean; readonly isTight: boolean };
const TOP: BlockPlace = { isInList: false, isTight: false };
const PHRASES = { isInCell: false, isHeading: false } as const;

export const phrases = (inlines: readonly Inline[]): string => phrasesToMarkdown(inlines, PHRASES);

function writeBlocks(blocks: readonly Block[], place: BlockPlace): string[] {
  const lines: string[] = [];
  let marker = "";
  for (const [index, block] of blocks.entries()) {
    const before = blocks[index - 1];
    // Two adjacent lists would become one, so the second gets the other sign.
    const isSecond = block.kind === "list" && before?.kind === "list" && before.isOrdered === block.isOrdered;
    marker = block.kind === "list" ? markerOf(block, isSecond ? marker : "") : "";
    const written = writeBlock(block, place, marker);
    const isClose = place.isTight && block.kind === "list";
    if (isClose) push(lines, written);
    else separate(lines, written);
  }
  return lines;
}

function separate(lines: string[], more: readonly string[]): void {
  if (more.length === 0) return;
  if (lines.length > 0) lines.push("");
  push(lines, more);
}

// `push(...more)` could exceed the maximum number of arguments.
function push(lines: string[], more: readonly string[]): void {
  for (const line of more) lines.push(line);
}

function writeBlock(block: Block, place: BlockPlace, marker: string): string[] {
  switch (block.kind) {
    case "paragraph":
      return phrases(block.children).split("\n");
    case "heading":
      return [
        `${"#".repeat(block.level)} ${phrasesToMarkdown(block.children, { isInCell: false, isHeading: true })}`,
      ];
    case "list":
      return list(block, marker);
    case "code-block":
      return code(block);
    case "table":
      return [...captionLines(block.caption), ...tableToMarkdown(block)];
    case "quote":
      return quoted(writeBlocks(block.blocks, TOP));
    case "admonition":
      return admonition(block);
    case "details":
      return details(block);
    case "definitions":
      return definitions(block);
    case "figure":
      return figure(block, place);
    case "math-block":
      return [
        "$$",
        ...texForMarkdown(block.tex)
          .split("\n")
          .filter((line) => line.trim() !== ""),
        "$$",
      ];
    case "rule":
      return [place.isInList ? "___" : "---"];
  }
}

const captionLines = (caption: readonly Inline[]): string[] =>
  isShown(caption) ? [...asEmphasis(caption).split("\n"), ""] : [];

function asEmphasis(inlines: readonly Inline[]): string {
  return phrases([{ kind: "span", tag: "em", children: inlines }]);
}

const markerOf = (block: List, taken: string): string =>
  block.isOrdered ? (taken === "." ? ")" : ".") : taken === "-" ? "*" : "-";

function list({ items, isOrdered, start }: List, marker: string): string[] {
  const isTight = items.every(({ blocks }) =>
    blocks.every((block, at) => (at === 0 ? isLine(block) : block.kind === "list")),
  );
  const lines: string[] = [];
  for (const [index, { isDone, blocks }] of items.entries()) {
    const sign = isOrdered ? `${Math.min(start + index, 999_999_999)}${marker}` : marker;
    const task = isDone === null ? "" : isDone ? "[x] " : "[ ] ";
    const body = writeBlocks(blocks, { isInList: true, isTight });
    const written = indented(body, " ".repeat(sign.length + 1));
    written[0] = `${sign} ${task}${body[0] ?? ""}`.trimEnd();
    if (isTight) push(lines, written);
    else separate(lines, written);
  }
  return lines;
}

const isLine = (block: Block): boolean => block.kind === "paragraph" || block.kind === "list";

const indented = (lines: readonly string[], indent: string): string[] =>
  lines.map((line) => (line === "" ? "" : indent + line));

const quoted = (lines: readonly string[]): string[] => lines.map((line) => (line === "" ? ">" : `> ${line}`));

function code({ text, language, label }: CodeBlock): string[] {
  const fence = "`".repeat(Math.max(3, longestRun(text, "`") + 1));
  const before =
    label === null
      ? []
      : [phrases([{ kind: "span", tag: "strong", children: [{ kind: "text", text: label }] }]), ""];
  return [...before, `${fence}${language ?? ""}`, ...text.split("\n"), fence];
}

function admonition({ type, title, blocks }: Admonition): string[] {
  const lines = [`[!${type.toUpperCase()}]`];
  const hasOwnTitle = isShown(title) && inlineText(title).trim().toLowerCase() !== type;
  if (hasOwnTitle) lines.push(phrases([{ kind: "span", tag: "strong", children: title }]));
  const body = writeBlocks(blocks, TOP);
  if (hasOwnTitle && body.length > 0) lines.push("");
  return quoted([...lines, ...body]);
}

function details({ summary, isOpen, blocks }: Details): string[] {
  const head = `<details${isOpen ? " open" : ""}>`;
  const title = isShown(summary)
    ? [`<summary>${inlinesToHtml(summary).replaceAll("\n", " ")}</summary>`]
    : [];
  return [head, ...title, "", ...writeBlocks(blocks, TOP), "", "</details>"];
}

function definitions({ groups }: DefinitionList): string[] {
  const lines: string[] = [];
  for (const { terms, definitions: meanings } of groups) {
    for (const term of terms) {
      const isMarked = term.some((inline) => inline.kind === "span" && inline.tag === "strong");
      const shown: readonly Inline[] = isMarked ? term : [{ kind: "span", tag: "strong", children: term }];
      separate(lines, phrases(shown).split("\n"));
    }
    if (meanings.length === 0) continue;
    const [only, ...more] = meanings.flat();
    // A list that only wraps another list adds nothing.
    const isList = only?.kind === "list" && more.length === 0;
    const items = meanings.map((blocks) => ({ isDone: null, blocks }));
    separate(lines, list(isList ? only : { kind: "list", isOrdered: false, start: 1, items }, "-"));
  }
  return lines;
}

function figure({ blocks, caption }: Figure, place: BlockPlace): string[] {
  const lines = writeBlocks(blocks, { ...place, isTight: false });
  const [only, ...more] = caption;
  if (only?.kind === "paragraph" && more.length === 0) separate(lines, asEmphasis(only.children).split("\n"));
  else separate(lines, writeBlocks(caption, place));
  return lines;
}

function footnote({ label, blocks }: Footnote): string[] {
  const body = writeBlocks(blocks, TOP);
  const lines = indented(body, "    ");
  lines[0] = `[^${label}]: ${body[0] ?? ""}`.trimEnd();
  return lines;
}
