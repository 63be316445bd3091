import { Failure } from "../failure.ts";
import type { PageUrl } from "../urls/index.ts";
import { renderContent } from "./content.ts";
import { canonicalise } from "./document/canonical.ts";
import { baseUrl, readCanonical, readLinks, readRobots } from "./links.ts";
import { tidyValue } from "./meta-tags.ts";
import { cleanByline, type Metadata, readMetadata } from "./metadata.ts";
import { parseDocument, selectAll } from "./parse.ts";
import { drawsFormulas, preparePage, removeHidden, removePermalinks } from "./prepare.ts";
import type { ExtractionTask } from "./protocol.ts";
import { findReadable } from "./readability.ts";
import { extractMarkdown, extractPlainText } from "./text-body.ts";
import type { Article, Extraction, ExtractionOptions } from "./types.ts";
import { warningsFor } from "./warnings.ts";
import { countWords } from "./words.ts";

/** Extracts a body of any kind on this thread; see `extractHtml`. */
export async function extractBody({ kind, body, url, options }: ExtractionTask): Promise<Extraction> {
  if (kind === "html") return extractHtml(body, url, options);
  return withinPage(() =>
    kind === "markdown" ? extractMarkdown(body, url, options) : extractPlainText(body, options),
  );
}

/**
 * Extracts one page on this thread: one parse yields the article, the links, the robots directives and
 * the canonical URL.
 * @param url the page's final URL, which relative references resolve against; null leaves them relative
 * @throws Failure `too_large` for trees nested too deeply, `invalid_usage` for a wrong selector,
 * `internal` for a page that the libraries cannot take
 */
export async function extractHtml(
  html: string,
  url: PageUrl | null,
  options: ExtractionOptions,
): Promise<Extraction> {
  return withinPage(() => extractParsed(html, url, options));
}

// A page can drive the libraries into any exception; here is the edge where it becomes that page's failure.
function withinPage(extract: () => Extraction): Extraction {
  try {
    return extract();
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (error instanceof RangeError) {
      throw new Failure("too_large", "the page is nested too deeply to extract", { cause: error });
    }
    const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    throw new Failure("internal", `extraction stopped with ${what.slice(0, 300)}`, { cause: error });
  }
}

function extractParsed(html: string, url: PageUrl | null, options: ExtractionOptions): Extraction {
  const document = parseDocument(html);
  const base = baseUrl(document, url);
  const links = readLinks(document, base);
  const robots = readRobots(document);
  const canonical = readCanonical(document, base);
  removePermalinks(document);
  const metadata = readMetadata(document, base);
  const article = extractArticle(document, { base, metadata, options });
  return { article, links, robots, canonical };
}

type ArticleContext = {
  readonly base: PageUrl | null;
  readonly metadata: Metadata;
  readonly options: ExtractionOptions;
};

function extractArticle(document: Document, { base, metadata, options }: ArticleContext): Article | null {
  const found = findContent(document, options);
  if (!found) return null;
  const { root } = found;
  const rendered = renderContent(root, { base, title: metadata.title, options });
  const wordCount = countWords(rendered.text);
  if (wordCount === 0) return null;
  const foundByline = cleanByline(found.byline);
  return {
    ...metadata,
    byline: metadata.byline ?? foundByline,
    excerpt: metadata.excerpt ?? (tidyValue(found.excerpt ?? "") || null),
    sources: {
      ...metadata.sources,
      byline: metadata.sources.byline ?? (foundByline === null ? null : "readability"),
    },
    pageType: null,
    confidence: null,
    ...rendered,
    wordCount,
    warnings: warningsFor(wordCount, options),
  };
}

type Content = { readonly root: Element; readonly byline: string | null; readonly excerpt: string | null };

function findContent(document: Document, { select, exclude }: ExtractionOptions): Content | null {
  for (const selector of exclude) {
    for (const element of selectAll(document, selector, "--exclude")) element.remove();
  }
  // An exclusion may have taken the whole page.
  if (document.documentElement === null || document.body === null) return null;
  const hasFormulas = drawsFormulas(document);
  if (select === null) {
    preparePage(document, hasFormulas);
    return findReadable(document);
  }
  removeHidden(document);
  const selected = selectAll(document, select, "--select");
  const root = document.createElement("div");
  for (const element of selected) {
    // A match inside another match is there already.
    if (!selected.some((other) => other !== element && other.contains(element))) root.append(element);
  }
  if (hasFormulas) canonicalise(root, true);
  return root.firstChild ? { root, byline: null, excerpt: null } : null;
}

/** The article, or a `Failure` `no_content` that names the page. */
export function requireArticle(extraction: Extraction, page: string): Article {
  if (!extraction.article) throw new Failure("no_content", `${page} holds no words of content`);
  return extraction.article;
}
