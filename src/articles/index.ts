export { type ArticleCache, createArticleCache } from "./cache.ts";
export type { FetchedArticle } from "./fetched-article.ts";
export { articleFromDocument, type LocalDocument } from "./from-document.ts";
export { articleFromUrl } from "./from-url.ts";
export type { PageVisit } from "./page-visit.ts";
export {
  ARTICLE_FIELDS,
  type ArticleField,
  articleFields,
  DEFAULT_FIELDS,
  DEFAULT_WORD,
  fieldsNamed,
  renderingsFor,
} from "./result.ts";
export { serveArticle } from "./service.ts";
export { articleOfVisit, bodyKind, type FetcherPreference, type Fetchers, visitPage } from "./visit.ts";
