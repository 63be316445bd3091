import { marked } from "marked";
import { findFrontMatter } from "../base/front-matter.ts";
import { escapeHtml } from "../base/text.ts";
import { codeBlocksOf, endOfCodeSpan } from "../markdown/index.ts";
import type { PageUrl } from "../urls/index.ts";
import { type ListedContent, renderHtml } from "./content.ts";
import type { Block, ContentDocument } from "./document/model.ts";
import { toMarkdown } from "./document/write/markdown.ts";
import { linksOf } from "./links.ts";
import { scanPage } from "./page/scan.ts";
import {
  countWords,
  foldForComparison,
  removeInvisible,
  tidyValue,
  unmatchedExclusion,
  warningsFor,
} from "./text.ts";
import type { Article, Extraction, ExtractionOptions, Link } from "./types.ts";

/**
 * Extracts a Markdown body. The Markdown passes through, its first heading becomes the title, and the other
 * renderings are made from it. `--no-images` and `--no-code` apply to all of them.
 */
export function extractMarkdown(body: string, url: PageUrl | null, options: ExtractionOptions): Extraction {
  if (nestsTooDeeply(body)) return extractPlainText(body, options);
  const source = trimBlankLines(removeInvisible(withoutFrontMatter(body.replace(/\r\n?/g, "\n"))));
  const { title, rest } = takeFirstHeading(source);
  const html = htmlOf(rest);
  const links = linksOf(scanPage(html).facts, url);
  // The Markdown is the source itself.
  const renderings = options.renderings.filter((rendering) => rendering !== "markdown");
  const rendered = renderHtml(html, { ...SOURCE, base: url }, { ...options, renderings });
  const article = textArticle({
    title,
    text: rendered.text,
    markdown: () => filterSource(rest, options),
    content: () => rendered.content ?? "",
    linked: rendered,
    options,
  });
  return textExtraction(article, links, options);
}

/** Markdown keeps the levels of its headings, and its dollars are formulas only where they look like TeX. */
const SOURCE = { title: null, drawsFormulas: () => false, keepsLevels: true } as const;

/** The maximum nesting of quotations and lists that people write; a renderer reads the text at each level. */
const MAX_LEVELS = 12;
const MARKERS = /^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])))+/gm;

const DEEP_ITEM = /^[ \t]{60,}(?:[-*+]|\d{1,9}[.)])[ \t]/m;

/** Tells whether a line opens more levels than any real document; such a body is read as plain text. */
function nestsTooDeeply(body: string): boolean {
  if (DEEP_ITEM.test(body)) return true;
  for (const [markers] of body.matchAll(MARKERS))
    if (markers.length > MAX_LEVELS && (markers.match(/>|[-*+]|\d+/g)?.length ?? 0) > MAX_LEVELS) return true;
  return false;
}

/**
 * Extracts a plain text body: the text is the article as it stands. In Markdown it becomes code when its lines are
 * laid out with spaces, and paragraphs otherwise, so that it means the same text.
 */
export function extractPlainText(body: string, options: ExtractionOptions): Extraction {
  const source = trimBlankLines(removeInvisible(body.replace(/\r\n?/g, "\n")));
  const { title, rest } = takeTitleLine(source);
  const article = textArticle({
    title,
    text: rest,
    markdown: () => toMarkdown(documentOf(rest)),
    content: () => `<pre>${escapeHtml(rest)}</pre>`,
    linked: { links: [], images: [], omissions: [] },
    options,
  });
  return textExtraction(article, [], options);
}

/** Text has no elements, so selectors match nothing. */
function textExtraction(
  article: Article | null,
  links: readonly Link[],
  { select: selector }: ExtractionOptions,
): Extraction {
  return {
    article: selector === null ? article : null,
    linkPage: null,
    saysMissing: false,
    emptySelection: selector === null ? null : { selector, elements: 0 },
    links,
    robots: { noindex: false, nofollow: false },
    canonical: null,
    refresh: null,
    noscriptRefresh: null,
  };
}

/** Matches indented lines, columns and drawings. */
const LAID_OUT = /^(?: {2,}|\t)\S|\S(?: {3,}|\t)\S|^[-=+|_ ]{6,}$/m;

function documentOf(text: string): ContentDocument {
  const code: Block = { kind: "code-block", text, language: null, label: null };
  if (LAID_OUT.test(text)) return { blocks: [code], footnotes: [] };
  const paragraphs = text.split(/\n(?:[ \t]*\n)+/).map((lines): Block => {
    const children = lines.split("\n").map((line) => line.trim());
    return { kind: "paragraph", children: [{ kind: "text", text: children.join("\n") }] };
  });
  return { blocks: paragraphs, footnotes: [] };
}

type TextParts = {
  readonly title: string | null;
  readonly text: string;
  readonly markdown: () => string;
  readonly content: () => string;
  readonly linked: ListedContent;
  readonly options: ExtractionOptions;
};

function textArticle({ title, text, markdown, content, linked, options }: TextParts): Article | null {
  const wordCount = countWords(text);
  if (wordCount === 0) return null;
  return {
    title,
    byline: null,
    siteName: null,
    publishedDate: null,
    modifiedDate: null,
    lang: null,
    language: null,
    dir: null,
    excerpt: null,
    image: null,
    imageWidth: null,
    imageHeight: null,
    keywords: [],
    section: null,
    pageType: null,
    confidence: null,
    anchors: null,
    blocks: null,
    sources: {
      title: title === null ? null : "heading",
      byline: null,
      publishedDate: null,
      modifiedDate: null,
      language: null,
      keywords: null,
      section: null,
    },
    content: options.renderings.includes("content") ? content() : null,
    markdown: options.renderings.includes("markdown") ? markdown() : null,
    links: options.renderings.includes("links") ? linked.links : null,
    images: options.renderings.includes("images") ? linked.images : null,
    structuredData: options.renderings.includes("structuredData") ? NO_STRUCTURED_DATA : null,
    text,
    wordCount,
    warnings: [
      ...warningsFor({ wordCount, mainPart: null }, options),
      ...options.exclude.map(unmatchedExclusion),
      ...linked.omissions,
    ],
  };
}

const NO_STRUCTURED_DATA = { jsonLd: [], microdata: [], openGraph: [] } as const;

// A document may also begin with a rule; front matter begins with a key.
const FIRST_KEY = {
  yaml: /^(?:$|#|["']?[\w.-]+["']?[ \t]*:)/,
  toml: /^(?:$|#|\[|["']?[\w.-]+["']?[ \t]*=)/,
  json: /^\{/,
} as const;

function withoutFrontMatter(body: string): string {
  const block = findFrontMatter(body);
  if (!block || !FIRST_KEY[block.syntax].test(block.written)) return body.replace(/^\ufeff/, "");
  return body.slice(block.bodyStart);
}

/** Removes blank lines at both ends, and keeps the indentation of the first line. */
function trimBlankLines(text: string): string {
  const indented = text.trimEnd();
  const start = indented.length - indented.trimStart().length;
  return indented.slice(indented.lastIndexOf("\n", start - 1) + 1);
}

type Titled = { readonly title: string | null; readonly rest: string };

/** Finds the first heading with a text, and the source without it, unless text stands before it. */
function takeFirstHeading(source: string): Titled {
  let at = 0;
  for (const token of blocksOf(source)) {
    if (token.type === "heading") {
      const title = tidyValue(visibleText(token.raw));
      if (foldForComparison(title) !== "") {
        const before = source.slice(0, at);
        if (visibleText(before) !== "") return { title, rest: source };
        return { title, rest: trimBlankLines(before + source.slice(at + token.raw.length)) };
      }
    }
    at += token.raw.length;
  }
  return { title: null, rest: source };
}

/** The plain text of Markdown as articles have it: blocks are separated by a blank line. */
export const textOfMarkdown = (markdown: string): string => visibleText(markdown);

const visibleText = (source: string): string =>
  renderHtml(htmlOf(source), { ...SOURCE, base: null }, EVERYTHING).text;

const EVERYTHING = { includeImages: true, includeCode: true, renderings: [] };

/** Reads the title from a leading `# heading` (or one underlined with `=`), and returns what follows it. */
function takeTitleLine(source: string): Titled {
  const [first = "", second = ""] = source.split("\n", 2);
  const isUnderlined = /^=+[ \t]*$/.test(second);
  if (!isUnderlined && !/^#[ \t]/.test(first)) return { title: null, rest: source };
  const title = tidyValue(isUnderlined ? first : first.slice(1).trim().replace(CLOSING_HASHES, ""));
  if (foldForComparison(title) === "") return { title: null, rest: source };
  const taken = isUnderlined ? first.length + 1 + second.length : first.length;
  return { title, rest: trimBlankLines(source.slice(taken + 1)) };
}

const CLOSING_HASHES = /(?<=[ \t])#+$/;

function filterSource(source: string, { includeImages, includeCode }: ExtractionOptions): string {
  const kept = includeCode ? source : withoutCodeBlocks(source);
  return trimBlankLines(includeImages ? kept : withoutImages(kept));
}

/** Renders GitHub-flavoured Markdown as HTML, which is as unsafe as the Markdown. */
const htmlOf = (source: string): string => marked.parse(source, { async: false, gfm: true });

/** Splits Markdown into its top-level blocks, in order; their raw texts concatenated are the source. */
const blocksOf = (source: string): readonly { readonly type: string; readonly raw: string }[] =>
  marked.lexer(source);

/** Removes code blocks, including those inside lists and quotations, and nothing else. */
const withoutCodeBlocks = (source: string): string =>
  piecesOf(source)
    .filter((piece) => !piece.isCode)
    .map((piece) => piece.text)
    .join("");

/** Removes images, and nothing else; text inside code that looks like an image stays. */
const withoutImages = (source: string): string =>
  piecesOf(source)
    .map((piece) => (piece.isCode ? piece.text : removeImages(piece.text)))
    .join("");

/** A stretch of the source. All pieces concatenated are the source. */
type Piece = { readonly text: string; readonly isCode: boolean };

function piecesOf(source: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const { start, mark, end } of codeBlocksOf(source)) {
    // The item stays when its code goes.
    const isInItem = /[-*+\d]/.test(source.slice(start, mark));
    const codeStart = Math.max(from, isInItem ? mark : start);
    pieces.push({ text: source.slice(from, codeStart), isCode: false });
    pieces.push({ text: source.slice(codeStart, end), isCode: true });
    from = end;
  }
  return [...pieces, { text: source.slice(from), isCode: false }];
}

// A backslash escapes the next character; a run of backticks opens code up to the next run of equal length.
const INLINE =
  /\\[\s\S]|`+|!\[[^\]\n]{0,500}\](?:\([^()\n]{0,2000}\)|\[[^\]\n]{0,200}\])|<img\b[^>\n]{0,2000}>/gi;

function removeImages(text: string): string {
  let out = "";
  let from = 0;
  const inline = new RegExp(INLINE);
  for (let match = inline.exec(text); match; match = inline.exec(text)) {
    const [found] = match;
    if (found.startsWith("`")) inline.lastIndex = endOfCodeSpan(text, match.index);
    else if (!found.startsWith("\\")) {
      out += text.slice(from, match.index);
      from = match.index + found.length;
    }
  }
  return out + text.slice(from);
}
