// What tests and benches use of this room besides its door; nothing of the product does.

export { Analyser } from "./analysis/analyser.ts";
export { RunTable, UNKNOWN_RUN } from "./analysis/run-table.ts";
export { stemEnglish } from "./analysis/stemmer.ts";
export { attributesOf, attributeTable } from "./attributes/attributes.ts";
export { compileGlob, NO_FILTER } from "./attributes/filter.ts";
export type { IndexBuildOptions } from "./builder/build-index.ts";
export { type BuildOptions, buildSegment } from "./builder/build-segment.ts";
export { DocumentAnalyser } from "./document/analyse.ts";
export { scanLines } from "./document/blocks.ts";
export { SLUG_STYLES, Slugs, withSlugs } from "./document/slugs.ts";
export { FieldScorer, inverseDocumentFrequency } from "./field-score.ts";
export { parseQuery } from "./query/compile.ts";
export { scoreDocuments } from "./query/phrases.ts";
export type { SynonymSettings } from "./query/synonyms.ts";
export { CLOSE_TOKENS, OPENINGS, RANKING, SHORT_PAGE, weightsFor } from "./ranking/constants.ts";
export { kindOf, type TextKind } from "./reading/kinds.ts";
export { cleanDocument, readDocuments } from "./reading/read-document.ts";
export {
  countIn,
  prepare,
  rescorePrepared,
  type SearchOptions,
  searchIndex,
} from "./searcher.ts";
export { bitWidth, packBits, packedLength, unpackBits } from "./segment/bit-packing.ts";
export { ByteReader, ByteWriter } from "./segment/bytes.ts";
export { codeUnitBytes, decodeCodeUnits } from "./segment/code-units.ts";
export { encodeLengths, openLengths } from "./segment/field-lengths.ts";
export { SegmentFile } from "./segment/file-reader.ts";
export { SegmentFileWriter } from "./segment/file-writer.ts";
export { findCandidates } from "./segment/find-candidates.ts";
export { decodePositions, encodePositions } from "./segment/positions-codec.ts";
export { Segment } from "./segment/segment.ts";
export { readSignatureKey, SignatureNumbers, Signatures, signatureKey } from "./segment/signatures.ts";
export { decodeLayout, decodeStored, encodeLayout, encodeStored } from "./segment/stored-codec.ts";
export { StringTableCursor, StringTableWriter } from "./segment/string-table.ts";
export { chooseFragments, TermPrefixes } from "./snippet/fragments.ts";
export { plainText } from "./snippet/snippet.ts";
export {
  type AttributeTable,
  type Boosts,
  type CandidateOptions,
  type DocumentLayout,
  FIELDS,
  type FieldName,
  type FieldNumber,
  type FindCandidates,
  type IndexReader,
  LANGUAGES,
  NO_DOCUMENT,
  type Postings,
  type RankingSettings,
  type ScoredDocument,
  type TermEntry,
  type TermWalk,
  type WeightedTerm,
} from "./types.ts";
