import { decodeLoosely, meaningsIn } from "../../../base/text.ts";
import { removeInvisible } from "../../text.ts";
import { treeOfHtml } from "../build-tree.ts";
import {
  ancestorWhere,
  build,
  type ContentElement,
  type ContentNode,
  ContentText,
  find,
  following,
  isElement,
  named,
  nextNode,
  textOf,
} from "../tree.ts";

/*
 * Formulas of all renderers become <code class="language-math math-inline"> and
 * <pre><code class="language-math math-display">, which hold TeX.
 */

/** A longer text is not a formula. */
const MAX_TEX = 20_000;

/** Returns a formula's canonical form; null for a second copy of one, undefined for anything else. */
export function canonicalMath(element: ContentElement): ContentElement | null | undefined {
  const { name } = element;
  if (name === "SCRIPT") return mathJaxScript(element);
  if (name === "MATH") return mathMl(element);
  if (name === "IMG") return mathImage(element);
  if (name === "MJX-CONTAINER") return mathJax3(element);
  const classes = element.classes;
  if (classes.length === 0) return undefined;
  return mathOfAttribute(element) ?? mathOfClass(element, classes);
}

function mathOfClass(element: ContentElement, classes: readonly string[]): ContentElement | null | undefined {
  if (classes.includes("katex-display") || classes.includes("katex")) return katex(element, classes);
  if (classes.includes("mwe-math-element")) return wikipedia(element);
  if (classes.some((word) => MATHJAX_2.has(word))) return mathJax2(element);
  const isTex = /^(?:SPAN|DIV)$/.test(element.name) && classes.includes("math");
  return isTex && element.firstElementChild === null ? delimitedElement(element, classes) : undefined;
}

const TEX_ATTRIBUTES = ["data-math", "data-tex", "data-latex", "data-formula"];

/** Editors keep the source of a formula beside what they draw. */
function mathOfAttribute(element: ContentElement): ContentElement | null {
  if (element.name !== "SPAN" && element.name !== "DIV") return null;
  const written = TEX_ATTRIBUTES.map((name) => element.getAttribute(name)?.trim()).find(Boolean);
  if (!written || SETTING.test(written)) return null;
  return mathElement(written, element.name === "DIV" || /display|block/i.test(element.className));
}

/** Matches a value that says how to draw the formula, or whether. */
const SETTING = /^(?:true|false|\d+|inline|block|display|on|off|yes|no|\{"[\s\S]*\})$/i;

/** Creates the element of a formula; null when it has no TeX. */
function mathElement(tex: string, isDisplay: boolean): ContentElement | null {
  const tidy = removeInvisible(tex).trim();
  if (tidy === "" || tidy.length > MAX_TEX) return null;
  if (!isDisplay) return build("CODE", { class: "language-math math-inline" }, tidy);
  return build("PRE", {}, build("CODE", { class: "language-math math-display" }, tidy));
}

const isMath = named("MATH");
const isImage = named("IMG");
const isTexAnnotation = (element: ContentElement): boolean =>
  element.name === "ANNOTATION" &&
  /^(?:application\/x-tex|LaTeX)$/.test(element.getAttribute("encoding") ?? "");

function katex(element: ContentElement, classes: readonly string[]): ContentElement | null | undefined {
  const tex = annotation(element);
  if (tex === null) {
    const math = find(element, isMath);
    return math ? mathElement(texOfMathMl(math), classes.includes("katex-display")) : undefined;
  }
  return mathElement(tex, classes.includes("katex-display"));
}

function annotation(element: ContentElement): string | null {
  const note = find(element, isTexAnnotation);
  return note ? textOf(note) : null;
}

function mathMl(math: ContentElement): ContentElement | null {
  const tex = annotation(math) ?? math.getAttribute("alttext") ?? texOfMathMl(math);
  return mathElement(unwrapDisplayStyle(tex), math.getAttribute("display") === "block");
}

// Wikipedia and others wrap every formula in this command.
const unwrapDisplayStyle = (tex: string): string =>
  /^\s*\{\\displaystyle\s([\s\S]*)\}\s*$/.exec(tex.slice(0, MAX_TEX))?.[1] ?? tex;

function wikipedia(element: ContentElement): ContentElement | null | undefined {
  const math = find(element, isMath);
  const image = find(element, isImage);
  const tex = (math && (annotation(math) ?? math.getAttribute("alttext"))) || image?.getAttribute("alt");
  if (!tex) return undefined;
  const isDisplay =
    math?.getAttribute("display") === "block" || /fallback-image-display/.test(image ? image.className : "");
  return mathElement(unwrapDisplayStyle(tex), isDisplay);
}

function mathJax3(container: ContentElement): ContentElement | null {
  const isDisplay = container.getAttribute("display") === "true";
  const math = find(container, isMath);
  const tex =
    container.getAttribute("data-latex") ??
    find(container, (inner) => inner.hasAttribute("data-latex"))?.getAttribute("data-latex") ??
    (math ? (annotation(math) ?? math.getAttribute("alttext") ?? texOfMathMl(math)) : textOf(container));
  return mathElement(tex, isDisplay);
}

const MATHJAX_2 = new Set(
  "mathjax mathjax_preview mathjax_display mathjax_svg mathjax_svg_display mathjax_chtml mathjax_mathml mjx-chtml mjx_assistive_mathml mathjax_error".split(
    " ",
  ),
);

// The script beside it has the TeX; otherwise an attribute or the content has MathML.
function mathJax2(element: ContentElement): ContentElement | null | undefined {
  for (let next = element.nextSibling, seen = 0; next && seen < 6; next = next.nextSibling, seen++) {
    if (!isElement(next)) continue;
    if (next.name === "SCRIPT" && /^math\//.test(next.getAttribute("type") ?? "")) return null;
  }
  const math = find(element, isMath);
  if (math) return mathElement(annotation(math) ?? texOfMathMl(math), /display/i.test(element.className));
  return element.classes.includes("mathjax_preview") ? null : undefined;
}

function mathJaxScript(script: ContentElement): ContentElement | null | undefined {
  const type = script.getAttribute("type") ?? "";
  if (/^math\/tex/i.test(type)) return mathElement(textOf(script), /mode\s*=\s*display/i.test(type));
  if (!/^math\/mml/i.test(type)) return undefined;
  const math = treeOfHtml(textOf(script).slice(0, MAX_TEX));
  return mathElement(texOfMathMl(math), /display="block"/.test(textOf(script)));
}

/** Matches a command with its argument, or a formula between dollars, as no other text of an image has them. */
const BARE_TEX = /\\[a-zA-Z]{2,20}\s?[{_^]|^\$[^$]{0,500}[\\^_={][^$]{0,500}\$$/;

/** The TeX that an image's address asks a renderer for; empty for any other address. */
function texOfAddress(source: string): string {
  const [, tex = ""] =
    /(?:\blatex\.php\?|\bcht=tx[^#]{0,100}?&)(?:[^#]{0,100}?&)?(?:latex|chl)=([^&#]{1,4000})/.exec(source) ??
    /latex\.codecogs\.com\/(?:png|svg|gif)\.(?:latex|image|download)\?([^#]{1,4000})/.exec(source) ??
    [];
  return decodeLoosely(tex.replaceAll("+", "%20")).trim();
}

function mathImage(image: ContentElement): ContentElement | null | undefined {
  const source = image.getAttribute("src") ?? "";
  const alt = (image.getAttribute("alt") ?? "").trim() || texOfAddress(source);
  if (alt === "" || alt.length > 5000) return undefined;
  const says =
    /(?:^|[\s_-])(?:latex|tex|math|mwe-math-fallback-image-(?:inline|display)|eqn|equation)(?:$|[\s_-])/i;
  const isFormula =
    says.test(image.className) ||
    BARE_TEX.test(alt) ||
    /latex\.codecogs|latex\.php\?|\/latex\.(?:png|svg)|\/math\/render\/|chart\?cht=tx/i.test(source);
  const looksLikeTex = /[\\^_{}=]/.test(alt) || says.test(image.className) || alt === texOfAddress(source);
  if (!isFormula || !looksLikeTex) return undefined;
  const isAlone =
    ancestorWhere(image, 1, (parent) => /display|equation|math-block/i.test(parent.className)) !== null;
  const { tex, isDisplay } = withoutDelimiters(alt);
  return mathElement(unwrapDisplayStyle(tex), isDisplay || isAlone || /display/.test(image.className));
}

// Sphinx and Pandoc write plain TeX and leave the drawing to a script.
function delimitedElement(
  element: ContentElement,
  classes: readonly string[],
): ContentElement | null | undefined {
  const text = textOf(element).trim();
  const { tex, isDisplay } = withoutDelimiters(text);
  const isNamed = classes.some((word) =>
    /^(?:inline|display|notranslate|nohighlight|math-inline|math-display)$/.test(word),
  );
  if (tex === text && !isNamed) return undefined;
  return mathElement(tex, isDisplay || element.name === "DIV" || classes.includes("display"));
}

function withoutDelimiters(text: string): { tex: string; isDisplay: boolean } {
  for (const [open, close, isDisplay] of DELIMITERS) {
    if (text.startsWith(open) && text.endsWith(close) && text.length > open.length + close.length)
      return { tex: text.slice(open.length, -close.length), isDisplay };
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

/**
 * Replaces formulas between `$`, `$$`, `\(` or `\[` in the text below `root`.
 * @param drawsFormulas whether a script of the page draws formulas. Without such a script, single dollars are prices, and
 * the other delimiters mean a formula only around something that looks like TeX.
 */
export function canonicalDelimiters(root: ContentElement, drawsFormulas: () => boolean): void {
  const texts: ContentText[] = [];
  let node = root.firstChild;
  while (node) {
    if (node.kind === "text" && MAY_HOLD_TEX.test(node.text)) texts.push(node);
    const isSkipped = node.kind === "element" && NO_TEX.has(node.name);
    node = isSkipped ? following(node, root) : nextNode(node, root);
  }
  if (texts.length === 0) return;
  const isDrawn = drawsFormulas();
  for (const text of texts) if (isDrawn || MAY_HOLD_BARE_TEX.test(text.text)) splitFormulas(text, isDrawn);
}

const MAY_HOLD_TEX = /[$]|\\[([]/;
/** Matches delimiters that may mean formulas even when no script of the page draws them. */
const MAY_HOLD_BARE_TEX = /\$\$|\\[([]/;

/** Matches a command, a superscript or subscript, an equation, or a single letter. */
const LOOKS_LIKE_TEX = /\\[a-zA-Z]|[_^=]|^\s*[a-zA-Z]\s*$/;

const FORMULA =
  /\$\$([^$]{1,4000})\$\$|\\\[((?:[^\\]|\\[^\]]){1,4000})\\\]|\\\(((?:[^\\]|\\[^)]){1,2000})\\\)|(?<![\\$\w])\$(?=[^\s$])([^$\n]{0,600}[^\s$\\])\$(?![\d$])/g;

function splitFormulas(node: ContentText, isDrawn: boolean): void {
  const { parent, text } = node;
  if (parent === null) return;
  const parts: (ContentElement | string)[] = [];
  let from = 0;
  for (const match of text.matchAll(FORMULA)) {
    const formula = formulaOf(match, isDrawn);
    if (!formula) continue;
    parts.push(text.slice(from, match.index), formula);
    from = match.index + match[0].length;
  }
  if (parts.length === 0) return;
  for (const part of [...parts, text.slice(from)]) {
    if (part === "") continue;
    parent.insertBefore(typeof part === "string" ? new ContentText(part) : part, node);
  }
  node.remove();
}

function formulaOf(match: RegExpExecArray, isDrawn: boolean): ContentElement | null {
  const [, block, bracketed, round, single] = match;
  const tex = block ?? bracketed ?? round ?? single ?? "";
  // Prices may also stand between dollars.
  const isTex =
    single === undefined
      ? isDrawn || LOOKS_LIKE_TEX.test(tex)
      : isDrawn && /[\\^_={}<>+*/()|-]|^[A-Za-z](?:'|,\s?[A-Za-z])*$/.test(single);
  return isTex ? mathElement(tex, block !== undefined || bracketed !== undefined) : null;
}

/** A deeper tree is not a formula. */
const MAX_DEPTH = 40;

/** Signs, each with the name of its command. */
const COMMANDS = `× times ÷ div · cdot ⋅ cdot ± pm ∓ mp ≤ le ≥ ge ≠ ne ≈ approx ≡ equiv ∞ infty ∑ sum ∏ prod ∫ int
  ∂ partial ∇ nabla ∈ in ∉ notin ⊂ subset ⊆ subseteq ∪ cup ∩ cap ∀ forall ∃ exists → to ⇒ Rightarrow
  ↔ leftrightarrow ∼ sim ∝ propto … dots ⋯ cdots α alpha β beta γ gamma δ delta ε epsilon ϵ epsilon
  ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu ξ xi π pi ρ rho σ sigma τ tau υ upsilon
  φ phi ϕ phi χ chi ψ psi ω omega Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Φ Phi Ψ Psi
  Ω Omega ℏ hbar ℓ ell ℝ mathbb{R} ℕ mathbb{N} ℤ mathbb{Z} ℂ mathbb{C} ℚ mathbb{Q}`;
const SYMBOLS = new Map([
  ["−", "-"],
  ["′", "'"],
  ["\u2061", ""],
  ["\u2062", ""],
  ["\u2063", ""],
  ["\u00a0", " "],
]);
for (const [, sign = "", command] of COMMANDS.matchAll(/(\S) (\S+)/g)) SYMBOLS.set(sign, `\\${command}`);

const FUNCTIONS = new Set(
  "sin cos tan log ln exp lim max min sup inf det arg dim gcd sec csc cot".split(" "),
);

/** Converts presentation MathML (MathML Core) to TeX; elements without a rule are written as their text. */
function texOfMathMl(math: ContentElement): string {
  return texOf(math, 0).replace(/\s+/g, " ").trim();
}

function texOf(node: ContentNode, depth: number): string {
  if (node.kind === "text") return symbols(node.text);
  if (depth > MAX_DEPTH) return symbols(textOf(node));
  const name = node.name.toLowerCase().replace(/^.*:/, "");
  const leaf = LEAVES.get(name);
  if (leaf !== undefined) return leaf(textOf(node));
  const parts = node.children.map((child) => texOf(child, depth + 1));
  if (name === "mfenced")
    return `${node.getAttribute("open") ?? "("}${parts.join(", ")}${node.getAttribute("close") ?? ")"}`;
  return (COMPOSED.get(name) ?? joined)(parts);
}

/** How the elements that hold text are written. */
const LEAVES = new Map(
  Object.entries<(text: string) => string>({
    annotation: () => "",
    "annotation-xml": () => "",
    mphantom: () => "",
    mspace: () => " ",
    mi: (text) => identifier(text.trim()),
    mn: (text) => symbols(text.trim()),
    mo: (text) => symbols(text.trim()),
    mtext: textInTex,
    ms: textInTex,
  }),
);

function textInTex(text: string): string {
  return text.trim() === "" ? " " : `\\text{${text.replace(/[{}\\$]/g, "")}}`;
}

/** Functions by element name that compose an element's TeX from the TeX of its children. */
const COMPOSED = new Map(
  Object.entries<(parts: readonly string[]) => string>({
    mtable: (parts) => `\\begin{matrix}${parts.join(" \\\\ ")}\\end{matrix}`,
    mtr: (parts) => parts.join(" & "),
    mlabeledtr: (parts) => parts.join(" & "),
    mfrac: ([a = "", b = ""]) => `\\frac{${a}}{${b}}`,
    msqrt: (parts) => `\\sqrt{${joined(parts)}}`,
    mroot: ([a = "", b = ""]) => `\\sqrt[${b}]{${a}}`,
    msup: ([a = "", b = ""]) => `${base(a)}^${argument(b)}`,
    msub: ([a = "", b = ""]) => `${base(a)}_${argument(b)}`,
    munder: ([a = "", b = ""]) => `${base(a)}_${argument(b)}`,
    msubsup: ([a = "", b = "", c = ""]) => `${base(a)}_${argument(b)}^${argument(c)}`,
    munderover: ([a = "", b = "", c = ""]) => `${base(a)}_${argument(b)}^${argument(c)}`,
    mover: ([a = "", b = ""]) => accent(a, b),
  }),
);

const ACCENTS = meaningsIn({
  bar: "¯ ‾",
  hat: "^ ˆ",
  tilde: "~ ˜",
  vec: "\\to ⃗",
  dot: "˙",
  ddot: "¨",
});

const accent = (a: string, over: string): string =>
  over in ACCENTS ? `\\${ACCENTS[over]}{${a}}` : `${base(a)}^${argument(over)}`;
const argument = (tex: string): string => (tex.length === 1 ? tex : `{${tex}}`);
const base = (tex: string): string => (tex.length <= 1 || /^\\?[A-Za-z]+$/.test(tex) ? tex : `{${tex}}`);

// A command and a following letter would run together.
function joined(parts: readonly string[]): string {
  let tex = "";
  for (const part of parts) tex += /\\[A-Za-z]+$/.test(tex) && /^[A-Za-z]/.test(part) ? ` ${part}` : part;
  return tex;
}

function identifier(text: string): string {
  if (FUNCTIONS.has(text)) return `\\${text} `;
  return text.length > 1 && /^[A-Za-z]+$/.test(text) ? `\\mathrm{${text}}` : symbols(text);
}

function symbols(text: string): string {
  let tex = "";
  for (const character of text) {
    const known = SYMBOLS.get(character) ?? (/[%#&_]/.test(character) ? `\\${character}` : character);
    tex += /\\[A-Za-z]+$/.test(tex.slice(-20)) && /^[A-Za-z]/.test(known) ? ` ${known}` : known;
  }
  return tex;
}
