import {
  ancestorWhere,
  build,
  type ContentElement,
  type ContentNode,
  type ContentText,
  find,
  findAll,
  hasClass,
  isElement,
  named,
  textOf,
} from "../tree.ts";

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
const TOOLS = new Set("BUTTON SVG STYLE SCRIPT TEXTAREA INPUT CLIPBOARD-COPY TEMPLATE".split(" "));
const TITLE_CLASS =
  /(?:^|[\s_-])(?:filename|file-?name|code-?(?:block-?)?title|codeblocktitle\w*|code-block-caption|code-caption|caption-text|code-header-title|code-?header|panel-?header|title)(?=$|[\s_-])/i;
/** More text than this around a <pre> is prose, so the element is not a frame of code. */
const MAX_FRAME_TEXT = 120;

/** Returns the canonical form of a code block; undefined when the element is none. */
export function canonicalCode(element: ContentElement): ContentElement | undefined {
  const { name } = element;
  if (name === "PRE")
    return isGutter(element) || countsLines(element) ? build("SPAN", {}) : codeBlock(element, element, null);
  if (name === "CODE") return blockOfLooseCode(element);
  return isWrapper(element) && !isBuried(element) ? canonicalFrame(element) : undefined;
}

const isWrapper = (element: ContentElement): boolean =>
  WRAPPER_NAMES.has(element.name) && WRAPPER_CLASS.test(element.className.slice(0, 1000));

/** Each frame is searched completely, so nested frames would cost the square of their number. */
const MAX_WRAPPERS = 20;

function isBuried(element: ContentElement): boolean {
  let wrappers = 0;
  for (let at = element.parent; at; at = at.parent)
    if (isWrapper(at) && ++wrappers === MAX_WRAPPERS) return true;
  return false;
}

function canonicalFrame(frame: ContentElement): ContentElement | undefined {
  const pres: ContentElement[] = [];
  for (const pre of findAll(frame, isPre)) {
    if (isGutter(pre) || isNumbers(pre) || isInGutter(pre, frame)) continue;
    pres.push(pre);
    if (pres.length > 1) return undefined;
  }
  const [pre] = pres;
  if (pre) {
    const beside = textOf(frame).length - textOf(pre).length;
    const isFrameOnly = beside <= MAX_FRAME_TEXT + gutterLength(frame);
    return isFrameOnly && !holdsResults(frame, pre) ? codeBlock(pre, frame, titleIn(frame, pre)) : undefined;
  }
  const lines = linesContainer(frame);
  return lines ? codeBlock(lines, frame, titleIn(frame, lines)) : undefined;
}

/** Tells whether a table or a picture follows the code: in a notebook, that is what the code gave. */
function holdsResults(frame: ContentElement, pre: ContentElement): boolean {
  const parts = findAll(frame, mayBeResult);
  return parts
    .slice(parts.indexOf(pre) + 1)
    .some(
      (part) =>
        !isPre(part) && !pre.contains(part) && !isGutter(part) && ancestorWhere(part, 4, isTool) === null,
    );
}

// SyntaxHighlighter, Crayon and GitHub write lines as elements or rows, without a <pre>.
function linesContainer(frame: ContentElement): ContentElement | null {
  const classes = frame.className;
  if (/syntaxhighlighter/i.test(classes)) return find(frame, (element) => hasClass(element, "code"));
  if (/(?:^|\s)fragment(?:\s|$)/.test(classes)) return isLines(frame) ? frame : null;
  if (/crayon/i.test(classes))
    return find(frame, (element) => hasClass(element, "crayon-pre") || hasClass(element, "crayon-code"));
  if (frame.name === "TABLE" && find(frame, isBlobCode)) return frame;
  return null;
}

// Tells whether a frame is Doxygen's; presentations also have the class `fragment`.
const isLines = (frame: ContentElement): boolean =>
  frame.firstElementChild?.classes.includes("line") === true;

function gutterLength(frame: ContentElement): number {
  let length = 0;
  let last: ContentElement | null = null;
  for (const gutter of findAll(frame, mayBeBeside)) {
    if ((!isGutter(gutter) && !TOOLS.has(gutter.name)) || last?.contains(gutter)) continue;
    length += textOf(gutter).length;
    last = gutter;
  }
  return length;
}

function codeBlock(content: ContentElement, frame: ContentElement, title: string | null): ContentElement {
  const label = (content.getAttribute("data-label") || frame.getAttribute("data-label") || title || "")
    .slice(0, 200)
    .trim();
  const math = find(content, isDisplayMath);
  if (math)
    return build("PRE", {}, build("CODE", { class: "language-math math-display" }, codeText(content)));
  const language = languageOf(content, frame);
  const code = build("CODE", language ? { class: `language-${language}` } : {}, codeText(content));
  return build("PRE", label === "" ? {} : { "data-label": label }, code);
}

function titleIn(frame: ContentElement, pre: ContentElement): string | null {
  for (const element of findAll(frame, mayBeTitle)) {
    if (pre.contains(element) || isGutter(element)) continue;
    if (!TITLE_CLASS.test(element.className) && element.name !== "FIGCAPTION") continue;
    const inner = find(element, (caption) => hasClass(caption, "caption-text")) ?? element;
    const text = textOf(inner).replace(/\s+/g, " ").trim();
    if (text !== "" && text !== "¶") return text.replace(/ ?¶$/, "");
  }
  return null;
}

// On a <pre>, "line-numbers" requests numbers; it does not contain them.
const isGutter = (element: ContentElement): boolean =>
  (GUTTER_CLASS.test(element.className.slice(0, 500)) || isUnselectable(element)) &&
  !(element.name === "PRE" && find(element, isCode) !== null);

// Text that readers cannot copy together with the code is not code.
const isUnselectable = (element: ContentElement): boolean =>
  UNSELECTABLE.test(styleOf(element)) && NUMBER.test(textOf(element));
const UNSELECTABLE = /user-select\s{0,9}:\s{0,9}none/i;
const NUMBER = /^\s{0,9}\d{1,6}\s{0,9}$/;
const styleOf = (element: ContentElement): string => (element.getAttribute("style") ?? "").slice(0, 500);

function isInGutter(pre: ContentElement, frame: ContentElement): boolean {
  for (let at = pre.parent; at && at !== frame; at = at.parent) if (isGutter(at)) return true;
  return false;
}

const isNumbers = (pre: ContentElement): boolean =>
  /^[\d\s]+$/.test(textOf(pre)) && ancestorWhere(pre, 4, isCell) !== null;

/** Whether an element counts, one by one, the lines of the code in the cell beside it, whatever their classes are. */
function countsLines(pre: ContentElement): boolean {
  const cell = isNumbers(pre) ? ancestorWhere(pre, 4, isCell) : null;
  const beside = cell?.nextElementSibling && find(cell.nextElementSibling, isPre);
  if (!beside) return false;
  const [first = 0, ...others] = codeText(pre).trim().split(/\s+/).map(Number);
  return others.length > 0 && others.every((number, at) => number === first + at + 1);
}

const isCell = (element: ContentElement): boolean =>
  element.name === "TD" && element.nextElementSibling !== null;
// Code may itself have a class such as `lang-sh` or `copy`.
const isTool = (element: ContentElement): boolean =>
  TOOLS.has(element.name) ||
  (!/^(?:SPAN|CODE|PRE)$/.test(element.name) && TOOL_CLASS.test(element.className.slice(0, 500)));

const isPre = named("PRE");
const isCode = named("CODE");
const isBreak = named("BR DIV");
const mayBeBeside = named("TD PRE DIV TEXTAREA BUTTON FIGCAPTION UL");
const mayBeResult = named("PRE TABLE IMG");
const mayBeTitle = named("DIV SPAN P FIGCAPTION CAPTION A STRONG");
const isDisplayMath = (element: ContentElement): boolean =>
  isCode(element) && hasClass(element, "math-display");
const isBlobCode = (element: ContentElement): boolean =>
  element.name === "TD" && hasClass(element, "blob-code");

const LINE_NAMES = new Set(["DIV", "P", "LI", "TR"]);
const isLineElement = (element: ContentElement): boolean =>
  LINE_NAMES.has(element.name) || /display\s{0,9}:\s{0,9}(?:block|flex|grid)/i.test(styleOf(element));

/** Returns the lines of code that an element shows, without line numbers and buttons. */
function codeText(root: ContentElement): string {
  const written = textOfLines(root, new Set());
  const numbers = findAll(root, isPlainNumber).filter(startsLine);
  return numbers.length > 1 && numberLines(numbers, written) ? textOfLines(root, new Set(numbers)) : written;
}

/** Matches what may be the number of a line; a number in the code itself has a class or a colour. */
const isPlainNumber = (element: ContentElement): boolean =>
  /^(?:SPAN|DIV|TD|A|I|B)$/.test(element.name) &&
  element.className === "" &&
  !/color/i.test(styleOf(element)) &&
  element.firstElementChild === null &&
  NUMBER.test(textOf(element));

function startsLine({ previousSibling: before, parent }: ContentElement): boolean {
  if (before) return (isElement(before) && before.name === "BR") || textOf(before).endsWith("\n");
  return (
    parent !== null && (isLineElement(parent) || /^(?:PRE|CODE)$/.test(parent.name) || startsLine(parent))
  );
}

/** Tells whether there is one number for each line, they count on, and some line has more than its number. */
function numberLines(numbers: readonly ContentElement[], written: string): boolean {
  const lines = written.split("\n");
  const first = Number(textOf(numbers[0]!));
  return (
    lines.length === numbers.length &&
    numbers.every((number, index) => Number(textOf(number)) === first + index) &&
    lines.some((line) => /^\s{0,9}\d{1,6}\s{0,9}[^\d\s,;.:)]/.test(line))
  );
}

function textOfLines(root: ContentElement, numbers: ReadonlySet<ContentElement>): string {
  const lines = new CodeLines(hasCodePerLine(root), numbers);
  const { firstChild } = root;
  // HTML drops the line break right after <pre>.
  if (root.name === "PRE" && firstChild?.kind === "text") {
    lines.add(firstChild.text.replace(/^\r?\n/, ""));
    lines.read(firstChild.nextSibling);
  } else lines.read(firstChild);
  return tidyCode(lines.text);
}

class CodeLines {
  text = "";
  readonly #isLineByElement: boolean;
  readonly #numbers: ReadonlySet<ContentElement>;
  #endsLine = true;

  constructor(isLineByElement: boolean, numbers: ReadonlySet<ContentElement>) {
    this.#isLineByElement = isLineByElement;
    this.#numbers = numbers;
  }

  add(text: string): void {
    if (text === "") return;
    this.text += text;
    this.#endsLine = text.endsWith("\n");
  }

  /** Adds what a node and those after it show. */
  read(first: ContentNode | null): void {
    for (let node = first; node; node = node.nextSibling) {
      if (node.kind === "text") this.add(afterGutter(node));
      else this.#element(node);
    }
  }

  #element(element: ContentElement): void {
    if (element.name === "BR") this.add("\n");
    if (this.#numbers.has(element)) return;
    const isLine = isLineElement(element) || (this.#isLineByElement && element.name === "CODE");
    if (!isTool(element) && !isGutter(element) && !isHiddenPrompt(element)) {
      if (isLine && !this.#endsLine) this.add("\n");
      this.read(element.firstChild);
    }
    // An empty element is still a line; an element that ended with a break has ended its line.
    if (isLine && !isGutter(element) && (!this.#endsLine || this.#isEmpty(element))) this.add("\n");
  }

  #isEmpty(element: ContentElement): boolean {
    const first = element.firstElementChild;
    const text = textOf(element);
    return text === "" || (first !== null && this.#numbers.has(first) && textOf(first) === text);
  }
}

// Doxygen separates a line from its number by a no-break space.
function afterGutter({ previousSibling: before, text }: ContentText): string {
  const isSpacer = text.startsWith("\u00a0") && isElement(before) && isGutter(before);
  return isSpacer ? text.slice(1) : text;
}

const isHiddenPrompt = (element: ContentElement): boolean =>
  element.getAttribute("aria-hidden") === "true" && /line|number/i.test(element.className);

// <pre><code>one line</code><code>another</code></pre>
function hasCodePerLine(root: ContentElement): boolean {
  let codes = 0;
  for (let child = root.firstChild; child; child = child.nextSibling) {
    if (isElement(child) && child.name === "CODE") codes++;
    else if (child.kind === "text" ? child.text !== "" : textOf(child).includes("\n")) return false;
  }
  return codes > 1;
}

// Some highlighters indent with no-break spaces.
const tidyCode = (text: string): string => text.replace(/\r\n?/g, "\n").replaceAll("\u00a0", " ").trimEnd();

// A <code> with line breaks that fills its parent is a block that forgot its <pre>.
function blockOfLooseCode(code: ContentElement): ContentElement | undefined {
  const parent = code.parent;
  if (!parent || !/^(?:DIV|P|FIGURE|TD|SECTION|LI|DD)$/.test(parent.name) || !hasLines(code))
    return undefined;
  if (textOf(parent).trim() !== textOf(code).trim() || code.classes.includes("math-inline")) return undefined;
  return codeBlock(code, code, null);
}

const hasLines = (code: ContentElement): boolean =>
  find(code, isBreak) !== null || (KEEPS_LINES.test(styleOf(code)) && textOf(code).trim().includes("\n"));

/** Matches a style that shows line breaks of the source. */
const KEEPS_LINES = /white-space\s*:\s*(?:pre|break-spaces)/i;

// Words in the class of a code block that are not languages.
const NO_LANGUAGE = new Set(
  `none text txt plain plaintext plain-text default auto nohighlight no-highlight highlight notranslate code
   sourcecode literal-block output undefined null unknown raw nolang block inline numbersource js-file-line
   source wrapper container title copy`.split(/\s+/),
);
const ALIASES: Readonly<Record<string, string>> = {
  python3: "python",
  ipython3: "python",
  ipython: "python",
  "html-basic": "html",
  "shell-session": "console",
  "c++": "cpp",
  "c#": "csharp",
  "objective-c": "objc",
  golang: "go",
};

// The patterns are ordered from the most explicit to the least; each finds one word.
const PATTERNS: readonly RegExp[] = [
  /(?:^|\s)(?:language|lang)[-:]\s?([\w+#.-]{1,30})/i,
  /(?:^|\s)highlight-(?:source|text)-([\w+#.-]{1,30})/i,
  /(?:^|\s)brush\s?:\s?([\w+#.-]{1,30})/i,
  /(?:^|\s)src-([\w+#.-]{1,30})/i,
  /(?:^|\s)highlight-([\w+#.-]{1,30})/i,
  /(?:^|\s)sourceCode\s+([\w+#.-]{1,30})/,
  /(?:^|\s)hljs\s+([\w+#.-]{1,30})/,
  /(?:^|\s)([\w+#.-]{1,30})\s+hljs(?:\s|$)/,
  /(?:^|\s)syntaxhighlighter\s+(?:nogutter\s+)?([\w+#.-]{1,30})/,
  /(?:^|\s)code-([\w+#.-]{1,30})/i,
  /^highlight\s+([\w+#.-]{1,30})$/,
  /^([\w+#.-]{1,30})$/,
];
const ATTRIBUTES = ["data-lang", "data-language", "data-enlighter-language", "data-code-lang", "lang-name"];
/** Words that name a language even without a highlighter's prefix; any other word is a name of the site. */
const LANGUAGES = new Set(
  `actionscript ada applescript arduino asciidoc asm assembly awk bash bat batch bazel bibtex c c++ c# clojure cmake
   coffeescript common-lisp console cpp crystal csharp css csv cuda cython d dart delphi diff docker dockerfile dot
   elisp elixir elm erb erlang fish fortran fsharp gdscript glsl go golang gradle graphql groovy haml handlebars
   haskell hcl hlsl html http idris ini java javascript jinja jinja2 js json json5 jsonc jsonnet jsx julia kotlin
   latex less lisp livescript lua make makefile markdown matlab mdx mermaid nginx nim nix objc objective-c ocaml
   octave pascal perl php plantuml postgresql powershell prolog promql properties protobuf puppet purescript py
   python python3 r racket raku reason rego ruby rust sas sass scala scheme scss sh shell shell-session smalltalk
   solidity sparql sql stan svelte swift systemverilog tcl terraform tex thrift toml ts tsx twig typescript v vala
   vb vbnet verilog vhdl vim viml vue wasm wgsl x86asm xml xquery yaml yml zig zsh`.split(/\s+/),
);
/** Among several words of a class, these may mean something else. */
const AMBIGUOUS = new Set(
  "c d r v go less dot http make box swift fish reason scheme stan crystal elm".split(" "),
);

/** Finds the language that a highlighter named on the code, its <pre> or frames around; null for none. */
function languageOf(content: ContentElement, frame: ContentElement): string | null {
  const code = find(content, isCode);
  const elements = [code, content, ...between(content, frame), ...above(frame, 3)];
  for (const element of elements) {
    const language = element && languageOn(element);
    if (language) return language;
  }
  return null;
}

function languageOn(element: ContentElement): string | null {
  for (const name of ATTRIBUTES) {
    const language = tidyLanguage(element.getAttribute(name) ?? "");
    if (language) return language;
  }
  // SyntaxHighlighter's settings stand in a class or in an attribute.
  const settings = element.getAttribute("data-syntaxhighlighter-params") ?? "";
  const classes = `${element.className.slice(0, 500)} ${settings.slice(0, 300)}`.trim();
  if (classes === "") return null;
  for (const pattern of PATTERNS) {
    const word = pattern.exec(classes)?.[1];
    const language = word === undefined ? null : tidyLanguage(word);
    if (language === null) continue;
    if (pattern.source.startsWith("^") || pattern.source.includes("code-")) {
      if (LANGUAGES.has(language)) return language;
    } else return language;
  }
  return /^(?:PRE|CODE)$/.test(element.name) ? languageAmong(classes) : null;
}

// rustdoc writes `<pre class="rust rust-example-rendered">`.
function languageAmong(classes: string): string | null {
  for (const word of classes.toLowerCase().split(/\s+/))
    if (LANGUAGES.has(word) && !AMBIGUOUS.has(word)) return tidyLanguage(word);
  return null;
}

function tidyLanguage(word: string): string | null {
  const language = word
    .trim()
    .toLowerCase()
    .replace(/[;,].*$/, "");
  if (!/^[a-z][\w+#.-]{0,29}$/.test(language) || NO_LANGUAGE.has(language)) return null;
  return ALIASES[language] ?? language;
}

function between(content: ContentElement, frame: ContentElement): ContentElement[] {
  const elements: ContentElement[] = [];
  if (content === frame) return elements;
  for (let at = content.parent; at && at !== frame && elements.length < 6; at = at.parent) elements.push(at);
  elements.push(frame);
  return elements;
}

// Only ancestors that contain nothing else describe this code.
function above(frame: ContentElement, levels: number): ContentElement[] {
  const elements: ContentElement[] = [];
  let at = frame.parent;
  for (let level = 0; at && level < levels; level++, at = at.parent) {
    if (at.name === "BODY" || at.hasMoreChildrenThan(4)) break;
    elements.push(at);
  }
  return elements;
}
