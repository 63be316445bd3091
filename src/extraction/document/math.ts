import { removeInvisible } from "../text.ts";
import { ancestorWhere, build, classesOf, classOf, isElement, nameOf, textOf } from "./element.ts";
import { texOfMathMl } from "./mathml.ts";

/*
 * Formulas of all renderers become <code class="language-math math-inline"> and
 * <pre><code class="language-math math-display">, which hold TeX.
 */

/** Longer formulas are no formulas. */
const MAX_TEX = 20_000;

/** The canonical form of a formula; null where it is a second copy of one, undefined for anything else. */
export function canonicalMath(element: Element): Element | null | undefined {
  const name = nameOf(element);
  if (name === "SCRIPT") return mathJaxScript(element);
  if (name === "MATH") return mathMl(element);
  if (name === "IMG") return mathImage(element);
  if (name === "MJX-CONTAINER") return mathJax3(element);
  const classes = classesOf(element);
  if (classes.length === 0) return undefined;
  if (classes.includes("katex-display") || classes.includes("katex")) return katex(element, classes);
  if (classes.includes("mwe-math-element")) return wikipedia(element);
  if (isMathJax2(classes)) return mathJax2(element);
  const isTex = (name === "SPAN" || name === "DIV") && classes.includes("math");
  return isTex && element.childElementCount === 0 ? delimitedElement(element, classes) : undefined;
}

/** A formula as an element; null when there is no TeX in it. */
export function mathElement(beside: Element, tex: string, isDisplay: boolean): Element | null {
  const tidy = removeInvisible(tex).trim();
  if (tidy === "" || tidy.length > MAX_TEX) return null;
  if (!isDisplay) return build(beside, "code", { class: "language-math math-inline" }, tidy);
  return build(beside, "pre", {}, build(beside, "code", { class: "language-math math-display" }, tidy));
}

function katex(element: Element, classes: readonly string[]): Element | null | undefined {
  const tex = annotation(element);
  if (tex === null) {
    const math = element.querySelector("math");
    return math ? mathElement(element, texOfMathMl(math), classes.includes("katex-display")) : undefined;
  }
  return mathElement(element, tex, classes.includes("katex-display"));
}

function annotation(element: Element): string | null {
  const note = element.querySelector(
    'annotation[encoding="application/x-tex"], annotation[encoding="LaTeX"]',
  );
  return note ? textOf(note) : null;
}

function mathMl(math: Element): Element | null {
  const tex = annotation(math) ?? math.getAttribute("alttext") ?? texOfMathMl(math);
  return mathElement(math, unwrapDisplayStyle(tex), math.getAttribute("display") === "block");
}

// Wikipedia and others wrap every formula so.
const unwrapDisplayStyle = (tex: string): string =>
  /^\s*\{\\displaystyle\s([\s\S]*)\}\s*$/.exec(tex.slice(0, MAX_TEX))?.[1] ?? tex;

function wikipedia(element: Element): Element | null | undefined {
  const math = element.querySelector("math");
  const image = element.querySelector("img");
  const tex = (math && (annotation(math) ?? math.getAttribute("alttext"))) || image?.getAttribute("alt");
  if (!tex) return undefined;
  const isDisplay =
    math?.getAttribute("display") === "block" || /fallback-image-display/.test(image ? classOf(image) : "");
  return mathElement(element, unwrapDisplayStyle(tex), isDisplay);
}

function mathJax3(container: Element): Element | null {
  const isDisplay = container.getAttribute("display") === "true";
  const math = container.querySelector("math");
  const tex =
    container.getAttribute("data-latex") ??
    container.querySelector("[data-latex]")?.getAttribute("data-latex") ??
    (math ? (annotation(math) ?? math.getAttribute("alttext") ?? texOfMathMl(math)) : textOf(container));
  return mathElement(container, tex, isDisplay);
}

const MATHJAX_2 = new Set(
  "mathjax mathjax_preview mathjax_display mathjax_svg mathjax_svg_display mathjax_chtml mathjax_mathml mjx-chtml mjx_assistive_mathml mathjax_error".split(
    " ",
  ),
);
const isMathJax2 = (classes: readonly string[]): boolean => classes.some((word) => MATHJAX_2.has(word));

// The script beside it holds the TeX; without one the MathML in an attribute or inside does.
function mathJax2(element: Element): Element | null | undefined {
  for (let next = element.nextSibling, seen = 0; next && seen < 6; next = next.nextSibling, seen++) {
    if (!isElement(next)) continue;
    if (nameOf(next) === "SCRIPT" && /^math\//.test(next.getAttribute("type") ?? "")) return null;
  }
  const math = element.querySelector("math");
  if (math)
    return mathElement(element, annotation(math) ?? texOfMathMl(math), /display/i.test(classOf(element)));
  return classesOf(element).includes("mathjax_preview") ? null : undefined;
}

function mathJaxScript(script: Element): Element | null | undefined {
  const type = script.getAttribute("type") ?? "";
  if (/^math\/tex/i.test(type)) return mathElement(script, textOf(script), /mode\s*=\s*display/i.test(type));
  if (!/^math\/mml/i.test(type)) return undefined;
  const holder = build(script, "div", {});
  holder.innerHTML = textOf(script).slice(0, MAX_TEX);
  return mathElement(script, texOfMathMl(holder), /display="block"/.test(textOf(script)));
}

function mathImage(image: Element): Element | null | undefined {
  const alt = (image.getAttribute("alt") ?? "").trim();
  if (alt === "" || alt.length > 5000) return undefined;
  const source = image.getAttribute("src") ?? "";
  const says =
    /(?:^|[\s_-])(?:latex|tex|math|mwe-math-fallback-image-(?:inline|display)|eqn|equation)(?:$|[\s_-])/i;
  const isFormula =
    says.test(classOf(image)) ||
    /latex\.codecogs|latex\.php\?|\/latex\.(?:png|svg)|\/math\/render\/|chart\?cht=tx/i.test(source);
  const looksLikeTex = /[\\^_{}=]/.test(alt) || says.test(classOf(image));
  if (!isFormula || !looksLikeTex) return undefined;
  const isAlone =
    ancestorWhere(image, 1, (parent) => /display|equation|math-block/i.test(classOf(parent))) !== null;
  const { tex, isDisplay } = withoutDelimiters(alt);
  return mathElement(image, unwrapDisplayStyle(tex), isDisplay || isAlone || /display/.test(classOf(image)));
}

// Sphinx and Pandoc write the TeX itself and leave the drawing to a script.
function delimitedElement(element: Element, classes: readonly string[]): Element | null | undefined {
  const text = textOf(element).trim();
  const { tex, isDisplay } = withoutDelimiters(text);
  const isNamed = classes.some((word) =>
    /^(?:inline|display|notranslate|nohighlight|math-inline|math-display)$/.test(word),
  );
  if (tex === text && !isNamed) return undefined;
  return mathElement(element, tex, isDisplay || nameOf(element) === "DIV" || classes.includes("display"));
}

function withoutDelimiters(text: string): { tex: string; isDisplay: boolean } {
  for (const [open, close, isDisplay] of DELIMITERS) {
    if (text.startsWith(open) && text.endsWith(close) && text.length > open.length + close.length) {
      return { tex: text.slice(open.length, -close.length), isDisplay };
    }
  }
  return { tex: text, isDisplay: false };
}

const DELIMITERS = [
  ["$$", "$$", true],
  ["\\[", "\\]", true],
  ["\\(", "\\)", false],
  ["$", "$", false],
] as const;

const NO_TEX = new Set(["CODE", "PRE", "SCRIPT", "STYLE", "TEXTAREA", "KBD", "SAMP", "TT"]);

/** Whether a script of the page draws formulas, so that TeX delimiters in its text mean formulas. */
export function drawsFormulas(document: Document): boolean {
  for (const script of document.querySelectorAll("script")) {
    const source = script.getAttribute("src") ?? "";
    if (/mathjax|katex|auto-render/i.test(source.slice(0, 500))) return true;
    if (source === "" && /MathJax|renderMathInElement/.test(textOf(script).slice(0, 5000))) return true;
  }
  return false;
}

/**
 * Replaces formulas between `$`, `$$`, `\(` or `\[` in the text below `root`.
 * @param isDrawn whether a script of the page draws formulas. Where none does, single dollars are prices, and the
 * other delimiters mean a formula only around something that looks like TeX.
 */
export function canonicalDelimiters(root: Element, isDrawn: boolean): void {
  const texts: Node[] = [];
  const stack: Node[] = [root];
  for (let node = stack.pop(); node; node = stack.pop()) {
    if (node.nodeType === 3 && /[$]|\\[([]/.test(node.nodeValue ?? "")) texts.push(node);
    else if (isElement(node) && !NO_TEX.has(nameOf(node))) stack.push(...node.childNodes);
  }
  for (const text of texts) splitFormulas(text, isDrawn);
}

/** Whether a text may hold a formula where no script of the page draws any. */
export const mayHoldBareTex = (text: string): boolean => /\$\$|\\[([]/.test(text);

/** A command, a raised or lowered part, an equation, or a letter alone. */
const LOOKS_LIKE_TEX = /\\[a-zA-Z]|[_^=]|^\s*[a-zA-Z]\s*$/;

const FORMULA =
  /\$\$([^$]{1,4000})\$\$|\\\[((?:[^\\]|\\[^\]]){1,4000})\\\]|\\\(((?:[^\\]|\\[^)]){1,2000})\\\)|(?<![\\$\w])\$(?=[^\s$])([^$\n]{0,600}[^\s$\\])\$(?![\d$])/g;

function splitFormulas(node: Node, isDrawn: boolean): void {
  const parent = node.parentNode;
  const text = node.nodeValue ?? "";
  if (!isElement(parent)) return;
  const parts: (Node | string)[] = [];
  let from = 0;
  for (const match of text.matchAll(FORMULA)) {
    const [found, block, bracketed, round, single] = match;
    // Prices stand between dollars, too.
    if (single !== undefined && !/[\\^_={}<>+*/()|-]|^[A-Za-z](?:'|,\s?[A-Za-z])*$/.test(single)) continue;
    const tex = block ?? bracketed ?? round ?? single ?? "";
    if (!isDrawn && (single !== undefined || !LOOKS_LIKE_TEX.test(tex))) continue;
    const formula = mathElement(parent, tex, block !== undefined || bracketed !== undefined);
    if (!formula) continue;
    parts.push(text.slice(from, match.index), formula);
    from = match.index + found.length;
  }
  if (parts.length === 0) return;
  for (const part of [...parts, text.slice(from)]) {
    if (part === "") continue;
    parent.insertBefore(typeof part === "string" ? parent.ownerDocument.createTextNode(part) : part, node);
  }
  parent.removeChild(node);
}
