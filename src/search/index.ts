export { parseFilter, requireValues, type SearchFilter } from "./attributes.ts";
export { buildIndex, type DocumentNotice } from "./builder/build-index.ts";
export type { BuildCounts } from "./builder/build-segment.ts";
export { chooseParts } from "./choose-parts.ts";
export { chunksOf } from "./chunks.ts";
export { anchoredSections, outlineOf, rangeOfFragment, type SlugStyle } from "./document/sections.ts";
export {
  type AboutDocuments,
  type DocumentsFile,
  type DocumentsSource,
  importDocuments,
  importedFrom,
  packDocuments,
  readDocumentsFile,
} from "./folder/archive.ts";
export { type FolderLook, slugStyleOf, slugStyleOfFolder } from "./folder/generator.ts";
export {
  type DocumentExtractor,
  LEFT_OUT_REASONS,
  type LeftOut,
  type LeftOutReason,
  leftOutText,
  readFiles,
  tooLarge,
} from "./folder/read-files.ts";
export { isSafePath, pathKey } from "./folder/safe-path.ts";
export {
  compilePathRules,
  DEFAULT_EXCLUDED,
  listDocuments,
  type PathFilter,
  type PathRules,
  readDocumentFolder,
  sizeOf,
} from "./folder/walk-folder.ts";
export { DOCUMENT_ENDINGS, isDocument, mayBeDocument } from "./reading/kinds.ts";
export type { UnreadDocument } from "./reading/read-document.ts";
export {
  IndexGroup,
  indexFileOf,
  type OpenSettings,
  ownerOfIndex,
  refuseForeignFile,
  SearchIndex,
} from "./search-index.ts";
export {
  facetsOf,
  headingPath,
  LOOSE_NOTE,
  type MatchCounts,
  type SearchHit,
  type SearchSettings,
  type SearchWish,
} from "./searcher.ts";
export { SNIPPET_STYLES } from "./snippet.ts";
export {
  ANALYZER_PROFILES,
  type AnalyzerProfile,
  type Language,
  type SourceDocument,
  type StoredDocument,
} from "./types.ts";
