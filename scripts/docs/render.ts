import { escapeAttribute, escapeHtml } from "../../src/base/text.ts";
import {
  type Block,
  type Inline,
  inlineText,
  type MarkdownDocument,
  readInline,
  readMarkdown,
} from "../../src/markdown/index.ts";
import { Slugs } from "../../src/search/document/slugs.ts";

export type Heading = { readonly level: number; readonly text: string; readonly anchor: string };

export type Link = { readonly address: string; readonly text: string };

export type RenderedPage = {
  readonly html: string;
  /** In their order, with the anchors that GitHub's rules give them. */
  readonly headings: readonly Heading[];
  /** Every link as it is written. */
  readonly links: readonly Link[];
};

/**
 * Renders a page of the documentation as HTML. Its Markdown is ours, yet nothing of it becomes markup by itself: text is
 * escaped, and elements are made from what the one grammar of the program has read.
 * @param addressOf the address of a link on the site; null for a target that the site does not have, whose text stays
 */
export function renderPage(markdown: string, addressOf: (written: string) => string | null): RenderedPage {
  return new Renderer(readMarkdown(markdown), addressOf).render();
}

class Renderer {
  readonly #document: MarkdownDocument;
  readonly #addressOf: (written: string) => string | null;
  readonly #slugs = new Slugs();
  readonly #headings: Heading[] = [];
  readonly #links: Link[] = [];

  constructor(document: MarkdownDocument, addressOf: (written: string) => string | null) {
    this.#document = document;
    this.#addressOf = addressOf;
  }

  render(): RenderedPage {
    const html = this.#blocks(this.#document.blocks);
    return { html, headings: this.#headings, links: this.#links };
  }

  #blocks(blocks: readonly Block[]): string {
    return blocks.map((block) => this.#block(block)).join("\n");
  }

  #block(block: Block): string {
    switch (block.kind) {
      case "heading":
        return this.#heading(block.level, block.text);
      case "paragraph": {
        const html = this.#phrases(block.text);
        return html.trim() === "" ? "" : `<p>${html}</p>`;
      }
      case "code":
        return codeBlock(block.language, block.text);
      case "list":
        return this.#list(block);
      case "table":
        return this.#table(block);
      case "quote":
      case "note":
        return `<blockquote>${this.#blocks(block.blocks)}</blockquote>`;
      case "rule":
        return "<hr>";
      default:
        throw new Error(`pages of the documentation have no ${block.kind}`);
    }
  }

  #heading(level: number, written: string): string {
    const text = inlineText(readInline(written, this.#document));
    const anchor = this.#slugs.next(text);
    this.#headings.push({ level, text, anchor });
    const html = this.#phrases(written);
    if (level === 1) return `<h1 id="${anchor}">${html}</h1>`;
    const label = escapeAttribute(`Link to “${text}”`);
    const link = `<a class="anchor" href="#${anchor}" aria-label="${label}">#</a>`;
    return `<h${level} id="${anchor}">${html}${link}</h${level}>`;
  }

  #list({ isOrdered, start, items }: Extract<Block, { kind: "list" }>): string {
    const inner = items.map(({ blocks }) => {
      const [first, ...others] = blocks;
      // A single paragraph needs no space around it.
      const isTight = first?.kind === "paragraph" && others.every(({ kind }) => kind === "list");
      const html = isTight ? this.#phrases(first.text) + this.#blocks(others) : this.#blocks(blocks);
      return `<li>${html}</li>`;
    });
    const tag = isOrdered ? "ol" : "ul";
    return `<${tag}${start === 1 ? "" : ` start="${start}"`}>${inner.join("\n")}</${tag}>`;
  }

  #table({ header, alignments, rows }: Extract<Block, { kind: "table" }>): string {
    const place = (column: number): string =>
      alignments[column] === "left" ? "" : ` class="${alignments[column]}"`;
    const head = header.map((text, at) =>
      text === "" ? "<td></td>" : `<th scope="col"${place(at)}>${this.#phrases(text)}</th>`,
    );
    const body = rows.map(
      (row) => `<tr>${row.map((text, at) => `<td${place(at)}>${this.#phrases(text)}</td>`).join("")}</tr>`,
    );
    const shown = header.some((text) => text !== "") ? `<thead><tr>${head.join("")}</tr></thead>` : "";
    const table = `<table>${shown}<tbody>${body.join("\n")}</tbody></table>`;
    return `<div class="scroll" tabindex="0" role="group" aria-label="Table">${table}</div>`;
  }

  #phrases(text: string): string {
    return this.#inlines(readInline(text, this.#document));
  }

  #inlines(inlines: readonly Inline[]): string {
    return inlines.map((inline) => this.#inline(inline)).join("");
  }

  #inline(inline: Inline): string {
    switch (inline.kind) {
      case "text":
        return escapeHtml(inline.text);
      case "code":
        return `<code>${commandHtml(inline.text)}</code>`;
      case "break":
        return "<br>";
      case "span":
        return `<${inline.tag}>${this.#inlines(inline.children)}</${inline.tag}>`;
      case "link":
        return this.#link(inline.address, inline.children);
      default:
        throw new Error(`pages of the documentation have no ${inline.kind}`);
    }
  }

  #link(written: string, children: readonly Inline[]): string {
    const html = this.#inlines(children);
    this.#links.push({ address: written, text: inlineText(children) });
    const address = this.#addressOf(written);
    return address === null ? html : `<a href="${escapeAttribute(address)}">${html}</a>`;
  }
}

/** Lines are broken at hyphens, which would tear `--output` apart. */
const commandHtml = (line: string): string =>
  escapeHtml(line).replace(/(?<=^|\s)--[a-z][a-z-]*/g, '<span class="option">$&</span>');

function codeBlock(language: string, text: string): string {
  const lines = text.split("\n").map((line) => {
    const isCommand = language === "console" && line.startsWith("$ ");
    if (isCommand) return `<span class="command">${commandHtml(line)}</span>`;
    return language === "sh" ? commandHtml(line) : escapeHtml(line);
  });
  const kind = language === "" ? "" : ` data-language="${language}"`;
  return `<div class="code"${kind}><pre tabindex="0"><code>${lines.join("\n")}</code></pre></div>`;
}
