export { refreshOf } from "./links.ts";
export { MAX_NOTICE_WORDS } from "./no-article.ts";
export { createExtractor, type Extractor, extractBody, withSmallPagesHere } from "./pool.ts";
export { countWords, foldedWords, unmatchedExclusion, warningsFor } from "./text.ts";
export { textOfMarkdown } from "./text-body.ts";
export {
  type Article,
  BLOCK_REASONS,
  type BodyKind,
  composeDocument,
  composeHtml,
  composeMarkdown,
  composeText,
  type Extraction,
  type ExtractionOptions,
  type Link,
  MARKDOWN_SIGNS,
  type MarkdownSign,
  type MetaRobots,
  PAGE_TYPES,
  type Rendering,
  STORED_RENDERINGS,
  withStored,
} from "./types.ts";
