import { Failure } from "../base/failure.ts";
import type { Article, BodyKind, Extraction, ExtractionOptions, Extractor } from "../extraction/index.ts";
import type { PageUrl } from "../urls/index.ts";

/** The article of one page, and how the page was fetched. */
export type FetchedArticle = {
  /** The requested URL; null for a local document without an address. */
  readonly url: string | null;
  /** The URL that answered, after redirects. */
  readonly finalUrl: PageUrl | null;
  readonly canonicalUrl: PageUrl | null;
  /** Null for local documents. */
  readonly statusCode: number | null;
  readonly fetcher: "http" | "browser" | "file";
  readonly article: Article;
  /** The warnings of the extraction and of fetching. */
  readonly warnings: readonly string[];
  /** Durations in ms, waits and retries included. */
  readonly timings: { readonly fetchMs: number; readonly extractionMs: number };
};

/** The article of an extraction; throws `Failure` `no_content` that names the page when there is none. */
export function requireArticle({ article, emptySelection }: Extraction, page: string): Article {
  if (article) return article;
  if (!emptySelection) throw new Failure("no_content", `${page} holds no words of content`);
  const selector = JSON.stringify(emptySelection.selector);
  const message =
    emptySelection.elements === 0
      ? `no element shown on ${page} matches the selector ${selector}`
      : `what the selector ${selector} matches on ${page} holds no words`;
  throw new Failure("no_content", message);
}

/** A document that is already here: a file, or text from a pipe. */
export type LocalDocument = {
  /** The document's name in messages. */
  readonly name: string;
  readonly kind: BodyKind;
  readonly body: string;
  /** Its address, for relative links; null leaves them relative. */
  readonly url: PageUrl | null;
  /** The warnings of reading it. */
  readonly warnings: readonly string[];
};

/** Extracts a local document; throws `Failure` `no_content` and what the extractor throws. */
export async function articleFromDocument(
  document: LocalDocument,
  options: ExtractionOptions,
  { extractor, signal }: { readonly extractor: Pick<Extractor, "extract">; readonly signal?: AbortSignal },
): Promise<FetchedArticle> {
  const { kind, body, url } = document;
  const started = performance.now();
  const extraction = await extractor.extract({ kind, body, url, options }, signal);
  const article = requireArticle(extraction, document.name);
  return {
    url,
    finalUrl: url,
    canonicalUrl: extraction.canonical,
    statusCode: null,
    fetcher: "file",
    article,
    warnings: [...document.warnings, ...article.warnings],
    timings: { fetchMs: 0, extractionMs: performance.now() - started },
  };
}
