import { classOf } from "./element.ts";

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
  /^([\w+#.-]{1,30})$/,
];
const ATTRIBUTES = ["data-lang", "data-language", "data-enlighter-language", "data-code-lang", "lang-name"];
/** Single words that a class may consist of; any other single word is a name of the site. */
const BARE_LANGUAGES = new Set(
  `bash sh shell console c cpp csharp css diff dockerfile elixir erlang go graphql haskell html http ini java
   javascript js json jsx kotlin less lua makefile markdown matlab nginx objc ocaml perl php powershell python
   py r ruby rust sass scala scss sql swift toml ts tsx typescript vb xml yaml yml zig`.split(/\s+/),
);

/** The language that a highlighter named, on the code, its <pre> or the frames around; null when none did. */
export function languageOf(content: Element, frame: Element): string | null {
  const code = content.querySelector("code");
  const elements = [code, content, ...between(content, frame), ...above(frame, 3)];
  for (const element of elements) {
    const language = element && languageOn(element);
    if (language) return language;
  }
  return null;
}

function languageOn(element: Element): string | null {
  for (const name of ATTRIBUTES) {
    const language = tidyLanguage(element.getAttribute(name) ?? "");
    if (language) return language;
  }
  const classes = classOf(element).slice(0, 500).trim();
  if (classes === "") return null;
  for (const pattern of PATTERNS) {
    const word = pattern.exec(classes)?.[1];
    const language = word === undefined ? null : tidyLanguage(word);
    if (language === null) continue;
    if (pattern.source.startsWith("^(") || pattern.source.includes("code-")) {
      if (BARE_LANGUAGES.has(language)) return language;
    } else return language;
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

function between(content: Element, frame: Element): Element[] {
  const elements: Element[] = [];
  if (content === frame) return elements;
  for (let at = content.parentElement; at && at !== frame && elements.length < 6; at = at.parentElement) {
    elements.push(at);
  }
  elements.push(frame);
  return elements;
}

// Of the elements around only those that hold nothing else speak for this code.
function above(frame: Element, levels: number): Element[] {
  const elements: Element[] = [];
  let at = frame.parentElement;
  for (let level = 0; at && level < levels; level++, at = at.parentElement) {
    if (at.tagName === "BODY" || at.tagName === "HTML" || at.childElementCount > 4) break;
    elements.push(at);
  }
  return elements;
}
