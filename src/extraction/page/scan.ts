import { QuoteType, Tokenizer } from "htmlparser2";
import { type AttributeField, fieldOf, StartTagAttributes } from "./attributes.ts";
import { BlockBuilder } from "./block-builder.ts";
import { groupsOf, groupsOfRole } from "./class-groups.ts";
import { ElementColumns, IntegerColumn, TextColumns } from "./columns.ts";
import { FactCollector } from "./fact-collector.ts";
import { isHidingStyle } from "./hidden.ts";
import { OpenElements } from "./open-elements.ts";
import { Break, ElementFlag, type ScannedPage } from "./page-model.ts";
import { hideBySheets } from "./sheet-hiding.ts";
import { FIRST_UNKNOWN_TAG, TAG_LIMIT, Tag, TagTrait, tagId, traitsOf } from "./tags.ts";

/**
 * Reads a page in one pass: its elements, texts and blocks as flat columns, and what it says about
 * itself. Time and memory are linear in the length of the page, whatever its nesting; the tree is the one
 * a browser would build, but for misnested formatting and content in the wrong places of tables.
 */
export function scanPage(html: string): ScannedPage {
  const scanner = new Scanner(html);
  const tokenizer = new Tokenizer({ decodeEntities: true }, scanner);
  tokenizer.write(html);
  tokenizer.end();
  return scanner.finish();
}

// Flags that pass from an element to everything inside it.
const INHERITED =
  ElementFlag.link |
  ElementFlag.preformatted |
  ElementFlag.textless |
  ElementFlag.noscript |
  ElementFlag.template |
  ElementFlag.hidden |
  ElementFlag.panel |
  ElementFlag.ariaHidden |
  ElementFlag.cell |
  ElementFlag.heading |
  ElementFlag.form |
  ElementFlag.bold |
  ElementFlag.button;

const PANEL_GROUPS = 1 << 23;
const HIDDEN_WORDS = /(?:^|\s)(?:sr-only|screen-reader-text|visually-?hidden|assistive-text|a11y-hidden)(?:\s|$)/i;
const PERMALINK = /^[\s¶§#🔗\u2060\u200b]*$/u;
const MAX_CONTROLS = 2000;

class Scanner {
  readonly #html: string;
  readonly #elements = new ElementColumns();
  readonly #texts = new TextColumns();
  readonly #media = new IntegerColumn();
  readonly #blocks = new BlockBuilder();
  readonly #facts = new FactCollector();
  readonly #open = new OpenElements();
  readonly #attributes = new StartTagAttributes();
  readonly #unknownTags = new Map<string, number>();
  readonly #nameIds = new Map<string, number>();
  readonly #names: string[] = [""];
  readonly #groupsOfName: number[] = [0];
  readonly #controlled = new Set<string>();

  #tagStart = 0;
  #tag = 0;
  #field: AttributeField | null = null;
  #value = "";
  /** Where the permalink of a heading may have begun. */
  #linkStart = { element: -1, blockLength: 0, textCount: 0 };

  constructor(html: string) {
    this.#html = html;
  }

  finish(): ScannedPage {
    const elements = this.#elements;
    const model = {
      html: this.#html,
      elementCount: elements.count,
      tag: elements.tag,
      parent: elements.parent,
      depth: elements.depth,
      elementEnd: elements.elementEnd,
      openStart: elements.openStart,
      openEnd: elements.openEnd,
      closeEnd: elements.closeEnd,
      flags: elements.flags,
      groups: elements.groups,
      classId: elements.classId,
      idId: elements.idId,
      names: this.#names,
      textCount: this.#texts.count,
      textStart: this.#texts.start,
      textEnd: this.#texts.end,
      textParent: this.#texts.parent,
      media: this.#media.values.subarray(0, this.#media.count),
      blocks: this.#blocks.finish(this.#texts.count),
    };
    hideBySheets(model, this.#facts.sheets, this.#controlled);
    return { model, facts: this.#facts.finish() };
  }

  // ------------------------------------------------------------ the tokenizer's events

  ontext(start: number, end: number): void {
    this.#text(this.#html.slice(start, end), start, end);
  }

  ontextentity(codePoint: number, end: number): void {
    // The entity began where the text before it ended; its own text goes back to the ampersand.
    const start = this.#html.lastIndexOf("&", end - 1);
    this.#text(String.fromCodePoint(codePoint), start, end);
  }

  onopentagname(start: number, end: number): void {
    this.#tagStart = start - 1;
    this.#tag = this.#tagOf(this.#html.slice(start, end).toLowerCase());
    this.#attributes.clear();
  }

  onattribname(start: number, end: number): void {
    this.#field = fieldOf(this.#html, start, end);
    this.#value = "";
  }

  onattribdata(start: number, end: number): void {
    if (this.#field !== null) this.#value += this.#html.slice(start, end);
  }

  onattribentity(codePoint: number): void {
    if (this.#field !== null) this.#value += String.fromCodePoint(codePoint);
  }

  onattribend(_quote: QuoteType, _end: number): void {
    if (this.#field !== null) this.#attributes.set(this.#field, this.#value);
    this.#field = null;
  }

  onopentagend(end: number): void {
    this.#start(end + 1, false);
  }

  onselfclosingtag(end: number): void {
    const isForeign = this.#open.innermost(SVG) >= 0 || this.#open.innermost(MATH) >= 0;
    this.#start(end + 1, isForeign || this.#tag === SVG || this.#tag === MATH);
  }

  onclosetag(start: number, end: number): void {
    const tag = this.#tagOf(this.#html.slice(start, end).toLowerCase());
    if (tag === Tag.br) this.#blocks.lineBreak(this.#texts.count);
    else this.#close(tag, end + 1);
  }

  onend(): void {
    this.#popTo(0, this.#html.length);
  }

  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}

  // ------------------------------------------------------------ elements

  #tagOf(name: string): number {
    const known = tagId(name);
    if (known > 0) return known;
    const seen = this.#unknownTags.get(name);
    if (seen !== undefined) return seen;
    const id = Math.min(FIRST_UNKNOWN_TAG + this.#unknownTags.size, TAG_LIMIT - 1);
    if (id < TAG_LIMIT - 1) this.#unknownTags.set(name, id);
    return id;
  }

  #start(end: number, isSelfClosed: boolean): void {
    const tag = this.#tag;
    const traits = traitsOf(tag);
    if (this.#isRepeatedSkeleton(tag)) return;
    this.#closeImplied(tag, traits);
    this.#noteOutside(tag);
    const element = this.#addElement(tag, end);
    const flags = this.#elements.flags[element]!;
    if ((traits & TagTrait.block) !== 0) this.#blocks.breakAt(breakOf(traits, flags), this.#texts.count);
    if (tag === Tag.br) this.#blocks.lineBreak(this.#texts.count);
    if (tag === Tag.br || tag === Tag.img || tag === Tag.hr) this.#media.push(element);
    if ((traits & TagTrait.void) !== 0 || isSelfClosed) {
      this.#elements.elementEnd[element] = element + 1;
      this.#elements.closeEnd[element] = end;
      return;
    }
    const position = this.#open.size;
    this.#open.push(element, tag);
    this.#noteInside(tag, element, position);
  }

  #isRepeatedSkeleton(tag: number): boolean {
    if (tag !== Tag.html && tag !== Tag.head && tag !== Tag.body) return false;
    if (tag === Tag.html) this.#facts.htmlLang ??= this.#attributes.lang;
    if (tag === Tag.body) this.#facts.bodyLang ??= this.#attributes.lang;
    if (tag !== Tag.head) this.#facts.dir ??= this.#attributes.dir;
    if (tag === Tag.head && this.#open.innermost(Tag.body) >= 0) return true;
    return this.#open.innermost(tag) >= 0;
  }

  #closeImplied(tag: number, traits: number): void {
    const open = this.#open;
    const at = this.#tagStart;
    const head = open.innermost(Tag.head);
    if (head >= 0 && (traits & TagTrait.head) === 0 && open.innermost(Tag.noscript) < head) {
      this.#popTo(head, at);
    }
    if ((traits & TagTrait.closesParagraph) !== 0) {
      const paragraph = open.innermost(Tag.p);
      if (paragraph >= 0 && paragraph === open.special) this.#popTo(paragraph, at);
    }
    if (tag === Tag.li) this.#closeItem(Tag.li, [Tag.ul, Tag.ol, Tag.menu]);
    else if (tag === Tag.dt || tag === Tag.dd) {
      this.#closeItem(Tag.dt, [Tag.dl]);
      this.#closeItem(Tag.dd, [Tag.dl]);
    } else if (tag === Tag.a) this.#closeLink();
    else if (traits & TagTrait.cell) this.#closeItem2([Tag.td, Tag.th], Tag.tr);
    else if (tag === Tag.tr) this.#closeItem2([Tag.td, Tag.th, Tag.caption, Tag.tr], Tag.table);
    else if (tag === Tag.tbody || tag === Tag.thead || tag === Tag.tfoot) {
      this.#closeItem2([Tag.td, Tag.th, Tag.caption, Tag.tr, Tag.tbody, Tag.thead, Tag.tfoot], Tag.table);
    } else if (tag === Tag.p && open.innermost(Tag.p) === open.special && open.special >= 0) {
      this.#popTo(open.special, at);
    }
  }

  // An item ends where the next one of the same list starts.
  #closeItem(item: number, lists: readonly number[]): void {
    const position = this.#open.innermost(item);
    if (position <= this.#open.scope) return;
    for (const list of lists) if (this.#open.innermost(list) > position) return;
    this.#popTo(position, this.#tagStart);
  }

  #closeItem2(items: readonly number[], within: number): void {
    const limit = Math.max(this.#open.innermost(within), this.#open.innermost(Tag.table));
    for (const item of items) {
      const position = this.#open.innermost(item);
      if (position > limit) this.#popTo(position, this.#tagStart);
    }
  }

  // Links do not nest: the one before ends, unless a block has begun inside it.
  #closeLink(): void {
    const position = this.#open.innermost(Tag.a);
    if (position > this.#open.special) this.#popTo(position, this.#tagStart);
  }

  #addElement(tag: number, end: number): number {
    const elements = this.#elements;
    const parent = this.#open.top;
    const element = elements.add();
    const { class: className, id, role } = this.#attributes;
    elements.tag[element] = tag;
    elements.parent[element] = parent;
    elements.depth[element] = this.#open.size;
    elements.openStart[element] = this.#tagStart;
    elements.openEnd[element] = end;
    const classId = this.#nameId(className);
    const idId = this.#nameId(id);
    elements.classId[element] = classId;
    elements.idId[element] = idId;
    elements.groups[element] =
      this.#groupsOfName[classId]! |
      this.#groupsOfName[idId]! |
      (role === null ? 0 : groupsOfRole(role)) |
      (this.#attributes.itemprop === null ? 0 : groupsOf(this.#attributes.itemprop));
    const inherited = parent < 0 ? 0 : elements.flags[parent]! & INHERITED;
    elements.flags[element] = inherited | this.#ownFlags(tag, elements.groups[element]!);
    return element;
  }

  #nameId(value: string | null): number {
    if (value === null || value === "") return 0;
    const known = this.#nameIds.get(value);
    if (known !== undefined) return known;
    const id = this.#names.length;
    this.#nameIds.set(value, id);
    this.#names.push(value);
    this.#groupsOfName.push(groupsOf(value));
    return id;
  }

  #ownFlags(tag: number, groups: number): number {
    const { href, style, hidden, ariaHidden, class: className, id, role } = this.#attributes;
    let flags = FLAGS_OF_TAG[tag]!;
    if (tag === Tag.a && href !== null) flags |= ElementFlag.link;
    if (ariaHidden?.trim().toLowerCase() === "true") flags |= ElementFlag.ariaHidden;
    if (tag === Tag.html || tag === Tag.body) return flags;
    const isHidden =
      hidden !== null ||
      (style !== null && isHidingStyle(style)) ||
      (className !== null && HIDDEN_WORDS.test(className));
    if (!isHidden) return flags;
    const isPanel =
      (groups & PANEL_GROUPS) !== 0 ||
      role === "tabpanel" ||
      hidden === "until-found" ||
      (id !== null && this.#controlled.has(id));
    return flags | (isPanel ? ElementFlag.panel : ElementFlag.hidden);
  }

  #close(tag: number, end: number): void {
    const open = this.#open;
    const position = open.innermost(tag);
    if (position < 0 || tag === Tag.body || tag === Tag.html) return;
    const isScope = (traitsOf(tag) & TagTrait.scope) !== 0 || TABLE_PARTS.has(tag);
    if (!isScope && position < open.scope) return;
    // `</span>` does not end the block around it; formatting and links do, as most parsers have it.
    const isFormatting = FORMATTING.has(tag);
    if (!isFormatting && (traitsOf(tag) & TagTrait.special) === 0 && position < open.special) return;
    this.#popTo(position, end);
  }

  /** Ends every element from the innermost down to this position; only the last has an end tag. */
  #popTo(position: number, end: number): void {
    const open = this.#open;
    const elements = this.#elements;
    while (open.size > position) {
      const element = open.top;
      const tag = open.pop();
      elements.elementEnd[element] = elements.count;
      elements.closeEnd[element] = open.size === position ? end : this.#lastEnd(end);
      const traits = traitsOf(tag);
      if (tag === Tag.a) this.#dropPermalink(element);
      if ((traits & TagTrait.block) !== 0) {
        this.#blocks.breakAt(breakOf(traits, elements.flags[element]!), this.#texts.count);
      }
      this.#facts.finishAt(open.size);
    }
  }

  #lastEnd(end: number): number {
    const start = this.#html.lastIndexOf("<", end - 1);
    return start < 0 ? end : start;
  }

  // ------------------------------------------------------------ text

  #text(text: string, start: number, end: number): void {
    const open = this.#open;
    const element = open.top;
    const flags = element < 0 ? 0 : this.#elements.flags[element]!;
    const isTextless = (flags & ElementFlag.textless) !== 0;
    if (this.#facts.isCapturing) this.#facts.text(text, isTextless);
    if (isTextless) return;
    const blocks = this.#blocks;
    if (!blocks.isOpen) {
      if (isBlank(text)) return;
      if (open.innermost(Tag.head) >= 0 && open.topTag === Tag.head) this.#popTo(open.innermost(Tag.head), start);
      blocks.open(Math.max(open.blockElement, 0), flags, this.#texts.count);
    }
    const texts = this.#texts;
    const last = texts.count - 1;
    if (last >= 0 && texts.end[last] === start && texts.parent[last] === element) texts.end[last] = end;
    else texts.add(start, end, element);
    blocks.append(text, flags);
  }

  // Headings point to themselves with a sign (¶, #): a tool of the site, not text.
  #dropPermalink(element: number): void {
    const start = this.#linkStart;
    if (start.element !== element || this.#elements.flags[element]! === 0) return;
    start.element = -1;
    if (!this.#blocks.isOpen || this.#texts.count < start.textCount) return;
    if (!PERMALINK.test(this.#blocks.textSince(start.blockLength))) return;
    this.#blocks.rewind(start.blockLength);
    this.#texts.count = start.textCount;
  }

  // ------------------------------------------------------------ what the page says about itself

  /** Facts of elements that stand alone. */
  #noteOutside(tag: number): void {
    const { name, property, itemprop, content, href, rel, controls, state } = this.#attributes;
    if (tag === Tag.meta) this.#facts.meta([property, name, itemprop], content, name);
    else if (tag === Tag.base) this.#facts.baseHref ??= href || null;
    else if (tag === Tag.link && href !== null && hasToken(rel, "canonical")) {
      this.#facts.canonicalHref ??= href;
    } else if (tag === Tag.area && href !== null) {
      this.#facts.addLink({ href, text: "", isNofollow: hasToken(rel, "nofollow") });
    }
    if (state !== null && this.#facts.states.length < 4) this.#facts.states.push(state);
    if (controls !== null && this.#controlled.size < MAX_CONTROLS) {
      for (const id of controls.split(/\s+/)) this.#controlled.add(id.replace(/^#/, ""));
    }
  }

  /** Facts whose text is inside the element. */
  #noteInside(tag: number, element: number, position: number): void {
    const { href, rel, itemprop, datetime, pubdate, type } = this.#attributes;
    const facts = this.#facts;
    if (tag === Tag.a && href !== null) {
      facts.start("link", position, { link: { href, isNofollow: hasToken(rel, "nofollow") } });
      const isInHeading = (this.#elements.flags[element]! & ElementFlag.heading) !== 0;
      if (isInHeading && href.includes("#")) {
        this.#linkStart = { element, blockLength: this.#blocks.length, textCount: this.#texts.count };
      }
    } else if (tag === Tag.title && this.#open.innermost(SVG) < 0) facts.start("title", position);
    else if (tag === Tag.h1) facts.start("h1", position);
    else if (tag === Tag.style) facts.start("style", position);
    else if (tag === Tag.script) {
      const kind = type?.trim().toLowerCase() ?? "";
      if (kind === "application/ld+json") facts.start("json-ld", position);
      else if (kind === "application/json" || kind === "application/discourse+json") {
        facts.start("state", position);
      }
    } else if (tag === Tag.time || (itemprop !== null && hasToken(itemprop, "datePublished"))) {
      const isPublication = pubdate !== null || hasToken(itemprop, "datePublished");
      const article = this.#open.innermost(Tag.article);
      const isInArticleHeader = article >= 0 && this.#open.innermost(Tag.header) > article;
      facts.start("time", position, { time: { datetime, isPublication, isInArticleHeader } });
    }
    if (hasToken(rel, "author") || hasToken(itemprop, "author")) facts.start("author", position);
  }
}

const SVG = tagId("svg");
const MATH = tagId("math");
const TABLE_PARTS = new Set([Tag.tr, Tag.tbody, Tag.thead, Tag.tfoot]);
const FORMATTING: ReadonlySet<number> = new Set(
  "a b big code em font i nobr s small strike strong tt u".split(" ").map(tagId),
);

const FLAGS_OF_TAG = new Uint16Array(TAG_LIMIT);
for (const [flag, names] of [
  [ElementFlag.preformatted, "pre listing xmp textarea"],
  [ElementFlag.noscript, "noscript"],
  [ElementFlag.template, "template"],
  [ElementFlag.cell, "td th"],
  [ElementFlag.heading, "h1 h2 h3 h4 h5 h6 dt"],
  [ElementFlag.form, "form"],
  [ElementFlag.bold, "b strong"],
  [ElementFlag.button, "button"],
] as const) {
  for (const name of names.split(" ")) FLAGS_OF_TAG[tagId(name)]! |= flag;
}
for (let tag = 0; tag < TAG_LIMIT; tag++) {
  if ((traitsOf(tag) & TagTrait.textless) !== 0) FLAGS_OF_TAG[tag]! |= ElementFlag.textless;
}

// Inside a cell every block is a line, so that a paragraph does not tear the row apart.
function breakOf(traits: number, flags: number): number {
  if ((traits & TagTrait.cell) !== 0) return Break.cell;
  return (traits & TagTrait.line) !== 0 || (flags & ElementFlag.cell) !== 0 ? Break.line : Break.paragraph;
}

function isBlank(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 32 && code !== 160 && code !== 0x200b && code !== 0xfeff) return false;
  }
  return true;
}

const hasToken = (list: string | null, token: string): boolean =>
  list?.toLowerCase().split(/\s+/).includes(token.toLowerCase()) ?? false;
