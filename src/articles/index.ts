export { type ArticleCache, createArticleCache } from "./cache.ts";
export { articleFromDocument, type FetchedArticle, type LocalDocument } from "./fetched-article.ts";
export {
  ARTICLE_FIELDS,
  type ArticleField,
  articleFields,
  DEFAULT_FIELDS,
  DEFAULT_WORD,
  fieldsNamed,
  renderingsFor,
} from "./result.ts";
export { articleFromUrl, serveArticle } from "./service.ts";
export {
  articleOfVisit,
  bodyKind,
  type FetcherPreference,
  type Fetchers,
  type PageVisit,
  visitPage,
} from "./visit.ts";
