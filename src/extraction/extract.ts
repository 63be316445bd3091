import { Failure } from "../base/failure.ts";
import type { PageUrl } from "../urls/index.ts";
import { type RenderedContent, type RenderingContext, renderChosen, renderPage } from "./article-content.ts";
import { type Choice, chooseBlocks } from "./choice/choose.ts";
import { type JsonLdObject, readJsonLd } from "./json-ld.ts";
import { baseOf, canonicalOf, linksOf, refreshOf, robotsOf } from "./links.ts";
import { tidyValue } from "./meta-tags.ts";
import { type Metadata, readMetadata } from "./metadata.ts";
import type { ScannedPage } from "./page/page-model.ts";
import { scanPage } from "./page/scan.ts";
import { withShadowRoots } from "./page/shadow-roots.ts";
import { htmlOfXhtml } from "./page/xhtml.ts";
import type { ExtractionTask } from "./protocol.ts";
import { extractMarkdown, extractPlainText } from "./text-body.ts";
import type { Extraction, ExtractionOptions } from "./types.ts";
import { unmatchedExclusion, warningsFor } from "./warnings.ts";
import { countWords } from "./words.ts";

/** Extracts a body of any kind; throws as `extractHtml` of `here.ts`. */
export async function extractBody({ kind, body, url, options }: ExtractionTask): Promise<Extraction> {
  if (kind === "html") return extractHtml(body, url, options);
  return withinPage(() => {
    if (kind === "xhtml") return extractPage(htmlOfXhtml(body), url, options);
    return kind === "markdown" ? extractMarkdown(body, url, options) : extractPlainText(body, options);
  });
}

/** Extracts one page; see `here.ts`. */
export async function extractHtml(
  html: string,
  url: PageUrl | null,
  options: ExtractionOptions,
): Promise<Extraction> {
  return withinPage(() => extractPage(html, url, options));
}

// A page can drive the libraries into any exception; here is the edge where it becomes that page's failure.
async function withinPage(extract: () => Extraction | Promise<Extraction>): Promise<Extraction> {
  try {
    return await extract();
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (error instanceof RangeError) {
      throw new Failure("too_large", "the page is nested too deeply to extract", { cause: error });
    }
    const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    throw new Failure("internal", `extraction stopped with ${what.slice(0, 300)}`, { cause: error });
  }
}

async function extractPage(
  html: string,
  url: PageUrl | null,
  options: ExtractionOptions,
): Promise<Extraction> {
  const page = readPage(withLineFeeds(html));
  const base = baseOf(page.facts, url);
  const jsonLd = readJsonLd(page.facts);
  const choice = chooseBlocks(page, url, options.favor);
  const metadata = readMetadata({ page, choice, jsonLd, url }, base);
  return {
    ...(await extractArticle(page, { url, base, jsonLd, choice, metadata, options })),
    links: linksOf(page.facts, base),
    robots: robotsOf(page.facts),
    canonical: canonicalOf(page.facts, base),
    refresh: refreshOf(page.facts, { url, base }),
  };
}

/** Shadow roots inside of each other to be put together; deeper ones are read where they are written. */
const MAX_SHADOW_ROUNDS = 4;

function readPage(html: string): ScannedPage {
  let page = scanPage(html);
  for (let round = 0; round < MAX_SHADOW_ROUNDS; round++) {
    const composed = withShadowRoots(page.model);
    if (composed === null) break;
    page = scanPage(composed);
  }
  return page;
}

/** Browsers turn every line break into a line feed first; nearly half of all pages have others. */
function withLineFeeds(html: string): string {
  if (!html.includes("\r")) return html;
  // Half of what one expression for both takes.
  const unix = html.replaceAll("\r\n", "\n");
  return unix.includes("\r") ? unix.replaceAll("\r", "\n") : unix;
}

type ArticleContext = {
  readonly url: PageUrl | null;
  readonly base: PageUrl | null;
  readonly jsonLd: readonly JsonLdObject[];
  readonly choice: Choice;
  readonly metadata: Metadata;
  readonly options: ExtractionOptions;
};

async function extractArticle(
  page: ScannedPage,
  { metadata, choice, ...context }: ArticleContext,
): Promise<Pick<Extraction, "article" | "emptySelection">> {
  const { rendered, elements, unmatched } = await renderContent(page, choice, {
    ...context,
    title: metadata.title,
    image: metadata.image,
  });
  const wordCount = rendered === null ? 0 : countWords(rendered.text);
  if (rendered === null || wordCount === 0) {
    const { select: selector } = context.options;
    return { article: null, emptySelection: selector === null ? null : { selector, elements } };
  }
  const { firstParagraph, mainPart, ...content } = rendered;
  const article = {
    ...metadata,
    excerpt: metadata.excerpt ?? (tidyValue(firstParagraph ?? "") || null),
    ...content,
    wordCount,
    warnings: [
      ...warningsFor({ wordCount, mainPart }, context.options),
      ...unmatched.map(unmatchedExclusion),
    ],
  };
  return { article, emptySelection: null };
}

type PageContent = {
  /** Null when the selectors leave nothing. */
  readonly rendered: RenderedContent | null;
  /** Number of elements that `select` matches. */
  readonly elements: number;
  /** Selectors of `exclude` that match nothing. */
  readonly unmatched: readonly string[];
};

async function renderContent(
  page: ScannedPage,
  choice: Choice,
  context: RenderingContext,
): Promise<PageContent> {
  const { options } = context;
  if (options.select === null && options.exclude.length === 0)
    return { rendered: renderPage(page, choice, context), elements: 0, unmatched: [] };
  // Few pages are read with selectors, and what matches these is slow to load.
  const { applySelectors } = await import("./selectors.ts");
  const { html, elements, unmatched } = applySelectors(page.model.html, options);
  if (html === null) return { rendered: null, elements, unmatched };
  if (options.select !== null)
    return { rendered: renderChosen(html, page.model, context), elements, unmatched };
  // What the selectors left is a page of its own.
  const rest = scanPage(html);
  const rendered = renderPage(rest, chooseBlocks(rest, context.url, options.favor), context);
  return { rendered, elements, unmatched };
}
