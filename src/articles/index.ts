export { type ArticleCache, createArticleCache } from "./cache.ts";
export { emptyShell } from "./empty-shell.ts";
export type { FetchedArticle } from "./fetched-article.ts";
export { articleFromDocument, type LocalDocument } from "./from-document.ts";
export { articleFromUrl, type FromUrlRequest } from "./from-url.ts";
export type { PageVisit } from "./page-visit.ts";
export {
  ARTICLE_FIELDS,
  type ArticleField,
  type ArticleResult,
  articleFields,
  DEFAULT_FIELDS,
  DEFAULT_WORD,
  fieldsNamed,
  renderingsFor,
} from "./result.ts";
export { type ArticleServiceParts, type ServiceRequest, serveArticle } from "./service.ts";
export {
  articleOfVisit,
  bodyKind,
  type FetcherPreference,
  type Fetchers,
  type FromUrlParts,
  type VisitRequest,
  visitPage,
} from "./visit.ts";
