import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { marked, type Token, type Tokens } from "marked";
import {
  type Block,
  type Inline,
  inlineText,
  readInline,
  readMarkdown,
} from "../../../src/markdown/index.ts";
import { Analyser } from "../../../src/search/analysis/analyser.ts";
import { DocumentAnalyser } from "../../../src/search/document/analyse.ts";
import { plainText } from "../../../src/search/snippet.ts";
import { FIELDS } from "../../../src/search/types.ts";
import { docsUrl } from "../../../src/urls/index.ts";

// Documents of unlike words, so that what one reader loses or adds is seen.
const word = fc.integer({ min: 0, max: 9999 }).map((number) => `w${number}x`);
const words = fc.array(word, { minLength: 1, maxLength: 4 }).map((all) => all.join(" "));
const phrase = fc.oneof(
  words,
  words.map((text) => `**${text}**`),
  words.map((text) => `*${text}*`),
  words.map((text) => `~~${text}~~`),
  words.map((text) => `\`${text}\``),
  fc.tuple(words, word).map(([text, path]) => `[${text}](https://x.example/${path})`),
  fc.tuple(words, word).map(([text, path]) => `![${text}](${path}.png)`),
  words.map((text) => `${text} &amp; a\\*b`),
);
const phrases = fc.array(phrase, { minLength: 1, maxLength: 4 }).map((all) => all.join(" "));
const level = fc.integer({ min: 1, max: 6 });
const fence = fc.constantFrom("```", "~~~~", "```js");
const indented = (text: string, by: string): string => text.replaceAll(/^(?=.)/gm, by);

const leaf = fc.oneof(
  fc.tuple(level, phrases).map(([depth, text]) => `${"#".repeat(depth)} ${text}`),
  fc.tuple(phrases, fc.constantFrom("===", "---")).map(([text, line]) => `${text}\n${line}`),
  fc.array(phrases, { minLength: 1, maxLength: 3 }).map((lines) => lines.join("\n")),
  fc
    .tuple(fence, fc.array(fc.oneof(words, fc.constantFrom("", "# no", "- no", "  > no")), { maxLength: 3 }))
    .map(([marks, lines]) => [marks, ...lines, marks.replace("js", "")].join("\n")),
  fc.array(words, { minLength: 1, maxLength: 3 }).map((lines) => `    ${lines.join("\n    ")}`),
  fc
    .array(fc.tuple(phrases, phrases), { minLength: 1, maxLength: 3 })
    .map((rows) => `| a | b |\n|---|:-:|\n${rows.map(([one, two]) => `| ${one} | ${two} |`).join("\n")}`),
  fc.constant("***"),
);
const { block } = fc.letrec<{ block: string }>((tie) => ({
  block: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    leaf,
    fc.tuple(leaf, tie("block")).map((parts) => indented(parts.join("\n\n"), "> ").replaceAll(/^$/gm, ">")),
    fc
      .tuple(
        fc.constantFrom("- ", "* ", "1. "),
        fc.array(fc.tuple(words, tie("block")), { minLength: 1, maxLength: 3 }),
      )
      .map(([mark, items]) =>
        items
          .map(([text, inner]) => `${mark}${text}\n\n${indented(inner, " ".repeat(mark.length))}`)
          .join("\n\n"),
      ),
  ),
}));
// A comment between two blocks keeps lists from going on with each other, and indented code from joining an item.
const markdown = fc.array(block, { minLength: 1, maxLength: 4 }).map((all) => all.join("\n\n<!-- -->\n\n"));

type Seen = { headings: string[]; code: string[]; links: string[]; cells: string[]; text: string[] };
const nothing = (): Seen => ({ headings: [], code: [], links: [], cells: [], text: [] });
// The readers differ in blank lines at the ends, which mean nothing.
const trimmedCode = (text: string): string => text.replace(/[ \t]+$/gm, "").replace(/^\n+|\n+$/g, "");
const folded = (text: string): string => text.replace(/\s+/g, " ").trim();

function seenByPage(source: string): Seen {
  const document = readMarkdown(source);
  const seen = nothing();
  const links = (inlines: readonly Inline[]): void => {
    for (const inline of inlines) {
      if (inline.kind === "link" || inline.kind === "image") seen.links.push(inline.address);
      if (inline.kind === "link" || inline.kind === "span") links(inline.children);
    }
  };
  const phrasesOf = (text: string): string => {
    const inlines = readInline(text, document);
    links(inlines);
    return folded(inlineText(inlines));
  };
  const visit = (one: Block): void => {
    if (one.kind === "heading") seen.headings.push(`${one.level} ${phrasesOf(one.text)}`);
    else if (one.kind === "code") seen.code.push(trimmedCode(one.text));
    else if (one.kind === "paragraph") seen.text.push(phrasesOf(one.text));
    else if (one.kind === "table") seen.cells.push(...[one.header, ...one.rows].flat().map(phrasesOf));
    else if (one.kind === "list") for (const item of one.items) item.blocks.forEach(visit);
    else if (one.kind === "quote") one.blocks.forEach(visit);
  };
  document.blocks.forEach(visit);
  return seen;
}

const shown = (tokens: readonly Token[] | undefined): string =>
  (tokens ?? [])
    .map((token) => {
      if (token.type === "escape" || token.type === "codespan") return (token as Tokens.Escape).text;
      if (token.type === "image") return (token as Tokens.Image).text;
      if ("tokens" in token && token.tokens?.length) return shown(token.tokens);
      return "text" in token ? String(token["text"]) : "";
    })
    .join("")
    .replaceAll("&amp;", "&");

function seenByMarked(source: string): Seen {
  const seen = nothing();
  const visit = (token: Token): void => {
    if (token.type === "heading") seen.headings.push(`${token["depth"]} ${folded(shown(token.tokens))}`);
    else if (token.type === "code") seen.code.push(trimmedCode(token["text"]));
    else if (token.type === "paragraph" || token.type === "text") seen.text.push(folded(shown(token.tokens)));
  };
  for (const token of marked.lexer(source)) {
    const walk = (one: Token): void => {
      if (one.type === "table") {
        const { header, rows } = one as Tokens.Table;
        seen.cells.push(...[header, ...rows].flat().map(({ tokens }) => folded(shown(tokens))));
        return;
      }
      visit(one);
      if (one.type === "list") for (const item of (one as Tokens.List).items) item.tokens.forEach(walk);
      else if (one.type === "blockquote") one.tokens?.forEach(walk);
    };
    walk(token);
  }
  marked.walkTokens(marked.lexer(source), (token) => {
    if (token.type === "link" || token.type === "image") seen.links.push(token["href"]);
  });
  return seen;
}

describe("generated documents", () => {
  test("have the same headings, code, links, cells and paragraphs for marked, which reads Markdown that is extracted", () => {
    fc.assert(
      fc.property(markdown, (source) => {
        const page = seenByPage(source);
        const other = seenByMarked(source);
        expect({ ...page, links: page.links.toSorted() }).toEqual({
          ...other,
          links: other.links.toSorted(),
        });
      }),
      { numRuns: 300 },
    );
  });

  test("have the same words on pages, in snippets and in the index", () => {
    const analyser = new Analyser("code-friendly");
    const analysis = new DocumentAnalyser(analyser);
    const wordsIn = (text: string): string[] => text.match(/w\d+x/g) ?? [];
    fc.assert(
      fc.property(markdown, (source) => {
        const { headings, code, cells, text } = seenByPage(source);
        const snippet = wordsIn(plainText(source)).toSorted();
        expect(snippet).toEqual(wordsIn([...code, ...cells, ...text].join(" ")).toSorted());
        const document = analysis.analyse({ url: docsUrl("site", "a"), title: "", markdown: source });
        const all = wordsIn([...headings, ...code, ...cells, ...text].join(" "));
        const indexed = Array.from(document.words.subarray(0, document.tokenCount), (one, at) => ({
          form: analyser.form(one),
          field: FIELDS[document.fields[at]!]!,
        })).filter(({ form }) => /^w\d+x$/.test(form));
        expect([...new Set(indexed.map(({ form }) => form))].toSorted()).toEqual(
          [...new Set(all)].toSorted(),
        );
        const inCode = indexed.filter(({ field }) => field === "code").map(({ form }) => form);
        for (const one of wordsIn(code.join(" "))) expect(inCode).toContain(one);
        const sections = document.sections
          .slice(1)
          .map(({ level: depth, heading }) => `${depth} ${folded(heading)}`);
        expect(sections).toEqual(headings);
      }),
      { numRuns: 300 },
    );
  });
});
