import type { PageModel } from "../page/page-model.ts";
import { Tag, tagId } from "../page/tags.ts";
import { Insides } from "./insides.ts";
import { OutermostElements } from "./outermost.ts";

const FORMULA_CLASS = /(?:^|\s)(?:katex(?:-display)?|MathJax(?:_\w+)?|mathjax|mwe-math-element)(?=\s|$)/;
const CODE_CLASS =
  /(?:^|\s)(?:highlight(?:er-[\w-]+|table)?|codehilite(?:table)?|rouge-table|literal-block-wrapper|listingblock|expressive-code|syntaxhighlighter|crayon-[\w-]+|prism-code|code-toolbar|theme-code-block|codeBlockContainer\w*|code-?block(?:-?\w+)?|sourceCode|language-[\w+#.-]+|blob-wrapper|vp-code-group|tabbed-set|theme-tabs-container|tabs-container|sd-tab-set)(?=\s|$)/;
/** Doxygen writes each line of code as an element of its own, in a frame without a `<pre>`. */
const LINES_CLASS = /(?:^|\s)fragment(?=\s|$)/;
const FIRST_LINE = /^\s*<div\s+class\s*=\s*["']?line\b/i;
const PRE = Tag.pre;
const MATH = tagId("math");
const CODE_PARTS: readonly number[] = [PRE, Tag.code, Tag.table];

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
 * The elements that only make sense whole, as the page wrote them. These are code with its line numbers and
 * file name, and formulas, whose parts a choice by blocks would tear apart. Code that hides something is
 * none of them.
 */
export class WholeElements {
  readonly model: PageModel;
  readonly #insides: Insides;
  readonly #outermost: OutermostElements;
  /** What a class says, by its number; `UNREAD` until somebody asks. */
  readonly #kinds: Uint8Array;

  constructor(model: PageModel) {
    this.model = model;
    this.#insides = new Insides(model);
    this.#outermost = new OutermostElements(model, (element) => this.#isWhole(element));
    this.#kinds = new Uint8Array(model.names.length);
  }

  /** The outermost whole element around an element, itself included; -1 for none. */
  around(element: number): number {
    return this.#outermost.around(element);
  }

  /** Whether an element's class says that it holds code with its frame, or a formula. */
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
    if (tag === MATH) return true;
    return tag === PRE ? !this.#insides.hides(element) : this.isByClass(element);
  }

  #kindOf(classId: number): number {
    if (classId === 0) return NO_CLASS;
    if (this.#kinds[classId] === UNREAD) this.#kinds[classId] = classKind(this.model.names[classId] ?? "");
    return this.#kinds[classId]!;
  }
}
