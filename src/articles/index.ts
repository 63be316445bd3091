export type { FetchedArticle } from "./fetched-article.ts";
export { articleFromDocument, type LocalDocument } from "./from-document.ts";
export { articleFromUrl, bodyKind, type FromUrlParts, type FromUrlRequest } from "./from-url.ts";
export { type ArticleResult, articleResult } from "./result.ts";
