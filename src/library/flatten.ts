import type { FetchedArticle } from "../articles/index.ts";
import { composeMarkdown } from "../extraction/index.ts";
import type { ExtractedArticle } from "./types.ts";

/** An article in one object, as other programs get it. */
export function flatten({ article, timings: _, ...page }: FetchedArticle): ExtractedArticle {
  return {
    ...article,
    ...page,
    content: article.content ?? "",
    markdown: composeMarkdown(article.title, article.markdown ?? ""),
  };
}
