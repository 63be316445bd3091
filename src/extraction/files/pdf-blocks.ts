import { escapeHtml } from "../../base/text.ts";
import { type Line, layoutOf, linesOf, type Region, type Span, type TextRun } from "./pdf-lines.ts";
import { withoutRunningHeads } from "./pdf-running-heads.ts";
import { cellName, writeLink } from "./write-html.ts";

/** An entry of the outline; those at the top have the depth 1. */
export type Outlined = { readonly title: string; readonly depth: number };

type Block = {
  readonly kind: "text" | "item" | "code" | "table";
  /** From 1. */
  readonly page: number;
  readonly lines: Line[];
  readonly spans: Span[];
  /** The number of an item of a numbered list. */
  readonly number: number | null;
  readonly depth: number | null;
  readonly rows?: readonly (readonly Cell[])[];
};
type Cell = { readonly spans: readonly Span[]; readonly columns: number };

/** Writes the lines of a document's pages as HTML, and names its first heading of the highest level. */
export function writePages(
  pages: readonly (readonly Region[])[],
  outline: readonly Outlined[],
): { readonly body: string; readonly title: string | null } {
  const blocks = new BlockReader(withoutRunningHeads(pages), outline).read();
  const levels = levelsOf(blocks);
  const shownPages = new Set<number>();
  const html: string[] = [];
  for (let at = 0; at < blocks.length; ) {
    const items = listAt(blocks, at, levels);
    const [first] = items;
    const [open, close] = first ? listTags(first) : ["", ""];
    const written = (first ? items : blocks.slice(at, at + 1)).map((block) => {
      const id = shownPages.has(block.page) ? "" : ` id="page=${block.page}"`;
      shownPages.add(block.page);
      return writeBlock(block, first ? "li" : (levels.get(block) ?? null), id);
    });
    html.push(open, ...written, close);
    at += written.length;
  }
  const highest = Math.min(...levels.values());
  const title = blocks.find((block) => levels.get(block) === highest);
  return { body: html.join("\n"), title: title ? textOf(title) : null };
}

const listTags = ({ number }: Block): readonly [string, string] =>
  number === null ? ["<ul>", "</ul>"] : [`<ol start="${number}">`, "</ol>"];

/** The items of the list that begins with a block; none where a single number begins a text. */
function listAt(blocks: readonly Block[], start: number, levels: ReadonlyMap<Block, number>): Block[] {
  const items: Block[] = [];
  for (
    let block = blocks[start];
    block?.kind === "item" && !levels.has(block);
    block = blocks[start + items.length]
  ) {
    const first = items[0]?.number ?? block.number;
    if (first === null ? block.number !== null : block.number !== first + items.length) break;
    items.push(block);
  }
  return items.length === 1 && items[0]!.number !== null ? [] : items;
}

function writeBlock(block: Block, level: number | "li" | null, id: string): string {
  if (block.rows) return writeRows(block.rows, id);
  if (block.kind === "code") return `<pre${id}><code>${escapeHtml(codeOf(block.lines))}</code></pre>`;
  const isNumbered = level === "li" && block.number !== null;
  const spans = isNumbered
    ? withoutStart(block.spans, NUMBER.exec(block.lines[0]!.text)?.[0].length ?? 0)
    : block.spans;
  const name = level === "li" ? "li" : level === null ? "p" : `h${level}`;
  return `<${name}${id}>${writeSpans(spans)}</${name}>`;
}

const writeSpans = (spans: readonly Span[]): string =>
  spans.map(({ text, href }) => writeLink(href, escapeHtml(text))).join("");

function writeRows(rows: readonly (readonly Cell[])[], id: string): string {
  const written = rows.map((row, index) => {
    const name = cellName(index, rows.length);
    const cells = row.map(({ spans, columns }) => {
      const span = columns > 1 ? ` colspan="${columns}"` : "";
      return `<${name}${span}>${writeSpans(spans)}</${name}>`;
    });
    return `<tr>${cells.join("")}</tr>`;
  });
  return `<table${id}>${written.join("")}</table>`;
}

function codeOf(lines: readonly Line[]): string {
  const left = Math.min(...lines.map((line) => line.left));
  const indent = ({ left: x, right, text }: Line): number =>
    Math.min(200, Math.round((x - left) / Math.max(1, (right - x) / text.length)));
  return lines.map((line) => " ".repeat(indent(line)) + line.text).join("\n");
}

const textOf = ({ spans }: Block): string => spans.map(({ text }) => text).join("");
const roundSize = (size: number): number => Math.round(size * 2) / 2;

/** A text this much larger than most is a heading, unless it is as long as a paragraph. */
const LARGER = 1.12;
const LONGEST_HEADING = 250;
/** Dots that lead to a page number in a table of contents. */
const LEADER = /(?:\. ?){4}|…{2}/;

/** The levels of headings: 1 for the title, by the outline, else by their sizes. */
function levelsOf(blocks: readonly Block[]): ReadonlyMap<Block, number> {
  const letters = new Map<number, number>();
  for (const { lines } of blocks)
    for (const { size, text } of lines) {
      const rounded = roundSize(size);
      letters.set(rounded, (letters.get(rounded) ?? 0) + text.length);
    }
  const [body] = [...letters].reduce((a, b) => (b[1] > a[1] ? b : a), [0, 0]);
  const sizeOf = ({ lines }: Block): number => roundSize(lines[0]!.size);
  const isHeading = (block: Block): boolean =>
    (block.kind === "text" || block.kind === "item") &&
    (block.depth !== null ||
      (sizeOf(block) >= LARGER * body &&
        textOf(block).length <= LONGEST_HEADING &&
        /\p{L}/u.test(textOf(block)) &&
        !LEADER.test(textOf(block))));
  const headings = blocks.filter(isHeading);
  const first = headings.filter(({ page, depth }) => page === headings[0]?.page && depth === null);
  const title = first.reduce<Block | null>((a, b) => (a === null || sizeOf(b) > sizeOf(a) ? b : a), null);
  const isTitled = title !== null && headings.every((one) => one === title || sizeOf(one) <= sizeOf(title));
  const rest = headings.filter((one) => !isTitled || one !== title);
  const sizes = [...new Set(rest.filter(({ depth }) => depth === null).map(sizeOf))].sort((a, b) => b - a);
  const levels = new Map(
    rest.map((one) => [
      one,
      Math.min(6, one.depth === null ? 2 + sizes.indexOf(sizeOf(one)) : 1 + one.depth),
    ]),
  );
  return isTitled ? levels.set(title, 1) : levels;
}

const BULLET = /^[•◦▪‣●○■□➢➤∙·–—*\uf0b7\uf0a7-]\s+(?=\S)/;
const NUMBER = /^(\d{1,3})[.)]\s+(?=\S)/;

/** Letters and digits of a title, for comparison. */
const foldTitle = (text: string): string => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join("");

class BlockReader {
  readonly #pages: readonly (readonly Region[])[];
  readonly #depths = new Map<string, number>();
  /** Words that are written with a hyphen within a line. */
  readonly #hyphenated = new Set<string>();
  readonly #blocks: Block[] = [];
  /** The distance of base lines within a paragraph, in parts of the size of the text. */
  readonly #pitch: number;

  constructor(pages: readonly (readonly Region[])[], outline: readonly Outlined[]) {
    this.#pages = pages;
    for (const { title, depth } of outline) this.#depths.set(foldTitle(title), depth);
    this.#depths.delete("");
    for (const line of pages.flat(2))
      for (const [word] of line.text.matchAll(HYPHENATED)) this.#hyphenated.add(word.toLowerCase());
    this.#pitch = pitchOf(pages);
  }

  read(): readonly Block[] {
    this.#pages.forEach((regions, index) => {
      for (const region of regions) this.#readRegion(region, index + 1);
    });
    return this.#blocks;
  }

  #readRegion(region: Region, page: number): void {
    const right = Math.max(...region.map((line) => line.right));
    const left = Math.min(...region.map((line) => line.left));
    region.forEach((line, index) => {
      const block = this.#blocks.at(-1);
      const before = region[index - 1];
      const continues =
        block !== undefined &&
        this.#isSameKind(block, line) &&
        (before ? this.#isNext(block, before, line, { left, right }) : goesOn(block, line));
      if (continues) this.#append(block, line);
      else this.#begin(line, page);
    });
  }

  #isSameKind(block: Block, line: Line): boolean {
    if (line.table || block.rows || block.depth !== null || this.#depths.has(foldTitle(line.text)))
      return false;
    const last = block.lines.at(-1)!;
    const isSameSize = Math.abs(last.size - line.size) <= 0.08 * line.size;
    return isSameSize && (block.kind === "code") === line.isCode && (line.isCode || !isItem(line.text));
  }

  #isNext(block: Block, before: Line, line: Line, region: { left: number; right: number }): boolean {
    if (block.kind === "code") return before.y - line.y < 4 * line.size;
    if (before.y - line.y > 1.25 * this.#pitch * line.size) return false;
    const slack = 0.7 * line.size;
    const width = region.right - region.left;
    const isShort = before.right < region.right - 0.2 * width;
    if (isShort && /[.!?:…]["”’)]?$/.test(before.text.trimEnd())) return false;
    if (block.kind === "item") {
      const [first, second] = block.lines;
      const hangs = second !== undefined && second.left > first!.left + slack;
      return !(hangs || isShort) || line.left > first!.left + slack;
    }
    return !(line.left > before.left + slack && before.left < region.left + slack);
  }

  #begin(line: Line, page: number): void {
    if (line.table) {
      const rows = line.table.map((row) =>
        row.map(({ runs, columns }) => ({ spans: this.#readCell(runs), columns })),
      );
      this.#blocks.push({ kind: "table", page, lines: [line], spans: [], number: null, depth: null, rows });
      return;
    }
    const depth = this.#depths.get(foldTitle(line.text)) ?? null;
    const mark = depth === null && !line.isCode ? (BULLET.exec(line.text) ?? NUMBER.exec(line.text)) : null;
    const kind = line.isCode ? "code" : mark ? "item" : "text";
    const number = mark?.[1] === undefined ? null : Number(mark[1]);
    const spans = mark && number === null ? withoutStart(line.spans, mark[0].length) : [...line.spans];
    this.#blocks.push({ kind, page, lines: [line], spans, number, depth });
  }

  #readCell(runs: readonly TextRun[]): readonly Span[] {
    const [first, ...rest] = linesOf(layoutOf(runs)).flat();
    const cell = { lines: [], spans: [...(first?.spans ?? [])] };
    for (const line of rest) this.#append(cell, line);
    return cell.spans;
  }

  #append(block: Pick<Block, "lines" | "spans">, line: Line): void {
    block.lines.push(line);
    const last = block.spans.at(-1)!;
    const [first, ...rest] = line.spans;
    const joined = this.#join(last.text, first!.text);
    if (last.href === first!.href) block.spans.splice(-1, 1, { ...last, text: joined.before + joined.after });
    else block.spans.splice(-1, 1, { ...last, text: joined.before }, { ...first!, text: joined.after });
    block.spans.push(...rest);
  }

  /** Joins the end of a line to the next line: with a space, or as one word. */
  #join(before: string, after: string): { readonly before: string; readonly after: string } {
    const end = before.trimEnd();
    const [hyphen] = HYPHEN.exec(end.slice(-1)) ?? [];
    const [word = ""] = LAST_WORD.exec(end.slice(-100, -1)) ?? [];
    const [next = ""] = /^[\p{L}\p{N}]+/u.exec(after) ?? [];
    if (hyphen !== undefined && word !== "" && next !== "") {
      const isOneWord = /^\p{Ll}/u.test(next) || (/^\p{Lu}+$/u.test(word) && /^\p{Lu}{2}/u.test(next));
      const isKept = !isOneWord || this.#hyphenated.has(`${word}-${next}`.toLowerCase());
      return { before: end.slice(0, -1) + (isKept && hyphen !== "\u00ad" ? hyphen : ""), after };
    }
    const isDense = DENSE_END.test(before) && DENSE_START.test(after);
    return { before: before.trimEnd() + (isDense ? "" : " "), after: after.trimStart() };
  }
}

const HYPHENATED = /(?<![\p{L}\p{N}])[\p{L}\p{N}]+-[\p{L}\p{N}]+/gu;
const HYPHEN = /[-\u00ad\u2010]/;
const LAST_WORD = /(?<![\p{L}\p{N}])[\p{L}\p{N}]+$/u;
// Chinese and Japanese have no spaces between words.
const DENSE_END = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uff60]$/u;
const DENSE_START = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uff60]/u;

const isItem = (text: string): boolean => BULLET.test(text) || NUMBER.test(text);

/** Whether a paragraph goes on in the next column or on the next page. */
const goesOn = (block: Block, line: Line): boolean =>
  block.kind !== "code" &&
  /[\p{L},\-\u2010\u00ad]\s*$/u.test(textOf(block).slice(-10)) &&
  /^\s*\p{Ll}/u.test(line.text);

function withoutStart([first, ...rest]: readonly Span[], length: number): Span[] {
  if (first === undefined) return [];
  if (first.text.length <= length && rest.length > 0) return withoutStart(rest, length - first.text.length);
  return [{ ...first, text: first.text.slice(length) }, ...rest];
}

function pitchOf(pages: readonly (readonly Region[])[]): number {
  const pitches: number[] = [];
  for (const region of pages.flat())
    for (let at = 1; at < region.length; at++) {
      const pitch = (region[at - 1]!.y - region[at]!.y) / region[at]!.size;
      if (pitch > 0.8 && pitch < 3) pitches.push(pitch);
    }
  return pitches.sort((a, b) => a - b)[pitches.length >> 1] ?? 1.2;
}
