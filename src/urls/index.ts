export { type DocsUrl, type DocumentUrl, docsUrl, parseDocsUrl, parseDocumentUrl } from "./document-url.ts";
export {
  hostOf,
  originOf,
  type PageUrl,
  parsePageUrl,
  resolveHref,
  splitCredentials,
  withoutCredentials,
} from "./page-url.ts";
export { compileUrlRules, parseUrlPrefix, type UrlRefusal, type UrlRules } from "./rules.ts";
