import type { NetworkOptions } from "../../../app/index.ts";
import { articleFields, type FetchedArticle } from "../../../articles/index.ts";
import { Failure } from "../../../base/failure.ts";
import { composeMarkdown, type Rendering } from "../../../extraction/index.ts";
import { readJsonBody } from "../../middleware/body.ts";
import type { ExtractorParts } from "../extractor/parts.ts";
import type { OptionsRequestFields } from "../extractor/schemas/requests.ts";
import { type ApiCall, parseWith } from "../openapi.ts";
import { fetchPage, type PageWish } from "./page.ts";
import { type ReadingFields, ScrapeRequest } from "./schemas.ts";

/** Selects all of a page. */
const BODY = "body";

export const SELECTORS = { select: "includeTags", exclude: "excludeTags" };

/** Answers `POST /v2/scrape`. */
export async function scrape({ exchange }: ApiCall, parts: ExtractorParts): Promise<Response> {
  const request = parseWith(ScrapeRequest, readJsonBody(exchange), "body");
  const formats = new Set(request.formats ?? ["markdown"]);
  const wish: PageWish = {
    url: request.url,
    network: networkOf(request),
    options: optionsOf(request),
    selectors: SELECTORS,
    renderings: [...formats].flatMap((format) => RENDERING_OF[format] ?? []),
    timeoutMs: request.timeout ?? null,
    // A page that is not to be kept is not taken from the cache either.
    isFresh: request.maxAge === 0 || request.storeInCache === false,
    keepsBody: formats.has("rawHtml"),
  };
  const fetched = await fetchPage(wish, exchange, parts).catch((error: unknown) => {
    // Plain text and documents have no body to select; they are content as a whole.
    if (wish.options.select !== BODY || !(error instanceof Failure) || error.code !== "no_content")
      throw error;
    return fetchPage({ ...wish, options: { ...wish.options, select: null } }, exchange, parts);
  });
  return Response.json({ success: true, data: documentOf(fetched) });
}

const RENDERING_OF: Readonly<Partial<Record<string, Rendering>>> = {
  markdown: "markdown",
  html: "content",
  links: "links",
  images: "images",
  json: "structuredData",
};

/** The network options of a request. */
export const networkOf = ({ headers }: ReadingFields): Partial<NetworkOptions> => ({
  headers: Object.entries(headers ?? {}),
});

/** What to take of a page: tags are selectors, and all of a page is its body. */
export function optionsOf({
  onlyMainContent,
  includeTags,
  excludeTags,
}: ReadingFields): Partial<OptionsRequestFields> {
  const tags = includeTags ?? [];
  const select = tags.length > 0 ? tags.join(", ") : onlyMainContent === false ? BODY : null;
  return { select, exclude: excludeTags ?? [] };
}

/** An article as a document of Firecrawl, with what was rendered of it. */
function documentOf(fetched: FetchedArticle): object {
  const { article, warnings, body, url, finalUrl, statusCode } = fetched;
  const { title, markdown, content, links, images, keywords } = article;
  return given({
    markdown: markdown === null ? null : composeMarkdown(title, markdown),
    html: content,
    rawHtml: body || null,
    links: links && [...new Set(links.map((link) => link.url))],
    images: images && [...new Set(images.map((image) => image.url))],
    json: articleFields(fetched, ["structured_data"]).structured_data,
    metadata: given({
      title,
      description: article.excerpt,
      language: article.language,
      keywords: keywords.length > 0 ? keywords : null,
      author: article.byline,
      ogSiteName: article.siteName,
      ogImage: article.image,
      articleSection: article.section,
      publishedTime: article.publishedDate,
      modifiedTime: article.modifiedDate,
      sourceURL: url,
      url: finalUrl,
      statusCode,
    }),
    warning: warnings.join(" ") || null,
  });
}

/** An object without the fields that are null or absent. */
export const given = (fields: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
