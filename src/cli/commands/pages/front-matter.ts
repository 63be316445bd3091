import type { FetchedArticle } from "../../../articles/index.ts";
import { formatFrontMatter } from "../../../pages/index.ts";

/** The front matter of an article in Markdown. */
export const frontMatterOf = ({ article, url, finalUrl }: FetchedArticle, extractedAt: Date): string =>
  formatFrontMatter({
    url: finalUrl ?? url,
    title: article.title,
    extracted_at: { timestamp: extractedAt.toISOString() },
    word_count: article.wordCount,
  });
