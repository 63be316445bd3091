/**
 * What a faithful rendering keeps of a source besides its words: each of these counts the facts of a source, and how many
 * of them the Markdown shows.
 */
import { lexer, type Token, type Tokens } from "marked";

export type Facts = {
  readonly code: readonly { readonly text: string; readonly language: string }[];
  readonly tables: readonly (readonly (readonly string[])[])[];
  readonly headings: readonly { readonly text: string; readonly level: number }[];
  readonly items: readonly { readonly text: string; readonly depth: number }[];
  readonly links: readonly { readonly text: string; readonly target: string }[];
  readonly signatures: readonly string[];
  readonly admonitions: readonly { readonly kind: string; readonly text: string }[];
};

export const FACT_KINDS = [
  "code",
  "language",
  "tables",
  "headings",
  "items",
  "links",
  "signatures",
  "admonitions",
] as const;
export type FactKind = (typeof FACT_KINDS)[number];
export type Tally = {
  readonly kept: number;
  readonly all: number;
  /** What is not there. */
  readonly missing: readonly string[];
};

/** What the Markdown shows of the source's facts. */
export function compareFacts(facts: Facts, markdown: string): Readonly<Record<FactKind, Tally>> {
  const shown = readFacts(markdown);
  const named = facts.code.filter(({ language }) => language !== "");
  return {
    code: tally(
      facts.code.map(({ text }) => codeKey(text)),
      shown.code.map(({ text }) => codeKey(text)),
    ),
    language: tally(
      named.map(({ text, language }) => `${languageKey(language)}: ${codeKey(text)}`),
      shown.code.map(({ text, language }) => `${languageKey(language)}: ${codeKey(text)}`),
      // Code that differs is counted once, as code.
      (key) => shown.code.some(({ text }) => key.endsWith(`: ${codeKey(text)}`)),
    ),
    tables: tally(facts.tables.map(tableKey), shown.tables.map(tableKey)),
    headings: tally(
      steps(facts.headings.slice(1)),
      steps(shown.headings, wordsKeys(facts.headings.slice(1))),
    ),
    items: tally(
      facts.items.map(({ text, depth }) => `${depth} ${wordsKey(text)}`),
      shown.items.map(({ text, depth }) => `${depth} ${wordsKey(text)}`),
    ),
    links: tally(
      facts.links.filter(({ text }) => wordsKey(text) !== "").map(linkKey),
      shown.links.map(linkKey),
    ),
    signatures: tally(
      facts.signatures.map(signatureKey),
      markdown.split("\n").map((line) => signatureKey(line.replace(LINK_TARGET, "]"))),
    ),
    admonitions: tally(
      facts.admonitions.map(({ text }) => wordsKey(text)),
      shown.admonitions.map(({ text }) => wordsKey(text)),
    ),
  };
}

function tally(
  wanted: readonly string[],
  shown: readonly string[],
  counts: (key: string) => boolean = () => true,
): Tally {
  const left = new Map<string, number>();
  for (const key of shown) left.set(key, (left.get(key) ?? 0) + 1);
  const counted = wanted.filter(counts);
  const missing = counted.filter((key) => {
    const count = left.get(key) ?? 0;
    left.set(key, count - 1);
    return count <= 0;
  });
  return { kept: counted.length - missing.length, all: counted.length, missing };
}

// ------------------------------------------------------------ what equals what

// Systems set quotes and dashes as printers do.
const wordsKey = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
    ?.join(" ") ?? "";
const wordsKeys = (texts: readonly { readonly text: string }[]): ReadonlySet<string> =>
  new Set(texts.map(({ text }) => wordsKey(text)));

/** Code to the letter, but for white space at the ends of lines and of the block. */
const codeKey = (text: string): string =>
  text
    .replace(/[ \t]+$/gm, "")
    .replace(/\t/g, "    ")
    .replace(/^\n+|\n+$/g, "");
const tableKey = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => row.map(wordsKey).join(" | ")).join("\n");
const linkKey = ({ text, target }: { readonly text: string; readonly target: string }): string =>
  `${wordsKey(text)} -> ${addressKey(target)}`;
const LINK_TARGET = /\]\((?:[^()]|\([^()]*\))*\)/g;
const signatureKey = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, "").toLowerCase();

function addressKey(target: string): string {
  try {
    return decodeURI(target).replace(/\/$/, "").toLowerCase();
  } catch {
    return target.replace(/\/$/, "").toLowerCase();
  }
}

const SAME_LANGUAGE: Readonly<Record<string, string>> = {
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  jsx: "javascript",
  ts: "typescript",
  tsx: "typescript",
  sh: "bash",
  shell: "bash",
  zsh: "bash",
  console: "bash",
  "shell-session": "bash",
  py: "python",
  python3: "python",
  pycon: "python",
  yml: "yaml",
  md: "markdown",
  json5: "json",
  jsonc: "json",
  htm: "html",
  xml: "html",
  "c++": "cpp",
  rest: "rst",
};
const languageKey = (language: string): string =>
  SAME_LANGUAGE[language.toLowerCase()] ?? language.toLowerCase();

/**
 * Headings, each with whether it goes deeper than the one before, stays or rises; only those that both have. Depth is that
 * of the outline, since Markdown has no reason to skip the levels that a page skips.
 */
function steps(
  headings: readonly { readonly text: string; readonly level: number }[],
  known: ReadonlySet<string> = wordsKeys(headings),
): readonly string[] {
  const above: number[] = [];
  let before = 0;
  return headings
    .filter(({ text }) => known.has(wordsKey(text)))
    .map(({ text, level }) => {
      while ((above.at(-1) ?? -1) >= level) above.pop();
      above.push(level);
      const step = before === 0 ? 0 : Math.sign(above.length - before);
      before = above.length;
      return `${wordsKey(text)} ${step}`;
    });
}

// ------------------------------------------------------------ what the Markdown shows

type Shown = {
  readonly code: { text: string; language: string }[];
  readonly tables: string[][][];
  readonly headings: { text: string; level: number }[];
  readonly items: { text: string; depth: number }[];
  readonly links: { text: string; target: string }[];
  readonly admonitions: { text: string }[];
};

function readFacts(markdown: string): Shown {
  const shown: Shown = { code: [], tables: [], headings: [], items: [], links: [], admonitions: [] };
  walk(lexer(markdown), 0, shown);
  return shown;
}

const ALERT = /^\[!\w+\]\s*/;

function walk(tokens: readonly Token[], depth: number, shown: Shown): void {
  for (const token of tokens) {
    if (token.type === "code") shown.code.push({ text: token["text"], language: token["lang"] ?? "" });
    else if (token.type === "heading") shown.headings.push({ text: plain(token), level: token["depth"] });
    else if (token.type === "list") {
      for (const item of (token as Tokens.List).items) {
        const [first] = item.tokens.filter(({ type }) => type !== "checkbox" && type !== "space");
        if (first) shown.items.push({ text: plain(first), depth: depth + 1 });
        walk(item.tokens, depth + 1, shown);
      }
      continue;
    } else if (token.type === "table") {
      const { header, rows } = token as Tokens.Table;
      shown.tables.push([header, ...rows].map((row) => row.map(plainOfCell)));
      for (const cell of [header, ...rows].flat()) walk(cell.tokens, depth, shown);
      continue;
    } else if (token.type === "blockquote") noteAdmonition(token as Tokens.Blockquote, shown);
    else if (token.type === "link") shown.links.push({ text: plain(token), target: token["href"] });
    if ("tokens" in token && token.tokens) walk(token.tokens, depth, shown);
  }
}

function noteAdmonition({ tokens }: Tokens.Blockquote, shown: Shown): void {
  const texts = tokens.filter(({ type }) => type !== "space").map(plain);
  const [first = "", second = ""] = texts;
  if (!ALERT.test(first)) return;
  shown.admonitions.push({ text: first.replace(ALERT, "") || second });
}

const plainOfCell = ({ tokens }: Tokens.TableCell): string => tokens.map(plain).join("");

function plain(token: Token): string {
  if (token.type === "br") return " ";
  if (token.type === "image") return "";
  if ("tokens" in token && token.tokens?.length) return token.tokens.map(plain).join("");
  if (token.type === "html") return "";
  return unescapeEntities("text" in token ? String(token["text"]) : "");
}

const unescapeEntities = (text: string): string =>
  text
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, "&");
