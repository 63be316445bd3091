import { type ContentElement, find, named } from "../tree.ts";

// Words in the class of a code block that name no language.
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

// In the order of how plainly they say it; each finds one word.
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
/** Words that name a language even where no highlighter's prefix says so; any other word is a name of the site. */
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
/** Among several words of a class these may mean something else. */
const AMBIGUOUS = new Set(
  "c d r v go less dot http make box swift fish reason scheme stan crystal elm".split(" "),
);

const isCode = named("CODE");

/** The language that a highlighter named, on the code, its <pre> or the frames around; null when none did. */
export function languageOf(content: ContentElement, frame: ContentElement): string | null {
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
  const classes = element.className.slice(0, 500).trim();
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
  for (const word of classes.toLowerCase().split(/\s+/)) {
    if (LANGUAGES.has(word) && !AMBIGUOUS.has(word)) return tidyLanguage(word);
  }
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
  for (let at = content.parent; at && at !== frame && elements.length < 6; at = at.parent) {
    elements.push(at);
  }
  elements.push(frame);
  return elements;
}

// Of the elements around only those that hold nothing else speak for this code.
function above(frame: ContentElement, levels: number): ContentElement[] {
  const elements: ContentElement[] = [];
  let at = frame.parent;
  for (let level = 0; at && level < levels; level++, at = at.parent) {
    if (at.name === "BODY" || at.hasMoreChildrenThan(4)) break;
    elements.push(at);
  }
  return elements;
}
