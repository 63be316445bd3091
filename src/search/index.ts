export { parseFilter, requireValues, type SearchFilter } from "./attributes/filter.ts";
export { buildIndex } from "./builder/build-index.ts";
export type { DocumentNotice } from "./builder/build-protocol.ts";
export type { BuildCounts } from "./builder/build-segment.ts";
export { isIndexOf } from "./builder/is-index-of.ts";
export { facetsOf, type MatchCounts } from "./counts.ts";
export type { SlugStyle } from "./document/slugs.ts";
export { type FolderLook, slugStyleOf, slugStyleOfFolder } from "./folder/generator.ts";
export { LEFT_OUT_REASONS, type LeftOut, type LeftOutReason, leftOutText } from "./folder/left-out.ts";
export { type DocumentExtractor, readFiles, tooLarge } from "./folder/read-files.ts";
export {
  compilePathRules,
  DEFAULT_EXCLUDED,
  listDocuments,
  type PathFilter,
  type PathRules,
  readDocumentFolder,
  sizeOf,
} from "./folder/walk-folder.ts";
export { outlineOf, rangeOfFragment } from "./fragment.ts";
export { IndexGroup } from "./index-group.ts";
export { DOCUMENT_ENDINGS, isDocument, mayBeDocument } from "./reading/kinds.ts";
export type { UnreadDocument } from "./reading/read-document.ts";
export {
  type DocumentEntry,
  indexFileOf,
  type OpenSettings,
  ownerOfIndex,
  refuseForeignFile,
  SearchIndex,
} from "./search-index.ts";
export { headingPath, type SearchHit, type SearchSettings } from "./searcher.ts";
export { SNIPPET_STYLES, type SnippetStyle } from "./snippet/snippet.ts";
export {
  ANALYZER_PROFILES,
  type AnalyzerProfile,
  type Language,
  type SourceDocument,
  type StoredDocument,
} from "./types.ts";
