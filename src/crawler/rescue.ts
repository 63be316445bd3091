import { createHash } from "node:crypto";
import { Failure, type FailureRecord } from "../base/failure.ts";
import type { Article } from "../extraction/index.ts";
import type { FetchedPage } from "../fetching/index.ts";
import { type Attempt, changeOf, settle, type Verdict } from "./verdict.ts";

/** Failures of which another extractor may still make a page: what it sees is another network and browser. */
const RESCUABLE: ReadonlySet<FailureRecord["code"]> = new Set([
  "no_content",
  "network",
  "timeout",
  "http_status",
  "internal",
]);

/** Why a page failed, and what was seen of it. */
export type FailedPage = {
  readonly failure: FailureRecord;
  /** Of the last answer, also of one that was no page; null when there was none. */
  readonly status: number | null;
  readonly answer: FetchedPage | null;
};

/** Asks the remote extractor for a page that failed here; null where there is none, or it has none either. */
export async function rescue(
  attempt: Attempt,
  { failure, status, answer }: FailedPage,
): Promise<Verdict | null> {
  const { page, parts, signal } = attempt;
  if (!parts.rescue || !RESCUABLE.has(failure.code) || isGone(answer)) return null;
  const article = await askFor(attempt, failure);
  if (!article || signal.aborted) return null;
  const { title, wordCount } = article;
  const markdown = article.markdown ?? "";
  const warnings = [`Extracted by the fallback extractor: ${failure.message}`];
  const finalUrl = answer?.finalUrl ?? page.url;
  const contentHash = contentHashOf(title ?? "", markdown);
  const isThere = page.known?.outcome.contentHash === contentHash && (await parts.sink.has(page.url));
  const filePath = isThere
    ? (page.known?.outcome.filePath ?? null)
    : await parts.sink.put({
        page: {
          url: page.url,
          title: title ?? "",
          markdown,
          extractedAt: new Date(parts.clock.now()).toISOString(),
          wordCount,
        },
        article: {
          url: page.url,
          finalUrl,
          canonicalUrl: null,
          statusCode: status,
          fetcher: "http",
          article,
          warnings,
          timings: { fetchMs: 0, extractionMs: 0 },
        },
        depth: page.depth,
        parent: page.parent,
      });
  return settle(attempt, {
    outcome: {
      status: "success",
      filePath,
      title,
      wordCount,
      httpStatus: status,
      finalUrl,
      contentHash,
      warnings,
      change: changeOf(page.known, contentHash),
    },
  });
}

/** `sha256:` and the digest of a page's title and Markdown. */
export const contentHashOf = (title: string, markdown: string): string =>
  `sha256:${createHash("sha256").update(`${title}\n${markdown}`).digest("hex")}`;

async function askFor({ page, parts, signal }: Attempt, failure: FailureRecord): Promise<Article | null> {
  try {
    return (await parts.rescue?.(page.url, signal)) ?? null;
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
