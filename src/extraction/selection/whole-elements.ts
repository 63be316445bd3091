import { ElementFlag, firstFrom, type PageModel, Tag, tagsNamed } from "../page/page-model.ts";

const FORMULA_CLASS = /(?:^|\s)(?:katex(?:-display)?|MathJax(?:_\w+)?|mathjax|mwe-math-element)(?=\s|$)/;
const CODE_CLASS =
  /(?:^|\s)(?:highlight(?:er-[\w-]+|table)?|codehilite(?:table)?|rouge-table|literal-block-wrapper|listingblock|expressive-code|syntaxhighlighter|crayon-[\w-]+|prism-code|code-toolbar|theme-code-block|codeBlockContainer\w*|code-?block(?:-?\w+)?|sourceCode|language-[\w+#.-]+|blob-wrapper|vp-code-group|tabbed-set|theme-tabs-container|tabs-container|sd-tab-set)(?=\s|$)/;
/** Doxygen writes each line of code as an element of its own, in a frame without a `<pre>`. */
const LINES_CLASS = /(?:^|\s)fragment(?=\s|$)/;
const FIRST_LINE = /^\s*<div\s+class\s*=\s*["']?line\b/i;
const CODE_PARTS = tagsNamed("pre code table");

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

type Kind = "code" | "hidden" | "formula";

function elementsOf({ elementCount, flags, media, tag }: PageModel, kind: Kind): readonly number[] {
  if (kind === "formula")
    return [...media].filter((medium) => tag[medium] === Tag.math || tag[medium] === Tag.script);
  const isListed = (element: number): boolean =>
    kind === "hidden" ? (flags[element]! & ElementFlag.hidden) !== 0 : CODE_PARTS.has(tag[element]!);
  return Array.from({ length: elementCount }, (_, element) => element).filter(isListed);
}
