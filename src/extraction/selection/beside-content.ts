import { headingLevel } from "../classification/block-features.ts";
import { addToParents, type PageTree } from "../classification/page-tree.ts";
import { ElementFlag, startTagOf, Tag, tagsNamed, valueIn } from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import type { Draft } from "./draft.ts";

/*
 * Themes set menus, outlines, pagers, related posts, comments and pictures around the text, inside its own container.
 * Shape and place give them away: the choice is peeled from both ends, and before the first sentence below the title,
 * until a block of the author is reached.
 */

/** A block of links has this share of linked characters. */
const MOSTLY_LINKS = 0.7;
/** Among links, so few words are a label or the entry of the page itself. */
const LABEL_WORDS = 8;
/** A page with fewer words of text is an index, whose links are its content. */
const FEWEST_WORDS = 30;
/** Before the title stand at most this share of the text. */
const MOST_BEFORE = 0.2;
/** A box with more of the text is the text. */
const MOST_OF_TEXT = 0.5;
/** Stories without a label above them have no more of the text. */
const MOST_OF_STORIES = 0.3;
const MAX_LEVELS = 12;
/** Number of neighbouring boxes that a box is compared with. */
const NEIGHBOURS = 4;
/** The most links and words of a row that leads to the pages around this one. */
const PAGER_LINKS = 3;
const PAGER_WORDS = 40;
/** The most words of another story or a remark, and of a caption. */
const ITEM_WORDS = 90;
const CAPTION_WORDS = 14;
/** An author writes links into these, beside the text; what themes add stands in boxes. */
const AUTHORS_TAGS = tagsNamed("p ul ol dl table blockquote h1 h2 h3 h4 h5 h6 figure pre");
const PARTS = tagsNamed("li dt dd tr td th thead tbody caption summary html body main");
const LISTS = tagsNamed("ul ol");
const ITEMS = tagsNamed("li dt dd td th");
const CELLS = tagsNamed("td th");
const HREF = /\shref\s*=\s*(?:"([^"]{0,500})"|'([^']{0,500})'|([^\s>"']{1,500}))/i;
const STEP = /\srel\s*=\s*["']?(?:prev|next)\b/i;
const STEP_TEXT =
  /^(?:[←→‹›«»⟵⟶<>]|(?:prev(?:ious)?|next|earlier|later|older|newer|zurück|weiter|vorige|nächste|précédent|suivant|anterior|siguiente|próximo|indietro|avanti|vorige|volgende|назад|далее)\b|上一|下一|前へ|次へ)|[←→‹›«»⟵⟶]$/i;
/** Breadcrumbs end with the page itself, which is no link. */
const CRUMB_LINKS = 0.3;
const CRUMB_WORDS = 20;
const CRUMB_SIGN = /(?:^|\s)[›»/>·|→⟩](?:\s|$)/;
/** Labels that themes write above their own lists. */
const LABEL =
  /^(?:\d+ )?(?:comments?|responses?|repl(?:y|ies)|discussion|thoughts? on|kommentare?|commentaires?|comentarios?|related|recommended|similar|keep reading|read (?:more|next|also)|you (?:may|might) (?:also )?(?:like|enjoy)|more (?:from|news|stories|posts|articles)|(?:latest|recent|other|top) (?:news|stories|posts|articles)|also (?:today|on)|gallery|pictures|photos|in pictures|weitere|ähnliche|articles? (?:similaires|liés))\b/i;

class Sides {
  readonly #tree: PageTree;
  readonly #isKept: Uint8Array;
  /** Of each candidate: whether it is mostly links, and whether it is a short label. */
  readonly #isLinks: Uint8Array;
  readonly #isLabel: Uint8Array;
  /** Of each element: the blocks of links, of labels and of text inside, and the chosen words of text. */
  readonly #links: Int32Array;
  readonly #labels: Int32Array;
  readonly #texts: Int32Array;
  readonly #words: Float64Array;
  /** The elements that hold text of the author directly. */
  readonly #holdsText: Uint8Array;
  /** The first candidate at or inside each element. */
  readonly #first: Int32Array;
  readonly #title: number;
  readonly #cards = new Map<number, boolean>();
  /** The chosen words of text on the page. */
  #all = 0;

  /** Of each name of the page: whether an author's remark has it. */
  readonly #isAuthorsName: readonly boolean[];

  constructor({ tree, isKept, region }: Draft) {
    this.#isAuthorsName = region?.isAuthors ?? [];
    const { model, candidates } = tree;
    this.#tree = tree;
    this.#isKept = isKept;
    this.#isLinks = new Uint8Array(candidates.length);
    this.#isLabel = new Uint8Array(candidates.length);
    this.#links = new Int32Array(model.elementCount);
    this.#labels = new Int32Array(model.elementCount);
    this.#texts = new Int32Array(model.elementCount);
    this.#words = new Float64Array(model.elementCount);
    this.#holdsText = new Uint8Array(model.elementCount);
    this.#first = new Int32Array(model.elementCount).fill(candidates.length);
    for (let index = candidates.length - 1; index >= 0; index--) this.#count(index);
    for (const column of [this.#links, this.#labels, this.#texts, this.#words]) addToParents(model, column);
    for (let at = model.elementCount - 1; at > 0; at--) {
      const outer = model.parent[at]!;
      if (outer >= 0 && this.#first[at]! < this.#first[outer]!) this.#first[outer] = this.#first[at]!;
    }
    this.#title = this.#findTitle();
  }

  #count(index: number): void {
    const { model, candidates } = this.#tree;
    const block = candidates[index]!;
    const owner = model.blocks.element[block]!;
    const words = statOf(model, block, TextStat.words);
    const isCode = (model.blocks.flags[block]! & ElementFlag.preformatted) !== 0;
    this.#first[owner] = index;
    if (!isCode && this.#isOfLinks(block)) {
      this.#isLinks[index] = 1;
      this.#links[owner]!++;
    } else if (!isCode && words <= LABEL_WORDS && headingLevel(this.#tree, block) !== 1) {
      this.#isLabel[index] = 1;
      this.#labels[owner]!++;
    } else {
      this.#texts[owner]!++;
      if (this.#isKept[block] === 1) this.#countText(block, words);
    }
  }

  #countText(block: number, words: number): void {
    const { model } = this.#tree;
    const owner = model.blocks.element[block]!;
    this.#words[owner]! += words;
    this.#all += words;
    const holder = model.parent[owner]!;
    if (holder >= 0 && model.tag[owner] !== Tag.div && headingLevel(this.#tree, block) !== 1)
      this.#holdsText[holder] = 1;
  }

  /** Tells whether a block is mostly links, or breadcrumbs. */
  #isOfLinks(block: number): boolean {
    const { model } = this.#tree;
    const linked = statOf(model, block, TextStat.linkChars);
    if (linked === 0) return false;
    // Some headings lead to themselves.
    if (headingLevel(this.#tree, block) > 1 && !this.#leadsAway(model.blocks.element[block]!)) return false;
    const chars = statOf(model, block, TextStat.chars);
    if (linked >= MOSTLY_LINKS * chars) return true;
    return (
      linked >= CRUMB_LINKS * chars &&
      statOf(model, block, TextStat.words) <= CRUMB_WORDS &&
      CRUMB_SIGN.test(model.blocks.text[block]!.slice(0, 300))
    );
  }

  /** The last heading of level 1 with most of the text below it, and none between it and the first; -1 for none. */
  #findTitle(): number {
    const { model, candidates } = this.#tree;
    let title = -1;
    for (let index = 0, before = 0; index < candidates.length && before <= MOST_BEFORE * this.#all; index++) {
      if (headingLevel(this.#tree, candidates[index]!) === 1) {
        if (title >= 0 && (before > 0 || this.#holderOf(title) === this.#holderOf(index))) return title;
        title = index;
      } else if (this.#isText(index)) before += statOf(model, candidates[index]!, TextStat.words);
    }
    return title;
  }

  #holderOf = (index: number): number =>
    index < 0
      ? -1
      : this.#tree.model.parent[this.#tree.model.blocks.element[this.#tree.candidates[index]!]!]!;

  #isChosen = (index: number): boolean => this.#isKept[this.#tree.candidates[index]!] === 1;

  #isText = (index: number): boolean =>
    this.#isChosen(index) && this.#isLinks[index] === 0 && this.#isLabel[index] === 0;

  drop(): void {
    if (this.#all < FEWEST_WORDS) return;
    const count = this.#tree.candidates.length;
    for (let index = 0; index < this.#title; ) index = this.#peelStart(index, "before");
    let index = this.#title + 1;
    while (index < count && !this.#isText(index)) {
      index = this.#peelStart(index, "below");
    }
    this.#peelEnd();
  }

  /** Drops the box that starts with this candidate. @returns the candidate after it */
  #peelStart(index: number, place: "before" | "below"): number {
    const box = this.#boxOf(index);
    if (box < 0) return index + 1;
    const end = this.#endOf(box, index);
    const isBeside = place === "before" || this.#isBesideBelow(box, index);
    if (isBeside) this.#dropRange(index, end);
    return Math.max(end, index + 1);
  }

  #isBesideBelow(box: number, index: number): boolean {
    const { tag, parent } = this.#tree.model;
    if (tag[box] === Tag.p && parent[box] === this.#holderOf(this.#title)) return this.#isAround(box);
    if (!this.#isAuthors(box)) return true;
    if (PARTS.has(tag[box]!)) return false;
    const isLabelled = headingLevel(this.#tree, this.#tree.candidates[index - 1] ?? -1) > 1;
    return !isLabelled && this.#isAround(box);
  }

  #peelEnd(): void {
    for (let index = this.#tree.candidates.length - 1; index > this.#title; ) {
      if (!this.#isChosen(index)) {
        index--;
        continue;
      }
      const first = this.#startOfBeside(index);
      if (first < 0) return;
      this.#dropRange(first, index + 1);
      index = first - 1;
    }
  }

  /** Returns the first candidate of what is beside the text and ends with this candidate; -1 for the author's. */
  #startOfBeside(index: number): number {
    const { model, candidates } = this.#tree;
    let at = model.blocks.element[candidates[index]!]!;
    let links = -1;
    let found = -1;
    for (let level = 0; level < MAX_LEVELS && at >= 0; level++, at = model.parent[at]!) {
      if (!this.#maySet(at)) break;
      if (this.#isLinkBox(at)) links = at;
      else if (this.#isCards(at)) found = at;
    }
    if (found < 0 && links >= 0 && (!this.#isAuthors(links) || this.#isAround(links))) found = links;
    if (found < 0) return -1;
    const first = this.#first[found]!;
    return this.#isAuthors(found) && this.#isOutline(found) && this.#isLabelOf(first - 1) ? first - 1 : first;
  }

  #isLabelOf = (index: number): boolean => index > this.#title && this.#isLabel[index] === 1;

  /** Tells whether an element can be beside the text: it has neither the title nor most of the text. */
  #maySet(element: number): boolean {
    const { model, candidates } = this.#tree;
    const title = this.#title < 0 ? -1 : model.blocks.element[candidates[this.#title]!]!;
    const holdsTitle = title >= element && title < model.elementEnd[element]!;
    return !holdsTitle && this.#words[element]! <= MOST_OF_TEXT * this.#all;
  }

  #isLinkBox = (element: number): boolean =>
    this.#texts[element] === 0 &&
    this.#links[element]! > 0 &&
    this.#labels[element]! <= Math.max(2, this.#links[element]! / 2);

  /** Returns the largest box of links that starts with this candidate; -1 for none. */
  #boxOf(index: number): number {
    const { model, candidates } = this.#tree;
    let at = model.blocks.element[candidates[index]!]!;
    let found = -1;
    for (let level = 0; level < MAX_LEVELS && at >= 0; level++, at = model.parent[at]!) {
      if (this.#first[at] !== index || !this.#maySet(at)) break;
      if (this.#isLinkBox(at)) found = at;
    }
    return found;
  }

  /** Tells whether the author may have set these links: between paragraphs, without a box of their own. */
  #isAuthors(element: number): boolean {
    const { parent, tag, classId } = this.#tree.model;
    const outer = parent[element]!;
    if (outer < 0) return true;
    if (CELLS.has(tag[element]!) || PARTS.has(tag[element]!)) return !this.#isColumn(element);
    // A list of definitions states facts: its terms are not links, unlike the entries of a menu.
    if (tag[element] === Tag.dl && this.#labels[element]! > 0) return true;
    if (AUTHORS_TAGS.has(tag[element]!))
      return this.#holdsText[outer] === 1 || (ITEMS.has(tag[outer]!) && this.#isAuthors(outer));
    if (this.#isAuthorsName[classId[element]!] || this.#isSection(element)) return true;
    if (this.#isWrappedList(element)) return this.#holdsText[outer] === 1;
    return classId[element] !== 0 && this.#isLikeText(element);
  }

  /** Tells whether a box without a name holds a list and nothing else, as some generators write them. */
  #isWrappedList(element: number): boolean {
    const { tag, classId, idId, elementEnd } = this.#tree.model;
    const isUnnamed = classId[element] === 0 && idId[element] === 0;
    return isUnnamed && LISTS.has(tag[element + 1]!) && elementEnd[element + 1] === elementEnd[element];
  }

  /** Tells whether a box starts with a heading that links lead to, as generators write those of the text. */
  #isSection(element: number): boolean {
    const { model, candidates } = this.#tree;
    const block = candidates[this.#first[element]!];
    if (block === undefined || headingLevel(this.#tree, block) < 2) return false;
    const heading = model.blocks.element[block]!;
    return model.idId[heading] !== 0 || (this.#anchors(heading, 1).length > 0 && !this.#leadsAway(heading));
  }

  /** Tells whether a cell is a column of the page: another one of its row has most of the text. */
  #isColumn(element: number): boolean {
    const { parent, tag } = this.#tree.model;
    return tag[element] === Tag.td && this.#words[parent[element]!]! > MOST_OF_TEXT * this.#all;
  }

  /** Tells whether text stands in a box of the same tag and class right before this one. */
  #isLikeText(element: number): boolean {
    const { parent, tag, classId } = this.#tree.model;
    for (let at = element - 1, seen = 0; at > parent[element]! && seen < NEIGHBOURS; at--) {
      if (parent[at] !== parent[element]) continue;
      seen++;
      if (tag[at] === tag[element] && classId[at] === classId[element] && this.#texts[at]! > 0) return true;
    }
    return false;
  }

  #anchors(element: number, most: number): string[] {
    const { tag, elementEnd } = this.#tree.model;
    const found: string[] = [];
    for (let at = element; at < elementEnd[element]! && found.length < most; at++)
      if (tag[at] === Tag.a) found.push(startTagOf(this.#tree.model, at, 600));
    return found;
  }

  /** Tells whether the first link inside leads to another page. */
  #leadsAway(element: number): boolean {
    const [anchor] = this.#anchors(element, 1);
    return anchor !== undefined && !(valueIn(anchor, HREF) ?? "#").startsWith("#");
  }

  /** Tells whether links lead to the parts of this page, or to the pages around it, wherever they stand. */
  #isAround = (element: number): boolean =>
    !this.#isSection(element) && (this.#isPager(element) || this.#isOutline(element));

  /** Tells whether nearly all links of a box lead to places of this page. */
  #isOutline(element: number): boolean {
    const anchors = this.#anchors(element, 40);
    const inside = anchors.filter((anchor) => valueIn(anchor, HREF)?.startsWith("#"));
    return anchors.length >= 2 && inside.length >= 0.8 * anchors.length;
  }

  /** Tells whether a box leads to the pages before and after this one. */
  #isPager(element: number): boolean {
    const { model, candidates } = this.#tree;
    const anchors = this.#anchors(element, PAGER_LINKS + 1);
    if (anchors.length === 0 || anchors.length > PAGER_LINKS || this.#tree.words[element]! > PAGER_WORDS)
      return false;
    if (anchors.some((anchor) => STEP.test(anchor))) return true;
    const first = candidates[this.#first[element]!];
    return first !== undefined && STEP_TEXT.test(model.blocks.text[first]!.trim());
  }

  /** Tells whether a box holds remarks of readers, other stories or pictures: equal items, often below a label. */
  #isCards(element: number): boolean {
    const known = this.#cards.get(element);
    if (known !== undefined) return known;
    const isCards = this.#mayBeCards(element) && this.#hasCards(element);
    this.#cards.set(element, isCards);
    return isCards;
  }

  #mayBeCards(element: number): boolean {
    const { tag, parent } = this.#tree.model;
    if (LISTS.has(tag[element]!)) return this.#holdsText[parent[element]!] === 0;
    return !PARTS.has(tag[element]!) && !AUTHORS_TAGS.has(tag[element]!) && !this.#isSection(element);
  }

  #hasCards(element: number): boolean {
    const { model, candidates } = this.#tree;
    const { tag, elementEnd, blocks } = model;
    const first = this.#first[element]!;
    const label = blocks.text[candidates[first]!] ?? "";
    let list = element;
    for (let at = element + 1; at < elementEnd[element]!; at = elementEnd[at]!)
      if (LISTS.has(tag[at]!)) list = at;
    const items = this.#itemsOf(list);
    if (items.length < 2 || items.some((item) => this.#tree.words[item]! > ITEM_WORDS)) return false;
    return (
      (this.#isLabel[first] === 1 && LABEL.test(label.trim())) ||
      (this.#words[element]! <= MOST_OF_STORIES * this.#all && items.every((item) => this.#isStory(item))) ||
      items.every((item) => this.#tree.words[item]! <= CAPTION_WORDS && this.#hasImage(item))
    );
  }

  /** Returns the elements with text directly below this one, of the tag and class of the first that is no label. */
  #itemsOf(list: number): readonly number[] {
    const { model, candidates } = this.#tree;
    const { tag, classId, elementEnd, blocks } = model;
    const items: number[] = [];
    for (let at = list + 1; at < elementEnd[list]!; at = elementEnd[at]!) {
      const block = candidates[this.#first[at]!];
      if (block === undefined || (headingLevel(this.#tree, block) > 1 && blocks.element[block] === at))
        continue;
      const [first = at] = items;
      if (tag[at] === tag[first] && classId[at] === classId[first]) items.push(at);
    }
    return items;
  }

  /** Tells whether an item announces another page: a link, and something below it. */
  #isStory = (item: number): boolean =>
    this.#isLinks[this.#first[item]!] === 1 && this.#tree.blockCount[item]! > 1 && this.#leadsAway(item);

  #hasImage(element: number): boolean {
    const { tag, elementEnd } = this.#tree.model;
    const end = Math.min(elementEnd[element]!, element + 12);
    for (let at = element; at < end; at++) if (tag[at] === Tag.img) return true;
    return false;
  }

  /** Returns the candidate after the last one inside an element. */
  #endOf(element: number, from: number): number {
    const { blocks, elementEnd } = this.#tree.model;
    let index = from;
    while (
      index < this.#tree.candidates.length &&
      blocks.element[this.#tree.candidates[index]!]! < elementEnd[element]!
    )
      index++;
    return index;
  }

  #dropRange(first: number, end: number): void {
    for (const block of this.#tree.candidates.subarray(first, end)) this.#isKept[block] = 0;
  }
}

/** Takes what themes set around the text out of the selection. */
export const dropBeside = (draft: Draft): void => new Sides(draft).drop();
