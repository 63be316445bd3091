import {
  type Admonition,
  type Alignment,
  type Block,
  type Cell,
  type CodeBlock,
  type ContentDocument,
  type DefinitionList,
  type Details,
  type Figure,
  type Footnote,
  type Inline,
  inlineText,
  isShown,
  type List,
  type Table,
} from "../model.ts";
import { inlinesToHtml } from "./html.ts";
import { htmlInMarkdown, longestRun, phrasesToMarkdown, texForMarkdown } from "./phrases.ts";

/** Writes a document as GitHub-flavoured Markdown, with formulas between dollars and footnotes at the end. */
export function toMarkdown({ blocks, footnotes }: ContentDocument): string {
  const lines = writeBlocks(blocks, TOP);
  for (const note of footnotes) separate(lines, footnote(note));
  return lines.join("\n");
}

type BlockPlace = { readonly isInList: boolean; readonly isTight: boolean };
const TOP: BlockPlace = { isInList: false, isTight: false };
const PHRASES = { isInCell: false, isHeading: false } as const;

const phrases = (inlines: readonly Inline[]): string => phrasesToMarkdown(inlines, PHRASES);

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

const asEmphasis = (inlines: readonly Inline[]): string =>
  phrases([{ kind: "span", tag: "em", children: inlines }]);

const markerOf = (block: List, taken: string): string =>
  block.isOrdered ? (taken === "." ? ")" : ".") : taken === "-" ? "*" : "-";

function list({ items, isOrdered, start }: List, marker: string): string[] {
  const isTight = items.every(({ blocks }) =>
    blocks.every(({ kind }, at) => kind === "list" || (at === 0 && kind === "paragraph")),
  );
  const lines: string[] = [];
  for (const [index, { isDone, blocks }] of items.entries()) {
    const sign = isOrdered ? `${Math.min(start + index, 999_999_999)}${marker}` : marker;
    const isTask = isDone !== null && (blocks[0]?.kind ?? "paragraph") === "paragraph";
    const body = writeBlocks(blocks, { isInList: true, isTight });
    // `[x]` makes a task of a paragraph only, and would be in the first line of a table, a list or code.
    if (isDone !== null && !isTask) body.unshift(tick(isDone).trimEnd(), ...(isTight ? [] : [""]));
    const written = indented(body, " ".repeat(sign.length + 1));
    written[0] = `${sign} ${isTask ? (isDone ? "[x] " : "[ ] ") : ""}${body[0] ?? ""}`.trimEnd();
    if (isTight) push(lines, written);
    else separate(lines, written);
  }
  return lines;
}

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

/** Writes a GFM table: one header row, one line for each row (GFM 0.29, section 4.10). */
function tableToMarkdown(table: Table): string[] {
  const rows = unfoldTable(table);
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
  if (columns === 0) return [];
  const head = headerOf(rows.slice(0, table.headerRows), columns);
  const lines = [tableRow(head, columns), delimiters(rows, columns)];
  for (const row of rows.slice(table.headerRows)) lines.push(tableRow(row.map(cellText), columns));
  return lines;
}

/** Several header rows become one: "2024 Q1" under "2024". */
function headerOf(rows: readonly (readonly Cell[])[], columns: number): string[] {
  if (rows.length === 1) return rows[0]!.map(cellText);
  return Array.from({ length: rows.length === 0 ? 0 : columns }, (_, column) => {
    const texts = rows.map((row) => (row[column] ? cellText(row[column]) : ""));
    return texts.filter((text, index) => text !== "" && text !== texts[index - 1]).join(" ");
  });
}

function tableRow(cells: readonly string[], columns: number): string {
  const texts = cells.length > 0 ? cells : Array.from({ length: columns }, () => "");
  return `| ${texts.join(" | ")} |`;
}

const DELIMITER: Readonly<Record<NonNullable<Alignment>, string>> = {
  left: ":--",
  center: ":-:",
  right: "--:",
};

/** A column gets the alignment of most of its cells. */
function delimiters(rows: readonly (readonly Cell[])[], columns: number): string {
  const marks: string[] = [];
  for (let column = 0; column < columns; column++) {
    const counts = new Map<string, number>();
    for (const row of rows) {
      const alignment = row[column]?.alignment;
      if (alignment) counts.set(DELIMITER[alignment], (counts.get(DELIMITER[alignment]) ?? 0) + 1);
    }
    const [most] = [...counts].sort((a, b) => b[1] - a[1]);
    marks.push(most && most[1] * 2 >= rows.length - 1 ? most[0] : "---");
  }
  return `| ${marks.join(" | ")} |`;
}

const IN_CELL = { isInCell: true, isHeading: false } as const;
const cellPhrases = (inlines: readonly Inline[]): string => phrasesToMarkdown(inlines, IN_CELL);

const cellText = (cell: Cell): string => blocksInCell(cell.blocks);

/** Writes blocks on one line: paragraphs separated by <br>, lists as HTML, code as code. */
function blocksInCell(blocks: readonly Block[]): string {
  let out = "";
  for (const block of blocks) {
    const text = blockInCell(block);
    if (text === "") continue;
    out +=
      out === "" || /^<(?:ul|ol|pre)/.test(text) || /<\/(?:ul|ol|pre)>$/.test(out) ? text : `<br>${text}`;
  }
  return out;
}

function blockInCell(block: Block): string {
  switch (block.kind) {
    case "paragraph":
    case "heading":
      return cellPhrases(block.children);
    case "list":
      return listInCell(block);
    case "code-block":
      return codeInCell(block.text);
    case "table":
      return [cellPhrases(block.caption), ...unfoldTable(block).map((row) => row.map(cellText).join(" "))]
        .filter((text) => text.trim() !== "")
        .join("<br>");
    case "figure":
      return [blocksInCell(block.blocks), blocksInCell(block.caption)].filter(Boolean).join("<br>");
    case "admonition":
    case "details": {
      const title = cellPhrases(block.kind === "details" ? block.summary : block.title);
      return [title, blocksInCell(block.blocks)].filter(Boolean).join("<br>");
    }
    case "quote":
      return blocksInCell(block.blocks);
    case "definitions":
      return block.groups
        .flatMap(({ terms, definitions }) => [
          ...terms.map((term) => cellPhrases([{ kind: "span", tag: "strong", children: term }])),
          ...definitions.map(blocksInCell),
        ])
        .join("<br>");
    case "math-block":
      return `$${texForMarkdown(block.tex).replace(/\s+/g, " ").replaceAll("|", "\\|")}$`;
    case "rule":
      return "";
  }
}

function listInCell({ isOrdered, start, items }: List): string {
  const name = isOrdered ? "ol" : "ul";
  const attribute = isOrdered && start !== 1 ? ` start="${start}"` : "";
  const written = items.map(({ isDone, blocks }) => `<li>${tick(isDone)}${blocksInCell(blocks)}</li>`);
  return `<${name}${attribute}>${written.join("")}</${name}>`;
}

const tick = (isDone: boolean | null): string => (isDone === null ? "" : isDone ? "☑ " : "☐ ");

function codeInCell(text: string): string {
  if (!text.includes("\n")) return cellPhrases([{ kind: "code", text }]);
  const lines = text.split("\n").map((line) => htmlInMarkdown(line).replaceAll("|", "&#124;"));
  return `<pre>${lines.join("<br>")}</pre>`;
}

/** The maximum number of cells that spans may add to a table; a hostile table is written without expansion. */
const MAX_UNFOLDED = 20_000;

const EMPTY: Cell = { blocks: [], isHeader: false, colspan: 1, rowspan: 1, alignment: null };

/**
 * Expands spans, so that each row has one cell in each column. A cell over several rows is repeated in each of them,
 * so that a row is complete by itself; a cell over several columns is repeated in the header and written once in the
 * body.
 */
function unfoldTable({ rows, headerRows }: Table): Cell[][] {
  const isSane = addedCells(rows) <= MAX_UNFOLDED;
  const grid: Cell[][] = [];
  let pending = new Map<number, { cell: Cell; rows: number }>();
  for (const [index, row] of rows.entries()) {
    const line: Cell[] = [];
    const next: typeof pending = new Map();
    const place = (cell: Cell, rowsLeft: number): void => {
      if (rowsLeft > 1) next.set(line.length, { cell, rows: rowsLeft - 1 });
      line.push(cell);
    };
    const takePending = (): void => {
      for (let above = pending.get(line.length); above; above = pending.get(line.length))
        place(above.cell, above.rows);
    };
    for (const cell of row) {
      takePending();
      const columns = isSane ? cell.colspan : 1;
      const rowsLeft = isSane ? cell.rowspan : 1;
      place(cell, rowsLeft);
      for (let column = 1; column < columns; column++) place(index < headerRows ? cell : EMPTY, rowsLeft);
    }
    takePending();
    grid.push(line);
    pending = next;
  }
  return squared(grid);
}

function addedCells(rows: Table["rows"]): number {
  let added = 0;
  for (const row of rows) for (const cell of row) added += cell.colspan * cell.rowspan - 1;
  return added;
}

/** Pads all rows to the length of the longest, except in tables that would then be mostly padding. */
function squared(grid: Cell[][]): Cell[][] {
  for (const row of grid) while (row.at(-1) === EMPTY) row.pop();
  const width = grid.reduce((most, row) => Math.max(most, row.length), 0);
  const cells = grid.reduce((total, row) => total + row.length, 0);
  if (width * grid.length > 8 * cells + MAX_UNFOLDED) return grid;
  for (const row of grid) while (row.length < width) row.push(EMPTY);
  return grid;
}
