import { ancestorWhere, build, classesOf, classOf, isElement, nameOf, textOf } from "./element.ts";
import { languageOf } from "./languages.ts";

/*
 * Code blocks of all highlighters become <pre><code class="language-x">…</code></pre>, without line
 * numbers, buttons and captions; a file name or tab name is kept as <pre data-label>.
 */

const WRAPPER_NAMES = new Set(["DIV", "FIGURE", "TABLE", "SECTION", "SPAN"]);
const WRAPPER_CLASS =
  /(?:^|[\s_-])(?:highlight|codehilite|highlighter|rouge|sourcecode|syntaxhighlighter|crayon|hljs|prism|shiki|code|codeblock|codeblockcontainer|listingblock|literal-block-wrapper|wp-block-code|expressive|hcb|enlighter|gist|blob-wrapper|language|snippet|fragment)/i;
const GUTTER_CLASS =
  /(?:^|[\s_-])(?:line-?numbers?(?:-rows|-sizer|-wrapper|-gutter)?|line-?nos?|linenodiv|lineno|gutter|crayon-nums?|hljs-ln-(?:n|numbers?)|blob-num|lnt|lnum|ln-num)(?=$|\s)/i;
const TOOL_CLASS =
  /(?:^|[\s_-])(?:copy|copybtn|copybutton|clipboard|clipboard-copy|code-copy|copy-code|copy-button|toolbar|toolbar-item|btn|buttongroup_?\w*|tooltip|sr-only|screen-reader-text|crayon-toolbar|ttc|enlighter-toolbar|lang)(?=$|[\s_-])/i;
const TOOLS = new Set([
  "BUTTON",
  "SVG",
  "STYLE",
  "SCRIPT",
  "TEXTAREA",
  "INPUT",
  "CLIPBOARD-COPY",
  "TEMPLATE",
]);
const TITLE_CLASS =
  /(?:^|[\s_-])(?:filename|file-?name|code-?(?:block-?)?title|codeblocktitle\w*|code-block-caption|code-caption|caption-text|code-header-title|title)(?=$|[\s_-])/i;
/** More words than this around a <pre> are prose, and their element is no frame of code. */
const MAX_FRAME_TEXT = 120;

/** The canonical form of a code block; undefined when the element is none. */
export function canonicalCode(element: Element): Element | undefined {
  const name = nameOf(element);
  if (name === "PRE")
    return isGutter(element) ? build(element, "span", {}) : codeBlock(element, element, null);
  if (name === "CODE") return blockOfLooseCode(element);
  return isWrapper(element) && !isBuried(element) ? canonicalFrame(element) : undefined;
}

const isWrapper = (element: Element): boolean =>
  WRAPPER_NAMES.has(nameOf(element)) && WRAPPER_CLASS.test(classOf(element).slice(0, 1000));

/** Each frame is searched whole, so frames in frames would cost the square of their number. */
const MAX_WRAPPERS = 20;

function isBuried(element: Element): boolean {
  let wrappers = 0;
  for (let at = element.parentElement; at; at = at.parentElement)
    if (isWrapper(at) && ++wrappers === MAX_WRAPPERS) return true;
  return false;
}

function canonicalFrame(frame: Element): Element | undefined {
  const pres: Element[] = [];
  for (const pre of frame.querySelectorAll("pre")) {
    if (isGutter(pre) || isNumbers(pre) || isInGutter(pre, frame)) continue;
    pres.push(pre);
    if (pres.length > 1) return undefined;
  }
  const [pre] = pres;
  if (pre) return isFrameOnly(frame, pre) ? codeBlock(pre, frame, titleIn(frame, pre)) : undefined;
  const lines = linesContainer(frame);
  return lines ? codeBlock(lines, frame, titleIn(frame, lines)) : undefined;
}

// SyntaxHighlighter, Crayon and GitHub write lines as elements or rows, without a <pre>.
function linesContainer(frame: Element): Element | null {
  const classes = classOf(frame);
  if (/syntaxhighlighter/i.test(classes)) return frame.querySelector("td.code, .code") ?? null;
  if (/(?:^|\s)fragment(?:\s|$)/.test(classes)) return isLines(frame) ? frame : null;
  if (/crayon/i.test(classes)) return frame.querySelector(".crayon-pre, .crayon-code");
  if (nameOf(frame) === "TABLE" && frame.querySelector("td.blob-code")) return frame;
  return null;
}

// Doxygen's; presentations have fragments, too.
const isLines = (frame: Element): boolean =>
  frame.firstElementChild !== null && classesOf(frame.firstElementChild).includes("line");

function isFrameOnly(frame: Element, pre: Element): boolean {
  return textOf(frame).length - textOf(pre).length <= MAX_FRAME_TEXT + gutterLength(frame);
}

function gutterLength(frame: Element): number {
  let length = 0;
  let last: Element | null = null;
  for (const gutter of frame.querySelectorAll("td, pre, div, textarea, button, figcaption, ul")) {
    if ((!isGutter(gutter) && !TOOLS.has(nameOf(gutter))) || last?.contains(gutter)) continue;
    length += textOf(gutter).length;
    last = gutter;
  }
  return length;
}

function codeBlock(content: Element, frame: Element, title: string | null): Element {
  const label = (content.getAttribute("data-label") || frame.getAttribute("data-label") || title || "")
    .slice(0, 200)
    .trim();
  const math = content.querySelector("code.math-display");
  if (math)
    return build(
      frame,
      "pre",
      {},
      build(frame, "code", { class: "language-math math-display" }, codeText(content)),
    );
  const language = languageOf(content, frame);
  const code = build(frame, "code", language ? { class: `language-${language}` } : {}, codeText(content));
  return build(frame, "pre", label === "" ? {} : { "data-label": label }, code);
}

function titleIn(frame: Element, pre: Element): string | null {
  for (const element of frame.querySelectorAll("div, span, p, figcaption, caption, a, strong")) {
    if (pre.contains(element) || isGutter(element)) continue;
    if (!TITLE_CLASS.test(classOf(element)) && nameOf(element) !== "FIGCAPTION") continue;
    const inner = element.querySelector(".caption-text") ?? element;
    const text = textOf(inner).replace(/\s+/g, " ").trim();
    if (text !== "" && text !== "¶") return text.replace(/ ?¶$/, "");
  }
  return null;
}

// On a <pre>, "line-numbers" asks for numbers; it does not hold them.
const isGutter = (element: Element): boolean =>
  GUTTER_CLASS.test(classOf(element).slice(0, 500)) &&
  !(nameOf(element) === "PRE" && element.querySelector("code") !== null);

function isInGutter(pre: Element, frame: Element): boolean {
  for (let at = pre.parentElement; at && at !== frame; at = at.parentElement) if (isGutter(at)) return true;
  return false;
}

const isNumbers = (pre: Element): boolean =>
  /^[\d\s]+$/.test(textOf(pre)) && ancestorWhere(pre, 4, isCell) !== null;
const isCell = (element: Element): boolean => nameOf(element) === "TD" && element.nextElementSibling !== null;
// The class of code and its words may be `lang-sh` or `copy`.
const isTool = (element: Element): boolean =>
  TOOLS.has(nameOf(element)) ||
  (!/^(?:SPAN|CODE|PRE)$/.test(nameOf(element)) && TOOL_CLASS.test(classOf(element).slice(0, 500)));

const LINE_NAMES = new Set(["DIV", "P", "LI", "TR"]);

/** The lines of code that an element shows; line numbers and buttons are left out. */
export function codeText(root: Element): string {
  const parts: string[] = [];
  const isLineByElement = hasCodePerLine(root);
  let endsLine = true;
  const add = (text: string): void => {
    if (text === "") return;
    parts.push(text);
    endsLine = text.endsWith("\n");
  };
  let node: Node | null = root.firstChild;
  // HTML drops the line break right after <pre>.
  const first = nameOf(root) === "PRE" && node?.nodeType === 3 ? node : null;
  while (node) {
    if (node === first) add((node.nodeValue ?? "").replace(/^\r?\n/, ""));
    else if (node.nodeType === 3) add(afterGutter(node));
    const element: Element | null = isElement(node) ? node : null;
    const isSkipped = element !== null && (isTool(element) || isGutter(element) || isHiddenPrompt(element));
    if (element && nameOf(element) === "BR") add("\n");
    if (element && !isSkipped && isLine(element, isLineByElement) && !endsLine) add("\n");
    if (element && !isSkipped && element.firstChild) {
      node = element.firstChild;
      continue;
    }
    while (node && node !== root) {
      if (isElement(node) && isLine(node, isLineByElement) && !isGutter(node)) {
        // An empty element still is a line; one that ended with a break has ended its line.
        if (!endsLine || textOf(node) === "") add("\n");
      }
      if (node.nextSibling) break;
      node = node.parentNode;
    }
    node = node === root ? null : (node?.nextSibling ?? null);
  }
  return tidyCode(parts.join(""));
}

// Doxygen sets a line apart from its number by a no-break space.
function afterGutter(text: Node): string {
  const { previousSibling: before, nodeValue } = text;
  const isSpacer = isElement(before) && isGutter(before) && nodeValue?.startsWith("\u00a0");
  return isSpacer ? nodeValue!.slice(1) : (nodeValue ?? "");
}

const isLine = (element: Element, isLineByElement: boolean): boolean =>
  LINE_NAMES.has(nameOf(element)) || (isLineByElement && nameOf(element) === "CODE");

/**
 * Whether the source of a `<pre>` holds its text and phrases around parts of it, so that `codeText` is that
 * text; false where that is unsure.
 */
export function isPlainCode(source: string): boolean {
  if (/data-label|aria-hidden|math|prompt/i.test(source)) return false;
  // White space at the start, which only a document tells from what HTML drops there.
  if (!/^<pre[^>]*>\n?(?:<[^>]*>)*[^\s<&]/i.test(source)) return false;
  let codes = 0;
  for (const [tag, name] of source.matchAll(/<([a-z][^\s/>]*)[^>]*/gi)) {
    const lowered = name!.toLowerCase();
    if (lowered === "code") codes++;
    if (codes > 1 || !PHRASES_IN_CODE.has(lowered)) return false;
    const classes = /\sclass\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i.exec(tag);
    const names = (classes?.[1] ?? classes?.[2] ?? classes?.[3] ?? "").slice(0, 500);
    if (names !== "" && (GUTTER_CLASS.test(names) || (!MAY_BE_NAMED.has(lowered) && TOOL_CLASS.test(names))))
      return false;
  }
  return true;
}

const PHRASES_IN_CODE = new Set("pre code span a b i em strong u s small font mark kbd var samp".split(" "));
const MAY_BE_NAMED = new Set(["span", "code", "pre"]);

const isHiddenPrompt = (element: Element): boolean =>
  element.getAttribute("aria-hidden") === "true" && /line|number/i.test(classOf(element));

// <pre><code>one line</code><code>another</code></pre>
function hasCodePerLine(root: Element): boolean {
  let codes = 0;
  for (let child = root.firstChild; child; child = child.nextSibling) {
    if (isElement(child) && nameOf(child) === "CODE") codes++;
    else if (textOf(child).includes("\n")) return false;
  }
  return codes > 1;
}

// No-break spaces are what some highlighters indent with.
const tidyCode = (text: string): string => text.replace(/\r\n?/g, "\n").replaceAll("\u00a0", " ").trimEnd();

// A <code> with line breaks that fills its parent is a block that forgot its <pre>.
function blockOfLooseCode(code: Element): Element | undefined {
  const parent = code.parentElement;
  if (!parent || !/^(?:DIV|P|FIGURE|TD|SECTION|LI|DD)$/.test(nameOf(parent)) || !hasLines(code))
    return undefined;
  if (textOf(parent).trim() !== textOf(code).trim() || classesOf(code).includes("math-inline"))
    return undefined;
  return codeBlock(code, code, null);
}

const hasLines = (code: Element): boolean =>
  code.querySelector("br, div") !== null ||
  (KEEPS_LINES.test((code.getAttribute("style") ?? "").slice(0, 500)) && textOf(code).trim().includes("\n"));

/** A style under which line breaks in the source are shown. */
export const KEEPS_LINES = /white-space\s*:\s*(?:pre|break-spaces)/i;
