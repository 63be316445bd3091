import { composeMarkdown } from "../extraction/index.ts";
import type { FetchedArticle } from "./fetched-article.ts";

// In the order in which they stand in JSON. Absent values are null.
const FIELDS = {
  url: ({ url }: FetchedArticle) => url,
  final_url: ({ finalUrl }: FetchedArticle) => finalUrl,
  canonical_url: ({ canonicalUrl }: FetchedArticle) => canonicalUrl,
  status_code: ({ statusCode }: FetchedArticle) => statusCode,
  fetcher: ({ fetcher }: FetchedArticle) => fetcher,
  title: ({ article }: FetchedArticle) => article.title,
  byline: ({ article }: FetchedArticle) => article.byline,
  siteName: ({ article }: FetchedArticle) => article.siteName,
  published_date: ({ article }: FetchedArticle) => article.publishedDate,
  modified_date: ({ article }: FetchedArticle) => article.modifiedDate,
  lang: ({ article }: FetchedArticle) => article.lang,
  dir: ({ article }: FetchedArticle) => article.dir,
  excerpt: ({ article }: FetchedArticle) => article.excerpt,
  image: ({ article }: FetchedArticle) => article.image,
  page_type: ({ article }: FetchedArticle) => article.pageType,
  confidence: ({ article }: FetchedArticle) => article.confidence,
  sources: ({ article: { sources } }: FetchedArticle) => ({
    title: sources.title,
    byline: sources.byline,
    published_date: sources.publishedDate,
    modified_date: sources.modifiedDate,
  }),
  // A document of nothing but its title has no body to show.
  content: ({ article }: FetchedArticle) => article.content,
  markdown: ({ article: { title, markdown } }: FetchedArticle) =>
    markdown === null ? null : composeMarkdown(title, markdown),
  text: ({ article }: FetchedArticle) => article.text,
  length: ({ article }: FetchedArticle) => article.text.length,
  word_count: ({ article }: FetchedArticle) => article.wordCount,
  success: () => true as const,
  warnings: ({ warnings }: FetchedArticle) => (warnings.length > 0 ? [...warnings] : null),
};

/** A field of the extraction result on the wire. */
export type ArticleField = keyof typeof FIELDS;

/** All fields, in the order in which they stand in JSON. */
export const ARTICLE_FIELDS = Object.keys(FIELDS) as readonly ArticleField[];

/**
 * The extraction result on the wire (specification, "Extraction result"): the body of `POST /` and of
 * `--output json`.
 */
export type ArticleResult = { readonly [F in ArticleField]: ReturnType<(typeof FIELDS)[F]> };

/** Translates an article to its wire form; needs both renderings. */
export const articleResult = (fetched: FetchedArticle): ArticleResult =>
  articleFields(fetched, ARTICLE_FIELDS) as ArticleResult;

/** Some fields of the wire form, in the given order; needs the renderings that are among them. */
export const articleFields = (
  fetched: FetchedArticle,
  fields: readonly ArticleField[],
): Partial<ArticleResult> => Object.fromEntries(fields.map((field) => [field, FIELDS[field](fetched)]));
