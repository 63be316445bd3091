import type { Alignment, Block, ListBlock, MarkdownDocument } from "./model.ts";
import { type Container, cellsOf, type Leaf, scanBlocks } from "./scan.ts";

/** Reads a document whole, for who shows it; any text is one. Takes time linear in the text. */
export function readMarkdown(markdown: string): MarkdownDocument {
  return new DocumentBuilder(markdown).build();
}

class DocumentBuilder {
  readonly #text: string;
  readonly #footnotes = new Map<string, readonly Block[]>();
  readonly #references = new Map<string, string>();
  readonly #frames: { readonly container: Container; readonly blocks: Block[] }[] = [];
  #blocks: Block[] = [];
  readonly #lists = new WeakMap<Block, { readonly sign: string; readonly items: Item[] }>();
  #leaf: Leaf = { kind: "paragraph" };
  /** Starts and ends of the lines of the open leaf. */
  #lines: number[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  build(): MarkdownDocument {
    scanBlocks(this.#text, {
      open: (container) => {
        this.#frames.push({ container, blocks: this.#blocks });
        this.#blocks = [];
      },
      close: () => this.#close(),
      begin: (leaf) => {
        this.#leaf = leaf;
        this.#lines = [];
      },
      line: (start, end) => this.#lines.push(start, end),
      end: () => this.#blocks.push(this.#block(this.#leaf)),
      rule: () => this.#blocks.push({ kind: "rule" }),
      reference: (label, address) => {
        const key = label.trim().toLowerCase();
        if (!this.#references.has(key)) this.#references.set(key, address);
      },
    });
    return { blocks: this.#blocks, footnotes: this.#footnotes, references: this.#references };
  }

  #close(): void {
    const { container, blocks: outer } = this.#frames.pop()!;
    const inner = this.#blocks;
    this.#blocks = outer;
    if (container.kind === "quote") outer.push(quoteOf(inner));
    else if (container.kind === "details") outer.push(detailsOf(inner, container.isOpen));
    else if (container.kind === "item") this.#addItem(container, itemOf(inner));
    else if (!this.#footnotes.has(container.label)) this.#footnotes.set(container.label, inner);
  }

  /** Adds an item to the list that it continues, or to a new list. */
  #addItem({ sign, number }: Extract<Container, { kind: "item" }>, item: Item): void {
    const last = this.#blocks.at(-1);
    const list = last && this.#lists.get(last);
    if (list?.sign === sign) list.items.push(item);
    else {
      const items = [item];
      const block: Block = { kind: "list", isOrdered: number !== null, start: number ?? 1, items };
      this.#lists.set(block, { sign, items });
      this.#blocks.push(block);
    }
  }

  #block(leaf: Leaf): Block {
    switch (leaf.kind) {
      case "heading":
        return { kind: "heading", level: leaf.level, text: withoutAnchor(this.#joined(" ")) };
      case "code": {
        const language = /^[\w.+#-]{1,40}/.exec(leaf.info)?.[0] ?? "";
        return { kind: "code", language, text: this.#joined("\n") };
      }
      case "math":
        return { kind: "math", tex: this.#joined("\n") };
      case "table":
        return this.#table();
      case "paragraph":
        return { kind: "paragraph", text: this.#paragraph() };
    }
  }

  #joined(separator: string): string {
    const lines: string[] = [];
    for (let at = 0; at < this.#lines.length; at += 2)
      lines.push(this.#text.slice(this.#lines[at], this.#lines[at + 1]));
    return lines.join(separator);
  }

  /** Two spaces at the end of a line are a break. */
  #paragraph(): string {
    let text = "";
    for (let at = 0; at < this.#lines.length; at += 2) {
      const end = this.#lines[at + 1]!;
      text += this.#text.slice(this.#lines[at], end);
      if (at + 2 < this.#lines.length) text += this.#text.startsWith("  ", end) ? "  \n" : "\n";
    }
    return text;
  }

  #table(): Block {
    const cells = (line: number): string[] =>
      cellsOf(this.#text, this.#lines[2 * line]!, this.#lines[2 * line + 1]!).map(([start, end]) =>
        this.#text.slice(start, end).replaceAll("\\|", "|"),
      );
    const header = cells(0);
    const rows = Array.from({ length: this.#lines.length / 2 - 2 }, (_, row) => {
      const written = cells(row + 2);
      return header.map((_, column) => written[column] ?? "");
    });
    return { kind: "table", alignments: cells(1).map(alignmentOf), header, rows };
  }
}

const alignmentOf = (dashes: string): Alignment =>
  dashes.endsWith(":") ? (dashes.startsWith(":") ? "center" : "right") : "left";

/** Documentation generators write the anchor of a heading behind it: `Title {#anchor}`. */
const withoutAnchor = (text: string): string =>
  text.endsWith("}") ? text.replace(/\{#[\w:.-]{1,100}\}$/, "").trimEnd() : text;

function quoteOf(blocks: readonly Block[]): Block {
  const [first, ...others] = blocks;
  const [mark, label] =
    first?.kind === "paragraph" ? (/^\[!([A-Za-z]{1,20})\](?:\n|$)/.exec(first.text) ?? []) : [];
  if (first?.kind !== "paragraph" || mark === undefined || label === undefined)
    return { kind: "quote", blocks };
  return { kind: "note", label, blocks: withFirst(first.text.slice(mark.length), others) };
}

const withFirst = (text: string, others: readonly Block[]): readonly Block[] =>
  text === "" ? others : [{ kind: "paragraph", text }, ...others];

function detailsOf(blocks: readonly Block[], isOpen: boolean): Block {
  const [first, ...others] = blocks;
  const text = first?.kind === "paragraph" ? first.text : "";
  const [whole, summary] = /^<summary[^>]{0,200}>([\s\S]{0,4000}?)<\/summary>\s*/i.exec(text) ?? [];
  if (whole === undefined || summary === undefined) return { kind: "details", summary: "", isOpen, blocks };
  const inner = withFirst(text.slice(whole.length), others);
  return { kind: "details", summary: summary.trim(), isOpen, blocks: inner };
}

type Item = ListBlock["items"][number];

function itemOf(blocks: readonly Block[]): Item {
  const [first, ...others] = blocks;
  if (first?.kind !== "paragraph" || !/^\[[ xX]\] /.test(first.text)) return { isDone: null, blocks };
  const text = first.text.slice(4);
  return { isDone: first.text[1] !== " ", blocks: [{ kind: "paragraph", text }, ...others] };
}
