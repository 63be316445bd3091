export { type Block, Failure, type FailureCode } from "../base/failure.ts";
export { extractArticles } from "./articles.ts";
export { extractArticle, extractArticleFromUrl } from "./extract.ts";
export type {
  ArticleSources,
  ContentImage,
  ContentLink,
  ExtractArticleOptions,
  ExtractArticlesOptions,
  ExtractedArticle,
  ExtractFromUrlOptions,
  ExtractOptions,
  MetadataSource,
  MicrodataItem,
  NetworkOptions,
  OpenGraphProperty,
  PageBody,
  PageResult,
  PageSource,
  PageType,
  StructuredData,
} from "./types.ts";
