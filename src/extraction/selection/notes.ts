import { decodeLoosely } from "../../base/text.ts";
import { NOT_SHOWN } from "../classification/region.ts";
import {
  ElementFlag,
  firstFrom,
  nearestOf,
  type PageModel,
  startTagOf,
  Tag,
  tagsNamed,
} from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import { type Draft, keptBlocks } from "./draft.ts";

/** Groups of navigation, sidebars, comments, sharing, recommendations, advertising, forms and the like. */
export const FRAME_GROUPS =
  0b11_1111_1111 | (1 << 10) | (1 << 14) | (1 << 15) | (1 << 17) | (1 << 18) | (1 << 19) | (1 << 28);
/** The group of lists and cards. */
export const CARD_GROUP = 1 << 14;
const MAX_LINKED = 0.6;
const NOTES_NAME =
  /(?:^|[\s_-])(?:foot-?notes?(?:-list|-definition)?|endnotes?|reflist|references|wp-block-footnotes)(?=$|[\s_-])/i;
const FRAGMENT = /\shref\s*=\s*["']?#([^"'\s>]{1,200})/i;
const ANCHOR_NAME = /\sname\s*=\s*["']?([^"'\s>]{1,200})/i;
/** The maximum number of levels between a phrase and the link around it. */
const MAX_LEVELS = 6;
const ANCHORS = tagsNamed("a");
const LISTS = tagsNamed("ol ul dl");
const NOTES = tagsNamed("p div aside section");
const PARTS = tagsNamed("main article");
const FRAMES = tagsNamed("nav header form dialog button");
/** A reference of at most this many characters, such as "[12]", is not a menu even if it is a whole block. */
const MAX_REFERENCE = 8;
/** Longer text outside of a list is a part of the page, not a note. */
const MAX_NOTE = 2000;
/** Marks elements in a menu, a form or the footer of a site. */
const IN_FRAME = -2;
/** Nested lists are read once for each level, but all together no more than this many times the page's blocks. */
const MOST_READ = 4;

/**
 * Keeps the targets further down that kept text links to: notes, citations, entries of glossaries, with the rest of their
 * list and the heading above it. Notes often stand apart or do not look like content, and a reference without its note
 * leads nowhere. A link that points up leads back, to the reference of a note or to the top.
 */
export function addNotes({ tree: { model }, isKept }: Draft): void {
  const found = Array.from(keptBlocks({ isKept }));
  const notes = new Notes(model);
  // The list grows on the way: notes refer to further works.
  for (const block of found) {
    if (isMostlyLinks(model, block)) continue;
    for (const [anchor, id] of linksIn(model, block))
      for (const added of id === undefined ? [] : notes.at(anchor, id)) {
        if (isKept[added] === 0) found.push(added);
        isKept[added] = 1;
      }
  }
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

/** Links lead to ids and, in older pages and those of word processors, to the names of other links. */
function elementsById(model: PageModel): ReadonlyMap<string, number> {
  const { elementCount, idId, names, tag } = model;
  const elements = new Map<string, number>();
  for (let element = elementCount - 1; element >= 0; element--) {
    const name = tag[element] === Tag.a ? ANCHOR_NAME.exec(startTagOf(model, element))?.[1] : undefined;
    if (name !== undefined) elements.set(name, element);
    if (idId[element] !== 0) elements.set(names[idId[element]!]!, element);
  }
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
