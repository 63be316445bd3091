import { EDIT_ADDRESS, PERMALINK_SIGN } from "../text.ts";
import { Field, groupsAt, groupsOf, groupsOfRole, StartTagAttributes } from "./attributes.ts";
import { ElementColumns, endTagPosition, impliedEnd, OpenElements, TextColumns } from "./columns.ts";
import { FactCollector, noteElement, noteOpening, noteRefresh } from "./fact-collector.ts";
import {
  breakOf,
  ElementFlag,
  FIRST_UNKNOWN_TAG,
  flagsOfTag,
  isMedium,
  type PageModel,
  type ScannedPage,
  startTagOf,
  TAG_LIMIT,
  Tag,
  TagTrait,
  tagAt,
  tagsNamed,
  traitsOf,
  traitsOfElement,
  valueIn,
} from "./page-model.ts";
import { codesOf, containsAmpersand, EntityText, isBlank, isBlankAt, TextTable } from "./source-text.ts";
import { Tokenizer, type TokenSink } from "./tokenizer.ts";
import { opensSomething, Revealed, Visibility } from "./visibility.ts";
import { BlockBuilder, isGapBefore } from "./word-stats.ts";

/**
 * Reads a page in one pass: its elements, texts and blocks as flat columns, and what it says about itself. Time and
 * memory are linear in the length of the page, whatever its nesting. The tree is the one that a browser would build,
 * except for misnested formatting and misplaced content in tables.
 * @throws Failure `too_complex` for too many elements, see `ElementColumns`
 */
export function scanPage(html: string): ScannedPage {
  let scanner = scan(html, Revealed.nothing);
  const { hiddenChars, visibleChars } = scanner;
  // A page that would show next to nothing is made visible by a script that has not run.
  if (hiddenChars > MOSTLY_HIDDEN && hiddenChars > 10 * visibleChars)
    return scan(html, Revealed.all).finish();
  if (scanner.isFadedIn) scanner = scan(html, Revealed.faded);
  if (scanner.hiddenChars <= scanner.visibleChars || !html.includes("visibility")) return scanner.finish();
  // Some pages keep their content invisible in its place until a script has styled it.
  const uncovered = scan(html, Revealed.invisible);
  return (uncovered.visibleChars > 2 * scanner.visibleChars ? uncovered : scanner).finish();
}

const MOSTLY_HIDDEN = 2000;
/** Pages whose scripts fade them in do so with several of their parts, or with much of their text. */
const FADED_PARTS = 4;
const FADED_SHARE = 0.1;

function scan(html: string, revealed: number): Scanner {
  const codes = codesOf(html);
  const scanner = new Scanner(html, codes, revealed);
  new Tokenizer(html, codes, scanner).run();
  scanner.end();
  return scanner;
}

class Scanner implements TokenSink {
  readonly #html: string;
  readonly #codes: Uint16Array;
  readonly #elements: ElementColumns;
  readonly #texts = new TextColumns();
  readonly #media: number[] = [];
  readonly #blocks = new BlockBuilder();
  readonly #facts = new FactCollector();
  readonly #open = new OpenElements();
  readonly #entities: EntityText;
  readonly #attributes: StartTagAttributes;
  readonly #unknownTags = new Map<string, number>();
  readonly #names: TextTable;
  readonly #groupsOfName: number[] = [0];
  readonly #lineStarts = new Set<number>();
  readonly #gaps = new Set<number>();
  readonly #decodedText = new Map<number, string>();
  readonly #visibility: Visibility;
  /** The number of characters of hidden text, of text without opacity, and of all other text. */
  hiddenChars = 0;
  #fadedChars = 0;
  visibleChars = 0;
  /** Whether the last visible text opens something. */
  #isAfterToggle = false;

  #tagStart = 0;
  #tag = 0;
  /** The state at the start of a heading's possible permalink. */
  #linkStart = { element: -1, blockLength: 0, textCount: 0 };
  /** The state at the start of what may be the links to edit a section, in its heading or right behind it. */
  #toolStart = { element: -1, blockLength: 0, textCount: 0, isEdit: false };
  /** The parent of the heading that has just ended; -1 when text has followed. */
  #besideHeading = -1;

  constructor(html: string, codes: Uint16Array, revealed: number) {
    this.#html = html;
    this.#elements = new ElementColumns(html.length);
    this.#codes = codes;
    this.#entities = new EntityText(html, (text, start, end) => this.#text(text, start, end));
    this.#attributes = new StartTagAttributes(html, codes, this.#entities);
    this.#names = new TextTable(html, codes);
    this.#visibility = new Visibility(html, codes, revealed);
  }

  /** Whether scripts fade the page in. */
  get isFadedIn(): boolean {
    if (this.#fadedChars === 0 || !this.#visibility.canChange) return false;
    return this.#visibility.fadedCount >= FADED_PARTS || this.#fadedChars > FADED_SHARE * this.visibleChars;
  }

  finish(): ScannedPage {
    const { count: elementCount, ...elements } = this.#elements;
    const model = {
      html: this.#html,
      elementCount,
      ...elements,
      names: this.#names.texts,
      textCount: this.#texts.count,
      textStart: this.#texts.start,
      textEnd: this.#texts.end,
      textParent: this.#texts.parent,
      decodedText: this.#decodedText,
      lineStarts: this.#lineStarts,
      gaps: this.#gaps,
      media: Int32Array.from(this.#media),
      blocks: this.#blocks.finish(this.#texts.count),
    };
    return { model, facts: this.#facts.finish() };
  }

  text(start: number, end: number, hasEntity: boolean): void {
    if (!this.#facts.isCapturing && this.#showsNothing(start, end)) return;
    if (!hasEntity) this.#text(this.#html.slice(start, end), start, end);
    else this.#entities.text(start, end);
  }

  startTag(nameStart: number, nameEnd: number): number {
    this.#tagStart = nameStart - 1;
    this.#tag = this.#tagAt(nameStart, nameEnd);
    this.#attributes.clear();
    return this.#tag;
  }

  attribute(nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): void {
    this.#attributes.add(nameStart, nameEnd, valueStart, valueEnd);
  }

  startTagEnd(end: number, isSelfClosing: boolean): void {
    const isForeign =
      isSelfClosing && (this.#open.innermost(Tag.svg) >= 0 || this.#open.innermost(Tag.math) >= 0);
    this.#start(end, isForeign || (isSelfClosing && (this.#tag === Tag.svg || this.#tag === Tag.math)));
  }

  endTag(nameStart: number, nameEnd: number): void {
    const tag = this.#tagAt(nameStart, nameEnd);
    if (tag === Tag.br) this.#blocks.lineBreak(this.#texts.count);
    else this.#close(tag, nameEnd + 1);
  }

  end(): void {
    this.#popTo(0, this.#html.length);
  }

  #tagAt(start: number, end: number): number {
    const known = tagAt(this.#codes, start, end);
    if (known > 0) return known;
    const name = this.#html.slice(start, end).toLowerCase();
    const seen = this.#unknownTags.get(name);
    if (seen !== undefined) return seen;
    const id = Math.min(FIRST_UNKNOWN_TAG + this.#unknownTags.size, TAG_LIMIT - 1);
    if (id < TAG_LIMIT - 1) this.#unknownTags.set(name, id);
    return id;
  }

  #start(end: number, isSelfClosed: boolean): void {
    const tag = this.#tag;
    if (this.#isRepeatedSkeleton(tag)) return;
    for (let at = impliedEnd(this.#open, tag); at >= 0; at = impliedEnd(this.#open, tag))
      this.#popTo(at, this.#tagStart);
    noteElement(tag, this.#attributes, this.#facts);
    if (tag === Tag.meta) noteRefresh(this.#attributes, this.#facts, this.#open);
    if (this.#attributes.has(Field.controls)) this.#visibility.control(this.#attributes.get(Field.controls)!);
    const element = this.#addElement(tag, end);
    const flags = this.#elements.flags[element]!;
    const traits = traitsOfElement(tag, flags);
    if ((traits & TagTrait.block) !== 0) this.#border(tag, traits, flags);
    if (tag === Tag.br) this.#blocks.lineBreak(this.#texts.count);
    // A line break, or a border of a block, separates words.
    const separates = tag === Tag.br || (traits & TagTrait.block) !== 0;
    if (separates && this.#facts.isCapturing) this.#facts.text(" ", false);
    if (this.#isMedium(tag)) this.#media.push(element);
    if ((traits & TagTrait.void) !== 0 || isSelfClosed) {
      this.#elements.elementEnd[element] = element + 1;
      this.#elements.closeEnd[element] = end;
      return;
    }
    this.#open.push(element, tag, traits);
    noteOpening(tag, this.#attributes, this.#facts, this.#open);
    this.#noteLinkInHeading(element, flags);
    this.#noteTool(element, flags);
  }

  #noteTool(element: number, flags: number): void {
    if ((traitsOfElement(this.#elements.tag[element]!, flags) & TagTrait.block) !== 0) return;
    const isBeside =
      (flags & ElementFlag.heading) !== 0 || this.#elements.parent[element] === this.#besideHeading;
    const state = { blockLength: this.#blocks.length, textCount: this.#texts.count, isEdit: false };
    if (isBeside && this.#toolStart.element < 0) this.#toolStart = { element, ...state };
    if (this.#toolStart.element >= 0 && EDIT_ADDRESS.test(this.#attributes.get(Field.href) ?? ""))
      this.#toolStart.isEdit = true;
  }

  #noteLinkInHeading(element: number, flags: number): void {
    const isInHeading = this.#tag === Tag.a && (flags & ElementFlag.heading) !== 0;
    if (isInHeading && this.#attributes.get(Field.href)?.includes("#"))
      this.#linkStart = { element, blockLength: this.#blocks.length, textCount: this.#texts.count };
  }

  #isMedium(tag: number): boolean {
    const isTyped = tag === Tag.script || tag === Tag.input;
    return isMedium(tag, isTyped ? this.#attributes.get(Field.type) : null);
  }

  #isRepeatedSkeleton(tag: number): boolean {
    if (tag !== Tag.html && tag !== Tag.head && tag !== Tag.body) return false;
    if (tag === Tag.html) this.#facts.htmlLang ??= this.#attributes.get(Field.lang);
    if (tag === Tag.body) this.#facts.bodyLang ??= this.#attributes.get(Field.lang);
    if (tag !== Tag.head) this.#facts.dir ||= this.#attributes.get(Field.dir);
    if (tag === Tag.head && this.#open.innermost(Tag.body) >= 0) return true;
    return this.#open.innermost(tag) >= 0;
  }

  #addElement(tag: number, end: number): number {
    const elements = this.#elements;
    const parent = this.#open.top;
    const element = elements.add();
    const attributes = this.#attributes;
    elements.tag[element] = tag;
    elements.parent[element] = parent;
    elements.depth[element] = this.#open.size;
    elements.openStart[element] = this.#tagStart;
    elements.openEnd[element] = end;
    const classId = this.#nameId(Field.class);
    const idId = this.#nameId(Field.id);
    elements.classId[element] = classId;
    elements.idId[element] = idId;
    elements.groups[element] =
      this.#groupsOfName[classId]! |
      this.#groupsOfName[idId]! |
      (attributes.has(Field.role) ? groupsOfRole(attributes.get(Field.role)!) : 0) |
      (attributes.has(Field.itemprop) ? groupsOf(attributes.get(Field.itemprop)!) : 0);
    const inherited = parent < 0 ? 0 : elements.flags[parent]! & ~ElementFlag.hidden;
    elements.flags[element] = inherited | this.#ownFlags(tag, element, end);
    return element;
  }

  #nameId(field: number): number {
    if (!this.#attributes.has(field)) return 0;
    const start = this.#attributes.startOf(field);
    const end = this.#attributes.endOf(field);
    const hasEntity = containsAmpersand(this.#codes, start, end);
    const decoded = hasEntity ? this.#attributes.get(field)! : "";
    const id = hasEntity ? this.#names.numberOf(decoded) : this.#names.numberAt(start, end);
    if (id === this.#groupsOfName.length)
      this.#groupsOfName.push(hasEntity ? groupsOf(decoded) : groupsAt(this.#codes, start, end));
    return id;
  }

  #ownFlags(tag: number, element: number, end: number): number {
    const attributes = this.#attributes;
    const isPhrase = tag === Tag.button && isWordOfSentence(this.#html, end, this.#blocks.isOpen);
    let flags = isPhrase ? 0 : flagsOfTag(tag);
    if (tag === Tag.a && attributes.has(Field.href)) flags |= ElementFlag.link;
    if (opensSomething(attributes)) flags |= ElementFlag.toggle;
    if (attributes.get(Field.ariaHidden)?.trim().toLowerCase() === "true") flags |= ElementFlag.ariaHidden;
    const classId = this.#elements.classId[element]!;
    const named = {
      element,
      parent: this.#elements.parent[element]!,
      tag,
      classes: this.#names.texts[classId]!,
      classId,
      groups: this.#elements.groups[element]!,
      isAfterToggle: this.#isAfterToggle,
    };
    return flags | this.#visibility.flagsOf(attributes, named);
  }

  #close(tag: number, end: number): void {
    const position = endTagPosition(this.#open, tag);
    if (position < 0) return;
    // The "<" is searched once: otherwise a page of open elements before a long text would be searched for each of
    // them.
    const isAlone = this.#open.size === position + 1;
    this.#popTo(position, end, isAlone ? end : this.#html.lastIndexOf("<", end - 1));
  }

  /**
   * Closes every element from the innermost one down to this position; only the last may have an end tag.
   * @param innerEnd where the others end: before that tag
   */
  #popTo(position: number, end: number, innerEnd = end): void {
    const open = this.#open;
    const elements = this.#elements;
    while (open.size > position) {
      const element = open.top;
      const tag = open.pop();
      elements.elementEnd[element] = elements.count;
      elements.closeEnd[element] = open.size === position ? end : innerEnd;
      const traits = traitsOfElement(tag, elements.flags[element]!);
      if (tag === Tag.a) this.#dropPermalink(element);
      if (element === this.#toolStart.element) this.#dropEditLinks();
      if ((traits & TagTrait.block) !== 0) this.#border(tag, traits, elements.flags[element]!);
      if (HEADINGS.has(tag)) this.#besideHeading = elements.parent[element]!;
      this.#facts.finishAt(open.size);
    }
  }

  // Highlighters wrap lines of code in blocks, which are lines inside preformatted text.
  #border(tag: number, traits: number, flags: number): void {
    this.#toolStart.element = -1;
    const isLine = (flags & ElementFlag.preformatted) !== 0 && tag !== Tag.pre && this.#blocks.isOpen;
    if (!isLine) this.#blocks.breakAt(breakOf(traits, flags), this.#texts.count);
    else if (this.#blocks.startLine()) this.#lineStarts.add(this.#texts.count);
  }

  /** Tells whether a text needs no string, because it is not shown or is white space between blocks. */
  #showsNothing(start: number, end: number): boolean {
    const element = this.#open.top;
    const flags = element < 0 ? 0 : this.#elements.flags[element]!;
    if ((flags & ElementFlag.textless) !== 0) return true;
    const isGap = !this.#blocks.isOpen || (flags & ElementFlag.hidden) !== 0;
    return isGap && isBlankAt(this.#codes, start, end);
  }

  #text(text: string, start: number, end: number): void {
    const open = this.#open;
    const element = open.top;
    const flags = element < 0 ? 0 : this.#elements.flags[element]!;
    const isTextless = (flags & ElementFlag.textless) !== 0;
    const isGap = this.#blocks.isOpen && this.#isGapBefore(text, start);
    if (this.#facts.isCapturing) this.#facts.text(text, isTextless, isGap);
    if (isTextless) return;
    if ((flags & ElementFlag.hidden) !== 0) {
      if (isBlank(text)) return;
      this.hiddenChars += text.length;
      if (this.#visibility.isFaded(element)) this.#fadedChars += text.length;
      return;
    }
    const blocks = this.#blocks;
    if (!blocks.isOpen) {
      if (isBlank(text)) return;
      if (open.innermost(Tag.head) >= 0 && open.topTag === Tag.head)
        this.#popTo(open.innermost(Tag.head), start);
      if (open.size === 0) {
        this.#textOutside(text, start, end);
        return;
      }
      blocks.open(Math.max(open.blockElement, 0), flags, this.#texts.count);
    }
    if (!isBlank(text)) {
      this.#isAfterToggle = (flags & ElementFlag.toggle) !== 0;
      this.#besideHeading = -1;
    }
    if (isGap) {
      this.#gaps.add(this.#texts.count);
      blocks.append(" ", 0);
    }
    this.#addText(text, start, end);
    this.visibleChars += text.length;
    blocks.append(text, flags);
  }

  #isGapBefore(text: string, start: number): boolean {
    const open = this.#open;
    const columns = { html: this.#html, elements: this.#elements, texts: this.#texts };
    return isGapBefore({ text, start, element: open.top, open, ...columns });
  }

  #addText(text: string, start: number, end: number): void {
    const texts = this.#texts;
    const element = this.#open.top;
    const last = texts.count - 1;
    const isContinued = last >= 0 && texts.end[last] === start && texts.parent[last] === element;
    this.#decode(isContinued ? last : last + 1, text, start, end);
    if (isContinued) texts.end[last] = end;
    else texts.add(start, end, element);
  }

  // Text before any element belongs to a body whose start tag the page left out.
  #textOutside(text: string, start: number, end: number): void {
    this.#attributes.clear();
    this.#tag = Tag.body;
    this.#tagStart = start;
    this.#start(start, false);
    this.#text(text, start, end);
  }

  /** Keeps the decoded form of a text that differs from its source. */
  #decode(index: number, text: string, start: number, end: number): void {
    const texts = this.#texts;
    const before = this.#decodedText.get(index);
    const isContinued = index < texts.count;
    if (before !== undefined && isContinued) this.#decodedText.set(index, before + text);
    else if (end - start !== text.length || this.#html.charCodeAt(start) === AMPERSAND) {
      const source = isContinued ? this.#html.slice(texts.start[index]!, start) : "";
      this.#decodedText.set(index, source + text);
    } else if (before !== undefined) this.#decodedText.delete(index);
  }

  // Drops the sign (¶, #) with which a heading links to itself; it is a tool of the site, not text.
  #dropPermalink(element: number): void {
    const start = this.#linkStart;
    if (start.element !== element || this.#elements.flags[element]! === 0) return;
    start.element = -1;
    if (!this.#blocks.isOpen || this.#texts.count < start.textCount) return;
    if (PERMALINK_SIGN.test(this.#blocks.textSince(start.blockLength))) this.#takeBack(start);
  }

  /** Drops the links with which a wiki lets its readers edit a section; choosing would take them for a menu below a heading. */
  #dropEditLinks(): void {
    const start = this.#toolStart;
    start.element = -1;
    const isShort = this.#blocks.length - start.blockLength <= LONGEST_TOOL;
    if (start.isEdit && isShort && this.#blocks.isOpen) this.#takeBack(start);
  }

  #takeBack({ blockLength, textCount }: { readonly blockLength: number; readonly textCount: number }): void {
    this.#facts.takeBack(this.#blocks.textSince(blockLength));
    this.#blocks.rewind(blockLength);
    this.#texts.count = textCount;
  }
}

const HEADINGS = tagsNamed("h1 h2 h3 h4 h5 h6");
/** Links to edit a section and to talk about it have no more characters. */
const LONGEST_TOOL = 80;

const NAME_AND_REST = /[^<>]{1,80}<\/button\s*>\s?([^\s<][^<]{0,20})/iy;
/** From as much text on, a button that begins a block is the first word of a sentence; a count behind one is shorter. */
const SENTENCE_LENGTH = 15;

/**
 * Tells whether a button is a word of a sentence, as in "Press [Save] to keep it.": text follows immediately, and there
 * is text before it, or the following text is long.
 * @param start position just after its start tag
 */
function isWordOfSentence(html: string, start: number, isBehindText: boolean): boolean {
  NAME_AND_REST.lastIndex = start;
  const rest = NAME_AND_REST.exec(html)?.[1];
  return rest !== undefined && (isBehindText || rest.length >= SENTENCE_LENGTH);
}

const AMPERSAND = 38;

/** The maximum nesting of shadow roots that are composed; deeper ones are read where they are written. */
const MAX_SHADOW_ROUNDS = 4;

/**
 * Scans a page with its shadow roots composed.
 * @throws Failure `too_complex` for too many elements, see `scanPage`
 */
export function readPage(html: string): ScannedPage {
  let page = scanPage(withLineFeeds(html));
  const shown = withReadOnlyTexts(page.model);
  if (shown !== null) page = scanPage(shown);
  for (let round = 0; round < MAX_SHADOW_ROUNDS; round++) {
    const composed = withShadowRoots(page.model);
    if (composed === null) break;
    page = scanPage(composed);
  }
  return page;
}

const READ_ONLY = /\sreadonly(?=[\s=>/])/i;
/** Longest value of a read-only field that readers are meant to copy; longer values are not meant to be read. */
const MAX_READ_ONLY = 5000;

/**
 * Rewrites fields that readers can only read, such as a citation to copy, as the preformatted text that they show.
 * @returns null for a page without such fields, as most are
 */
function withReadOnlyTexts(model: PageModel): string | null {
  const { html, elementCount, tag, openStart, openEnd, closeEnd } = model;
  if (!html.includes("readonly")) return null;
  let rewritten = "";
  let at = 0;
  for (let element = 0; element < elementCount; element++) {
    if (tag[element] !== Tag.textarea || !READ_ONLY.test(startTagOf(model, element))) continue;
    const end = endTagStart(model, element);
    const text = html.slice(openEnd[element]!, end);
    // Markup is for other pages to embed this one.
    if (text.length > MAX_READ_ONLY || text.includes("</") || /<(?:iframe|script|img)/i.test(text)) continue;
    const start = html.slice(openStart[element]! + "<textarea".length, openEnd[element]!);
    rewritten += `${html.slice(at, openStart[element]!)}<pre${start}${text.replaceAll("<", "&lt;")}</pre>`;
    at = closeEnd[element]!;
  }
  return at === 0 ? null : rewritten + html.slice(at);
}

/** Normalises line breaks to line feeds, as browsers do first; nearly half of all pages have others. */
function withLineFeeds(html: string): string {
  if (!html.includes("\r")) return html;
  // Two replacements take half the time of one regular expression.
  const unix = html.replaceAll("\r\n", "\n");
  return unix.includes("\r") ? unix.replaceAll("\r", "\n") : unix;
}

const SHADOW_MODE = /\sshadowroot(?:mode)?\s*=\s*["']?(?:open|closed)\b/i;
const NAME = /\sname\s*=\s*(?:"([^"]{0,200})"|'([^']{0,200})'|([^\s"'>]{1,200}))/i;
const SLOT_OF_CHILD = /\sslot\s*=\s*(?:"([^"]{0,200})"|'([^']{0,200})'|([^\s"'>]{1,200}))/i;

/**
 * Composes the page's declarative shadow roots as browsers do: a root's content goes into its host element, and the
 * host's own content into the root's slots. Roots inside a host are left as they are, so scan the result and call
 * this again. The time is linear in the length of the page.
 * @returns null for a page without shadow roots, as most are
 */
function withShadowRoots(model: PageModel): string | null {
  const { html, elementCount, tag, parent, openEnd, elementEnd } = model;
  let composed = "";
  let at = 0;
  for (let element = 0; element < elementCount; element++) {
    const host = parent[element]!;
    if (tag[element] !== Tag.template || host < 0 || !SHADOW_MODE.test(startTagOf(model, element))) continue;
    // An element has one root, and no text may appear twice.
    if (openEnd[host]! < at) continue;
    composed += html.slice(at, openEnd[host]!) + compose(model, host, element);
    at = endTagStart(model, host);
    element = elementEnd[host]! - 1;
  }
  return at === 0 ? null : composed + html.slice(at);
}

const END_TAG = /<\/[^<>]{0,200}>$/;

/** Returns the offset where an element's content ends. */
function endTagStart({ html, openEnd, closeEnd }: PageModel, element: number): number {
  const end = closeEnd[element]!;
  const tail = END_TAG.exec(html.slice(Math.max(openEnd[element]!, end - 210), end));
  return end - (tail?.[0].length ?? 0);
}

/** Returns a root's content with its host's content in the slots; content without a slot follows it. */
function compose(model: PageModel, host: number, root: number): string {
  const { html, tag, openEnd, closeEnd, openStart, elementEnd } = model;
  const assigned = contentBySlot(model, host, root);
  let content = "";
  let at = openEnd[root]!;
  for (let inner = root + 1; inner < elementEnd[root]!; inner++) {
    // Slots of a nested root belong to that root.
    if (tag[inner] === Tag.template) {
      inner = elementEnd[inner]! - 1;
      continue;
    }
    if (tag[inner] !== Tag.slot || openStart[inner]! < at) continue;
    const name = valueIn(startTagOf(model, inner), NAME) ?? "";
    const own = assigned.get(name);
    if (own === undefined) continue;
    assigned.delete(name);
    content += html.slice(at, openStart[inner]!) + own;
    at = closeEnd[inner]!;
  }
  content += html.slice(at, endTagStart(model, root));
  return `<div>${content}</div>${[...assigned.values()].join("")}`;
}

/** Groups the host's own content by the slot that it asks for; the empty name is for everything else. */
function contentBySlot(model: PageModel, host: number, root: number): Map<string, string> {
  const { html, elementEnd, openStart, closeEnd, openEnd } = model;
  const contents = new Map<string, string>();
  const add = (name: string, piece: string): void => {
    if (piece.trim() !== "") contents.set(name, (contents.get(name) ?? "") + piece);
  };
  let at = openEnd[host]!;
  for (let child = host + 1; child < elementEnd[host]!; child = elementEnd[child]!) {
    add("", html.slice(at, openStart[child]!));
    at = closeEnd[child]!;
    if (child !== root)
      add(valueIn(startTagOf(model, child), SLOT_OF_CHILD) ?? "", html.slice(openStart[child]!, at));
  }
  add("", html.slice(at, endTagStart(model, host)));
  return contents;
}

/**
 * Rewrites XHTML in the syntax of HTML: an element that XML closes with "/>" gets an end tag, because HTML would put
 * everything after it inside. Elements that are always empty (`br`) stay as they are.
 */
export function htmlOfXhtml(source: string): string {
  if (!source.includes("/")) return source;
  const codes = codesOf(source);
  const closer = new ElementCloser(source, codes);
  new Tokenizer(source, codes, closer).run();
  return closer.finish();
}

class ElementCloser implements TokenSink {
  readonly #source: string;
  readonly #codes: Uint16Array;
  readonly #parts: string[] = [];
  #written = 0;
  #name = "";
  #isVoid = false;

  constructor(source: string, codes: Uint16Array) {
    this.#source = source;
    this.#codes = codes;
  }

  finish(): string {
    return this.#parts.join("") + this.#source.slice(this.#written);
  }

  startTag(nameStart: number, nameEnd: number): number {
    const tag = tagAt(this.#codes, nameStart, nameEnd);
    this.#isVoid = (traitsOf(tag) & TagTrait.void) !== 0;
    this.#name = this.#source.slice(nameStart, nameEnd);
    return tag;
  }

  startTagEnd(end: number, isSelfClosing: boolean): void {
    if (!isSelfClosing || this.#isVoid) return;
    const slash = this.#source.lastIndexOf("/", end - 1);
    this.#parts.push(this.#source.slice(this.#written, slash), `></${this.#name}>`);
    this.#written = end;
  }

  text(): void {}
  attribute(): void {}
  endTag(): void {}
}
