import { marked } from "marked";
import type { PageUrl } from "../urls/index.ts";
import { cleanContent, removeCodeBlocks, removeImages } from "./clean.ts";
import { readLinks } from "./links.ts";
import { tidyValue } from "./meta-tags.ts";
import { parseDocument } from "./parse.ts";
import { foldForComparison, removeInvisible, renderText } from "./text.ts";
import type { Article, Extraction, ExtractionOptions } from "./types.ts";
import { warningsFor } from "./warnings.ts";
import { countWords } from "./words.ts";

/**
 * A Markdown body as an extraction: the Markdown passes through, its first heading is the title, and
 * the other renderings are made from it. `--no-images` and `--no-code` apply to all of them.
 */
export function extractMarkdown(body: string, url: PageUrl | null, options: ExtractionOptions): Extraction {
  const source = removeInvisible(withoutFrontMatter(body.replace(/\r\n?/g, "\n"))).trim();
  const kept = filterTokens(source, options);
  const { title, rest } = takeTitle(kept);
  const document = parseDocument(marked.parse(rest, { async: false, gfm: true }));
  const links = readLinks(document, url);
  cleanContent(document.body, url);
  if (!options.includeImages) removeImages(document.body);
  if (!options.includeCode) removeCodeBlocks(document.body);
  const article = textArticle({
    title,
    text: renderText(document.body),
    markdown: rest,
    content: () => document.body.innerHTML.trim(),
    options,
  });
  return { article, links, robots: { noindex: false, nofollow: false }, canonical: null };
}

/** A plain text body as an extraction: the text is the article as it stands. */
export function extractPlainText(body: string, options: ExtractionOptions): Extraction {
  const text = removeInvisible(body.replace(/\r\n?/g, "\n")).trim();
  const { title, rest } = takeTitle(text);
  const article = textArticle({
    title,
    text: rest,
    markdown: rest,
    content: () => `<pre>${escapeHtml(rest)}</pre>`,
    options,
  });
  return { article, links: [], robots: { noindex: false, nofollow: false }, canonical: null };
}

type TextParts = {
  readonly title: string | null;
  readonly text: string;
  readonly markdown: string;
  readonly content: () => string;
  readonly options: ExtractionOptions;
};

function textArticle({ title, text, markdown, content, options }: TextParts): Article | null {
  const wordCount = countWords(text);
  // A document of nothing but a heading still says something.
  if (wordCount === 0 && title === null) return null;
  return {
    title,
    byline: null,
    siteName: null,
    publishedDate: null,
    modifiedDate: null,
    lang: null,
    dir: null,
    excerpt: null,
    image: null,
    pageType: null,
    confidence: null,
    sources: {
      title: title === null ? null : "heading",
      byline: null,
      publishedDate: null,
      modifiedDate: null,
    },
    content: options.renderings.includes("content") ? content() : null,
    markdown: options.renderings.includes("markdown") ? markdown : null,
    text,
    wordCount,
    warnings: warningsFor(wordCount, options),
  };
}

const withoutFrontMatter = (body: string): string => {
  if (!body.startsWith("---\n")) return body;
  const end = body.indexOf("\n---\n", 3);
  return end < 0 ? body : body.slice(end + 5);
};

/** The title of a leading `# heading` (or one underlined with `=`), and what follows it. */
function takeTitle(source: string): { title: string | null; rest: string } {
  const match = /^#[ \t]+([^\n]+?)(?:[ \t]+#+)?[ \t]*(?:\n|$)|^([^\n]+)\n=+[ \t]*(?:\n|$)/.exec(source);
  const title = tidyValue((match?.[1] ?? match?.[2] ?? "").replace(/[*_`]+/g, ""));
  if (!match || foldForComparison(title) === "") return { title: null, rest: source };
  return { title, rest: source.slice(match[0].length).trim() };
}

// Removing the tokens' own source keeps every other character as its author wrote it.
function filterTokens(source: string, { includeImages, includeCode }: ExtractionOptions): string {
  if (includeImages && includeCode) return source;
  let out = "";
  for (const token of marked.lexer(source)) {
    if (token.type === "code" && !includeCode) continue;
    out += includeImages ? token.raw : token.type === "code" ? token.raw : withoutImages(token.raw);
  }
  return out.trim();
}

const withoutImages = (markdown: string): string =>
  markdown.replace(/!\[[^\]\n]{0,500}\]\([^()\n]{0,2000}\)/g, "").replace(/<img\b[^>\n]{0,2000}>/gi, "");

const escapeHtml = (text: string): string =>
  text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
