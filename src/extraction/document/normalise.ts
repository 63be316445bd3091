import { foldForComparison } from "../text.ts";
import {
  type Block,
  type Cell,
  type ContentDocument,
  type Inline,
  inlineText,
  mapPhrases,
  type Span,
} from "./model.ts";

/**
 * Normalises phrases as a browser lays them out: one space between words, none at the ends and around line breaks,
 * spaces outside of emphasis, adjacent spans of one kind joined, nothing empty.
 */
export function normalisePhrases(inlines: readonly Inline[]): Inline[] {
  const [only] = inlines;
  if (inlines.length === 1 && only?.kind === "text") return plainPhrase(only.text);
  const collapsed = new Collapser().run(inlines);
  return trimBreaks(joinNeighbours(collapsed.flatMap(hoistSpace)));
}

// Renderers disagree on whether the separators of lines and paragraphs end a line.
const SPACES = /[ \t\n\r\f\u0085\u2028\u2029]+/g;

/** Handles the most frequent case, a phrase of one text, in a fifth of the time. */
function plainPhrase(text: string): Inline[] {
  const shown = trimmed(text.replace(SPACES, " "), true, true);
  return shown === "" ? [] : [{ kind: "text", text: shown }];
}

class Collapser {
  #isSpaced = true;

  run(inlines: readonly Inline[]): Inline[] {
    const out: Inline[] = [];
    for (const inline of inlines.flatMap(spaceOutside)) {
      const shown = this.#one(inline);
      if (shown) out.push(shown);
    }
    return out;
  }

  #one(inline: Inline): Inline | null {
    switch (inline.kind) {
      case "text": {
        const text = inline.text.replace(SPACES, " ");
        const shown = this.#isSpaced && text.startsWith(" ") ? text.slice(1) : text;
        if (shown === "") return null;
        this.#isSpaced = shown.endsWith(" ");
        return { kind: "text", text: shown };
      }
      case "break":
        this.#isSpaced = true;
        return inline;
      case "span":
      case "link": {
        const children = this.run(inline.children);
        return children.length > 0 ? { ...inline, children } : null;
      }
      case "ruby": {
        const parts = inline.parts.map((part) => ({ ...part, base: normalisePhrases(part.base) }));
        const shown = parts.filter((part) => part.base.length > 0 || part.annotation !== "");
        if (shown.length === 0) return null;
        this.#isSpaced = false;
        return { kind: "ruby", parts: shown };
      }
      default:
        this.#isSpaced = false;
        return inline;
    }
  }
}

/** Moves the spaces at the ends of code outside of it, where they still separate it from its neighbours. */
function spaceOutside(inline: Inline): Inline[] {
  if (inline.kind !== "code") return [inline];
  const text = inline.text.replace(SPACES, " ");
  const shown = text.trim();
  if (text === "") return [];
  if (shown === text) return [{ kind: "code", text }];
  const gap: Inline = { kind: "text", text: " " };
  if (shown === "") return [gap];
  const start = text.indexOf(shown);
  return [
    ...(start > 0 ? [gap] : []),
    { kind: "code", text: shown },
    ...(start + shown.length < text.length ? [gap] : []),
  ];
}

/** Moves the spaces and breaks at the ends of a span or link outside of it. */
function hoistSpace(inline: Inline): Inline[] {
  if (inline.kind !== "span" && inline.kind !== "link") return [inline];
  const children = joinNeighbours(inline.children.flatMap(hoistSpace));
  const before: Inline[] = [];
  const after: Inline[] = [];
  for (let first = children[0]; first; first = children[0]) {
    if (first.kind === "break") before.push(first);
    else if (first.kind === "text" && /^[ \u00a0]/.test(first.text)) {
      before.push({ kind: "text", text: first.text.charAt(0) });
      const rest = first.text.slice(1);
      if (rest !== "") {
        children[0] = { kind: "text", text: rest };
        continue;
      }
    } else break;
    children.shift();
  }
  for (let last = children.at(-1); last; last = children.at(-1)) {
    if (last.kind === "break") after.unshift(last);
    else if (last.kind === "text" && /[ \u00a0]$/.test(last.text)) {
      after.unshift({ kind: "text", text: last.text.slice(-1) });
      const rest = last.text.slice(0, -1);
      if (rest !== "") {
        children[children.length - 1] = { kind: "text", text: rest };
        continue;
      }
    } else break;
    children.pop();
  }
  if (children.length === 0) return [...before, ...after];
  return [...before, { ...inline, children: flattenSame(inline, children) }, ...after];
}

// <b><strong>x</strong></b> is one emphasis.
const flattenSame = (outer: Inline, children: readonly Inline[]): readonly Inline[] =>
  outer.kind === "span" && (outer.tag === "strong" || outer.tag === "em" || outer.tag === "del")
    ? children.flatMap((child) =>
        child.kind === "span" && child.tag === outer.tag && isPlain(child) ? child.children : [child],
      )
    : children;

const isPlain = (span: Span): boolean => span.lang === undefined && span.dir === undefined;

function joinNeighbours(inlines: readonly Inline[]): Inline[] {
  const out: Inline[] = [];
  for (const inline of inlines) {
    const last = out.at(-1);
    if (inline.kind === "text" && last?.kind === "text") {
      const gap = last.text.endsWith(" ") && inline.text.startsWith(" ") ? inline.text.slice(1) : inline.text;
      out[out.length - 1] = { kind: "text", text: last.text + gap };
    } else if (inline.kind === "span" && last?.kind === "span" && areJoinable(last, inline)) {
      out[out.length - 1] = { ...last, children: joinNeighbours([...last.children, ...inline.children]) };
    } else if (inline.kind === "code" && last?.kind === "code") {
      out[out.length - 1] = { kind: "code", text: last.text + inline.text };
    } else out.push(inline);
  }
  return out;
}

const areJoinable = (a: Span, b: Span): boolean =>
  a.tag === b.tag && (a.tag === "strong" || a.tag === "em" || a.tag === "del") && isPlain(a) && isPlain(b);

/** Removes spaces beside line breaks, and spaces and breaks at the ends. */
function trimBreaks(inlines: Inline[]): Inline[] {
  const out: Inline[] = [];
  for (const [index, inline] of inlines.entries()) {
    if (inline.kind !== "text") {
      out.push(inline);
      continue;
    }
    const before = out.at(-1);
    const isFirst = before === undefined || before.kind === "break";
    const isLast = index === inlines.length - 1 || inlines[index + 1]?.kind === "break";
    const text = trimmed(inline.text, isFirst, isLast);
    if (text !== "") out.push(text === inline.text ? inline : { kind: "text", text });
  }
  while (out[0]?.kind === "break") out.shift();
  while (out.at(-1)?.kind === "break") out.pop();
  return out;
}

const SPACE = 0x20;
const NO_BREAK_SPACE = 0xa0;

/** Removes the spaces at the start or the end of a text, including no-break spaces at the end. */
function trimmed(text: string, atStart: boolean, atEnd: boolean): string {
  let start = 0;
  let end = text.length;
  while (atStart && start < end && text.charCodeAt(start) === SPACE) start++;
  for (; atEnd && start < end; end--) {
    const code = text.charCodeAt(end - 1);
    if (code !== SPACE && code !== NO_BREAK_SPACE) break;
  }
  return end - start === text.length ? text : text.slice(start, end);
}

/** Tells whether phrases show anything. */
export const isShown = (inlines: readonly Inline[]): boolean =>
  inlines.some((inline) =>
    inline.kind === "text"
      ? inline.text.trim() !== ""
      : inline.kind === "span" || inline.kind === "link"
        ? isShown(inline.children)
        : inline.kind !== "break",
  );

/** Splits phrases at two line breaks in a row, which pages write instead of paragraphs. */
export function splitAtBlankLines(inlines: readonly Inline[]): Inline[][] {
  const paragraphs: Inline[][] = [[]];
  for (const [index, inline] of inlines.entries()) {
    const isSecond = inline.kind === "break" && inlines[index - 1]?.kind === "break";
    if (isSecond) {
      if (paragraphs.at(-1)!.length > 0) paragraphs.push([]);
    } else paragraphs.at(-1)!.push(inline);
  }
  return paragraphs.map(trimBreaks).filter(isShown);
}

/** The parts that are left out of a document on request. */
type Omissions = { readonly images: boolean; readonly code: boolean };

/** Removes images or code blocks from a document, and the blocks that held nothing else. */
export function omit({ blocks, footnotes }: ContentDocument, omissions: Omissions): ContentDocument {
  const kept = new Filter(omissions);
  return {
    blocks: kept.blocks(blocks),
    footnotes: footnotes.map((note) => ({ ...note, blocks: kept.blocks(note.blocks) })),
  };
}

class Filter {
  readonly #omissions: Omissions;

  constructor(omissions: Omissions) {
    this.#omissions = omissions;
  }

  blocks(blocks: readonly Block[]): Block[] {
    return blocks.flatMap((block) => this.#block(block));
  }

  #block(block: Block): Block[] {
    switch (block.kind) {
      case "paragraph":
      case "heading": {
        const children = this.#phrases(block.children);
        return isShown(children) ? [{ ...block, children }] : [];
      }
      case "code-block":
        return this.#omissions.code ? [] : [block];
      case "list": {
        const items = block.items.map((item) => ({ ...item, blocks: this.blocks(item.blocks) }));
        const filled = items.filter((item) => item.blocks.length > 0);
        return filled.length > 0 ? [{ ...block, items: filled }] : [];
      }
      case "quote": {
        const blocks = this.blocks(block.blocks);
        return blocks.length > 0 ? [{ ...block, blocks }] : [];
      }
      case "admonition": {
        const blocks = this.blocks(block.blocks);
        return blocks.length > 0 || isShown(block.title) ? [{ ...block, blocks }] : [];
      }
      case "details": {
        const [summary, blocks] = [this.#phrases(block.summary), this.blocks(block.blocks)];
        return blocks.length > 0 || isShown(summary) ? [{ ...block, summary, blocks }] : [];
      }
      case "figure": {
        const [blocks, caption] = [this.blocks(block.blocks), this.blocks(block.caption)];
        return blocks.length + caption.length > 0 ? [{ ...block, blocks, caption }] : [];
      }
      case "table": {
        const row = (cells: readonly Cell[]): Cell[] =>
          cells.map((cell) => ({ ...cell, blocks: this.blocks(cell.blocks) }));
        const rows = block.rows.map(row);
        const isFilled = rows.some((cells) => cells.some(({ blocks }) => blocks.length > 0));
        return isFilled ? [{ ...block, caption: this.#phrases(block.caption), rows }] : [];
      }
      case "definitions": {
        const groups = block.groups.map(({ terms, definitions }) => ({
          terms: terms.map((term) => this.#phrases(term)),
          definitions: definitions.map((blocks) => this.blocks(blocks)),
        }));
        return [{ ...block, groups }];
      }
      default:
        return [block];
    }
  }

  #phrases(inlines: readonly Inline[]): readonly Inline[] {
    if (!this.#omissions.images || !hasImage(inlines)) return inlines;
    return normalisePhrases(withoutImages(inlines));
  }
}

const hasImage = (inlines: readonly Inline[]): boolean =>
  inlines.some(
    (inline) =>
      inline.kind === "image" ||
      ((inline.kind === "span" || inline.kind === "link") && hasImage(inline.children)),
  );

// An image stood between two words.
const withoutImages = (inlines: readonly Inline[]): Inline[] =>
  mapPhrases(inlines, ({ kind }) => (kind === "image" ? [{ kind: "text", text: " " }] : null));

/** Removes a first heading that repeats the title. */
export function withoutTitle(document: ContentDocument, title: string | null): ContentDocument {
  if (title === null) return document;
  const at = document.blocks.findIndex((block) => block.kind === "heading" || saysSomething(block));
  const heading = document.blocks[at];
  if (heading?.kind !== "heading" || heading.level > 2) return document;
  if (foldForComparison(inlineText(heading.children)) !== foldForComparison(title)) return document;
  return { ...document, blocks: document.blocks.filter((block) => block !== heading) };
}

// Images and rules may stand above the title.
const saysSomething = (block: Block): boolean =>
  block.kind === "paragraph"
    ? inlineText(block.children).trim() !== ""
    : block.kind === "figure"
      ? block.caption.length > 0 || block.blocks.some(saysSomething)
      : block.kind !== "rule";

/**
 * Closes gaps between the levels of headings below the title: a page that goes from its title to h3 and h5, as
 * manuals with one section a page do, gets h2 and h3. Headings inside quotations, tables and similar blocks stay as
 * they are.
 */
export function withoutSkippedLevels(document: ContentDocument): ContentDocument {
  return { ...document, blocks: new Leveller().blocks(document.blocks) };
}

class Leveller {
  /** The original levels of the sections around the next heading; the first is the title's. */
  readonly #open: number[] = [1];

  blocks(blocks: readonly Block[]): Block[] {
    return blocks.map((block) => this.#block(block));
  }

  #block(block: Block): Block {
    switch (block.kind) {
      case "heading":
        return { ...block, level: this.#levelOf(block.level) };
      case "details":
        return { ...block, blocks: this.blocks(block.blocks) };
      case "list":
        return {
          ...block,
          items: block.items.map((item) => ({ ...item, blocks: this.blocks(item.blocks) })),
        };
      default:
        return block;
    }
  }

  #levelOf(written: number): number {
    while (this.#open.length > 0 && this.#open.at(-1)! >= written) this.#open.pop();
    this.#open.push(written);
    return this.#open.length;
  }
}
