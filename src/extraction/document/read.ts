import { defined } from "../../base/json.ts";
import { wordsIn } from "../../base/text.ts";
import { isTrackingPixel, type References } from "../links.ts";
import { removeInvisible } from "../text.ts";
import { admonitionKind, alertMark } from "./canonical/admonition.ts";
import {
  type Alignment,
  type Block,
  type Cell,
  type ContentDocument,
  type Footnote,
  type Inline,
  inlineText,
  isShown,
  type ListItem,
  type Locale,
  mapPhrases,
  normalisePhrases,
  type RubyPart,
  SPANS,
  type SpanTag,
  splitAtBlankLines,
  withSpaceFor,
} from "./model.ts";
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
  isElement,
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
 */
export function readDocument(root: ContentElement, references: References): ContentDocument {
  return new Reader(references, survey(root)).read(root);
}

const isHeading = named("H1 H2 H3 H4 H5 H6");
const isList = named("UL OL MENU DIR");
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

class Reader {
  readonly #references: References;
  readonly #notes: ReadonlySet<string>;
  readonly #footnotes = new Map<string, Footnote>();

  constructor(references: References, notes: ReadonlySet<string>) {
    this.#references = references;
    this.#notes = notes;
  }

  read(root: ContentElement): ContentDocument {
    const blocks = this.blocks(root, { depth: 0, nesting: 0, locale: undefined, link: null });
    // Footnotes are in the order of their references, as renderers number them.
    const footnotes = [...this.#footnotes.values()].sort((a, b) => Number(a.label) - Number(b.label));
    return { blocks, footnotes };
  }

  /** Reads the blocks among and inside an element's children; phrases between them become paragraphs. */
  blocks(parent: ContentElement, place: BlockContext): Block[] {
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
    return joinLists(out);
  }

  /** Reads an element as phrases, for places where blocks are not allowed. */
  phrases(element: ContentElement, place: BlockContext): Inline[] {
    return normalisePhrases(readPhrases(element, this.#context(place)));
  }

  #context({ depth }: BlockContext, isInTitle = false): PhraseContext {
    return { references: this.#references, notes: this.#notes, isInLink: false, isInTitle, depth };
  }

  #paragraphs(out: Block[], run: readonly Inline[], { locale, link }: BlockContext): void {
    if (run.length === 0) return;
    for (const children of splitAtBlankLines(normalisePhrases(run)))
      out.push({ kind: "paragraph", children: linked(children, link), locale });
  }

  #block(element: ContentElement, outer: BlockContext): Block[] {
    const own = localeOf(element);
    const place: BlockContext = own ? { ...outer, locale: { ...outer.locale, ...own } } : outer;
    if (this.#isFootnote(element, place)) return [];
    if (isHeading(element)) return this.#heading(element, place);
    if (isList(element)) return this.#list(element, place);
    switch (element.name) {
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

  #heading(element: ContentElement, place: BlockContext): Block[] {
    const level = Number(element.name.slice(1));
    const phrases = readPhrases(element, this.#context(place, true));
    const children = withoutBold(withSpaceFor("break", normalisePhrases(phrases)));
    if (!isShown(children)) return [];
    const { link, locale } = place;
    return [{ kind: "heading", level, children: linked(normalisePhrases(children), link), locale }];
  }

  #list(element: ContentElement, place: BlockContext): Block[] {
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
    const { locale } = place;
    if (!isOrdered) return [{ kind: "list", isOrdered, start, items, locale }];
    return runsOf(items, numbers, start).map(({ start, items }) => ({
      kind: "list",
      isOrdered,
      start,
      items,
      locale,
    }));
  }

  #looseText(text: string): Block[] {
    const children = normalisePhrases([{ kind: "text", text: removeInvisible(text) }]);
    return isShown(children) ? [{ kind: "paragraph", children }] : [];
  }

  #loose(child: ContentElement, place: BlockContext): Block[] {
    if (BLOCKS.has(child.name) || child.holdsBlocks)
      return this.#block(child, { ...place, depth: place.depth + 1 });
    const out: Block[] = [];
    this.#paragraphs(out, readPhrase(child, this.#context(place)), place);
    return out;
  }

  #definitions(element: ContentElement, place: BlockContext): Block[] {
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
    return groups.length === 0 ? [] : [{ kind: "definitions", groups, locale: place.locale }];
  }

  #quote(element: ContentElement, place: BlockContext): Block[] {
    if (place.nesting >= MAX_NESTING) return this.blocks(element, place);
    const inner = within(place);
    const kind = admonitionKind(element);
    if (kind !== null) return this.#admonition(element, kind, inner);
    const mark = alertMark(element);
    const blocks = this.blocks(element, inner);
    if (blocks.length === 0) return [];
    if (mark !== null) return [{ kind: "admonition", type: mark, title: [], blocks: withoutMark(blocks) }];
    const cite = this.#references.link(element.getAttribute("cite") || "");
    const { locale } = place;
    return [{ kind: "quote", blocks, cite: element.hasAttribute("cite") ? cite : null, locale }];
  }

  #admonition(
    element: ContentElement,
    type: NonNullable<ReturnType<typeof admonitionKind>>,
    place: BlockContext,
  ): Block[] {
    const first = element.firstElementChild;
    const written = first?.classes.includes("admonition-title") ? first : null;
    const title = written ? this.phrases(written, place) : [];
    written?.remove();
    const blocks = this.blocks(element, place);
    if (blocks.length === 0 && !isShown(title)) return [];
    return [{ kind: "admonition", type, title, blocks, locale: place.locale }];
  }

  #code(element: ContentElement, { locale }: BlockContext): Block[] {
    const code = find(element, isCode);
    const text = removeInvisible(textOf(code ?? element)).trimEnd();
    if (text.trim() === "") return [];
    const classes = code ? code.className : "";
    if (/(?:^|\s)math-display(?:\s|$)/.test(classes)) return [{ kind: "math-block", tex: text.trim() }];
    const language = /(?:^|\s)language-([\w+#.-]+)/.exec(classes)?.[1] ?? null;
    const label = removeInvisible(element.getAttribute("data-label") ?? "").trim() || null;
    return [{ kind: "code-block", text, language, label, locale }];
  }

  #figure(element: ContentElement, place: BlockContext): Block[] {
    const captions: Block[] = [];
    for (const caption of findAll(element, isCaption)) {
      captions.push(
        ...this.blocks(caption, { ...place, depth: place.depth + 1, locale: undefined, link: null }),
      );
      caption.remove();
    }
    const blocks = this.blocks(element, { ...place, locale: undefined });
    if (blocks.length === 0 && captions.length === 0) return [];
    if (captions.length === 0 && blocks.length > 1) return blocks;
    return [{ kind: "figure", blocks, caption: captions, locale: place.locale }];
  }

  #details(element: ContentElement, place: BlockContext): Block[] {
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
    const isOpen = element.hasAttribute("open");
    return [{ kind: "details", summary, isOpen, blocks, locale: place.locale }];
  }

  // A card is one link around many blocks: its heading gets the link, or else its first text.
  #linkedBlocks(element: ContentElement, place: BlockContext): Block[] {
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

  #isFootnote(element: ContentElement, place: BlockContext): boolean {
    const label = noteLabel(element);
    if (label === null) return false;
    const blocks = this.blocks(element, { ...place, locale: undefined, link: null });
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

/** Joins numbered lists right behind one another where each counts on from the one before. */
function joinLists(blocks: readonly Block[]): Block[] {
  const joined: Block[] = [];
  // The items of the last list are ours to add to: copying them for each list would take the square of their number.
  let items: ListItem[] = [];
  for (const block of blocks) {
    const before = joined.at(-1);
    const isNumbered = block.kind === "list" && block.isOrdered;
    if (
      isNumbered &&
      before?.kind === "list" &&
      before.isOrdered &&
      block.start === before.start + items.length
    )
      for (const item of block.items) items.push(item);
    else {
      if (isNumbered) items = [...block.items];
      joined.push(isNumbered ? { ...block, items } : block);
    }
  }
  return joined;
}

/** The place inside a list, a quotation or a similar block. */
const within = (place: BlockContext): BlockContext => ({
  ...place,
  nesting: place.nesting + 1,
  locale: undefined,
});

// A heading is already bold.
const withoutBold = (inlines: readonly Inline[]): Inline[] => {
  const [only, ...more] = inlines;
  const isBold = only?.kind === "span" && only.tag === "strong" && more.length === 0;
  return isBold ? [...only.children] : [...inlines];
};

function linked(
  children: readonly Inline[],
  link: { readonly href: string | null } | null,
): readonly Inline[] {
  if (link?.href == null || !isShown(children)) return children;
  return [{ kind: "link", href: link.href, title: null, children: withoutLinks(children) }];
}

const withoutLinks = (inlines: readonly Inline[]): Inline[] =>
  mapPhrases(inlines, (inline) => (inline.kind === "link" ? withoutLinks(inline.children) : null));

/** The state that a reader of blocks passes down. */
type BlockContext = {
  /** The number of elements between the root and here. */
  readonly depth: number;
  /** The number of lists, quotations and similar blocks around here. */
  readonly nesting: number;
  readonly locale: Locale | undefined;
  /** The link around these blocks, until a block has received it. */
  readonly link: { readonly href: string | null } | null;
};

/** The facts about a page that readers of phrases need. */
type PhraseContext = {
  readonly references: References;
  /** The labels of the footnotes in the content. */
  readonly notes: ReadonlySet<string>;
  readonly isInLink: boolean;
  /** Whether the phrases are a section's title: its links within the page only lead back to it. */
  readonly isInTitle: boolean;
  readonly depth: number;
};

/** Reads an element's children as phrases, with white space as in the page. */
function readPhrases(parent: ContentElement, context: PhraseContext): Inline[] {
  const inlines: Inline[] = [];
  for (let child = parent.firstChild; child; child = child.nextSibling) {
    if (child.kind === "text") pushText(inlines, textFrom(child));
    else inlines.push(...readPhrase(child, context));
  }
  return inlines;
}

function pushText(inlines: Inline[], text: string): void {
  const visible = removeInvisible(text);
  if (visible !== "") inlines.push({ kind: "text", text: visible });
}

/** Reads one element as phrases; a block inside a phrase becomes words separated by spaces. */
function readPhrase(element: ContentElement, context: PhraseContext): Inline[] {
  const name = element.name;
  if (context.depth > MAX_ELEMENT_DEPTH) return [{ kind: "text", text: removeInvisible(textOf(element)) }];
  if (DROPPED.has(name)) return [];
  const inner: PhraseContext = { ...context, depth: context.depth + 1 };
  const read = PHRASE_READERS[name];
  return read ? read(element, inner) : readSpan(element, inner);
}

/** The elements that are more than their children with a name. */
const PHRASE_READERS: Readonly<
  Record<string, (element: ContentElement, context: PhraseContext) => Inline[]>
> = {
  BR: () => [{ kind: "break" }],
  IMG: (image, { references }) => readImage(image, references),
  CODE: readCode,
  TT: readCode,
  A: readLink,
  RUBY: readRuby,
  SUP: readRaised,
};

function readRaised(element: ContentElement, context: PhraseContext): Inline[] {
  const label = footnoteLabel(element, context);
  if (label !== null) return [{ kind: "footnote-ref", label }];
  // These signs are superscript by themselves.
  const isRaised = /^\s*(?:[®™℠©]\ufe0e?)\s*$/u.test(textOf(element));
  return isRaised ? readPhrases(element, context) : readSpan(element, context);
}

function readSpan(element: ContentElement, context: PhraseContext): Inline[] {
  const { name } = element;
  const children = readPhrases(element, context);
  // Pages separate the labels of their fields by style alone.
  if (BLOCKS.has(name) || name === "LABEL")
    return [{ kind: "text", text: " " }, ...children, { kind: "text", text: " " }];
  if (name === "SPAN" && element.className === "classifier") return [...colonBefore(element), ...children];
  const tag = SPANS[name] ?? (name === "SPAN" || name === "FONT" ? "span" : undefined);
  return tag === undefined ? children : spanOf(element, tag, children);
}

// Docutils leaves the colon between a term and its type to the style sheet.
function colonBefore(classifier: ContentElement): Inline[] {
  const before = (classifier.previousSibling && textOf(classifier.previousSibling)) ?? "";
  return /:\s*$/.test(before) || before.trim() === "" ? [] : [{ kind: "text", text: " : " }];
}

function spanOf(element: ContentElement, tag: SpanTag, children: Inline[]): Inline[] {
  const locale = localeOf(element);
  if (tag === "span" && !locale) return children;
  const title = tag === "abbr" || tag === "dfn" ? attributeText(element, "title") : null;
  const datetime = tag === "time" ? attributeText(element, "datetime") : null;
  return [
    { kind: "span", tag, children, title: title ?? undefined, datetime: datetime ?? undefined, locale },
  ];
}

/** Reads `lang` and `dir` when their values are valid. */
function localeOf(element: ContentElement): Locale | undefined {
  const lang = element.getAttribute("lang") ?? "";
  const dir = (element.getAttribute("dir") ?? "").toLowerCase();
  const isLang = lang.length < 40 && /^[a-z]{2,8}(?:[-_][a-z0-9]{1,8}){0,6}$/i.test(lang);
  const isDir = /^(?:ltr|rtl|auto)$/.test(dir);
  // Almost no element states either.
  if (!isLang && !isDir) return undefined;
  return defined({ lang: isLang ? lang : undefined, dir: isDir ? dir : undefined });
}

function attributeText(element: ContentElement, name: string): string | null {
  const value = removeInvisible(element.getAttribute(name) ?? "")
    .replace(/\s+/g, " ")
    .trim();
  return value === "" ? null : value;
}

function readImage(image: ContentElement, references: References): Inline[] {
  const src = references.image(image);
  // An image that cannot be shown still separates two words.
  if (src === null || isTrackingPixel(image)) return [{ kind: "text", text: " " }];
  const alt = attributeText(image, "alt") ?? "";
  if (alt === "" && isIcon(image, src)) return [{ kind: "text", text: " " }];
  const title = attributeText(image, "title");
  const size = (side: string): string | null => /^\d{1,5}$/.exec(image.getAttribute(side) ?? "")?.[0] ?? null;
  return [
    {
      kind: "image",
      src,
      alt,
      title: title === alt ? null : title,
      width: size("width"),
      height: size("height"),
    },
  ];
}

/** A picture without a description up to this many pixels is an ornament. */
const MAX_ICON = 48;

function isIcon(image: ContentElement, src: string): boolean {
  if (/\.svg(?:[?#]|$)/i.test(src)) return true;
  const sides = ["width", "height"]
    .map((side) => Number.parseInt(image.getAttribute(side) ?? "", 10))
    .filter((side) => !Number.isNaN(side));
  return sides.length > 0 && sides.every((side) => side <= MAX_ICON);
}

// References to functions are links inside code, but Markdown can only express code inside links.
function readCode(element: ContentElement, context: PhraseContext): Inline[] {
  const text = removeInvisible(textOf(element));
  if (/(?:^|\s)math-inline(?:\s|$)/.test(element.className)) return [{ kind: "math", tex: text.trim() }];
  if (context.isInLink || !find(element, isLink)) return [{ kind: "code", text }];
  const inlines: Inline[] = [];
  for (let child = element.firstChild; child; child = child.nextSibling) {
    const link = isElement(child) ? linkIn(child) : null;
    const isUnlinked = link === null || (context.isInTitle && isFragment(link));
    const href = isUnlinked ? null : context.references.link(link.getAttribute("href") ?? "");
    const code: Inline = { kind: "code", text: removeInvisible(textOf(child)) };
    if (code.text === "") continue;
    const last = inlines.at(-1);
    if (href) inlines.push({ kind: "link", href, title: null, children: [code] });
    else if (last?.kind === "code")
      inlines[inlines.length - 1] = { kind: "code", text: last.text + code.text };
    else inlines.push(code);
  }
  return inlines;
}

const linkIn = (element: ContentElement): ContentElement | null =>
  element.name === "A" ? element : find(element, isLink);

const isLink = (element: ContentElement): boolean => element.name === "A" && element.hasAttribute("href");

function readLink(element: ContentElement, context: PhraseContext): Inline[] {
  const label = footnoteLabel(element, context);
  if (label !== null) return [{ kind: "footnote-ref", label }];
  const isUnlinked = context.isInLink || (context.isInTitle && isFragment(element));
  const href = isUnlinked ? null : hrefOf(element, context.references);
  const children = readPhrases(element, { ...context, isInLink: context.isInLink || href !== null });
  if (href === null) return children;
  const title = attributeText(element, "title");
  const isSaid = title !== null && title.toLowerCase() === textOf(element).trim().toLowerCase();
  return [{ kind: "link", href, title: isSaid ? null : title, children }];
}

const isFragment = (link: ContentElement): boolean =>
  (link.getAttribute("href") ?? "").trimStart().startsWith("#");

/** Returns the target of a link; null when it leads nowhere. */
function hrefOf(element: ContentElement, references: References): string | null {
  const href = element.getAttribute("href");
  // A reference to an omitted note leads nowhere.
  if (element.className === "footnote-ref" && FOOTNOTE_HREF.test(href ?? "")) return null;
  if (href === null || /^\s*(?:#\s*)?$/.test(href)) return null;
  return references.link(href);
}

const FOOTNOTE_HREF = /^#fn-(\d{1,4})$/;

/** Returns the number of the footnote that an element in canonical form refers to. */
function footnoteLabel(element: ContentElement, { notes }: PhraseContext): string | null {
  const link = element.name === "SUP" ? element.firstElementChild : element;
  if (link?.name !== "A" || link.className !== "footnote-ref") return null;
  if (element.name === "SUP" && textOf(element) !== textOf(link)) return null;
  const label = FOOTNOTE_HREF.exec(link.getAttribute("href") ?? "")?.[1];
  return label !== undefined && notes.has(label) ? label : null;
}

function readRuby(element: ContentElement, context: PhraseContext): Inline[] {
  const parts: RubyPart[] = [];
  let base: Inline[] = [];
  for (let child = element.firstChild; child; child = child.nextSibling) {
    if (child.kind === "text") pushText(base, textFrom(child));
    else if (/^RTC?$/.test(child.name)) {
      parts.push({ base, annotation: removeInvisible(textOf(child)).replace(/\s+/g, " ").trim() });
      base = [];
    } else base.push(...readPhrase(child, context));
  }
  const rest = base.filter((inline) => inline.kind !== "text" || inline.text.trim() !== "");
  if (rest.length > 0) parts.push({ base, annotation: "" });
  return [{ kind: "ruby", parts }];
}

type Row = { readonly element: ContentElement; readonly isHead: boolean; readonly isFoot: boolean };

/** A longer cell holds a part of a page, not a value. */
const LONG_CELL = 1200;
/** This is the limit for a table with a single row. */
const LONG_SINGLE_CELL = 120;
const MAX_SPAN = 100;

/** Reads a table of values; a table that only lays out the page becomes the blocks of its cells. */
function readTable(reader: Reader, table: ContentElement, place: BlockContext): Block[] {
  const rows = rowsOf(table);
  const caption = captionOf(reader, table, place);
  if (isLayout(table, rows, isShown(caption))) {
    const before: Block[] = isShown(caption) ? [{ kind: "paragraph", children: caption }] : [];
    return [
      ...before,
      ...rows.flatMap((row) => cellsOf(row.element).flatMap((cell) => reader.blocks(cell, deeper(place)))),
    ];
  }
  const read = rows.map((row) => cellsOf(row.element).map((cell) => readCell(reader, cell, place)));
  const shown = read
    .map((cells, index) => ({ cells, row: rows[index]! }))
    .filter(({ cells }) => cells.length > 0);
  if (!shown.some(({ cells }) => cells.some((cell) => cell.blocks.length > 0))) return [];
  // A `<tfoot>` may precede the body in the source, but is shown last.
  const ordered = [...shown.filter(({ row }) => !row.isFoot), ...shown.filter(({ row }) => row.isFoot)];
  const headerRows = countHeaderRows(ordered);
  const { locale } = place;
  return [{ kind: "table", caption, headerRows, rows: ordered.map(({ cells }) => cells), locale }];
}

const deeper = (place: BlockContext): BlockContext => ({
  ...place,
  depth: place.depth + 2,
  nesting: place.nesting + 1,
  link: null,
});

function rowsOf(table: ContentElement): Row[] {
  const rows: Row[] = [];
  for (let child = table.firstElementChild; child; child = child.nextElementSibling) {
    const name = child.name;
    if (name === "TR") rows.push({ element: child, isHead: false, isFoot: false });
    if (!/^T(?:HEAD|BODY|FOOT)$/.test(name)) continue;
    for (let row = child.firstElementChild; row; row = row.nextElementSibling)
      if (row.name === "TR") rows.push({ element: row, isHead: name === "THEAD", isFoot: name === "TFOOT" });
  }
  return rows;
}

const cellsOf = (row: ContentElement): ContentElement[] =>
  row.children.filter((cell) => cell.name === "TD" || cell.name === "TH");

function captionOf(reader: Reader, table: ContentElement, place: BlockContext): Inline[] {
  const caption = table.children.find((child) => child.name === "CAPTION");
  return caption ? reader.phrases(caption, place) : [];
}

function isLayout(table: ContentElement, rows: readonly Row[], hasCaption: boolean): boolean {
  if (/^(?:presentation|none)$/.test(table.getAttribute("role") ?? "")) return true;
  const cells = rows.map((row) => cellsOf(row.element));
  const widest = cells.reduce((most, row) => Math.max(most, row.length), 0);
  const all = cells.flat();
  const hasHeader = all.some((cell) => cell.name === "TH") || rows.some((row) => row.isHead);
  if (all.some(holdsPage)) return true;
  if (widest <= 1) return !(hasHeader && rows.length > 1);
  if (hasHeader || hasCaption) return false;
  const limit = rows.length === 1 ? LONG_SINGLE_CELL : LONG_CELL;
  return all.some(
    (cell) => textOf(cell).length > limit || (rows.length === 1 && find(cell, isImageOrCode) !== null),
  );
}

const isImageOrCode = named("IMG PRE");
const isPagePart = named("H1 H2 H3 ARTICLE MAIN NAV");
const isTable = named("TABLE");
const isRow = named("TR");

function holdsPage(cell: ContentElement): boolean {
  return (
    (cell.name === "TD" && find(cell, isPagePart) !== null) ||
    findAll(cell, isTable).some((inner) => findAll(inner, isRow).length > 1)
  );
}

function readCell(reader: Reader, cell: ContentElement, place: BlockContext): Cell {
  return {
    blocks: reader.blocks(cell, { ...deeper(place), locale: undefined }),
    isHeader: cell.name === "TH",
    colspan: cellSpanOf(cell, "colspan"),
    rowspan: cellSpanOf(cell, "rowspan"),
    alignment: alignmentOf(cell),
  };
}

function cellSpanOf(cell: ContentElement, name: string): number {
  const span = Number.parseInt(cell.getAttribute(name) ?? "1", 10);
  return Number.isInteger(span) && span > 1 ? Math.min(span, MAX_SPAN) : 1;
}

function alignmentOf(cell: ContentElement): Alignment {
  const style = (cell.getAttribute("style") ?? "").slice(0, 300);
  const value =
    /text-align\s*:\s*(left|center|right)/i.exec(style)?.[1] ??
    /^(left|center|right)$/i.exec(cell.getAttribute("align") ?? "")?.[1] ??
    /(?:^|\s)(?:has-)?(?:text-)?(?:align-)?(left|center|right)(?:-align)?(?:$|\s)/i.exec(
      cell.className.slice(0, 200),
    )?.[1];
  const alignment = value?.toLowerCase();
  return alignment === "left" || alignment === "center" || alignment === "right" ? alignment : null;
}

type ReadRow = { readonly cells: readonly Cell[]; readonly row: Row };

function countHeaderRows(rows: readonly ReadRow[]): number {
  const heads = rows.findIndex(({ row }) => !row.isHead);
  if (heads !== 0) return heads < 0 ? Math.min(1, rows.length) : heads;
  const isHeaderRow = ({ cells }: ReadRow): boolean =>
    cells.every((cell) => cell.isHeader || cell.blocks.length === 0) && cells.some((cell) => cell.isHeader);
  const first = rows[0];
  if (first && isHeaderRow(first)) return rows.length > 2 && isHeaderRow(rows[1]!) ? 2 : 1;
  if (!first || rows.length < 2) return 0;
  return (isBold(first) && !isBold(rows[1]!)) || namesColumns(first, rows.slice(1)) ? 1 : 0;
}

const MAX_NAME = 40;

/** Tells whether a row names the columns: short words above figures, or above all columns but the first. */
function namesColumns({ cells }: ReadRow, rows: readonly ReadRow[]): boolean {
  const names = cells.map(plainCell);
  const [corner, ...others] = names;
  if (cells.length < 2 || cells.some(({ colspan, rowspan }) => colspan > 1 || rowspan > 1)) return false;
  if (others.some((name) => name === null || name === "" || name.length > MAX_NAME || /\d/.test(name)))
    return false;
  if (corner === "") return rows.every((row) => plainCell(row.cells[0]) !== "");
  if (corner == null || corner.length > MAX_NAME || /\d/.test(corner) || rows.length < 2) return false;
  return others.some((_, column) => rows.every((row) => /\d/.test(plainCell(row.cells[column + 1]) ?? "")));
}

/** Returns the text of a cell that is one phrase; null for any other. */
function plainCell(cell: Cell | undefined): string | null {
  if (!cell || cell.blocks.length === 0) return "";
  const [only, ...more] = cell.blocks;
  return only?.kind === "paragraph" && more.length === 0 ? inlineText(only.children).trim() : null;
}

// Old pages mark their header with bold type.
const isBold = ({ cells }: ReadRow): boolean =>
  cells.length > 0 &&
  cells.every(({ blocks: [only, more] }) => {
    if (more || only?.kind !== "paragraph" || only.children.length !== 1) return false;
    const [span] = only.children;
    return span?.kind === "span" && span.tag === "strong";
  });

/** Adds the blocks of an item, or blocks between items, which belong to the item before them. */
function addToItems(
  items: ListItem[],
  blocks: readonly Block[],
  isNew: boolean,
  isDone: boolean | null = null,
): void {
  if (blocks.length === 0) return;
  const last = items.at(-1);
  if (isNew || !last) items.push({ isDone, blocks: isDone === null ? blocks : withoutTick(blocks) });
  else items[items.length - 1] = { ...last, blocks: [...last.blocks, ...blocks] };
}

/**
 * Tells whether a list lays out a page: its items are sections of their own, as Javadoc writes them. A card with a
 * heading and a paragraph is still an item, unless its element is a section.
 * @param holdsSections whether an item is a `<section>`
 */
const isListLayout = (items: readonly ListItem[], holdsSections: boolean): boolean =>
  items.some(({ blocks }) => {
    const at = blocks.findIndex((block) => block.kind === "heading");
    return at >= 0 && (holdsSections || blocks.slice(at + 1).some((block) => SECTION_PARTS.has(block.kind)));
  });

const SECTION_PARTS: ReadonlySet<Block["kind"]> = new Set(
  wordsIn("heading list code-block table definitions admonition"),
);

/** The number in an attribute of a list or an item; null where it gives none that Markdown can write. */
function numberOf(element: ContentElement, attribute: "start" | "value"): number | null {
  const number = Number.parseInt(element.getAttribute(attribute) ?? "", 10);
  return Number.isInteger(number) && number >= 0 && number < 1e9 ? number : null;
}

/** The items of an ordered list as lists that count on from their first number: a new one where an item skips numbers. */
function runsOf(
  items: readonly ListItem[],
  numbers: readonly (number | null)[],
  start: number,
): readonly { readonly start: number; readonly items: readonly ListItem[] }[] {
  const runs: { readonly start: number; readonly items: ListItem[] }[] = [];
  let next = start;
  for (const [index, item] of items.entries()) {
    // Scripts write values of their own that do not count on.
    const number = Math.max(numbers[index] ?? next, next);
    const run = runs.at(-1);
    if (run === undefined || number !== next) runs.push({ start: number, items: [item] });
    else run.items.push(item);
    next = number + 1;
  }
  return runs;
}

/** Reads whether a task is done; null for an item that is not a task. */
function taskState(item: ContentElement): boolean | null {
  const classes = item.classes;
  if (!classes.includes("task-list-item")) return null;
  const sign = /^\s*([☑☐])/u.exec(textOf(item).slice(0, 40))?.[1];
  return sign === undefined ? classes.includes("done") : sign === "☑";
}

// Removes the sign with which our own HTML shows the state.
const withoutTick = (blocks: readonly Block[]): readonly Block[] => withoutStart(blocks, /^[☑☐]\s*/u);

/** Removes GitHub's own mark from the blocks of an alert. */
const withoutMark = (blocks: readonly Block[]): readonly Block[] =>
  withoutStart(blocks, /^\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*/);

function withoutStart(blocks: readonly Block[], start: RegExp): readonly Block[] {
  const [first, ...rest] = blocks;
  if (first?.kind !== "paragraph") return blocks;
  const [text, ...others] = first.children;
  if (text?.kind !== "text") return blocks;
  const children = normalisePhrases([{ kind: "text", text: text.text.replace(start, "") }, ...others]);
  return isShown(children) ? [{ ...first, children }, ...rest] : rest;
}
