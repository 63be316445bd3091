import type { PageUrl } from "../../urls/index.ts";
import { References } from "../references.ts";
import { removeInvisible } from "../text.ts";
import { admonitionKind, alertMark } from "./admonition.ts";
import { classesOf, classOf, isElement, nameOf, textFrom, textOf } from "./element.ts";
import { addToItems, isLayout, taskState, withoutMark } from "./list-items.ts";
import type { Block, ContentDocument, Definition, Footnote, Inline, ListItem } from "./model.ts";
import { BLOCKS, DROPPED, MAX_ELEMENT_DEPTH, MAX_NESTING } from "./names.ts";
import { isShown, normalisePhrases, splitAtBlankLines } from "./normalise.ts";
import type { BlockReader, Place } from "./place.ts";
import { hrefOf, localeOf, type PhraseContext, pushText, readPhrase, readPhrases } from "./read-inlines.ts";
import { readTable } from "./read-table.ts";

/**
 * Reads the content below an element in canonical form into a document: allowed things only, links and
 * images absolute, nothing that is not seen.
 * @param base what relative references resolve against; null leaves them relative
 */
export function readDocument(root: Element, base: PageUrl | null): ContentDocument {
  return new Reader(base, { holders: holdersOfBlocks(root), notes: labelsOfNotes(root) }).read(root);
}

/** The elements that hold blocks, so that a phrase element around paragraphs is read as their frame. */
function holdersOfBlocks(root: Element): Set<Node> {
  const holders = new Set<Node>();
  const stack: Element[] = [root];
  for (let element = stack.pop(); element; element = stack.pop()) {
    for (let child = element.firstElementChild; child; child = child.nextElementSibling) stack.push(child);
    if (element === root || !BLOCKS.has(nameOf(element))) continue;
    for (let at = element.parentNode; at && !holders.has(at); at = at.parentNode) holders.add(at);
  }
  return holders;
}

const HEADINGS = "h1, h2, h3, h4, h5, h6";
const NOTE_ID = /^fn-(\d{1,4})$/;

function labelsOfNotes(root: Element): Set<string> {
  const labels = new Set<string>();
  for (const note of root.querySelectorAll(".footnote[id]")) {
    const label = NOTE_ID.exec(note.getAttribute("id") ?? "")?.[1];
    if (label !== undefined) labels.add(label);
  }
  return labels;
}

type Survey = { readonly holders: ReadonlySet<Node>; readonly notes: ReadonlySet<string> };

class Reader implements BlockReader {
  readonly #references: References;
  readonly #holders: ReadonlySet<Node>;
  readonly #notes: ReadonlySet<string>;
  readonly #footnotes = new Map<string, Footnote>();

  constructor(base: PageUrl | null, { holders, notes }: Survey) {
    this.#references = new References(base);
    this.#holders = holders;
    this.#notes = notes;
  }

  read(root: Element): ContentDocument {
    const blocks = this.blocks(root, { depth: 0, nesting: 0, locale: {}, link: null });
    // In the order of their references, as renderers number them.
    const footnotes = [...this.#footnotes.values()].sort((a, b) => Number(a.label) - Number(b.label));
    return { blocks, footnotes };
  }

  /** The blocks among and inside an element's children; phrases between them become paragraphs. */
  blocks(parent: Element, place: Place): Block[] {
    if (place.depth > MAX_ELEMENT_DEPTH) return this.#flat(parent);
    const out: Block[] = [];
    let run: Inline[] = [];
    const flush = (): void => {
      this.#paragraphs(out, run, place);
      run = [];
    };
    for (let child = parent.firstChild; child; child = child.nextSibling) {
      if (child.nodeType === 3) pushText(run, textFrom(child));
      if (!isElement(child) || DROPPED.has(nameOf(child))) continue;
      if (!BLOCKS.has(nameOf(child)) && !this.#holders.has(child)) {
        run.push(...readPhrase(child, this.#context(place)));
        continue;
      }
      flush();
      out.push(...this.#block(child, { ...place, depth: place.depth + 1 }));
    }
    flush();
    return out;
  }

  /** An element's own phrases, for places where no block can stand. */
  phrases(element: Element, place: Place): Inline[] {
    return normalisePhrases(readPhrases(element, this.#context(place)));
  }

  #context({ depth }: Place): PhraseContext {
    return { references: this.#references, notes: this.#notes, isInLink: false, isInTitle: false, depth };
  }

  #paragraphs(out: Block[], run: readonly Inline[], { locale, link }: Place): void {
    if (run.length === 0) return;
    for (const children of splitAtBlankLines(normalisePhrases(run))) {
      out.push({ kind: "paragraph", children: linked(children, link), ...locale });
    }
  }

  #block(element: Element, outer: Place): Block[] {
    const name = nameOf(element);
    const locale = { ...outer.locale, ...localeOf(element) };
    const place: Place = { ...outer, locale };
    if (this.#isFootnote(element, place)) return [];
    switch (name) {
      case "H1":
      case "H2":
      case "H3":
      case "H4":
      case "H5":
      case "H6":
        return this.#heading(element, place);
      case "UL":
      case "OL":
      case "MENU":
      case "DIR":
        return this.#list(element, place);
      case "DL":
        return this.#definitions(element, place);
      case "BLOCKQUOTE":
        return this.#quote(element, place);
      case "PRE":
        return this.#code(element, place);
      case "TABLE":
        return readTable(this, element, place);
      case "FIGURE":
        return this.#figure(element, place);
      case "DETAILS":
        return this.#details(element, place);
      case "HR":
        return [{ kind: "rule" }];
      case "A":
        return this.#linkedBlocks(element, place);
      default:
        return this.blocks(element, place);
    }
  }

  #heading(element: Element, place: Place): Block[] {
    const level = Number(nameOf(element).slice(1));
    const phrases = readPhrases(element, { ...this.#context(place), isInTitle: true });
    const children = withoutBold(onOneLine(normalisePhrases(phrases)));
    if (!isShown(children)) return [];
    return [
      { kind: "heading", level, children: linked(normalisePhrases(children), place.link), ...place.locale },
    ];
  }

  #list(element: Element, place: Place): Block[] {
    if (place.nesting >= MAX_NESTING) return this.blocks(element, place);
    const inner: Place = { ...place, nesting: place.nesting + 1, locale: {}, link: place.link };
    const items: ListItem[] = [];
    for (let child = element.firstChild; child; child = child.nextSibling) {
      const isItem = isElement(child) && nameOf(child) === "LI";
      if (!isElement(child)) {
        if (child.nodeType === 3) addToItems(items, this.#looseText(child.nodeValue ?? ""), false);
      } else if (DROPPED.has(nameOf(child)) || this.#isFootnote(child, inner)) continue;
      else if (isItem) addToItems(items, this.blocks(child, inner), true, taskState(child));
      // Lists inside lists without an item around them belong to the item before.
      else addToItems(items, this.#loose(child, inner), /^(?:UL|OL)$/.test(nameOf(child)) === false);
    }
    if (items.length === 0) return [];
    const isOrdered = nameOf(element) === "OL";
    if (!isOrdered && isLayout(items)) return items.flatMap(({ blocks }) => blocks);
    const start = Number.parseInt(element.getAttribute("start") ?? "1", 10);
    const isNumber = Number.isInteger(start) && start >= 0 && start < 1e9;
    return [{ kind: "list", isOrdered, start: isNumber ? start : 1, items, ...place.locale }];
  }

  #looseText(text: string): Block[] {
    const children = normalisePhrases([{ kind: "text", text: removeInvisible(text) }]);
    return isShown(children) ? [{ kind: "paragraph", children }] : [];
  }

  #loose(child: Element, place: Place): Block[] {
    if (BLOCKS.has(nameOf(child)) || this.#holders.has(child)) {
      return this.#block(child, { ...place, depth: place.depth + 1 });
    }
    const out: Block[] = [];
    this.#paragraphs(out, readPhrase(child, this.#context(place)), place);
    return out;
  }

  #definitions(element: Element, place: Place): Block[] {
    // Questions and answers are often written so, with headings for terms; manuals have signatures of several lines.
    const hasBlocks = element.querySelector("dt h1, dt h2, dt h3, dt h4, dt h5, dt h6, dt pre") !== null;
    if (hasBlocks || place.nesting >= MAX_NESTING) return this.blocks(element, place);
    const groups: { terms: Inline[][]; definitions: Block[][] }[] = [];
    const inner: Place = { ...place, nesting: place.nesting + 1, locale: {} };
    const parts = [...element.children].flatMap((child) =>
      nameOf(child) === "DIV" ? [...child.children] : [child],
    );
    for (const part of parts) {
      if (DROPPED.has(nameOf(part)) || this.#isFootnote(part, inner)) continue;
      let group = groups.at(-1);
      if (nameOf(part) === "DT") {
        const term = this.phrases(part, inner);
        if (!isShown(term)) continue;
        if (!group || group.definitions.length > 0) groups.push({ terms: [term], definitions: [] });
        else group.terms.push(term);
        continue;
      }
      const blocks = nameOf(part) === "DD" ? this.blocks(part, inner) : this.#loose(part, inner);
      if (blocks.length === 0) continue;
      if (!group) {
        group = { terms: [], definitions: [] };
        groups.push(group);
      }
      group.definitions.push(blocks);
    }
    const shown: Definition[] = groups;
    return shown.length === 0 ? [] : [{ kind: "definitions", groups: shown, ...place.locale }];
  }

  #quote(element: Element, place: Place): Block[] {
    if (place.nesting >= MAX_NESTING) return this.blocks(element, place);
    const inner: Place = { ...place, nesting: place.nesting + 1, locale: {} };
    const kind = admonitionKind(element);
    if (kind !== null) return this.#admonition(element, kind, inner);
    const mark = alertMark(element);
    const blocks = this.blocks(element, inner);
    if (blocks.length === 0) return [];
    if (mark !== null) return [{ kind: "admonition", type: mark, title: [], blocks: withoutMark(blocks) }];
    const cite = this.#references.link(element.getAttribute("cite") || "");
    return [{ kind: "quote", blocks, cite: element.hasAttribute("cite") ? cite : null, ...place.locale }];
  }

  #admonition(element: Element, type: NonNullable<ReturnType<typeof admonitionKind>>, place: Place): Block[] {
    const first = element.firstElementChild;
    const hasTitle = first && classesOf(first).includes("admonition-title");
    const title = hasTitle ? this.phrases(first, place) : [];
    if (hasTitle) first.remove();
    const blocks = this.blocks(element, place);
    if (blocks.length === 0 && !isShown(title)) return [];
    return [{ kind: "admonition", type, title, blocks, ...place.locale }];
  }

  #code(element: Element, { locale }: Place): Block[] {
    const code = element.querySelector("code");
    const text = removeInvisible(textOf(code ?? element)).trimEnd();
    if (text.trim() === "") return [];
    const classes = code ? classOf(code) : "";
    if (/(?:^|\s)math-display(?:\s|$)/.test(classes)) return [{ kind: "math-block", tex: text.trim() }];
    const language = /(?:^|\s)language-([\w+#.-]+)/.exec(classes)?.[1] ?? null;
    const label = removeInvisible(element.getAttribute("data-label") ?? "").trim() || null;
    return [{ kind: "code-block", text, language, label, ...locale }];
  }

  #figure(element: Element, place: Place): Block[] {
    const captions: Block[] = [];
    for (const caption of [...element.querySelectorAll("figcaption")]) {
      captions.push(...this.blocks(caption, { ...place, depth: place.depth + 1, locale: {}, link: null }));
      caption.remove();
    }
    const blocks = this.blocks(element, { ...place, locale: {} });
    if (blocks.length === 0 && captions.length === 0) return [];
    if (captions.length === 0 && blocks.length > 1) return blocks;
    return [{ kind: "figure", blocks, caption: captions, ...place.locale }];
  }

  #details(element: Element, place: Place): Block[] {
    if (place.nesting >= MAX_NESTING) return this.blocks(element, place);
    const inner: Place = { ...place, nesting: place.nesting + 1, locale: {} };
    const title = [...element.children].find((child) => nameOf(child) === "SUMMARY");
    title?.remove();
    // A heading that folds its section is a heading first: readers of Markdown look for it by its level.
    if (title?.querySelector(HEADINGS)) return [...this.blocks(title, place), ...this.blocks(element, place)];
    const summary = title ? this.phrases(title, inner) : [];
    const blocks = this.blocks(element, inner);
    // Without a title it folds nothing that anyone could open on purpose.
    if (!isShown(summary)) return blocks;
    return [{ kind: "details", summary, isOpen: element.hasAttribute("open"), blocks, ...place.locale }];
  }

  // A card is one link around many blocks: its heading takes it, or else its first text.
  #linkedBlocks(element: Element, place: Place): Block[] {
    const href = place.link?.href == null ? hrefOf(element, this.#references) : null;
    if (href === null) return this.blocks(element, place);
    const hasHeading = element.querySelector(HEADINGS) !== null;
    const blocks = this.blocks(element, { ...place, link: { href: null } });
    const at = blocks.findIndex((block) => block.kind === (hasHeading ? "heading" : "paragraph"));
    const target = blocks[at];
    if (target?.kind !== "heading" && target?.kind !== "paragraph") return blocks;
    blocks[at] = { ...target, children: linked(target.children, { href }) };
    return blocks;
  }

  #isFootnote(element: Element, place: Place): boolean {
    const label = NOTE_ID.exec(element.getAttribute("id") ?? "")?.[1];
    if (label === undefined || !classesOf(element).includes("footnote")) return false;
    const blocks = this.blocks(element, { ...place, locale: {}, link: null });
    if (blocks.length > 0 && !this.#footnotes.has(label)) this.#footnotes.set(label, { label, blocks });
    return true;
  }

  // Without recursion, for what is nested beyond all reason: its text, a paragraph for each block.
  #flat(parent: Element): Block[] {
    const out: Block[] = [];
    let text = "";
    const flush = (): void => {
      const children = normalisePhrases([{ kind: "text", text: removeInvisible(text) }]);
      if (isShown(children)) out.push({ kind: "paragraph", children });
      text = "";
    };
    const stack: Node[] = [...parent.childNodes].reverse();
    for (let node = stack.pop(); node; node = stack.pop()) {
      if (node.nodeType === 3) text += node.nodeValue ?? "";
      if (!isElement(node) || DROPPED.has(nameOf(node))) continue;
      if (BLOCKS.has(nameOf(node))) flush();
      stack.push(...[...node.childNodes].reverse());
    }
    flush();
    return out;
  }
}

// A heading is bold by itself.
const withoutBold = (inlines: readonly Inline[]): Inline[] => {
  const [only, ...more] = inlines;
  const isBold = only?.kind === "span" && only.tag === "strong" && more.length === 0;
  return isBold ? [...only.children] : [...inlines];
};

const onOneLine = (inlines: readonly Inline[]): Inline[] =>
  inlines.map((inline) => {
    if (inline.kind === "break") return { kind: "text", text: " " };
    const isNested = inline.kind === "span" || inline.kind === "link";
    return isNested ? { ...inline, children: onOneLine(inline.children) } : inline;
  });

function linked(
  children: readonly Inline[],
  link: { readonly href: string | null } | null,
): readonly Inline[] {
  if (link?.href == null || !isShown(children)) return children;
  return [{ kind: "link", href: link.href, title: null, children: withoutLinks(children) }];
}

const withoutLinks = (inlines: readonly Inline[]): Inline[] =>
  inlines.flatMap((inline) =>
    inline.kind === "link"
      ? withoutLinks(inline.children)
      : inline.kind === "span"
        ? [{ ...inline, children: withoutLinks(inline.children) }]
        : [inline],
  );
