import { ElementFlag, firstFrom, nearestOf, type PageModel, Tag, tagsNamed } from "../page/page-model.ts";

const FORMULA_CLASS = /(?:^|\s)(?:katex(?:-display)?|MathJax(?:_\w+)?|mathjax|mwe-math-element)(?=\s|$)/;
const CODE_CLASS =
  /(?:^|\s)(?:highlight(?:er-[\w-]+|table)?|codehilite(?:table)?|rouge-table|literal-block-wrapper|listingblock|expressive-code|syntaxhighlighter|crayon-[\w-]+|prism-code|code-toolbar|theme-code-block|codeBlockContainer\w*|code-?block(?:-?\w+)?|sourceCode|language-[\w+#.-]+|blob-wrapper|vp-code-group|tabbed-set|theme-tabs-container|tabs-container|sd-tab-set)(?=\s|$)/;
/** Doxygen writes each line of code as an element of its own, in a frame without a `<pre>`. */
const LINES_CLASS = /(?:^|\s)fragment(?=\s|$)/;
const FIRST_LINE = /^\s*<div\s+class\s*=\s*["']?line\b/i;
const CODE_PARTS: readonly number[] = [Tag.pre, Tag.code, Tag.table];

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
  readonly #insides: Insides;
  /** For each element the outermost whole one around it; -1 for none. */
  readonly #outermost: Int32Array;
  /** The kind of each class by its number; `UNREAD` until it is needed. */
  readonly #kinds: Uint8Array;

  constructor(model: PageModel) {
    this.model = model;
    this.#insides = new Insides(model);
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
    if (kind === FORMULA) return this.#insides.holdsFormula(element);
    if (kind === LINES) return this.#beginsWithLine(element) && !this.#insides.hides(element);
    return this.#insides.holds(CODE_PARTS, element) && !this.#insides.hides(element);
  }

  #beginsWithLine(element: number): boolean {
    const { html, openEnd } = this.model;
    return FIRST_LINE.test(html.slice(openEnd[element]!, openEnd[element]! + 200));
  }

  #isWhole(element: number): boolean {
    const tag = this.model.tag[element]!;
    if (tag === Tag.math) return true;
    return tag === Tag.pre ? !this.#insides.hides(element) : this.isByClass(element);
  }

  #kindOf(classId: number): number {
    if (classId === 0) return NO_CLASS;
    if (this.#kinds[classId] === UNREAD) this.#kinds[classId] = classKind(this.model.names[classId] ?? "");
    return this.#kinds[classId]!;
  }
}

/**
 * Answers what elements contain, from lists of the page's elements of a kind. A query at each level of a nest costs
 * one search of such a list; reading the source again took the square of its length.
 */
class Insides {
  readonly #model: PageModel;
  readonly #lists = new Map<readonly number[], readonly number[]>();
  #hidden: readonly number[] | null = null;
  #formulas: readonly number[] | null = null;

  constructor(model: PageModel) {
    this.#model = model;
  }

  /** Tells whether an element, or one inside it, has one of these tags. Pass the same list each time. */
  holds(tags: readonly number[], element: number): boolean {
    let list = this.#lists.get(tags);
    if (list === undefined) {
      const { tag } = this.#model;
      list = this.#elementsWhere((other) => tags.includes(tag[other]!));
      this.#lists.set(tags, list);
    }
    return this.#holdsOneOf(list, element);
  }

  /** Tells whether the page hides an element or something inside it. */
  hides(element: number): boolean {
    const { flags } = this.#model;
    this.#hidden ??= this.#elementsWhere((other) => (flags[other]! & ElementFlag.hidden) !== 0);
    return this.#holdsOneOf(this.#hidden, element);
  }

  /** Tells whether an element contains MathML or the TeX of a formula. */
  holdsFormula(element: number): boolean {
    const { media, tag } = this.#model;
    this.#formulas ??= [...media].filter((medium) => tag[medium] === Tag.math || tag[medium] === Tag.script);
    return this.#holdsOneOf(this.#formulas, element);
  }

  #elementsWhere(isListed: (element: number) => boolean): readonly number[] {
    const list: number[] = [];
    for (let element = 0; element < this.#model.elementCount; element++) {
      if (isListed(element)) list.push(element);
    }
    return list;
  }

  #holdsOneOf(list: readonly number[], element: number): boolean {
    const first = firstFrom(list, element);
    return first < list.length && list[first]! < this.#model.elementEnd[element]!;
  }
}

const NOTES_NAME =
  /(?:^|[\s_-])(?:foot-?notes?(?:-list|-definition)?|endnotes?|reflist|references|wp-block-footnotes)(?=$|[\s_-])/i;
const FRAGMENT = /\shref\s*=\s*["']?[^"'\s>]{0,300}#([^"'\s>]{1,200})/i;
/** Notes with a larger share of the text are the small print of a shop or the bibliography of a paper. */
const MOST_NOTES = 0.4;
/** The maximum number of levels between a phrase and the link around it. */
const MAX_STEPS = 6;
const ANCHORS = tagsNamed("a");

/**
 * Adds the notes that chosen text refers to. They stand apart from it, often in the page's frame, and a reference
 * without its note leads nowhere.
 * @param chosen blocks in page order
 */
export function withNotes(model: PageModel, chosen: Int32Array): Int32Array {
  const holders = findHolders(model);
  if (holders.length === 0) return chosen;
  const { blocks } = model;
  const targets = targetsOf(model, chosen);
  const isChosen = new Uint8Array(blocks.count);
  let chosenLength = 0;
  for (const block of chosen) {
    isChosen[block] = 1;
    chosenLength += blocks.text[block]!.length;
  }
  let block = 0;
  for (const holder of holders) {
    while (block < blocks.count && blocks.element[block]! < holder) block++;
    const notes: number[] = [];
    let length = 0;
    for (; block < blocks.count && blocks.element[block]! < model.elementEnd[holder]!; block++) {
      if ((blocks.flags[block]! & ElementFlag.hidden) !== 0) continue;
      notes.push(block);
      length += blocks.text[block]!.length;
    }
    if (length > MOST_NOTES * chosenLength || !isReferred(model, holder, targets)) continue;
    for (const note of notes) isChosen[note] = 1;
  }
  return Int32Array.from(isChosen.keys()).filter((at) => isChosen[at] === 1);
}

function isReferred(
  { names, idId, elementEnd }: PageModel,
  holder: number,
  targets: ReadonlySet<string>,
): boolean {
  for (let element = holder; element < elementEnd[holder]!; element++) {
    if (idId[element] !== 0 && targets.has(names[idId[element]!] ?? "")) return true;
  }
  return false;
}

/** Finds the outermost elements named as notes, in page order. */
function findHolders({ elementCount, elementEnd, names, classId, idId, tag }: PageModel): number[] {
  const isNamed = names.map((name) => name.length < 500 && NOTES_NAME.test(name));
  if (!isNamed.includes(true)) return [];
  const holders: number[] = [];
  let articleEnd = 0;
  for (let element = 0; element < elementCount; element++) {
    const end = elementEnd[element]!;
    if (tag[element] === Tag.article || tag[element] === Tag.main) articleEnd = Math.max(articleEnd, end);
    // The footer of a site contains the small print of its offers.
    const isSiteFooter = tag[element] === Tag.footer && element >= articleEnd;
    if (!isSiteFooter && !isNamed[classId[element]!] && !isNamed[idId[element]!]) continue;
    if (!isSiteFooter) holders.push(element);
    element = end - 1;
  }
  return holders;
}

/** Collects the ids that links of the chosen text lead to. */
function targetsOf(model: PageModel, chosen: Int32Array): ReadonlySet<string> {
  const { blocks, textParent, flags, html, openStart, openEnd } = model;
  const targets = new Set<string>();
  let last = -1;
  for (const block of chosen) {
    for (let text = blocks.firstText[block]!; text < blocks.endText[block]!; text++) {
      const parent = textParent[text]!;
      if ((flags[parent]! & ElementFlag.link) === 0) continue;
      const anchor = nearestOf(model, parent, MAX_STEPS, ANCHORS);
      if (anchor < 0 || anchor === last) continue;
      last = anchor;
      const target = FRAGMENT.exec(html.slice(openStart[anchor]!, openEnd[anchor]!))?.[1];
      if (target !== undefined) targets.add(target);
    }
  }
  return targets;
}
