import { composeMarkdown } from "../extraction/index.ts";
import type { FetchedArticle } from "./fetched-article.ts";

// The fields are in their order in JSON. Absent values are null.
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
  // A document that consists of its title has no other content to show.
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

/** The extraction result on the wire (docs/server.md): the body of `POST /` and of `--output json`. */
export type ArticleResult = { readonly [F in ArticleField]: ReturnType<(typeof FIELDS)[F]> };

/** Translates an article to its wire form. Both renderings must be there. */
export const articleResult = (fetched: FetchedArticle): ArticleResult =>
  articleFields(fetched, ARTICLE_FIELDS) as ArticleResult;

/** Translates some fields to the wire form, in the given order. The renderings among them must be there. */
export const articleFields = (
  fetched: FetchedArticle,
  fields: readonly ArticleField[],
): Partial<ArticleResult> => Object.fromEntries(fields.map((field) => [field, FIELDS[field](fetched)]));
