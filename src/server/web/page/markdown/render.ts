import { decodeLoosely } from "../../../../base/text.ts";
import {
  type Block,
  type Inline,
  inlineText,
  type ListBlock,
  type MarkdownDocument,
  readInline,
  readMarkdown,
  type TableBlock,
} from "../../../../markdown/index.ts";
import { announce, type Child, fill, h } from "../dom.ts";

type RenderOptions = {
  /** The base of relative addresses. */
  readonly base: string | null;
  /** Handles a link instead of the browser; false leaves it to the browser. */
  readonly onLink?: (address: string) => boolean;
  /** The number in the outline of the heading that a fragment leads to, -1 for none; many ids are not like their heading. */
  readonly headingOf?: (fragment: string) => number;
};

export type RenderedHeading = {
  readonly level: number;
  readonly text: string;
  /** Null while the heading is not shown. */
  readonly element: () => HTMLElement | null;
  /** Shows the document up to the heading, and goes there. */
  readonly goTo: () => void;
};

/** The number of elements that are created at once; a click creates the next ones. */
const PORTION = 6000;
const MAX_CODE = 300_000;

/**
 * Renders untrusted Markdown as elements. Only elements named here are created, text stays text, links lead only to
 * http, https and mail, and no picture is loaded before a click on it.
 */
export const renderMarkdown = (markdown: string, options: RenderOptions): MarkdownView =>
  new MarkdownView(readMarkdown(markdown), options);

class MarkdownView {
  readonly element = h("div.prose");
  readonly #document: MarkdownDocument;
  readonly #options: RenderOptions;
  readonly #more = h("button.more", { type: "button", onclick: () => this.#showMore() }, "Show more");
  /** The footnotes that the text refers to, in the order of their numbers. */
  readonly #notes: string[] = [];
  /** The elements of top-level blocks, as far as they are shown. */
  readonly #elements = new Map<Block, HTMLElement>();
  readonly #headings: { readonly text: string; readonly element: HTMLElement }[] = [];
  #shown = 0;
  #left = PORTION;

  constructor(document: MarkdownDocument, options: RenderOptions) {
    this.#document = document;
    this.#options = options;
    this.#showMore();
  }

  /** Shows the document up to the heading with this anchor, and goes there. @returns whether there is one */
  goTo(anchor: string): boolean {
    const named = this.outline()[this.#options.headingOf?.(anchor) ?? -1];
    if (named) {
      named.goTo();
      return true;
    }
    const wanted = comparable(anchor);
    for (;;) {
      const found = this.#headings.find(({ text }) => text === wanted || `${text}1` === wanted);
      if (found) {
        goToHeading(found.element);
        return true;
      }
      if (this.#shown >= this.#document.blocks.length) return false;
      this.#showMore();
    }
  }

  /** The headings outside lists, quotes and the like, in order, even headings that are not shown yet. */
  outline(): RenderedHeading[] {
    return this.#document.blocks.flatMap((block) => {
      if (block.kind !== "heading") return [];
      const { level } = block;
      const text = inlineText(readInline(block.text, this.#document)).trim();
      const element = (): HTMLElement | null => this.#elements.get(block) ?? null;
      const goTo = (): void => {
        while (!element() && this.#shown < this.#document.blocks.length) this.#showMore();
        const shown = element();
        if (shown) goToHeading(shown);
      };
      return [{ level, text, element, goTo }];
    });
  }

  #showMore(): void {
    const { blocks } = this.#document;
    this.#more.remove();
    this.#left = PORTION;
    while (this.#shown < blocks.length && this.#left > 0) {
      const block = blocks[this.#shown++]!;
      const node = this.#block(block);
      if (block.kind === "heading" && node instanceof HTMLElement) this.#elements.set(block, node);
      this.element.append(node);
    }
    if (this.#shown < blocks.length) this.element.append(this.#more);
    else this.#appendFootnotes();
  }

  #blocks(blocks: readonly Block[]): Node[] {
    const nodes: Node[] = [];
    for (const block of blocks) {
      if (this.#left <= 0) break;
      nodes.push(this.#block(block));
    }
    if (nodes.length < blocks.length) nodes.push(cutMark(blocks.length - nodes.length, "block"));
    return nodes;
  }

  #block(block: Block): Node {
    this.#left--;
    switch (block.kind) {
      case "paragraph":
        return h("p", ...this.#phrases(block.text));
      case "heading":
        return this.#heading(block.level, block.text);
      case "code":
        return codeBlock(block.language, block.text);
      case "math":
        return h("div.math.math-block", { tabindex: "0", role: "math" }, block.tex);
      case "rule":
        return h("hr");
      case "quote":
        return h("blockquote", ...this.#blocks(block.blocks));
      case "note":
        return h("aside.note", h("p.label", labelOf(block.label)), ...this.#blocks(block.blocks));
      case "details": {
        const summary = h("summary", ...this.#phrases(block.summary || "Details"));
        return h("details", { open: block.isOpen }, summary, ...this.#blocks(block.blocks));
      }
      case "list":
        return this.#list(block);
      case "table":
        return this.#table(block);
    }
  }

  #heading(level: number, text: string): HTMLElement {
    const inlines = readInline(text, this.#document);
    const element = h(HEADINGS[level - 1] ?? "h6", {}, ...this.#inlines(inlines));
    this.#headings.push({ text: comparable(inlineText(inlines)), element });
    return element;
  }

  #list({ isOrdered, start, items }: ListBlock): HTMLElement {
    const list = isOrdered ? h("ol", { start: start === 1 ? null : start }) : h("ul");
    let count = 0;
    for (const { isDone, blocks } of items) {
      if (this.#left-- <= 0) break;
      count++;
      const box =
        isDone !== null &&
        h("input", {
          type: "checkbox",
          disabled: true,
          checked: isDone,
          "aria-label": isDone ? "done" : "to do",
        });
      const [first, ...others] = blocks;
      // A single paragraph needs no space around it.
      const head = first?.kind === "paragraph" && others.every(({ kind }) => kind === "list");
      const inner = head ? [...this.#phrases(first.text), ...this.#blocks(others)] : this.#blocks(blocks);
      list.append(h("li", { class: isDone === null ? null : "task" }, box, ...inner));
    }
    if (count < items.length) list.append(h("li", cutMark(items.length - count, "item")));
    return list;
  }

  #table({ header, alignments, rows }: TableBlock): HTMLElement {
    const place = (column: number): string | null =>
      alignments[column] === "left" ? null : (alignments[column] ?? null);
    const names = header.map((text, column) =>
      h("th", { class: place(column), scope: "col" }, ...this.#phrases(text)),
    );
    const body = h("tbody");
    let count = 0;
    for (const row of rows) {
      if (this.#left <= 0) break;
      count++;
      this.#left -= row.length;
      body.append(
        h("tr", ...row.map((text, column) => h("td", { class: place(column) }, ...this.#phrases(text)))),
      );
    }
    const head = header.some((text) => text !== "") && h("thead", h("tr", ...names));
    const cut = count < rows.length && cutMark(rows.length - count, "row");
    return h(
      "div.scroll",
      { tabindex: "0", role: "region", "aria-label": "Table" },
      h("table", head, body),
      cut,
    );
  }

  #phrases(text: string): Node[] {
    return this.#inlines(readInline(text, this.#document));
  }

  #inlines(inlines: readonly Inline[]): Node[] {
    return inlines.map((inline) => this.#inline(inline));
  }

  #inline(inline: Inline): Node {
    if (inline.kind === "text") return document.createTextNode(inline.text);
    this.#left--;
    switch (inline.kind) {
      case "code":
        return h("code", inline.text);
      case "math":
        return h("span.math", { role: "math" }, inline.tex);
      case "break":
        return h("br");
      case "image":
        return picture(addressOf(inline.address, this.#options.base, PICTURE_SCHEMES), inline.text);
      case "footnote":
        return this.#footnoteMark(inline.label);
      case "span":
        return h(inline.tag, {}, ...this.#inlines(inline.children));
      case "link":
        return this.#linkWith(inline.address, inline.children);
    }
  }

  /** A picture is a button, which cannot be inside a link, so it is put before it. */
  #linkWith(address: string, children: readonly Inline[]): Node {
    const pictures = children.filter(({ kind }) => kind === "image");
    if (pictures.length === 0) return this.#link(address, this.#inlines(children));
    const rest = children.filter(({ kind }) => kind !== "image");
    const label = inlineText(rest).trim() === "" ? ["Link"] : this.#inlines(rest);
    return h("span", ...this.#inlines(pictures), " ", this.#link(address, label));
  }

  #link(written: string, children: readonly Child[]): Node {
    if (written.startsWith("#") && written.length > 1) {
      const goTo = (event: Event): void => {
        event.preventDefault();
        this.goTo(decodeLoosely(written.slice(1)));
      };
      return h("a", { href: written, onclick: goTo }, ...children);
    }
    const address = addressOf(written, this.#options.base, LINK_SCHEMES);
    if (address === null) return h("span", ...children);
    const { onLink } = this.#options;
    const isOurs = address.startsWith("docs:");
    if (isOurs && !onLink) return h("span", ...children);
    const click = (event: Event): void => {
      const isPlain = event instanceof MouseEvent && !event.ctrlKey && !event.metaKey && !event.shiftKey;
      if (isOurs || (isPlain && onLink?.(address))) event.preventDefault();
      if (isOurs) onLink?.(address);
    };
    const rel = "noopener noreferrer nofollow ugc";
    return h("a", { href: isOurs ? "#" : address, target: "_blank", rel, onclick: click }, ...children);
  }

  #footnoteMark(label: string): Node {
    if (!this.#document.footnotes.has(label)) return document.createTextNode(`[^${label}]`);
    let place = this.#notes.indexOf(label);
    if (place < 0) place = this.#notes.push(label) - 1;
    const show = (event: Event): void => {
      event.preventDefault();
      const note = this.element.querySelectorAll<HTMLElement>(".footnotes > ol > li")[place];
      note?.scrollIntoView({ block: "center" });
      note?.focus({ preventScroll: true });
    };
    return h("sup", h("a", { href: "#", onclick: show, "aria-label": `Footnote ${place + 1}` }, place + 1));
  }

  #appendFootnotes(): void {
    const list = h("ol");
    this.#left = PORTION;
    // A footnote may refer to another one, which is then added at the end.
    for (let place = 0; place < this.#notes.length; place++) {
      const blocks = this.#document.footnotes.get(this.#notes[place]!) ?? [];
      list.append(h("li", { tabindex: "-1" }, ...this.#blocks(blocks)));
    }
    if (list.childElementCount > 0)
      this.element.append(h("section.footnotes", { "aria-label": "Footnotes" }, list));
  }
}

function goToHeading(heading: HTMLElement): void {
  for (const other of document.querySelectorAll(".found")) other.classList.remove("found");
  heading.classList.add("found");
  heading.setAttribute("tabindex", "-1");
  heading.scrollIntoView({ block: "start" });
  heading.focus({ preventScroll: true });
}

const HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"] as const;

/** Keeps letters and digits for comparison: generators of anchors differ in everything else. */
const comparable = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

const labelOf = (label: string): string => label.slice(0, 1).toUpperCase() + label.slice(1).toLowerCase();

const cutMark = (count: number, what: string): HTMLElement =>
  h("span.fine", `… ${count} more ${what}${count === 1 ? "" : "s"}`);

function codeBlock(language: string, text: string): HTMLElement {
  const shown = text.length > MAX_CODE ? `${text.slice(0, MAX_CODE)}\n…` : text;
  const pre = h("pre", { tabindex: "0" }, h("code", shown));
  return h("div.code", language !== "" && h("div.language", language), pre);
}

const LINK_SCHEMES: readonly string[] = ["http:", "https:", "mailto:", "docs:"];
const PICTURE_SCHEMES: readonly string[] = ["http:", "https:", "data:"];

/** Returns the absolute address; null when it cannot be resolved or its scheme is not allowed. */
function addressOf(written: string, base: string | null, schemes: readonly string[]): string | null {
  const url = URL.parse(written.trim(), base ?? undefined);
  if (!url || !schemes.includes(url.protocol)) return null;
  if (url.protocol === "data:" && !/^data:image\/(?:png|jpeg|gif|webp|avif)[;,]/i.test(url.href)) return null;
  return url.href;
}

/** Creates a placeholder that loads its picture on a click and shows where it would come from. */
function picture(address: string | null, text: string): Node {
  const name = text.trim() || "Picture";
  if (address === null) return text.trim() === "" ? document.createTextNode("") : h("em", text);
  const host = address.startsWith("data:") ? "in the page" : (URL.parse(address)?.host ?? "");
  const from = h("span.fine", host);
  const button = h("button.picture", { type: "button" }, `Show picture: ${name} `, from);
  button.addEventListener("click", (event) => {
    event.preventDefault();
    event.stopPropagation();
    const image = h("img", { alt: text, referrerpolicy: "no-referrer", tabindex: "-1" });
    image.addEventListener("error", () => {
      fill(button, `${name}: the picture could not be loaded`);
      image.replaceWith(button);
      announce("The picture could not be loaded");
    });
    image.src = address;
    button.replaceWith(image);
    image.focus({ preventScroll: true });
  });
  return button;
}
