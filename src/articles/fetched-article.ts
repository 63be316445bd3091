import { Failure } from "../base/failure.ts";
import type { Article, Extraction } from "../extraction/index.ts";
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
