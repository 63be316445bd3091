import { Failure, type FailureRecord } from "../base/failure.ts";
import type { Article } from "../extraction/index.ts";
import type { FetchedPage } from "../fetching/index.ts";
import { storeArticle } from "./store-article.ts";
import { type Attempt, settle, type Verdict } from "./verdict.ts";

/** Another extractor sees another network and has another browser: after these failures it may have the page. */
const WORTH_ASKING: ReadonlySet<FailureRecord["code"]> = new Set([
  "no_content",
  "network",
  "timeout",
  "http_status",
  "internal",
]);

/** Why a page failed, and what was seen of it. */
export type FailedPage = {
  readonly failure: FailureRecord;
  /** The last answer's status, also where it was no page; null when there was no answer. */
  readonly status: number | null;
  readonly answer: FetchedPage | null;
};

/** Asks the fallback extractor for a page that failed here; null where there is none, or it has no page either. */
export async function tryFallback(
  attempt: Attempt,
  { failure, status, answer }: FailedPage,
): Promise<Verdict | null> {
  const { page, parts, signal } = attempt;
  if (!parts.fallback || !WORTH_ASKING.has(failure.code) || isGone(answer)) return null;
  const article = await askFor(attempt, failure);
  if (!article || signal.aborted) return null;
  const outcome = await storeArticle(attempt, {
    url: page.url,
    finalUrl: answer?.finalUrl ?? page.url,
    canonicalUrl: null,
    statusCode: status,
    fetcher: "http",
    article,
    warnings: [`Extracted by the fallback extractor: ${failure.message}`],
    timings: { fetchMs: 0, extractionMs: 0 },
  });
  return settle(attempt, { outcome });
}

async function askFor({ page, parts, signal }: Attempt, failure: FailureRecord): Promise<Article | null> {
  try {
    return (await parts.fallback?.(page.url, signal)) ?? null;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    parts.log.warning("fallback extractor failed", {
      url: page.url,
      code: error.code,
      reason: error.message,
      page_failure: failure.code,
    });
    return null;
  }
}

// A page that is not there must not be made up.
const isGone = (answer: FetchedPage | null): boolean => answer?.status === 404 || answer?.status === 410;
