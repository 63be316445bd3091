export { composeDocument, composeHtml, composeMarkdown } from "./compose.ts";
export { extractBody, extractHtml, withSmallPagesHere } from "./here.ts";
export { createExtractor, type Extractor, type ExtractorOptions } from "./pool.ts";
export {
  type Article,
  type ArticleSources,
  type BodyKind,
  type ContentImage,
  type ContentLink,
  type Engine,
  type ExtractHtml,
  type Extraction,
  type ExtractionOptions,
  type ExtractionTask,
  type Favor,
  type Link,
  type MetadataSource,
  type MetaRobots,
  type MicrodataItem,
  type OpenGraphProperty,
  PAGE_TYPES,
  type PageType,
  RENDERINGS,
  type Rendering,
  type StructuredData,
} from "./types.ts";
export { unmatchedExclusion } from "./warnings.ts";
export { countWords } from "./words.ts";
