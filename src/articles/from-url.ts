import { Failure } from "../base/failure.ts";
import { parsePageUrl, withoutCredentials } from "../urls/index.ts";
import type { FetchedArticle } from "./fetched-article.ts";
import { articleOfVisit, type FromUrlParts, type VisitRequest, visitPage } from "./visit.ts";

export type FromUrlRequest = VisitRequest & {
  /** The URL as the caller wrote it, without credentials. */
  readonly url: string;
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
  return articleOfVisit(request.url, await visitPage(url, request, parts));
}
