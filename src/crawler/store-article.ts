import { createHash } from "node:crypto";
import type { FetchedArticle } from "../articles/index.ts";
import { Failure, type FailureRecord } from "../base/failure.ts";
import { wordsIn } from "../base/text.ts";
import type { Article } from "../extraction/index.ts";
import type { FetchedPage } from "../fetching/index.ts";
import type { Page } from "../pages/index.ts";
import type { PageOutcome } from "./types.ts";
import { type Attempt, changeOf, settle, type Verdict } from "./verdict.ts";

type StoredOutcome = Pick<PageOutcome, "status"> & Partial<PageOutcome>;

/** Stores a page's article in the sink, unless the sink already has the same text. */
export async function storeArticle(
  { page, parts }: Attempt,
  fetched: FetchedArticle,
): Promise<StoredOutcome> {
  const { article, warnings, finalUrl, statusCode } = fetched;
  const { wordCount, language, publishedDate: date } = article;
  const title = article.title ?? "";
  const markdown = article.markdown ?? "";
  const anchors = article.anchors ?? [];
  const contentHash = contentHashOf({ title, markdown, anchors });
  const isThere = page.known?.outcome.contentHash === contentHash && (await parts.sink.has(page.url));
  const filePath = isThere
    ? (page.known?.outcome.filePath ?? null)
    : await parts.sink.put({
        page: {
          url: page.url,
          title,
          markdown,
          extractedAt: new Date(parts.clock.now()).toISOString(),
          wordCount,
          ...(language !== null && { language }),
          ...(date !== null && { date }),
          ...(anchors.length > 0 && { anchors }),
        },
        article: fetched,
        depth: page.depth,
        parent: page.parent,
      });
  return {
    status: "success",
    filePath,
    title: article.title,
    wordCount,
    httpStatus: statusCode,
    finalUrl,
    contentHash,
    warnings,
    change: changeOf(page.known, contentHash),
  };
}

/** Returns `sha256:` and the digest of a page's title, Markdown and, where they are known, anchors. */
export function contentHashOf({
  title,
  markdown,
  anchors = [],
}: Pick<Page, "title" | "markdown" | "anchors">): string {
  const hash = createHash("sha256").update(`${title}\n${markdown}`);
  if (anchors.length > 0) hash.update(JSON.stringify(anchors.map(({ id, start }) => [id, start])));
  return `sha256:${hash.digest("hex")}`;
}

/** Another extractor has another network and another browser, so after these failures it may get the page. */
const WORTH_ASKING: ReadonlySet<FailureRecord["code"]> = new Set(
  wordsIn("no_content network timeout http_status internal"),
);

/** The failure of a page, and the answer to its request. */
type FailedPage = {
  readonly failure: FailureRecord;
  /** The last answer's status, even if it was not a page; null when there was no answer. */
  readonly status: number | null;
  readonly answer: FetchedPage | null;
};

/**
 * Asks the fallback extractor for a page that failed here; null when there is no such extractor or it has no page
 * either.
 */
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

// The fallback must not invent a page that is gone.
const isGone = (answer: FetchedPage | null): boolean => answer?.status === 404 || answer?.status === 410;
