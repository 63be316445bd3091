import { decodeLoosely } from "../../base/text.ts";
import {
  ElementFlag,
  firstFrom,
  isInside,
  nearestOf,
  type PageModel,
  startTagOf,
  Tag,
  tagsNamed,
} from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import { isSignature } from "../text.ts";
import { NOT_SHOWN } from "./region.ts";

/**
 * Completes structures that were chosen in part. A classifier of blocks sees a short term, a title or a line of code
 * and little else, so it refuses some parts that only make sense together.
 *
 * Measured on the 1 497 pages of the development set, of the added words the reference also has: 96 % for headings
 * between two chosen neighbours, 80 % for lists, 97 % for quotations, 65 % for items of lists that were mostly
 * chosen. Refused paragraphs between chosen ones are mostly advertisements (38 %), and stay out.
 * @param chosen blocks in page order
 */
export function withWholeStructures(wholes: WholeElements, chosen: Int32Array): Int32Array {
  return chosen.length === 0 ? chosen : new Completion(wholes, chosen).run();
}

/** The share of a structure's characters that must be chosen for the rest to follow. */
const ANY = 0;
const MOST = 0.5;

const SHARES = new Map<number, number>();
for (const tag of tagsNamed("h1 h2 h3 h4 h5 h6 dl details blockquote pre table")) SHARES.set(tag, ANY);
for (const tag of tagsNamed("ul ol")) SHARES.set(tag, MOST);

const STRUCTURE_CLASS =
  /(?:^|\s)(?:(?:theme-)?admonition(?:block)?|markdown-alert|tsd-alert|custom-block|starlight-aside|callout|note|NOTE|TIP|IMPORTANT|WARNING|CAUTION|alert-(?:info|success|warning|danger)|vp-code-group|tabbed-set|theme-tabs-container|sd-tab-set|tabGroup|MathJax_Display|math)(?=\s|$)/;
/** Something between two of these belongs to the text. */
const PROSE = tagsNamed("p h1 h2 h3 h4 h5 h6 ul ol dl blockquote pre table figure details");
const ITEM_OWNERS = tagsNamed("li p h3 h4 h5 h6 pre dd dt");
/** Groups of navigation, sidebars, comments, sharing, recommendations, advertising, forms and the like. */
const FRAME_GROUPS =
  0b11_1111_1111 | (1 << 10) | (1 << 14) | (1 << 15) | (1 << 17) | (1 << 18) | (1 << 19) | (1 << 28);
/** The group of lists and cards. */
const CARD_GROUP = 1 << 14;
const MAX_LENGTH = 4000;
/** Longer tables have to be chosen for the most part, and may be a layout, whose cells are longer than those of data. */
const MAX_TABLE_LENGTH = 1500;
const MAX_CELL_LENGTH = 200;
/** Shorter texts have good reasons to repeat. */
const MIN_REPEATED = 10;
const MAX_LINKED = 0.6;
const MAX_SOURCE = 20_000;
/** The maximum number of levels between an element and the one that contains both it and its neighbour. */
const MAX_STEPS = 12;

class Completion {
  readonly #model: PageModel;
  readonly #isChosen: Uint8Array;
  /** For each element, the number of all and of chosen characters inside. */
  readonly #length: Float64Array;
  readonly #chosenLength: Float64Array;
  /** The initially chosen blocks, ascending. */
  readonly #chosen: Int32Array;
  /** The first block inside each element, and the one after the last. */
  readonly #first: Int32Array;
  readonly #end: Int32Array;
  /** The blocks of each of the page's texts; null until they are needed. */
  #places: ReadonlyMap<string, Places> | null = null;
  readonly #isNamed = new Map<number, boolean>();
  readonly #wholes: WholeElements;

  constructor(wholes: WholeElements, chosen: Int32Array) {
    const { model } = wholes;
    const { blocks, elementCount } = model;
    this.#model = model;
    this.#wholes = wholes;
    this.#isChosen = new Uint8Array(blocks.count);
    for (const block of chosen) this.#isChosen[block] = 1;
    this.#length = new Float64Array(elementCount);
    this.#chosenLength = new Float64Array(elementCount);
    this.#chosen = chosen;
    this.#first = new Int32Array(elementCount).fill(blocks.count);
    this.#end = new Int32Array(elementCount);
    this.#sumUp();
  }

  run(): Int32Array {
    const { elementCount, elementEnd } = this.#model;
    for (let element = 0; element < elementCount; element++) {
      const length = this.#length[element]!;
      const chosen = this.#chosenLength[element]!;
      if (length === 0 || chosen === length) {
        // Everything in here is chosen, or nothing is.
        element = elementEnd[element]! - 1;
        continue;
      }
      const isLongTable = chosen > 0 && length > MAX_TABLE_LENGTH && this.#model.tag[element] === Tag.table;
      const share = isLongTable ? this.#shareOfTable(element) : this.#shareOf(element);
      if (share === null || (length > MAX_LENGTH && !isLongTable)) continue;
      const isWanted = chosen > 0 ? chosen >= share * length : this.#isBetween(element);
      if (isWanted) this.#complete(element);
    }
    this.#addSignatures();
    return Int32Array.from(this.#isChosen.keys()).filter((block) => this.#isChosen[block] === 1);
  }

  /** Adds what a function is called with where its name or its description was chosen: one line says little alone. */
  #addSignatures(): void {
    const { blocks } = this.#model;
    for (let block = 0; block < blocks.count; block++) {
      if (this.#isChosen[block] === 1 || !(this.#isChosen[block - 1] || this.#isChosen[block + 1])) continue;
      if ((blocks.flags[block]! & (NOT_SHOWN | ElementFlag.link)) !== 0) continue;
      if (isSignature(blocks.text[block]!, "plain")) this.#isChosen[block] = 1;
    }
  }

  #sumUp(): void {
    const { blocks, elementCount, parent } = this.#model;
    for (let block = 0; block < blocks.count; block++) {
      if ((blocks.flags[block]! & NOT_SHOWN) !== 0) continue;
      const element = blocks.element[block]!;
      const length = blocks.text[block]!.length;
      this.#length[element]! += length;
      if (this.#isChosen[block] === 1) this.#chosenLength[element]! += length;
      this.#first[element] = Math.min(this.#first[element]!, block);
      this.#end[element] = Math.max(this.#end[element]!, block + 1);
    }
    for (let element = elementCount - 1; element > 0; element--) {
      const outer = parent[element]!;
      if (outer < 0 || this.#length[element] === 0) continue;
      this.#length[outer]! += this.#length[element]!;
      this.#chosenLength[outer]! += this.#chosenLength[element]!;
      this.#first[outer] = Math.min(this.#first[outer]!, this.#first[element]!);
      this.#end[outer] = Math.max(this.#end[outer]!, this.#end[element]!);
    }
  }

  /** Returns the share that completes an element; null when it is not a structure. */
  #shareOf(element: number): number | null {
    const { tag, classId, openStart, closeEnd } = this.#model;
    const share = SHARES.get(tag[element]!);
    // A table with the page's title lays out the page.
    if (tag[element] === Tag.table && this.#wholes.holds("title", element)) return null;
    if (share !== undefined) return share === MOST && this.#isLayoutList(element) ? ANY : share;
    const id = classId[element]!;
    if (id === 0) return null;
    let isNamed = this.#isNamed.get(id);
    if (isNamed === undefined) {
      isNamed = STRUCTURE_CLASS.test((this.#model.names[id] ?? "").slice(0, 1000));
      this.#isNamed.set(id, isNamed);
    }
    if (isNamed) return ANY;
    const isShort = closeEnd[element]! - openStart[element]! <= MAX_SOURCE;
    return isShort && this.#wholes.isByClass(element) ? ANY : null;
  }

  #shareOfTable(element: number): number | null {
    const cells = this.#model.blocks.text.slice(this.#first[element], this.#end[element]);
    return this.#wholes.holds("title", element) || cells.some((text) => text.length > MAX_CELL_LENGTH)
      ? null
      : MOST;
  }

  /** Tells whether an element is between two chosen pieces of prose, and not named as part of a frame. */
  #isBetween(element: number): boolean {
    const { parent, tag } = this.#model;
    const before = this.#chosen[firstFrom(this.#chosen, this.#first[element]!) - 1];
    const after = this.#chosen[firstFrom(this.#chosen, this.#end[element]!)];
    const isNamed = this.#isNamed.get(this.#model.classId[element]!) === true;
    if (before === undefined || after === undefined || (!isNamed && this.#isLinks(element))) return false;
    let at = element;
    for (let step = 0; step < MAX_STEPS; step++) {
      if (this.#isNamedFrame(at)) return false;
      const outer = parent[at]!;
      if (outer < 0) return false;
      if (this.#isProse(before, outer) && this.#isProse(after, outer)) return true;
      // A wrapper holds nothing more, except for a figure's caption.
      if (this.#length[outer] !== this.#length[at] && tag[outer] !== Tag.figure) return false;
      at = outer;
    }
    return false;
  }

  #isNamedFrame(element: number): boolean {
    const { groups, classId } = this.#model;
    const isNamed = this.#isNamed.get(classId[element]!) === true;
    if (isNamed || (groups[element]! & FRAME_GROUPS) === 0) return false;
    return !this.#isLayoutList(element);
  }

  /** Tells whether a so-called list holds sections or headings with code: manuals lay out pages with it. */
  #isLayoutList(element: number): boolean {
    const { tag, blocks, groups } = this.#model;
    const isNamedList = tag[element] === Tag.ul && (groups[element]! & FRAME_GROUPS) === CARD_GROUP;
    if (!isNamedList || this.#length[element]! > MAX_LENGTH) return false;
    if (tag[element + 1] === Tag.li && tag[element + 2] === Tag.section) return true;
    let held = 0;
    for (let block = this.#first[element]!; block < this.#end[element]!; block++)
      held |= blocks.flags[block]!;
    return (held & ElementFlag.preformatted) !== 0 && (held & ElementFlag.heading) !== 0;
  }

  #isProse(block: number, outer: number): boolean {
    const { blocks, parent, tag } = this.#model;
    let at = blocks.element[block]!;
    for (let step = 0; step < MAX_STEPS && at >= 0; step++, at = parent[at]!) {
      if (parent[at] !== outer) continue;
      const isAllChosen = this.#chosenLength[at] === this.#length[at] && !this.#isNamedFrame(at);
      return PROSE.has(tag[at]!) || isAllChosen || this.#shareOf(at) !== null;
    }
    return false;
  }

  #isLinks(element: number): boolean {
    const { blocks, flags, textEnd, textStart, textParent } = this.#model;
    let linked = 0;
    for (let block = this.#first[element]!; block < this.#end[element]!; block++) {
      for (let text = blocks.firstText[block]!; text < blocks.endText[block]!; text++)
        if ((flags[textParent[text]!]! & ElementFlag.link) !== 0) linked += textEnd[text]! - textStart[text]!;
    }
    return linked > MAX_LINKED * this.#length[element]!;
  }

  #complete(element: number): void {
    const { blocks, tag } = this.#model;
    const isList = (tag[element] === Tag.ul || tag[element] === Tag.ol) && !this.#isLayoutList(element);
    const missing: number[] = [];
    for (let block = this.#first[element]!; block < this.#end[element]!; block++) {
      if (this.#isChosen[block] === 1 || (blocks.flags[block]! & NOT_SHOWN) !== 0) continue;
      const owner = blocks.element[block]!;
      // Items made of boxes are cards; the parts that were chosen are what they say.
      if (!isInside(this.#model, owner, element) || (isList && !ITEM_OWNERS.has(tag[owner]!))) continue;
      // A repeated text is a quotation of the page itself, or the label of each of its cards.
      if (this.#isRepeatedOutside(blocks.text[block]!, element)) return;
      missing.push(block);
    }
    for (const block of missing) this.#isChosen[block] = 1;
  }

  #isRepeatedOutside(text: string, element: number): boolean {
    if (text.length < MIN_REPEATED) return false;
    this.#places ??= placesOf(this.#model);
    const places = this.#places.get(text);
    return (
      places !== undefined && (places.first < this.#first[element]! || places.last >= this.#end[element]!)
    );
  }
}

type Places = { readonly first: number; last: number };

/** Finds each text's first and last block; tables of contents, which are links, repeat headings only. */
function placesOf({ blocks }: PageModel): ReadonlyMap<string, Places> {
  const places = new Map<string, Places>();
  for (const [block, text] of blocks.text.entries()) {
    if ((blocks.flags[block]! & ElementFlag.link) !== 0) continue;
    const known = places.get(text);
    if (known) known.last = block;
    else places.set(text, { first: block, last: block });
  }
  return places;
}

const FORMULA_CLASS = /(?:^|\s)(?:katex(?:-display)?|MathJax(?:_\w+)?|mathjax|mwe-math-element)(?=\s|$)/;
const CODE_CLASS =
  /(?:^|\s)(?:highlight(?:er-[\w-]+|table)?|codehilite(?:table)?|rouge-table|literal-block-wrapper|listingblock|expressive-code|syntaxhighlighter|crayon-[\w-]+|prism-code|code-toolbar|theme-code-block|codeBlockContainer\w*|code-?block(?:-?\w+)?|sourceCode|language-[\w+#.-]+|blob-wrapper|vp-code-group|tabbed-set|theme-tabs-container|tabs-container|sd-tab-set)(?=\s|$)/;
/** Doxygen writes each line of code as an element of its own, in a frame without a `<pre>`. */
const LINES_CLASS = /(?:^|\s)fragment(?=\s|$)/;
const FIRST_LINE = /^\s*<div\s+class\s*=\s*["']?line\b/i;
const CODE_PARTS = tagsNamed("pre code table");
const TITLES = tagsNamed("h1");

const UNKNOWN = -2;

const UNREAD = 0;
const NO_CLASS = 1;
const FORMULA = 2;
const CODE = 3;
const LINES = 4;
const MAX_CLASSES = 1000;

function classKind(classes: string): number {
  if (classes.length > MAX_CLASSES) return NO_CLASS;
  if (FORMULA_CLASS.test(classes)) return FORMULA;
  if (LINES_CLASS.test(classes)) return LINES;
  return CODE_CLASS.test(classes) ? CODE : NO_CLASS;
}

/**
 * The elements that only make sense whole, as the page wrote them: code with its line numbers and file name, and
 * formulas. A classifier of blocks would tear their parts apart. Code that hides something does not count.
 */
export class WholeElements {
  readonly model: PageModel;
  /**
   * The elements of each kind, once they are asked for. A query at each level of a nest costs one search of such a
   * list; reading the source again took the square of its length.
   */
  readonly #lists = new Map<Kind, readonly number[]>();
  /** For each element the outermost whole one around it; -1 for none. */
  readonly #outermost: Int32Array;
  /** The kind of each class by its number; `UNREAD` until it is needed. */
  readonly #kinds: Uint8Array;

  constructor(model: PageModel) {
    this.model = model;
    this.#outermost = new Int32Array(model.elementCount).fill(UNKNOWN);
    this.#kinds = new Uint8Array(model.names.length);
  }

  /**
   * Returns the outermost whole element around an element, itself included; -1 for none. Only the ancestors of the
   * elements asked about are read, because the content of a page is in few of its elements.
   */
  around(element: number): number {
    if (element < 0) return -1;
    const { parent } = this.model;
    const known = this.#outermost;
    let top = element;
    let outermost = -1;
    for (; top >= 0 && known[top] === UNKNOWN; top = parent[top]!) if (this.#isWhole(top)) outermost = top;
    if (top >= 0 && known[top]! >= 0) outermost = known[top]!;
    // Ancestors have smaller numbers, so those outside of it are in none.
    for (let at = element; at !== top; at = parent[at]!) known[at] = at >= outermost ? outermost : -1;
    return outermost;
  }

  /** Tells whether an element's class marks code with its frame, or a formula. */
  isByClass(element: number): boolean {
    const kind = this.#kindOf(this.model.classId[element]!);
    if (kind === NO_CLASS) return false;
    if (kind === FORMULA) return this.holds("formula", element);
    const isCode = kind === LINES ? this.#beginsWithLine(element) : this.holds("code", element);
    return isCode && !this.holds("hidden", element);
  }

  #beginsWithLine(element: number): boolean {
    const { html, openEnd } = this.model;
    return FIRST_LINE.test(html.slice(openEnd[element]!, openEnd[element]! + 200));
  }

  #isWhole(element: number): boolean {
    const tag = this.model.tag[element]!;
    if (tag === Tag.math) return true;
    return tag === Tag.pre ? !this.holds("hidden", element) : this.isByClass(element);
  }

  /** Tells whether an element is of a kind, or something inside it; a formula is MathML or TeX. */
  holds(kind: Kind, element: number): boolean {
    const list = this.#lists.get(kind) ?? elementsOf(this.model, kind);
    this.#lists.set(kind, list);
    const first = firstFrom(list, element);
    return first < list.length && list[first]! < this.model.elementEnd[element]!;
  }

  #kindOf(classId: number): number {
    if (classId === 0) return NO_CLASS;
    if (this.#kinds[classId] === UNREAD) this.#kinds[classId] = classKind(this.model.names[classId] ?? "");
    return this.#kinds[classId]!;
  }
}

type Kind = "code" | "hidden" | "formula" | "title";

function elementsOf({ elementCount, flags, media, tag }: PageModel, kind: Kind): readonly number[] {
  if (kind === "formula")
    return [...media].filter((medium) => tag[medium] === Tag.math || tag[medium] === Tag.script);
  const tags = kind === "code" ? CODE_PARTS : TITLES;
  const isListed = (element: number): boolean =>
    kind === "hidden" ? (flags[element]! & ElementFlag.hidden) !== 0 : tags.has(tag[element]!);
  return Array.from({ length: elementCount }, (_, element) => element).filter(isListed);
}

const NOTES_NAME =
  /(?:^|[\s_-])(?:foot-?notes?(?:-list|-definition)?|endnotes?|reflist|references|wp-block-footnotes)(?=$|[\s_-])/i;
const FRAGMENT = /\shref\s*=\s*["']?#([^"'\s>]{1,200})/i;
/** The maximum number of levels between a phrase and the link around it. */
const MAX_LEVELS = 6;
const ANCHORS = tagsNamed("a");
const LISTS = tagsNamed("ol ul dl");
const NOTES = tagsNamed("p div aside section");
const PARTS = tagsNamed("main article");
const FRAMES = tagsNamed("nav header form dialog button");
/** A reference of so many characters, such as "[12]", is no menu although it may be all of its block. */
const MAX_REFERENCE = 8;
/** Longer text outside of a list is a part of the page, not a note. */
const MAX_NOTE = 2000;
/** What stands in a menu, a form or the footer of a site. */
const IN_FRAME = -2;
/** Nested lists are read once for each level, but all together no more than this many times the page's blocks. */
const MOST_READ = 4;

/**
 * Adds what chosen text points to further down: notes, citations, entries of glossaries, with the rest of their list
 * and the heading above it. They often stand apart or look like no content, and a reference without its note leads
 * nowhere. What points up leads back, to the reference of a note or to the top.
 * @param chosen blocks in page order
 */
export function withNotes(model: PageModel, chosen: Int32Array): Int32Array {
  const found = Array.from(chosen);
  const isChosen = new Uint8Array(model.blocks.count);
  for (const block of chosen) isChosen[block] = 1;
  const notes = new Notes(model);
  // The list grows on the way: notes refer to further works.
  for (const block of found) {
    if (isMostlyLinks(model, block)) continue;
    for (const [anchor, id] of linksIn(model, block))
      for (const added of id === undefined ? [] : notes.at(anchor, id)) {
        if (isChosen[added] === 0) found.push(added);
        isChosen[added] = 1;
      }
  }
  return found.length === chosen.length
    ? chosen
    : Int32Array.from(isChosen.keys()).filter((block) => isChosen[block] === 1);
}

/** The links of a block, with the ids of those to places on this page. */
function linksIn(model: PageModel, block: number): (readonly [anchor: number, id: string | undefined])[] {
  const { blocks, textParent, flags } = model;
  const found: (readonly [number, string | undefined])[] = [];
  if (statOf(model, block, TextStat.linkChars) === 0) return found;
  let last = -1;
  for (let text = blocks.firstText[block]!; text < blocks.endText[block]!; text++) {
    const parent = textParent[text]!;
    if ((flags[parent]! & ElementFlag.link) === 0) continue;
    const anchor = nearestOf(model, parent, MAX_LEVELS, ANCHORS);
    if (anchor < 0 || anchor === last) continue;
    last = anchor;
    found.push([anchor, FRAGMENT.exec(startTagOf(model, anchor))?.[1]]);
  }
  return found;
}

/** Tells whether a block has hardly anything but links, as in menus and tables of contents. */
function isMostlyLinks(model: PageModel, block: number): boolean {
  const linked = statOf(model, block, TextStat.linkChars);
  return linked > MAX_REFERENCE && linked > MAX_LINKED * statOf(model, block, TextStat.chars);
}

/** Finds the notes that links of a page lead to, each once. */
class Notes {
  readonly #model: PageModel;
  readonly #seen = new Set<number>();
  #left: number;
  /** These are read with the first link to a place on the page. */
  #elements: ReadonlyMap<string, number> | null = null;
  #isNamed: readonly boolean[] = [];
  #articleEnd = 0;

  constructor(model: PageModel) {
    this.#model = model;
    this.#left = MOST_READ * model.blocks.count;
  }

  /** The blocks of the note that a link leads to, with the heading above; none where another link has led there. */
  at(anchor: number, id: string): readonly number[] {
    this.#elements ??= this.#prepare();
    const target = this.#elements.get(id) ?? this.#elements.get(decodeLoosely(id)) ?? -1;
    if (target <= anchor || this.#seen.has(target) || this.#left <= 0) return [];
    this.#seen.add(target);
    const holder = this.#holderOf(target);
    const note = holder === IN_FRAME || holder >= 0 ? holder : this.#listOrText(target);
    if (note < 0 || (note !== target && this.#seen.has(note))) return [];
    this.#seen.add(note);
    const { first, end } = blocksIn(this.#model, note);
    this.#left -= end - first;
    return withHeading(this.#model, shownNotes(this.#model, first, end), first);
  }

  #prepare(): ReadonlyMap<string, number> {
    const { elementCount, elementEnd, names, tag } = this.#model;
    this.#isNamed = names.map((name) => name.length < 500 && NOTES_NAME.test(name));
    for (let element = 0; element < elementCount; element++)
      if (PARTS.has(tag[element]!)) this.#articleEnd = Math.max(this.#articleEnd, elementEnd[element]!);
    return elementsById(this.#model);
  }

  /** The outermost element around a target that is named notes; -1 for none. */
  #holderOf(target: number): number {
    const { parent, tag, classId, idId } = this.#model;
    let holder = -1;
    for (let at = target; at >= 0 && tag[at] !== Tag.body; at = parent[at]!) {
      // The footer of a site contains the small print of its offers.
      if (FRAMES.has(tag[at]!) || (tag[at] === Tag.footer && at >= this.#articleEnd)) return IN_FRAME;
      const isNamed = this.#isNamed[classId[at]!] || this.#isNamed[idId[at]!];
      if (isNamed && !PARTS.has(tag[at]!)) holder = at;
    }
    return holder;
  }

  /** The list around a target, or else the short text without a heading that it stands in; -1 for none. */
  #listOrText(target: number): number {
    const { parent, tag, groups } = this.#model;
    let list = -1;
    let text = -1;
    for (let at = target, level = 0; level <= MAX_LEVELS && at >= 0 && tag[at] !== Tag.body; level++) {
      const kind = tag[at]!;
      if (list < 0 && level > 0 && LISTS.has(kind)) list = at;
      if (text < 0 && NOTES.has(kind)) text = at;
      if (!PARTS.has(kind) && (groups[at]! & FRAME_GROUPS & ~CARD_GROUP) !== 0) list = text = -1;
      at = parent[at]!;
    }
    if (list >= 0) return list;
    return text >= 0 && isNote(this.#model, text) ? text : -1;
  }
}

function elementsById({ elementCount, idId, names }: PageModel): ReadonlyMap<string, number> {
  const elements = new Map<string, number>();
  for (let element = elementCount - 1; element >= 0; element--)
    if (idId[element] !== 0) elements.set(names[idId[element]!]!, element);
  return elements;
}

/** The range of the blocks whose first text is inside an element. */
function blocksIn({ blocks, textStart, textCount, openStart, closeEnd }: PageModel, element: number) {
  // The columns are longer than what they hold.
  const starts = textStart.subarray(0, textCount);
  const firsts = blocks.firstText.subarray(0, blocks.count);
  const from = (offset: number): number => firstFrom(firsts, firstFrom(starts, offset));
  return { first: from(openStart[element]!), end: from(closeEnd[element]!) };
}

/** Tells whether an element outside of a list is no longer than a note, and has no heading of its own. */
function isNote(model: PageModel, element: number): boolean {
  const { text, flags } = model.blocks;
  const { first, end } = blocksIn(model, element);
  let length = 0;
  for (let block = first; block < end && length <= MAX_NOTE; block++)
    length += (flags[block]! & ElementFlag.heading) !== 0 ? MAX_NOTE + 1 : text[block]!.length + 1;
  return length <= MAX_NOTE;
}

/** The blocks of a note that the page shows; none where most of them are a menu's. */
function shownNotes(model: PageModel, first: number, end: number): number[] {
  const shown: number[] = [];
  let menu = 0;
  for (let block = first; block < end; block++) {
    if ((model.blocks.flags[block]! & NOT_SHOWN) !== 0) continue;
    shown.push(block);
    if (isMostlyLinks(model, block) && linksIn(model, block).some(([, id]) => id !== undefined)) menu++;
  }
  return menu > shown.length / 2 ? [] : shown;
}

/** Adds the heading directly above notes. */
function withHeading({ blocks }: PageModel, notes: readonly number[], first: number): readonly number[] {
  const isHeading = first > 0 && notes.length > 0 && (blocks.flags[first - 1]! & ElementFlag.heading) !== 0;
  return isHeading && (blocks.flags[first - 1]! & NOT_SHOWN) === 0 ? [first - 1, ...notes] : notes;
}
