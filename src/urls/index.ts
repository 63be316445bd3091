export { type DocumentUrl, docsUrl, parseDocumentUrl } from "./document-url.ts";
export {
  hostOf,
  notPageUrl,
  originOf,
  type PageUrl,
  parsePageUrl,
  parseServiceUrl,
  resolveHref,
  splitCredentials,
  withoutCredentials,
} from "./page-url.ts";
export { encodeQuery } from "./query-encoding.ts";
export { compileGlob, compileUrlGlobs, compileUrlRules, parseUrlPrefix } from "./rules.ts";
export { meantUrl, withScheme } from "./typed-url.ts";
