import { createHash } from "node:crypto";
import type { FetchedArticle } from "../articles/index.ts";
import type { PageOutcome } from "./types.ts";
import { type Attempt, changeOf } from "./verdict.ts";

type StoredOutcome = Pick<PageOutcome, "status"> & Partial<PageOutcome>;

/** Has the sink keep a page's article, unless it holds the same text already. @returns the page's outcome */
export async function storeArticle(
  { page, parts }: Attempt,
  fetched: FetchedArticle,
): Promise<StoredOutcome> {
  const { article, warnings, finalUrl, statusCode } = fetched;
  const { wordCount } = article;
  const title = article.title ?? "";
  const markdown = article.markdown ?? "";
  const contentHash = contentHashOf(title, markdown);
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

/** `sha256:` and the digest of a page's title and Markdown. */
export const contentHashOf = (title: string, markdown: string): string =>
  `sha256:${createHash("sha256").update(`${title}\n${markdown}`).digest("hex")}`;
