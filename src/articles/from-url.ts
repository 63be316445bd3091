import {
  type BodyKind,
  type Extraction,
  type ExtractionOptions,
  type Extractor,
  requireArticle,
} from "../extraction/index.ts";
import { Failure } from "../failure.ts";
import type { FetchedPage, Fetcher, FetchOptions } from "../fetching/index.ts";
import { type PageUrl, parsePageUrl, withoutCredentials } from "../urls/index.ts";
import { isEmptyShell } from "./empty-shell.ts";
import type { FetchedArticle } from "./fetched-article.ts";

/** The fetchers that there are. */
export type Fetchers = { readonly http: Fetcher; readonly browser: Fetcher | null };

/**
 * Which fetcher goes first: `browser` falls back to plain HTTP where there is none; `http` asks the browser
 * only about a transient 404 or an application's empty shell; `http_only` never does.
 */
export type FetcherPreference = "browser" | "http" | "http_only";

export type FromUrlParts = {
  readonly fetchers: Fetchers;
  readonly extractor: Pick<Extractor, "extract">;
};

export type FromUrlRequest = {
  /** As the caller wrote it, without credentials. */
  readonly url: string;
  readonly preference: FetcherPreference;
  readonly options: ExtractionOptions;
  readonly fetch: FetchOptions;
};

/**
 * Fetches a page and extracts its article.
 * @throws Failure `invalid_url`; `http_status` and `rate_limited` for an error status whose body holds no
 * page; `no_content`; and what the fetchers and the extractor throw
 */
export async function articleFromUrl(request: FromUrlRequest, parts: FromUrlParts): Promise<FetchedArticle> {
  const url = parsePageUrl(request.url);
  if (!url)
    throw new Failure(
      "invalid_url",
      `${JSON.stringify(withoutCredentials(request.url))} is not an http or https URL`,
    );
  const { http, browser } = parts.fetchers;
  const first = await attempt(request.preference === "browser" ? (browser ?? http) : http, url, {
    request,
    parts,
  });
  const reason = reasonForBrowser(first);
  if (reason === null || browser === null || request.preference !== "http")
    return describe(request, first, []);
  const second = await attempt(browser, url, { request, parts });
  return describe(request, second, [`Fetched with the browser: ${reason}`]);
}

/** How a body of this media type (without parameters) is read. */
export function bodyKind(contentType: string): BodyKind {
  if (contentType === "text/markdown" || contentType === "text/x-markdown") return "markdown";
  return contentType === "text/plain" ? "plain" : "html";
}

type Attempt = {
  readonly page: FetchedPage;
  /** Null when the status alone says that there is no page. */
  readonly extraction: Extraction | null;
  readonly extractionMs: number;
};

type AttemptContext = { readonly request: FromUrlRequest; readonly parts: FromUrlParts };

async function attempt(fetcher: Fetcher, url: PageUrl, { request, parts }: AttemptContext): Promise<Attempt> {
  const page = await fetcher.fetch(url, request.fetch);
  if (page.status >= 400 && !isTransient404(page)) return { page, extraction: null, extractionMs: 0 };
  const started = performance.now();
  const task = {
    kind: bodyKind(page.contentType),
    body: page.html,
    url: page.finalUrl,
    options: request.options,
  };
  const extraction = await parts.extractor.extract(task, request.fetch.signal);
  return { page, extraction, extractionMs: performance.now() - started };
}

/** A body above this may be a page that a script fills, though its status is 404 or 410. */
const TRANSIENT_404_MIN_BYTES = 500;

const isGone = (status: number): boolean => status === 404 || status === 410;

// The specification's "Transient 404 handling", rule 1.
const isTransient404 = ({ status, html, bodyBytes }: FetchedPage): boolean =>
  isGone(status) && bodyBytes > TRANSIENT_404_MIN_BYTES && /<(?:article|main|p)[\s>/]/i.test(html);

// Rule 3, and the shells that are the usual reason for such a status.
function reasonForBrowser({ page, extraction }: Attempt): string | null {
  if (isGone(page.status)) return `the plain answer was HTTP ${page.status}`;
  const isShell = extraction !== null && isEmptyShell(page.html, extraction.article?.wordCount ?? 0);
  return isShell ? "the plain answer was an application's empty shell" : null;
}

function describe(
  request: FromUrlRequest,
  { page, extraction, extractionMs }: Attempt,
  notes: string[],
): FetchedArticle {
  // A 404 that held no article after all is a 404.
  if (!extraction || (page.status >= 400 && !extraction.article)) throw statusFailure(page);
  if (!extraction.article && isEmptyShell(page.html, 0)) {
    throw new Failure(
      "no_content",
      `${page.finalUrl} is an application's empty shell, which a browser would fill`,
    );
  }
  const article = requireArticle(extraction, page.finalUrl);
  const warnings = [...article.warnings, ...notes];
  if (page.malformedText) warnings.push(`Some bytes are not valid ${page.encoding} and were replaced`);
  if (page.status >= 400) warnings.push(`Extracted after HTTP ${page.status} (SPA/client-rendered)`);
  return {
    url: request.url,
    finalUrl: page.finalUrl,
    canonicalUrl: extraction.canonical,
    statusCode: page.status,
    fetcher: page.fetchedBy,
    article,
    warnings,
    timings: { fetchMs: page.durationMs, extractionMs },
  };
}

function statusFailure({ finalUrl, status, tries }: FetchedPage): Failure {
  const after = tries > 1 ? ` after ${tries} tries` : "";
  return new Failure(
    status === 429 ? "rate_limited" : "http_status",
    `GET ${finalUrl} answered HTTP ${status}${after}`,
  );
}
