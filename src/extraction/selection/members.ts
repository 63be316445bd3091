import { headingLevel } from "../classification/block-features.ts";
import { addToParents, type PageTree, twinsKey } from "../classification/page-tree.ts";
import { NOT_SHOWN, type Region } from "../classification/region.ts";
import { ElementFlag, isInside, type PageModel, Tag, tagsNamed } from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import type { Draft } from "./draft.ts";

/*
 * The parts of an article that stand in equal boxes: questions with their answers, columns, steps, captions, verses. To the
 * trees, each of them is a short text near the end of something. To a reader they are one group, kept or left out together.
 */

/** A text of this many words counts as a sentence; a shorter text must also end like a sentence. */
const SENTENCE_WORDS = 12;
const FEWEST_WORDS = 4;
/** A member has at least this share of its words in sentences. */
const SENTENCE_SHARE = 0.5;
/** The least probability of a member with kept sentences on both sides of it, and on one side only. */
const LEAST_BETWEEN = 0.3;
const LEAST_AT_EDGE = 0.13;
/** Lowest probability of a list, even of links, that a paragraph of `SENTENCE_WORDS` words with a colon announces. */
const LEAST_OF_ANNOUNCED = 0.1;
const ANNOUNCING_WORDS = 3;
/** In a partly chosen box of at most this many words, equal to its siblings, the rest needs only an edge's probability. */
const MAX_MEMBER_WORDS = 150;
/** The box that also contains kept sentences is at most so far above a member, and so is the box that has equals. */
const NEAR_LEVELS = 3;
const TWIN_LEVELS = 4;
/** Probabilities are taken to be so far from 0 and 1, so that no single text decides for its group. */
const LEAST_P = 1e-4;
/** The most words of a member's head, such as a question. */
const HEAD_WORDS = 16;
const LEAST_OF_HEADS = 0.2;
/** Names of navigation, footers, sidebars, comments, sharing, other stories, advertising, consent, dialogs, search, forms. */
const FRAME_GROUPS = 0b111_1111_1011 | (1 << 18) | (1 << 19);
const FRAME_TAGS = tagsNamed("nav aside footer form dialog select");

const LISTS = tagsNamed("ul ol dl");
const ENTRIES = tagsNamed("article section div li");
const FEWEST_ENTRIES = 2;
const FLOW = tagsNamed("p ul ol blockquote");

/** A run of candidates that are not chosen, in the highest box without a chosen one. */
type Unit = { readonly box: number; readonly first: number; readonly end: number };

/**
 * Equal siblings: their number, their mass and words as those of one text, how many of them are chosen in part, and the
 * most signs of a frame in one of these.
 */
type Group = { count: number; mass: number; weight: number; kept: number; signs: number };

class Members {
  readonly #tree: PageTree;
  readonly #p: Float32Array;
  readonly #region: Region | null;
  readonly #isKept: Uint8Array;
  readonly #isBarred: Uint8Array;
  readonly #isSentence: Uint8Array;
  /** The next chosen sentence from each candidate on, and the last one before the unit that is looked at. */
  readonly #next: Int32Array;
  #last = -1;
  /** How often each sentence stands on the page. */
  readonly #times = new Map<string, number>();
  /** Of each element: the chosen candidates, the words of sentences, and the signs of a frame inside. */
  readonly #chosen: Int32Array;
  readonly #sentenceWords: Float64Array;
  readonly #signs: Int32Array;
  /** Of each element: the logits of what is inside, times its words. */
  readonly #mass: Float64Array;
  /** The equal siblings that contain a sentence, by `twinsKey`, taken together. */
  readonly #groups = new Map<number, Group>();

  constructor({ tree, p, region, isKept, isBarred }: Draft) {
    const { elementCount } = tree.model;
    this.#tree = tree;
    this.#p = p;
    this.#region = region;
    this.#isKept = isKept;
    this.#isBarred = isBarred;
    this.#isSentence = new Uint8Array(tree.candidates.length);
    this.#chosen = new Int32Array(elementCount);
    this.#sentenceWords = new Float64Array(elementCount);
    this.#signs = new Int32Array(elementCount);
    this.#mass = new Float64Array(elementCount);
    this.#next = new Int32Array(tree.candidates.length + 1).fill(tree.candidates.length);
    this.#countTexts();
    this.#countElements();
    for (let index = tree.candidates.length - 1; index >= 0; index--)
      this.#next[index] = this.#isKeptSentence(index) ? index : this.#next[index + 1]!;
  }

  #isChosen = (index: number): boolean => this.#isKept[this.#tree.candidates[index]!] === 1;

  #isKeptSentence = (index: number): boolean => this.#isChosen(index) && this.#isSentence[index] === 1;

  #countTexts(): void {
    const { model, candidates } = this.#tree;
    for (const [index, block] of candidates.entries()) {
      const owner = model.blocks.element[block]!;
      if (this.#isKept[block] === 1) this.#chosen[owner]!++;
      const p = Math.min(Math.max(this.#p[index]!, LEAST_P), 1 - LEAST_P);
      this.#mass[owner]! += statOf(model, block, TextStat.words) * Math.log(p / (1 - p));
      if (!isSentence(model, block)) continue;
      const text = model.blocks.text[block]!;
      this.#isSentence[index] = 1;
      this.#times.set(text, (this.#times.get(text) ?? 0) + 1);
      this.#sentenceWords[owner]! += statOf(model, block, TextStat.words);
    }
  }

  #countElements(): void {
    const { model } = this.#tree;
    for (let element = 0; element < model.elementCount; element++) {
      const isSign = FRAME_TAGS.has(model.tag[element]!) || (model.groups[element]! & FRAME_GROUPS) !== 0;
      this.#signs[element] = isSign ? 1 : 0;
    }
    for (const column of [this.#chosen, this.#sentenceWords, this.#signs, this.#mass])
      addToParents(model, column);
    for (let element = 0; element < model.elementCount; element++) {
      if (this.#sentenceWords[element] === 0) continue;
      const key = twinsKey(model, element);
      const group = this.#groups.get(key) ?? { count: 0, mass: 0, weight: 0, kept: 0, signs: 0 };
      group.count++;
      group.mass += this.#mass[element]!;
      group.weight += this.#tree.words[element]!;
      if (this.#chosen[element]! > 0) {
        group.kept++;
        group.signs = Math.max(group.signs, this.#signs[element]!);
      }
      this.#groups.set(key, group);
    }
  }

  complete(): void {
    const { candidates } = this.#tree;
    for (let index = 0; index < candidates.length; ) {
      const unit = this.#mayJoin(index) ? this.#unitOf(index) : null;
      if (unit !== null) this.#addPartsOf(unit);
      for (const end = unit?.end ?? index + 1; index < end; index++)
        if (this.#isKeptSentence(index)) this.#last = index;
    }
    for (let index = candidates.length - 2; index >= 0; index--)
      if (this.#isHead(index)) this.#isKept[candidates[index]!] = 1;
  }

  /** Keeps all of a member, and the sentences of an entry, whose author and buttons have a step of their own. */
  #addPartsOf(unit: Unit): void {
    const isEntry = this.#isEntry(unit);
    if (!isEntry && !this.#isMember(unit)) return;
    for (let at = unit.first; at < unit.end; at++)
      if (this.#mayJoin(at) && (!isEntry || this.#isSentence[at] === 1))
        this.#isKept[this.#tree.candidates[at]!] = 1;
  }

  #mayJoin(index: number): boolean {
    const { model, candidates } = this.#tree;
    const block = candidates[index]!;
    const isShown = (model.blocks.flags[block]! & NOT_SHOWN) === 0;
    const isFree = this.#isKept[block] === 0 && this.#isBarred[block] === 0;
    return isFree && isShown && this.#isInside(model.blocks.element[block]!);
  }

  #isInside = (element: number): boolean => this.#region?.isInside[element] === 1;

  /** Null for a candidate that shares its own box with a chosen one. */
  #unitOf(first: number): Unit | null {
    const { model, candidates } = this.#tree;
    const { blocks, parent, elementEnd } = model;
    let box = -1;
    let at = blocks.element[candidates[first]!]!;
    for (; at >= 0 && this.#chosen[at] === 0 && this.#isInside(at); at = parent[at]!) box = at;
    if (box < 0) return null;
    let end = first + 1;
    while (end < candidates.length && blocks.element[candidates[end]!]! < elementEnd[box]!) end++;
    return { box, first, end };
  }

  /**
   * Whether a box is one of several equal entries, such as the posts of a thread, most of which are chosen. Its sentences
   * are content as theirs are, whatever links name their authors. A box with a heading announces another page or part.
   */
  #isEntry({ box, first, end }: Unit): boolean {
    const { model, candidates } = this.#tree;
    if (candidates.subarray(first, end).some((block) => headingLevel(this.#tree, block) > 0)) return false;
    const isNamed = ENTRIES.has(model.tag[box]!) && model.classId[box] !== 0;
    const group = isNamed ? this.#groups.get(twinsKey(model, box)) : undefined;
    if (group === undefined || group.kept < FEWEST_ENTRIES || 2 * group.kept <= group.count) return false;
    return (
      this.#signs[box]! <= group.signs &&
      this.#pooled(box) >= LEAST_BETWEEN &&
      !this.#isRepeated({ box, first, end })
    );
  }

  #isMember(unit: Unit): boolean {
    const { linkChars, words } = this.#tree;
    const { box } = unit;
    if (this.#signs[box]! > 0) return false;
    if (this.#isAnnounced(unit)) return this.#pooled(box) >= LEAST_OF_ANNOUNCED;
    if (linkChars[box]! > 0) return false;
    const isList = this.#isPlainList(box);
    if (!isList && (this.#sentenceWords[box]! < SENTENCE_SHARE * words[box]! || !this.#hasEquals(box)))
      return false;
    // A text that the page repeats in several places belongs to a template.
    if (this.#isRepeated(unit)) return false;
    const sides = this.#sidesWithSentences(unit);
    if (isList) return sides > 0 && this.#pooled(box) >= LEAST_BETWEEN;
    const isBetween = sides === 2 && !this.#completesMember(box);
    return sides > 0 && this.#pooled(box) >= (isBetween ? LEAST_BETWEEN : LEAST_AT_EDGE);
  }

  /** Whether a box holds a list that a chosen paragraph beside it announces: "There are packages for:". */
  #isAnnounced({ box, first }: Unit): boolean {
    const { model, candidates } = this.#tree;
    const { tag, parent, elementEnd, blocks } = model;
    const list = LISTS.has(tag[box]!) ? box : box + 1;
    if (!LISTS.has(tag[list]!) || elementEnd[list] !== elementEnd[box]) return false;
    const before = first > 0 && this.#isChosen(first - 1) ? candidates[first - 1]! : -1;
    const paragraph = before < 0 ? -1 : blocks.element[before]!;
    return (
      paragraph >= 0 &&
      tag[paragraph] === Tag.p &&
      parent[paragraph] === parent[box] &&
      statOf(model, before, TextStat.words) >= ANNOUNCING_WORDS &&
      /[:：]\s*$/.test(blocks.text[before]!)
    );
  }

  /** Whether a box is a list right beside chosen paragraphs, or in one of which another part is chosen. */
  #isPlainList(box: number): boolean {
    const { tag, parent, elementEnd } = this.#tree.model;
    if (!LISTS.has(tag[box]!) && tag[box] !== Tag.li) return false;
    const list = LISTS.has(tag[box]!) ? box : parent[box]!;
    if (list < 0 || !LISTS.has(tag[list]!)) return false;
    if (this.#chosen[list]! > 0) return true;
    const outer = parent[list]!;
    for (let at = outer + 1; at < elementEnd[outer]!; at = elementEnd[at]!)
      if (FLOW.has(tag[at]!) && this.#chosen[at]! > 0 && this.#sentenceWords[at]! > 0) return true;
    return false;
  }

  /** Whether a box is in one of several equal boxes, of which another part is chosen. */
  #completesMember(box: number): boolean {
    const { parent } = this.#tree.model;
    let at = box;
    for (let level = 0; level < TWIN_LEVELS && at >= 0 && !this.#isOneOfMany(at); level++) at = parent[at]!;
    return at >= 0 && this.#chosen[at]! > 0 && this.#tree.words[at]! <= MAX_MEMBER_WORDS;
  }

  /** Whether a box, one inside it, or one close around it has an equal sibling that contains a sentence. */
  #hasEquals(box: number): boolean {
    const { parent, elementEnd } = this.#tree.model;
    for (let at = box, level = 0; level <= TWIN_LEVELS && at >= 0; level++, at = parent[at]!)
      if (this.#isOneOfMany(at)) return true;
    for (let at = box + 1; at < elementEnd[box]!; at++)
      if (this.#sentenceWords[at]! > 0 && this.#isOneOfMany(at)) return true;
    return false;
  }

  #isOneOfMany = (element: number): boolean =>
    (this.#groups.get(twinsKey(this.#tree.model, element))?.count ?? 0) > 1;

  #isRepeated({ first, end }: Unit): boolean {
    const { model, candidates } = this.#tree;
    return candidates
      .subarray(first, end)
      .some((block) => (this.#times.get(model.blocks.text[block]!) ?? 0) > 1);
  }

  /** On how many sides of a unit a chosen sentence stands, within a box that is not far above. */
  #sidesWithSentences({ box, end }: Unit): number {
    const { model, candidates } = this.#tree;
    let around = box;
    for (let level = 0; level < NEAR_LEVELS && model.parent[around]! >= 0; level++)
      around = model.parent[around]!;
    const isNear = (index: number): boolean => {
      const block = candidates[index];
      return block !== undefined && isInside(model, model.blocks.element[block]!, around);
    };
    return Number(isNear(this.#last)) + Number(isNear(this.#next[end]!));
  }

  /** The mean logit of a box and its equals, weighted by their words, as a probability. */
  #pooled(box: number): number {
    const { model, words } = this.#tree;
    // All paragraphs of a box look alike, so sure paragraphs say nothing about another paragraph.
    const group = model.tag[box] === Tag.p ? undefined : this.#groups.get(twinsKey(model, box));
    const { mass, weight } = group ?? { mass: this.#mass[box]!, weight: words[box]! };
    return 1 / (1 + Math.exp(-mass / Math.max(weight, 1)));
  }

  /** Whether a candidate is what a chosen member begins with: a label, or a button that opens it. */
  #isHead(index: number): boolean {
    const { model, candidates } = this.#tree;
    const { flags, element } = model.blocks;
    const block = candidates[index]!;
    if (this.#isKept[block] === 1 || this.#isBarred[block] === 1 || !this.#isChosen(index + 1)) return false;
    if ((flags[block]! & NOT_SHOWN & ~ElementFlag.button) !== 0) return false;
    if (statOf(model, block, TextStat.linkChars) > 0 || statOf(model, block, TextStat.words) > HEAD_WORDS)
      return false;
    const isButton = (flags[block]! & ElementFlag.button) !== 0;
    const isLabel = this.#p[index]! >= LEAST_OF_HEADS && this.#isSentence[index + 1] === 1;
    const mayBe = isButton || (isLabel && this.#isInside(element[block]!));
    return mayBe && this.#isBesideMember(element[block]!, element[candidates[index + 1]!]!);
  }

  /** A box without a sentence, as others beside it; paragraphs are text, whatever they hold. */
  #isHeadOfMany = (box: number): boolean =>
    this.#tree.twins[box]! > 1 && this.#chosen[box] === 0 && this.#tree.model.tag[box] !== Tag.p;

  /** Whether a head and what follows it stand in one of several equal boxes, or side by side as others do. */
  #isBesideMember(head: number, next: number): boolean {
    const { tag, parent, elementEnd } = this.#tree.model;
    let below = head;
    for (let at = head, level = 0; level <= TWIN_LEVELS && at >= 0; level++, at = parent[at]!) {
      if (this.#signs[at]! > 0 && tag[at] !== Tag.button) return false;
      if (at < next && next < elementEnd[at]!)
        return this.#isOneOfMany(at) || (this.#isHeadOfMany(below) && this.#isOneOfMany(next));
      below = at;
    }
    return false;
  }
}

function isSentence(model: PageModel, block: number): boolean {
  if ((model.blocks.flags[block]! & ElementFlag.preformatted) !== 0) return false;
  const words = statOf(model, block, TextStat.words);
  const ends = statOf(model, block, TextStat.endsSentence) === 1;
  return words >= SENTENCE_WORDS || (words >= FEWEST_WORDS && ends);
}

/** Keeps the members of groups of equal siblings of which the trees were unsure. */
export const completeMembers = (draft: Draft): void => new Members(draft).complete();
