import {
  type BodyKind,
  type Extraction,
  type ExtractionOptions,
  type Extractor,
  requireArticle,
} from "../extraction/index.ts";
import { Failure } from "../failure.ts";
import type { FetchedPage, Fetcher, FetchOptions } from "../fetching/index.ts";
import { parsePageUrl } from "../urls/index.ts";
import type { FetchedArticle } from "./fetched-article.ts";

export type FromUrlParts = {
  readonly fetcher: Fetcher;
  readonly extractor: Pick<Extractor, "extract">;
};

export type FromUrlRequest = {
  /** As the caller wrote it, without credentials. */
  readonly url: string;
  readonly options: ExtractionOptions;
  readonly fetch: FetchOptions;
};

/**
 * Fetches a page and extracts its article.
 * @throws Failure `invalid_url`; `http_status` for an error status whose body holds no page;
 * `no_content`; and what the fetcher and the extractor throw
 */
export async function articleFromUrl(
  request: FromUrlRequest,
  { fetcher, extractor }: FromUrlParts,
): Promise<FetchedArticle> {
  const url = parsePageUrl(request.url);
  if (!url) throw new Failure("invalid_url", `${JSON.stringify(request.url)} is not an http or https URL`);
  const page = await fetcher.fetch(url, request.fetch);
  const isTransient404 = requireUsable(page);
  const extraction = await extractor.extract(
    { kind: bodyKind(page.contentType), body: page.html, url: page.finalUrl, options: request.options },
    request.fetch.signal,
  );
  return describe({ request, page, extraction, isTransient404 });
}

/** How a body of this media type (without parameters) is read. */
export function bodyKind(contentType: string): BodyKind {
  if (contentType === "text/markdown" || contentType === "text/x-markdown") return "markdown";
  return contentType === "text/plain" ? "plain" : "html";
}

/** A body above this may be a page that a script fills, though its status is 404 or 410. */
const TRANSIENT_404_MIN_BYTES = 500;

// The specification's "Transient 404 handling", rule 1.
function requireUsable({ finalUrl, status, html, bodyBytes }: FetchedPage): boolean {
  if (status < 400) return false;
  const isGone = status === 404 || status === 410;
  if (isGone && bodyBytes > TRANSIENT_404_MIN_BYTES && /<(?:article|main|p)[\s>/]/i.test(html)) return true;
  throw new Failure("http_status", `GET ${finalUrl} answered HTTP ${status}`);
}

type Parts = {
  readonly request: FromUrlRequest;
  readonly page: FetchedPage;
  readonly extraction: Extraction;
  readonly isTransient404: boolean;
};

function describe({ request, page, extraction, isTransient404 }: Parts): FetchedArticle {
  if (isTransient404 && !extraction.article) {
    throw new Failure("http_status", `GET ${page.finalUrl} answered HTTP ${page.status}`);
  }
  const article = requireArticle(extraction, page.finalUrl);
  const warnings = [...article.warnings];
  if (page.malformedText) warnings.push(`Some bytes are not valid ${page.encoding} and were replaced`);
  if (isTransient404) warnings.push(`Extracted after HTTP ${page.status} (SPA/client-rendered)`);
  return {
    url: request.url,
    finalUrl: page.finalUrl,
    canonicalUrl: extraction.canonical,
    statusCode: page.status,
    fetcher: page.fetchedBy,
    article,
    warnings,
  };
}
