export { Analyser, analyserFingerprint } from "./analysis/analyser.ts";
export { buildIndex, type IndexBuildOptions } from "./builder/build-index.ts";
export {
  type BuildAnalysis,
  type BuildCounts,
  type BuildOptions,
  buildSegment,
} from "./builder/build-segment.ts";
export { DocumentAnalyser } from "./document/analyse.ts";
export { FieldScorer, inverseDocumentFrequency } from "./field-score.ts";
export {
  type DocumentExtractor,
  type DocumentReader,
  documentOfBytes,
  type FolderOptions,
  listDocuments,
  MARKDOWN_ENDINGS,
  readDocumentFolder,
} from "./folder/read-folder.ts";
export { indexFileOf, refuseForeignFile } from "./index-file.ts";
export type { RankedDocument, ScoreExplanation } from "./ranking/rescore.ts";
export {
  type DocumentFile,
  readDocument,
  type TextForm,
  type UnreadDocument,
} from "./reading/read-document.ts";
export { findSection, type OpenSettings, SearchIndex } from "./search-index.ts";
export {
  type Ranking,
  rankIndex,
  type SearcherParts,
  type SearchHit,
  type SearchOptions,
  type SearchSettings,
  searchIndex,
} from "./searcher.ts";
export { findCandidates } from "./segment/find-candidates.ts";
export { Segment } from "./segment/segment.ts";
export { SNIPPET_STYLES, type SnippetSettings, type SnippetStyle } from "./snippet/snippet.ts";
export {
  ANALYZER_PROFILES,
  type AnalysedDocument,
  type AnalyzerProfile,
  type Boosts,
  type DocumentLayout,
  FIELDS,
  type FieldName,
  type FieldNumber,
  type FindCandidates,
  type IndexReader,
  NO_DOCUMENT,
  type Postings,
  type RankingSettings,
  type ScoredDocument,
  type Section,
  type SourceDocument,
  type StoredDocument,
  type TermEntry,
  type Vocabulary,
  type WeightedTerm,
} from "./types.ts";
