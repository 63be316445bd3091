export { extractBody, extractHtml, withSmallPagesHere } from "./here.ts";
export { composeHtml } from "./html-page.ts";
export { composeMarkdown } from "./markdown.ts";
export { createExtractor, type Extractor, type ExtractorOptions } from "./pool.ts";
export type { BodyKind, ExtractionTask } from "./protocol.ts";
export {
  type Article,
  type ArticleSources,
  type Engine,
  type ExtractHtml,
  type Extraction,
  type ExtractionOptions,
  type Favor,
  type Link,
  type MetadataSource,
  type MetaRobots,
  PAGE_TYPES,
  type PageType,
  RENDERINGS,
  type Rendering,
} from "./types.ts";
export { unmatchedExclusion } from "./warnings.ts";
export { countWords } from "./words.ts";
