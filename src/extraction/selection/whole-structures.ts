import { Layout } from "../classification/layout-tables.ts";
import { NOT_SHOWN } from "../classification/region.ts";
import { ElementFlag, firstFrom, isInside, type PageModel, Tag, tagsNamed } from "../page/page-model.ts";
import { isSignature } from "../text.ts";
import { type Draft, keptBlocks } from "./draft.ts";
import { CARD_GROUP, FRAME_GROUPS } from "./notes.ts";
import type { WholeElements } from "./whole-elements.ts";

/** The share of a structure's characters that must be chosen for the rest to follow. */
const ANY = 0;
const MOST = 0.5;

const SHARES = new Map<number, number>();
for (const tag of tagsNamed("h1 h2 h3 h4 h5 h6 dl details blockquote pre table")) SHARES.set(tag, ANY);
for (const tag of tagsNamed("ul ol")) SHARES.set(tag, MOST);

const STRUCTURE_CLASS =
  /(?:^|\s)(?:(?:theme-)?admonition(?:block)?|markdown-alert|tsd-alert|custom-block|starlight-aside|callout|note|NOTE|TIP|IMPORTANT|WARNING|CAUTION|alert-(?:info|success|warning|danger)|vp-code-group|tabbed-set|theme-tabs-container|sd-tab-set|tabGroup|MathJax_Display|math)(?=\s|$)/;
/** Elements of prose: a block between two of them belongs to the text. */
const PROSE = tagsNamed("p h1 h2 h3 h4 h5 h6 ul ol dl blockquote pre table figure details");
const ITEM_OWNERS = tagsNamed("li p h3 h4 h5 h6 pre dd dt");
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
  readonly #isKept: Uint8Array;
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
  readonly #layouts: Uint8Array;

  constructor({ tree, wholes, isKept }: Draft) {
    const { model } = wholes;
    const { blocks, elementCount } = model;
    this.#model = model;
    this.#wholes = wholes;
    this.#layouts = tree.layouts;
    this.#isKept = isKept;
    this.#length = new Float64Array(elementCount);
    this.#chosenLength = new Float64Array(elementCount);
    this.#chosen = keptBlocks({ isKept });
    this.#first = new Int32Array(elementCount).fill(blocks.count);
    this.#end = new Int32Array(elementCount);
    this.#sumUp();
  }

  run(): void {
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
  }

  /** Adds what a function is called with where its name or its description was chosen: one line says little alone. */
  #addSignatures(): void {
    const { blocks } = this.#model;
    for (let block = 0; block < blocks.count; block++) {
      if (this.#isKept[block] === 1 || !(this.#isKept[block - 1] || this.#isKept[block + 1])) continue;
      if ((blocks.flags[block]! & (NOT_SHOWN | ElementFlag.link)) !== 0) continue;
      if (isSignature(blocks.text[block]!, "plain")) this.#isKept[block] = 1;
    }
  }

  #sumUp(): void {
    const { blocks, elementCount, parent } = this.#model;
    for (let block = 0; block < blocks.count; block++) {
      if ((blocks.flags[block]! & NOT_SHOWN) !== 0) continue;
      const element = blocks.element[block]!;
      const length = blocks.text[block]!.length;
      this.#length[element]! += length;
      if (this.#isKept[block] === 1) this.#chosenLength[element]! += length;
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
    if (tag[element] === Tag.table && this.#layouts[element] === Layout.page) return null;
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
    return this.#layouts[element] === Layout.page || cells.some((text) => text.length > MAX_CELL_LENGTH)
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
    // A grid of cards is made of boxes; a table that is called a grid is one.
    const frames = this.#model.tag[element] === Tag.table ? FRAME_GROUPS & ~CARD_GROUP : FRAME_GROUPS;
    if (isNamed || (groups[element]! & frames) === 0) return false;
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
    let prose = -1;
    for (let step = 0; step < MAX_STEPS && at >= 0; step++, at = parent[at]!) {
      if (PROSE.has(tag[at]!)) prose = at;
      if (parent[at] !== outer) continue;
      const isAllChosen = this.#chosenLength[at] === this.#length[at];
      const isWrapper = prose >= 0 && this.#length[prose] === this.#length[at];
      return (
        prose === at || ((isAllChosen || isWrapper) && !this.#isNamedFrame(at)) || this.#shareOf(at) !== null
      );
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
      if (this.#isKept[block] === 1 || (blocks.flags[block]! & NOT_SHOWN) !== 0) continue;
      const owner = blocks.element[block]!;
      // Items made of boxes are cards; the parts that were chosen are what they say.
      if (!isInside(this.#model, owner, element) || (isList && !ITEM_OWNERS.has(tag[owner]!))) continue;
      // A repeated text is a quotation of the page itself, or the label of each of its cards.
      if (this.#isRepeatedOutside(blocks.text[block]!, element)) return;
      missing.push(block);
    }
    for (const block of missing) this.#isKept[block] = 1;
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

/**
 * Completes structures that were chosen in part. A classifier of blocks sees a short term, a title or a line of code
 * and little else, so it refuses some parts that only make sense together.
 *
 * Measured on the 1 497 pages of the development set, of the added words the reference also has: 96 % for headings
 * between two chosen neighbours, 80 % for lists, 97 % for quotations, 65 % for items of lists that were mostly
 * chosen. Refused paragraphs between chosen ones are mostly advertisements (38 %), and stay out.
 */
export const completeStructures = (draft: Draft): void => new Completion(draft).run();
