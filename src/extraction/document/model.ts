import { foldForComparison } from "../text.ts";

/**
 * The content of a page as a small tree: what a reader sees, and nothing of how the page made it. All renderings are
 * written from it, so they contain the same things in the same order.
 */
export type ContentDocument = {
  readonly blocks: readonly Block[];
  readonly footnotes: readonly Footnote[];
};

/** A note below the text; a `footnote-ref` refers to it by `label`. */
export type Footnote = { readonly label: string; readonly blocks: readonly Block[] };

/** Language (BCP 47) and direction, where the page states them. */
export type Locale = { readonly lang?: string; readonly dir?: string };

/** What may state its locale; absent where the page states neither language nor direction. */
export type Localised = { readonly locale?: Locale | undefined };

export type Block =
  | ({ readonly kind: "paragraph"; readonly children: readonly Inline[] } & Localised)
  | ({ readonly kind: "heading"; readonly level: number; readonly children: readonly Inline[] } & Localised)
  | ({ readonly kind: "quote"; readonly blocks: readonly Block[]; readonly cite: string | null } & Localised)
  | ({ readonly kind: "rule" } & Localised)
  | List
  | CodeBlock
  | Table
  | Admonition
  | Details
  | DefinitionList
  | Figure
  | ({ readonly kind: "math-block"; readonly tex: string } & Localised);

export type List = {
  readonly kind: "list";
  readonly isOrdered: boolean;
  /** The number of the first item of an ordered list. */
  readonly start: number;
  readonly items: readonly ListItem[];
} & Localised;

/** @property isDone null for an item that is no task */
export type ListItem = { readonly isDone: boolean | null; readonly blocks: readonly Block[] };

/** Code exactly as the page shows it, without a final line break. */
export type CodeBlock = {
  readonly kind: "code-block";
  readonly text: string;
  readonly language: string | null;
  /** The file name, or the name of the tab that shows the code. */
  readonly label: string | null;
} & Localised;

export type Alignment = "left" | "center" | "right" | null;

export type Cell = {
  readonly blocks: readonly Block[];
  readonly isHeader: boolean;
  readonly colspan: number;
  readonly rowspan: number;
  readonly alignment: Alignment;
};

/** The rows as the page has them, with spans not expanded; the first `headerRows` are the header. */
export type Table = {
  readonly kind: "table";
  readonly caption: readonly Inline[];
  readonly headerRows: number;
  readonly rows: readonly (readonly Cell[])[];
} & Localised;

/** The five kinds of GitHub's alerts; those of other generators are mapped to them. */
export type AdmonitionKind = "note" | "tip" | "important" | "warning" | "caution";

export type Admonition = {
  readonly kind: "admonition";
  readonly type: AdmonitionKind;
  /** The title that the page shows, even if it only repeats the kind; empty when it shows none. */
  readonly title: readonly Inline[];
  readonly blocks: readonly Block[];
} & Localised;

export type Details = {
  readonly kind: "details";
  readonly summary: readonly Inline[];
  readonly isOpen: boolean;
  readonly blocks: readonly Block[];
} & Localised;

export type Definition = {
  readonly terms: readonly (readonly Inline[])[];
  readonly definitions: readonly (readonly Block[])[];
};

export type DefinitionList = {
  readonly kind: "definitions";
  readonly groups: readonly Definition[];
} & Localised;

export type Figure = {
  readonly kind: "figure";
  readonly blocks: readonly Block[];
  readonly caption: readonly Block[];
} & Localised;

/** The phrase elements of pages, each with the one that it is written as; by their HTML names. */
const SPAN_NAMES = {
  EM: "em",
  I: "em",
  STRONG: "strong",
  B: "strong",
  S: "del",
  DEL: "del",
  STRIKE: "del",
  INS: "ins",
  U: "u",
  MARK: "mark",
  SMALL: "small",
  SUB: "sub",
  SUP: "sup",
  KBD: "kbd",
  SAMP: "samp",
  VAR: "var",
  CITE: "cite",
  DFN: "dfn",
  ABBR: "abbr",
  ACRONYM: "abbr",
  Q: "q",
  TIME: "time",
  BDI: "bdi",
  BDO: "bdo",
} as const;
export const SPANS: Readonly<Record<string, SpanTag>> = SPAN_NAMES;
/** A `span` only has a language or a direction. */
export type SpanTag = (typeof SPAN_NAMES)[keyof typeof SPAN_NAMES] | "span";

export type Span = {
  readonly kind: "span";
  readonly tag: SpanTag;
  readonly children: readonly Inline[];
  readonly title?: string | undefined;
  readonly datetime?: string | undefined;
} & Localised;

export type Image = {
  readonly kind: "image";
  readonly src: string;
  readonly alt: string;
  readonly title: string | null;
  /** Pixels, as the page states them. */
  readonly width: string | null;
  readonly height: string | null;
};

export type Link = {
  readonly kind: "link";
  readonly href: string;
  readonly title: string | null;
  readonly children: readonly Inline[];
};

export type RubyPart = { readonly base: readonly Inline[]; readonly annotation: string };

export type Inline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "math"; readonly tex: string }
  | { readonly kind: "break" }
  | { readonly kind: "footnote-ref"; readonly label: string }
  | { readonly kind: "ruby"; readonly parts: readonly RubyPart[] }
  | Span
  | Link
  | Image;

/**
 * Changes phrases from the outside in.
 * @param change returns the replacement of a phrase, or null to keep the phrase and visit its content
 */
export const mapPhrases = (
  inlines: readonly Inline[],
  change: (inline: Inline) => readonly Inline[] | null,
): Inline[] =>
  inlines.flatMap((inline): readonly Inline[] => {
    const changed = change(inline);
    if (changed !== null) return changed;
    const isNested = inline.kind === "span" || inline.kind === "link";
    return [isNested ? { ...inline, children: mapPhrases(inline.children, change) } : inline];
  });

/** Puts a space in the place of each image or line break, which stood between two words. */
export const withSpaceFor = (gone: "image" | "break", inlines: readonly Inline[]): Inline[] =>
  mapPhrases(inlines, ({ kind }) => (kind === gone ? [{ kind: "text", text: " " }] : null));

/** Returns the text of a phrase without any markup. */
export function inlineText(inlines: readonly Inline[]): string {
  let text = "";
  for (const inline of inlines) {
    if (inline.kind === "text" || inline.kind === "code") text += inline.text;
    else if (inline.kind === "math") text += inline.tex;
    else if (inline.kind === "break") text += " ";
    else if (inline.kind === "span" || inline.kind === "link") text += inlineText(inline.children);
    else if (inline.kind === "ruby") text += inline.parts.map((part) => inlineText(part.base)).join("");
  }
  return text;
}

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
  const before = takeSpace(children, 0);
  const after = takeSpace(children, -1).reverse();
  if (children.length === 0) return [...before, ...after];
  return [...before, { ...inline, children: flattenSame(inline, children) }, ...after];
}

/** Takes the spaces and breaks from the start (0) or the end (-1) of phrases, the outermost first. */
function takeSpace(inlines: Inline[], side: 0 | -1): Inline[] {
  const taken: Inline[] = [];
  for (let outermost = inlines.at(side); outermost; outermost = inlines.at(side)) {
    if (outermost.kind === "break") taken.push(outermost);
    else if (outermost.kind === "text" && /[ \u00a0]/.test(outermost.text.at(side) ?? "")) {
      const { text } = outermost;
      taken.push({ kind: "text", text: text.at(side)! });
      const rest = side === 0 ? text.slice(1) : text.slice(0, -1);
      if (rest !== "") {
        inlines.splice(side, 1, { kind: "text", text: rest });
        continue;
      }
    } else break;
    inlines.splice(side, 1);
  }
  return taken;
}

// <b><strong>x</strong></b> is one emphasis.
const flattenSame = (outer: Inline, children: readonly Inline[]): readonly Inline[] =>
  outer.kind === "span" && (outer.tag === "strong" || outer.tag === "em" || outer.tag === "del")
    ? children.flatMap((child) =>
        child.kind === "span" && child.tag === outer.tag && isPlain(child) ? child.children : [child],
      )
    : children;

const isPlain = ({ locale }: Span): boolean => locale === undefined;

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

/** The functions that change the blocks and the phrases inside a block. */
type Parts = {
  readonly blocks: (blocks: readonly Block[]) => readonly Block[];
  readonly phrases: (inlines: readonly Inline[]) => readonly Inline[];
};

/** Changes what is directly inside a block, in its order. */
export function mapBlock(block: Block, { blocks, phrases }: Parts): Block {
  switch (block.kind) {
    case "paragraph":
    case "heading":
      return { ...block, children: phrases(block.children) };
    case "list":
      return { ...block, items: block.items.map((item) => ({ ...item, blocks: blocks(item.blocks) })) };
    case "quote":
      return { ...block, blocks: blocks(block.blocks) };
    case "admonition":
      return { ...block, title: phrases(block.title), blocks: blocks(block.blocks) };
    case "details":
      return { ...block, summary: phrases(block.summary), blocks: blocks(block.blocks) };
    case "figure":
      return { ...block, blocks: blocks(block.blocks), caption: blocks(block.caption) };
    case "table": {
      const caption = phrases(block.caption);
      const row = (cells: readonly Cell[]): Cell[] =>
        cells.map((cell) => ({ ...cell, blocks: blocks(cell.blocks) }));
      return { ...block, caption, rows: block.rows.map(row) };
    }
    case "definitions": {
      const groups = block.groups.map(({ terms, definitions }) => ({
        terms: terms.map(phrases),
        definitions: definitions.map(blocks),
      }));
      return { ...block, groups };
    }
    default:
      return block;
  }
}

/** The parts that are left out of a document on request. */
type Omissions = { readonly images: boolean; readonly code: boolean };

/** Removes images or code blocks from a document, and the blocks that held nothing else. */
export function omit({ blocks, footnotes }: ContentDocument, omissions: Omissions): ContentDocument {
  const parts: Parts = {
    blocks: (some) =>
      some
        .filter(({ kind }) => !omissions.code || kind !== "code-block")
        .map((block) => withoutEmptyItems(mapBlock(block, parts)))
        .filter(isFilled),
    phrases: (inlines) =>
      omissions.images && hasImage(inlines) ? normalisePhrases(withSpaceFor("image", inlines)) : inlines,
  };
  return {
    blocks: parts.blocks(blocks),
    footnotes: footnotes.map((note) => ({ ...note, blocks: parts.blocks(note.blocks) })),
  };
}

const withoutEmptyItems = (block: Block): Block =>
  block.kind === "list" ? { ...block, items: block.items.filter(({ blocks }) => blocks.length > 0) } : block;

function isFilled(block: Block): boolean {
  switch (block.kind) {
    case "paragraph":
    case "heading":
      return isShown(block.children);
    case "list":
      return block.items.length > 0;
    case "quote":
      return block.blocks.length > 0;
    case "admonition":
      return block.blocks.length > 0 || isShown(block.title);
    case "details":
      return block.blocks.length > 0 || isShown(block.summary);
    case "figure":
      return block.blocks.length + block.caption.length > 0;
    case "table":
      return block.rows.some((cells) => cells.some(({ blocks }) => blocks.length > 0));
    default:
      return true;
  }
}

const hasImage = (inlines: readonly Inline[]): boolean =>
  inlines.some(
    (inline) =>
      inline.kind === "image" ||
      ((inline.kind === "span" || inline.kind === "link") && hasImage(inline.children)),
  );

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
 * manuals with one section a page do, gets h2 and h3. A page with many h1, as books and manual pages on one page are,
 * has its whole outline below the title. Headings inside quotations, tables and similar blocks stay as
 * they are.
 */
export function withoutSkippedLevels(document: ContentDocument, isTitled: boolean): ContentDocument {
  /** The original levels of the sections around the next heading; the first is the title's. */
  const open = [isTitled ? 0 : 1];
  const level = (block: Block): Block => {
    if (block.kind === "details" || block.kind === "list")
      return mapBlock(block, { blocks: (blocks) => blocks.map(level), phrases: (inlines) => inlines });
    if (block.kind !== "heading") return block;
    while (open.length > 0 && open.at(-1)! >= block.level) open.pop();
    open.push(block.level);
    return { ...block, level: Math.min(open.length, 6) };
  };
  return { ...document, blocks: document.blocks.map(level) };
}
