export { blockedFailure } from "./blocked.ts";
export {
  createErrorPages,
  type ErrorPages,
  fingerprintOf,
  inventedName,
  type PageFingerprint,
  saySame,
} from "./error-pages.ts";
export {
  ARTICLE_FIELDS,
  type ArticleField,
  articleFields,
  articleFromDocument,
  DEFAULT_FIELDS,
  DEFAULT_WORD,
  type FetchedArticle,
  fieldsNamed,
  type LocalDocument,
  type PageVisit,
  renderingsFor,
} from "./fetched-article.ts";
export { RenderingHistory } from "./rendering-history.ts";
export { type ArticleCache, articleFromUrl, createArticleCache, serveArticle } from "./service.ts";
export {
  askOnce,
  fetchMarkdown,
  linksOfIndex,
  MarkdownAlternates,
} from "./site-markdown.ts";
export {
  articleOfVisit,
  bodyKind,
  type FetcherPreference,
  type Fetchers,
  linkPageOfVisit,
  statusFailure,
  visitPage,
} from "./visit.ts";
