import { ElementFlag, type PageModel } from "../page/page-model.ts";
import { FIRST_UNKNOWN_TAG, Tag, tagId } from "../page/tags.ts";

// Elements that mean something to a reader; all others only hold these.
const MEANINGFUL = tagSet(
  `p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table caption thead tbody tfoot tr td th blockquote pre figure
   figcaption details summary address a b strong i em u s del ins mark small sub sup code kbd samp var q cite
   abbr time dfn bdi bdo ruby rt rp label`,
);
// Elements whose class may say what they hold: an admonition, footnotes, a task.
const CLASSED = tagSet("div span section article aside main header footer hgroup");
/** Deeper levels add nothing that a reader could see. */
const MAX_DEPTH = 120;

/**
 * For each element the innermost one, itself included, that frames what it holds; -1 for none.
 * @param keepsClasses whether elements frame that mean something by their class alone
 */
export function framesOf(model: PageModel, keepsClasses: boolean): Int32Array {
  const { elementCount, parent, tag, flags } = model;
  const frame = new Int32Array(elementCount);
  const depth = new Uint8Array(elementCount);
  for (let element = 0; element < elementCount; element++) {
    const above = parent[element]!;
    const outer = above < 0 ? -1 : frame[above]!;
    const outerDepth = outer < 0 ? 0 : depth[outer]!;
    const kind = tag[element]!;
    // `<a name>` marks a place, and a link that an application follows by script leads nowhere here.
    const isMeaningful =
      MEANINGFUL.has(kind) && (kind !== Tag.a || (flags[element]! & ElementFlag.link) !== 0);
    const isClassed = keepsClasses && saysByName(model, element);
    const isFrame = (isMeaningful || isClassed) && outerDepth < MAX_DEPTH;
    frame[element] = isFrame ? element : outer;
    if (isFrame) depth[element] = outerDepth + 1;
  }
  return frame;
}

const PANEL_GROUP = 1 << 23;

function saysByName({ tag, classId, idId, groups, html, openStart }: PageModel, element: number): boolean {
  const kind = tag[element]!;
  if (CLASSED.has(kind)) {
    return classId[element] !== 0 || idId[element] !== 0 || (groups[element]! & PANEL_GROUP) !== 0;
  }
  return kind >= FIRST_UNKNOWN_TAG && html.startsWith("<starlight-tabs", openStart[element]);
}

const PREFORMATTED = tagSet("pre");
const MATH = tagSet("math");
const FORMULA_CLASS = /(?:^|\s)(?:katex(?:-display)?|MathJax(?:_\w+)?|mathjax|mwe-math-element)(?=\s|$)/;
const FORMULA_SOURCE = /<annotation\b|<math\b|math\/tex/i;
const CODE_CLASS =
  /(?:^|\s)(?:highlight(?:er-[\w-]+|table)?|codehilite(?:table)?|rouge-table|literal-block-wrapper|listingblock|expressive-code|syntaxhighlighter|crayon-[\w-]+|prism-code|code-toolbar|theme-code-block|codeBlockContainer\w*|code-?block(?:-?\w+)?|sourceCode|language-[\w+#.-]+|blob-wrapper|vp-code-group|tabbed-set|theme-tabs-container|tabs-container|sd-tab-set)(?=\s|$)/;
const CODE_SOURCE = /<(?:pre|code|table)\b/i;

/**
 * For each element the outermost one around it, itself included, that only makes sense whole, as the page
 * wrote it; -1 for none. These are code with its line numbers and file name, and formulas, whose parts a
 * choice by blocks would tear apart. Code that hides something is none of them.
 */
export function wholesOf(model: PageModel): Int32Array {
  const { elementCount, parent } = model;
  const whole = new Int32Array(elementCount);
  for (let element = 0; element < elementCount; element++) {
    const above = parent[element]!;
    const outer = above < 0 ? -1 : whole[above]!;
    whole[element] = outer >= 0 ? outer : isWhole(model, element) ? element : -1;
  }
  return whole;
}

function isWhole(model: PageModel, element: number): boolean {
  const { tag } = model;
  if (MATH.has(tag[element]!)) return true;
  if (PREFORMATTED.has(tag[element]!)) return !hidesSomething(model, element);
  return isWholeByClass(model, element);
}

/** Whether an element's class says that it holds code with its frame, or a formula. */
export function isWholeByClass(model: PageModel, element: number): boolean {
  const { classId, names } = model;
  const classes = names[classId[element]!] ?? "";
  if (classId[element] === 0 || classes.length > 1000) return false;
  if (FORMULA_CLASS.test(classes)) return FORMULA_SOURCE.test(sourceOf(model, element));
  return (
    CODE_CLASS.test(classes) && CODE_SOURCE.test(sourceOf(model, element)) && !hidesSomething(model, element)
  );
}

function hidesSomething({ flags, elementEnd }: PageModel, element: number): boolean {
  for (let inner = element; inner < elementEnd[element]!; inner++) {
    if ((flags[inner]! & ElementFlag.hidden) !== 0) return true;
  }
  return false;
}

const sourceOf = ({ html, openStart, closeEnd }: PageModel, element: number): string =>
  html.slice(openStart[element]!, closeEnd[element]!);

function tagSet(names: string): ReadonlySet<number> {
  return new Set(names.split(/\s+/).map(tagId));
}
