import { Failure } from "../../base/failure.ts";
import { TAG_LIMIT, Tag, TagTrait, tagsNamed, traitsOf } from "./page-model.ts";

/** The most elements grow with a page, as in real ones: one that is a block takes 900 bytes and its text. */
const elementLimit = (length: number): number =>
  Math.floor(Math.min(600_000, Math.max(200_000, length / 20)));

/** Columns that grow together while a page is read; see `PageModel` for their meaning. */
export class ElementColumns {
  count = 0;
  tag = new Uint16Array(FIRST_CAPACITY);
  parent = new Int32Array(FIRST_CAPACITY);
  depth = new Int32Array(FIRST_CAPACITY);
  elementEnd = new Int32Array(FIRST_CAPACITY);
  openStart = new Int32Array(FIRST_CAPACITY);
  openEnd = new Int32Array(FIRST_CAPACITY);
  closeEnd = new Int32Array(FIRST_CAPACITY);
  flags = new Uint16Array(FIRST_CAPACITY);
  groups = new Int32Array(FIRST_CAPACITY);
  classId = new Int32Array(FIRST_CAPACITY);
  idId = new Int32Array(FIRST_CAPACITY);

  readonly #limit: number;

  /** @param length of the page, characters */
  constructor(length: number) {
    this.#limit = elementLimit(length);
  }

  /**
   * Adds an element, whose columns are to be filled, and returns its number.
   * @throws Failure `too_complex` for over 200 000 elements, or one in 20 characters of a longer page, 600 000 at most
   */
  add(): number {
    if (this.count === this.#limit)
      throw new Failure("too_complex", `the page has over ${this.#limit} elements`);
    if (this.count === this.tag.length) growColumns(this);
    return this.count++;
  }
}

export class TextColumns {
  count = 0;
  start = new Int32Array(FIRST_CAPACITY);
  end = new Int32Array(FIRST_CAPACITY);
  parent = new Int32Array(FIRST_CAPACITY);

  add(start: number, end: number, parent: number): void {
    if (this.count === this.start.length) growColumns(this);
    this.start[this.count] = start;
    this.end[this.count] = end;
    this.parent[this.count++] = parent;
  }
}

const FIRST_CAPACITY = 1024;

/** Copies a column into one of twice the length. */
export function grown<Column extends Int32Array | Uint16Array | Uint8Array | Float32Array>(
  column: Column,
): Column {
  // A typed array is made by its own constructor, which the types do not say.
  const larger = new (column.constructor as new (length: number) => Column)(column.length * 2);
  larger.set(column);
  return larger;
}

/** Makes all columns of a table, which are properties of its own, twice as long. */
export function growColumns(table: object): void {
  for (const [name, column] of Object.entries(table))
    if (column instanceof Int32Array || column instanceof Uint16Array || column instanceof Uint8Array)
      Reflect.set(table, name, grown(column));
}

/**
 * The stack of open elements. It finds the innermost element of a tag, the innermost special element and the
 * innermost scope in constant time, so that no page can make the reader search its depth again and again.
 */
export class OpenElements {
  size = 0;
  /** Position of the innermost special element; -1 for none. */
  special = -1;
  /** Position of the innermost element that end tags outside do not reach through. */
  scope = -1;
  readonly #columns = {
    element: new Int32Array(64),
    tag: new Int32Array(64),
    previousSame: new Int32Array(64),
    previousSpecial: new Int32Array(64),
    previousScope: new Int32Array(64),
    previousBlock: new Int32Array(64),
  };
  readonly #innermost = new Int32Array(TAG_LIMIT).fill(-1);
  #block = -1;

  /** The innermost block-level element; -1 for none. */
  get blockElement(): number {
    return this.#block < 0 ? -1 : this.#columns.element[this.#block]!;
  }
  /** The innermost open element; -1 for none. */
  get top(): number {
    return this.size === 0 ? -1 : this.#columns.element[this.size - 1]!;
  }
  get topTag(): number {
    return this.size === 0 ? 0 : this.#columns.tag[this.size - 1]!;
  }

  /** Position of the innermost open element of this tag; -1 for none. */
  innermost(tag: number): number {
    return this.#innermost[tag]!;
  }

  elementAt(position: number): number {
    return this.#columns.element[position]!;
  }

  push(element: number, tag: number, traits: number): void {
    const position = this.size++;
    if (position === this.#columns.element.length) growColumns(this.#columns);
    this.#columns.element[position] = element;
    this.#columns.tag[position] = tag;
    this.#columns.previousSame[position] = this.#innermost[tag]!;
    this.#columns.previousSpecial[position] = this.special;
    this.#columns.previousScope[position] = this.scope;
    this.#columns.previousBlock[position] = this.#block;
    this.#innermost[tag] = position;
    if ((traits & TagTrait.special) !== 0) this.special = position;
    if ((traits & TagTrait.scope) !== 0) this.scope = position;
    if ((traits & TagTrait.block) !== 0) this.#block = position;
  }

  /** Removes the innermost element and returns its tag. */
  pop(): number {
    const position = --this.size;
    const tag = this.#columns.tag[position]!;
    this.#innermost[tag] = this.#columns.previousSame[position]!;
    this.special = this.#columns.previousSpecial[position]!;
    this.scope = this.#columns.previousScope[position]!;
    this.#block = this.#columns.previousBlock[position]!;
    return tag;
  }
}

const CELLS = [Tag.td, Tag.th];
const ROW_PARTS = [...CELLS, Tag.caption, Tag.tr];
const SECTION_PARTS = [...ROW_PARTS, Tag.tbody, Tag.thead, Tag.tfoot];
const ITEMS_OF_LIST = { items: [Tag.li], lists: [Tag.ul, Tag.ol, Tag.menu] };
const ITEMS_OF_DEFINITION = { items: [Tag.dt, Tag.dd], lists: [Tag.dl] };

/** Returns where an open element ends because this tag starts, or -1; call it again after that has ended. */
export function impliedEnd(open: OpenElements, tag: number): number {
  const traits = traitsOf(tag);
  const head = open.innermost(Tag.head);
  const isInNoscript = open.innermost(Tag.noscript) > head && tag !== Tag.body;
  if (head >= 0 && (traits & TagTrait.head) === 0 && !isInNoscript) return head;
  // An open paragraph that is innermost has only phrases between it and this place.
  const paragraph = open.innermost(Tag.p);
  const endsParagraph = (traits & TagTrait.closesParagraph) !== 0 || tag === Tag.p;
  if (endsParagraph && paragraph >= 0 && paragraph === open.special) return paragraph;
  if (tag === Tag.li) return itemBefore(open, ITEMS_OF_LIST);
  if (tag === Tag.dt || tag === Tag.dd) return itemBefore(open, ITEMS_OF_DEFINITION);
  // Links do not nest: the previous one ends here, unless a block has begun inside it.
  if (tag === Tag.a) return open.innermost(Tag.a) > open.special ? open.innermost(Tag.a) : -1;
  return tablePartBefore(open, tag, traits);
}

// An item ends where the next item of the same list starts.
function itemBefore(open: OpenElements, { items, lists }: typeof ITEMS_OF_LIST): number {
  const position = innermostOf(open, items, open.scope);
  if (position < 0 || innermostOf(open, lists, position) >= 0) return -1;
  return position;
}

function tablePartBefore(open: OpenElements, tag: number, traits: number): number {
  const table = open.innermost(Tag.table);
  if ((traits & TagTrait.cell) !== 0)
    return innermostOf(open, CELLS, Math.max(open.innermost(Tag.tr), table));
  if (tag === Tag.tr) return innermostOf(open, ROW_PARTS, table);
  if (tag === Tag.tbody || tag === Tag.thead || tag === Tag.tfoot)
    return innermostOf(open, SECTION_PARTS, table);
  return -1;
}

function innermostOf(open: OpenElements, tags: readonly number[], limit: number): number {
  let innermost = -1;
  for (const tag of tags) innermost = Math.max(innermost, open.innermost(tag));
  return innermost > limit ? innermost : -1;
}

const TABLE_PARTS = tagsNamed("tr tbody thead tfoot");
const FORMATTING = tagsNamed("a b big code em font i nobr s small strike strong tt u");

/** Returns the position of the element that an end tag closes, with all inside it; -1 when it closes none. */
export function endTagPosition(open: OpenElements, tag: number): number {
  const position = open.innermost(tag);
  if (position < 0 || tag === Tag.body || tag === Tag.html) return -1;
  const traits = traitsOf(tag);
  const isTablePart = (traits & TagTrait.scope) !== 0 || TABLE_PARTS.has(tag);
  if (!isTablePart && position < open.scope) return -1;
  // `</span>` does not end the block around it; the end tags of formatting and links do, as in most parsers.
  const isPhrase = !FORMATTING.has(tag) && (traits & TagTrait.special) === 0;
  return isPhrase && position < open.special ? -1 : position;
}
