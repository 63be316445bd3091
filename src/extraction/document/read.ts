import type { PageUrl } from "../../urls/index.ts";
import { References } from "../links.ts";
import { removeInvisible } from "../text.ts";
import { admonitionKind, alertMark } from "./canonical/admonition.ts";
import {
  type Block,
  type ContentDocument,
  type Footnote,
  type Inline,
  type ListItem,
  mapPhrases,
} from "./model.ts";
import { isShown, normalisePhrases, splitAtBlankLines } from "./normalise.ts";
import {
  type BlockReader,
  hrefOf,
  localeOf,
  type PhraseContext,
  type Place,
  pushText,
  readPhrase,
  readPhrases,
} from "./read-inlines.ts";
import {
  addToItems,
  isListLayout,
  numberOf,
  readTable,
  runsOf,
  taskState,
  withoutMark,
} from "./read-table.ts";
import {
  ancestorWhere,
  BLOCKS,
  type ContentElement,
  type ContentNode,
  DROPPED,
  find,
  findAll,
  following,
  hasClass,
  MAX_ELEMENT_DEPTH,
  named,
  nextNode,
  textFrom,
  textOf,
} from "./tree.ts";

/** More deeply nested lists, quotations and similar blocks are written at this level. */
const MAX_NESTING = 16;

/**
 * Reads the content below an element in canonical form into a document. Only known constructs are kept, links and
 * images become absolute, and hidden things are left out.
 * @param base what relative references resolve against; null leaves them relative
 */
export function readDocument(root: ContentElement, base: PageUrl | null): ContentDocument {
  return new Reader(base, survey(root)).read(root);
}

const isHeading = named("H1 H2 H3 H4 H5 H6");
const isHeadingOrCode = named("H1 H2 H3 H4 H5 H6 PRE");
const isTerm = named("DT");
const isCode = named("CODE");
const isCaption = named("FIGCAPTION");
const NOTE_ID = /^fn-(\d{1,4})$/;

/**
 * Marks each element that contains blocks, so that a phrase element around paragraphs is read as their frame, and
 * collects the labels of the notes.
 */
function survey(root: ContentElement): ReadonlySet<string> {
  const notes = new Set<string>();
  for (let node: ContentNode | null = root.firstChild; node; node = nextNode(node, root)) {
    if (node.kind === "text") continue;
    if (BLOCKS.has(node.name))
      for (let at = node.parent; at && !at.holdsBlocks; at = at.parent) at.holdsBlocks = true;
    const label = noteLabel(node);
    if (label !== null) notes.add(label);
  }
  return notes;
}

/** Returns the number of a note in canonical form; null for any other element. */
function noteLabel(element: ContentElement): string | null {
  const label = NOTE_ID.exec(element.id)?.[1];
  return label !== undefined && element.classes.includes("footnote") ? label : null;
}

class Reader implements BlockReader {
  readonly #references: References;
  readonly #notes: ReadonlySet<string>;
  readonly #footnotes = new Map<string, Footnote>();

  constructor(base: PageUrl | null, notes: ReadonlySet<string>) {
    this.#references = new References(base);
    this.#notes = notes;
  }

  read(root: ContentElement): ContentDocument {
    const blocks = this.blocks(root, { depth: 0, nesting: 0, locale: {}, link: null });
    // Footnotes are in the order of their references, as renderers number them.
    const footnotes = [...this.#footnotes.values()].sort((a, b) => Number(a.label) - Number(b.label));
    return { blocks, footnotes };
  }

  /** Reads the blocks among and inside an element's children; phrases between them become paragraphs. */
  blocks(parent: ContentElement, place: Place): Block[] {
    if (place.depth > MAX_ELEMENT_DEPTH) return this.#flat(parent);
    const out: Block[] = [];
    let run: Inline[] = [];
    const flush = (): void => {
      this.#paragraphs(out, run, place);
      run = [];
    };
    for (let child = parent.firstChild; child; child = child.nextSibling) {
      if (child.kind === "text") {
        pushText(run, textFrom(child));
        continue;
      }
      if (DROPPED.has(child.name)) continue;
      if (!BLOCKS.has(child.name) && !child.holdsBlocks) {
        run.push(...readPhrase(child, this.#context(place)));
        continue;
      }
      flush();
      out.push(...this.#block(child, { ...place, depth: place.depth + 1 }));
    }
    flush();
    return out;
  }

  /** Reads an element as phrases, for places where blocks are not allowed. */
  phrases(element: ContentElement, place: Place): Inline[] {
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

  #block(element: ContentElement, outer: Place): Block[] {
    const name = element.name;
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

  #heading(element: ContentElement, place: Place): Block[] {
    const level = Number(element.name.slice(1));
    const phrases = readPhrases(element, { ...this.#context(place), isInTitle: true });
    const children = withoutBold(onOneLine(normalisePhrases(phrases)));
    if (!isShown(children)) return [];
    return [
      { kind: "heading", level, children: linked(normalisePhrases(children), place.link), ...place.locale },
    ];
  }

  #list(element: ContentElement, place: Place): Block[] {
    if (place.nesting >= MAX_NESTING) return this.blocks(element, place);
    const inner = within(place);
    const items: ListItem[] = [];
    const numbers: (number | null)[] = [];
    let holdsSections = false;
    for (let child = element.firstChild; child; child = child.nextSibling) {
      if (child.kind === "text") addToItems(items, this.#looseText(child.text), false);
      else if (DROPPED.has(child.name) || this.#isFootnote(child, inner)) continue;
      else if (child.name === "LI") {
        addToItems(items, this.blocks(child, inner), true, taskState(child));
        numbers[items.length - 1] ??= numberOf(child, "value");
        holdsSections ||= child.firstElementChild?.name === "SECTION";
      }
      // Lists inside lists without an item around them belong to the item before.
      else addToItems(items, this.#loose(child, inner), /^(?:UL|OL)$/.test(child.name) === false);
    }
    if (items.length === 0) return [];
    const isOrdered = element.name === "OL";
    if (!isOrdered && isListLayout(items, holdsSections)) return items.flatMap(({ blocks }) => blocks);
    const start = numberOf(element, "start") ?? 1;
    if (!isOrdered) return [{ kind: "list", isOrdered, start, items, ...place.locale }];
    return runsOf(items, numbers, start).map((run) => ({ kind: "list", isOrdered, ...run, ...place.locale }));
  }

  #looseText(text: string): Block[] {
    const children = normalisePhrases([{ kind: "text", text: removeInvisible(text) }]);
    return isShown(children) ? [{ kind: "paragraph", children }] : [];
  }

  #loose(child: ContentElement, place: Place): Block[] {
    if (BLOCKS.has(child.name) || child.holdsBlocks) {
      return this.#block(child, { ...place, depth: place.depth + 1 });
    }
    const out: Block[] = [];
    this.#paragraphs(out, readPhrase(child, this.#context(place)), place);
    return out;
  }

  #definitions(element: ContentElement, place: Place): Block[] {
    // Questions and answers are often written this way, with headings as terms; manuals have signatures of several
    // lines.
    const isBlockOfTerm = (inner: ContentElement): boolean =>
      isHeadingOrCode(inner) && ancestorWhere(inner, MAX_ELEMENT_DEPTH, isTerm) !== null;
    if (find(element, isBlockOfTerm) || place.nesting >= MAX_NESTING) return this.blocks(element, place);
    const groups: { terms: Inline[][]; definitions: Block[][] }[] = [];
    const inner = within(place);
    const parts = element.children.flatMap((child) => (child.name === "DIV" ? child.children : [child]));
    for (const part of parts) {
      if (DROPPED.has(part.name) || this.#isFootnote(part, inner)) continue;
      const group = groups.at(-1);
      if (part.name === "DT") {
        const term = this.phrases(part, inner);
        if (!isShown(term)) continue;
        if (!group || group.definitions.length > 0) groups.push({ terms: [term], definitions: [] });
        else group.terms.push(term);
        continue;
      }
      const blocks = part.name === "DD" ? this.blocks(part, inner) : this.#loose(part, inner);
      if (blocks.length === 0) continue;
      if (group) group.definitions.push(blocks);
      else groups.push({ terms: [], definitions: [blocks] });
    }
    return groups.length === 0 ? [] : [{ kind: "definitions", groups, ...place.locale }];
  }

  #quote(element: ContentElement, place: Place): Block[] {
    if (place.nesting >= MAX_NESTING) return this.blocks(element, place);
    const inner = within(place);
    const kind = admonitionKind(element);
    if (kind !== null) return this.#admonition(element, kind, inner);
    const mark = alertMark(element);
    const blocks = this.blocks(element, inner);
    if (blocks.length === 0) return [];
    if (mark !== null) return [{ kind: "admonition", type: mark, title: [], blocks: withoutMark(blocks) }];
    const cite = this.#references.link(element.getAttribute("cite") || "");
    return [{ kind: "quote", blocks, cite: element.hasAttribute("cite") ? cite : null, ...place.locale }];
  }

  #admonition(
    element: ContentElement,
    type: NonNullable<ReturnType<typeof admonitionKind>>,
    place: Place,
  ): Block[] {
    const first = element.firstElementChild;
    const written = first?.classes.includes("admonition-title") ? first : null;
    const title = written ? this.phrases(written, place) : [];
    written?.remove();
    const blocks = this.blocks(element, place);
    if (blocks.length === 0 && !isShown(title)) return [];
    return [{ kind: "admonition", type, title, blocks, ...place.locale }];
  }

  #code(element: ContentElement, { locale }: Place): Block[] {
    const code = find(element, isCode);
    const text = removeInvisible(textOf(code ?? element)).trimEnd();
    if (text.trim() === "") return [];
    const classes = code ? code.className : "";
    if (/(?:^|\s)math-display(?:\s|$)/.test(classes)) return [{ kind: "math-block", tex: text.trim() }];
    const language = /(?:^|\s)language-([\w+#.-]+)/.exec(classes)?.[1] ?? null;
    const label = removeInvisible(element.getAttribute("data-label") ?? "").trim() || null;
    return [{ kind: "code-block", text, language, label, ...locale }];
  }

  #figure(element: ContentElement, place: Place): Block[] {
    const captions: Block[] = [];
    for (const caption of findAll(element, isCaption)) {
      captions.push(...this.blocks(caption, { ...place, depth: place.depth + 1, locale: {}, link: null }));
      caption.remove();
    }
    const blocks = this.blocks(element, { ...place, locale: {} });
    if (blocks.length === 0 && captions.length === 0) return [];
    if (captions.length === 0 && blocks.length > 1) return blocks;
    return [{ kind: "figure", blocks, caption: captions, ...place.locale }];
  }

  #details(element: ContentElement, place: Place): Block[] {
    if (place.nesting >= MAX_NESTING) return this.blocks(element, place);
    const inner = within(place);
    const title = element.children.find((child) => child.name === "SUMMARY");
    title?.remove();
    // A heading that folds its section remains a heading: readers of Markdown look for it by its level.
    if (title && find(title, isHeading))
      return [...this.blocks(title, place), ...this.blocks(element, place)];
    // Rustdoc hides the name of what is open: "Expand description" is a label of the control.
    const isLabel = title !== undefined && element.hasAttribute("open") && hasClass(title, "hideme");
    const summary = title && !isLabel ? this.phrases(title, inner) : [];
    const blocks = this.blocks(element, isLabel ? place : inner);
    // Without a title nobody could open it on purpose.
    if (!isShown(summary)) return blocks;
    return [{ kind: "details", summary, isOpen: element.hasAttribute("open"), blocks, ...place.locale }];
  }

  // A card is one link around many blocks: its heading gets the link, or else its first text.
  #linkedBlocks(element: ContentElement, place: Place): Block[] {
    const href = place.link?.href == null ? hrefOf(element, this.#references) : null;
    if (href === null) return this.blocks(element, place);
    const hasHeading = find(element, isHeading) !== null;
    const blocks = this.blocks(element, { ...place, link: { href: null } });
    const at = blocks.findIndex((block) => block.kind === (hasHeading ? "heading" : "paragraph"));
    const target = blocks[at];
    if (target?.kind !== "heading" && target?.kind !== "paragraph") return blocks;
    blocks[at] = { ...target, children: linked(target.children, { href }) };
    return blocks;
  }

  #isFootnote(element: ContentElement, place: Place): boolean {
    const label = noteLabel(element);
    if (label === null) return false;
    const blocks = this.blocks(element, { ...place, locale: {}, link: null });
    if (blocks.length > 0 && !this.#footnotes.has(label)) this.#footnotes.set(label, { label, blocks });
    return true;
  }

  // Reads absurdly deep nesting without recursion: its text, with a paragraph for each block.
  #flat(parent: ContentElement): Block[] {
    const out: Block[] = [];
    let text = "";
    const flush = (): void => {
      out.push(...this.#looseText(text));
      text = "";
    };
    let node = parent.firstChild;
    while (node) {
      if (node.kind === "text") text += node.text;
      else if (BLOCKS.has(node.name)) flush();
      const isDropped = node.kind === "element" && DROPPED.has(node.name);
      node = isDropped ? following(node, parent) : nextNode(node, parent);
    }
    flush();
    return out;
  }
}

/** The place inside a list, a quotation or a similar block. */
const within = (place: Place): Place => ({ ...place, nesting: place.nesting + 1, locale: {} });

// A heading is already bold.
const withoutBold = (inlines: readonly Inline[]): Inline[] => {
  const [only, ...more] = inlines;
  const isBold = only?.kind === "span" && only.tag === "strong" && more.length === 0;
  return isBold ? [...only.children] : [...inlines];
};

const onOneLine = (inlines: readonly Inline[]): Inline[] =>
  mapPhrases(inlines, ({ kind }) => (kind === "break" ? [{ kind: "text", text: " " }] : null));

function linked(
  children: readonly Inline[],
  link: { readonly href: string | null } | null,
): readonly Inline[] {
  if (link?.href == null || !isShown(children)) return children;
  return [{ kind: "link", href: link.href, title: null, children: withoutLinks(children) }];
}

const withoutLinks = (inlines: readonly Inline[]): Inline[] =>
  mapPhrases(inlines, (inline) => (inline.kind === "link" ? withoutLinks(inline.children) : null));
