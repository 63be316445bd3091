import { composeMarkdown } from "../extraction/index.ts";
import type { FetchedArticle } from "./fetched-article.ts";

/**
 * The extraction result on the wire (specification, "Extraction result"; DECISIONS section 1): the body of
 * `POST /` and of `--output json`. Absent values are null.
 */
export type ArticleResult = ReturnType<typeof articleResult>;

/** Translates an article to its wire form; needs both renderings. */
export function articleResult(fetched: FetchedArticle) {
  const { article, warnings } = fetched;
  return {
    url: fetched.url,
    final_url: fetched.finalUrl,
    canonical_url: fetched.canonicalUrl,
    status_code: fetched.statusCode,
    fetcher: fetched.fetcher,
    title: article.title,
    byline: article.byline,
    siteName: article.siteName,
    published_date: article.publishedDate,
    modified_date: article.modifiedDate,
    lang: article.lang,
    dir: article.dir,
    excerpt: article.excerpt,
    image: article.image,
    page_type: article.pageType,
    confidence: article.confidence,
    sources: {
      title: article.sources.title,
      byline: article.sources.byline,
      published_date: article.sources.publishedDate,
      modified_date: article.sources.modifiedDate,
    },
    // A document of nothing but its title has no body to show.
    content: article.content || null,
    markdown: article.markdown === null ? null : composeMarkdown(article.title, article.markdown),
    text: article.text,
    length: article.text.length,
    word_count: article.wordCount,
    success: true,
    warnings: warnings.length > 0 ? [...warnings] : null,
  } as const;
}
