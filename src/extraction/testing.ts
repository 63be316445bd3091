// What tests, benches and training use of this room besides its door; nothing of the product does.
export { renderPage } from "./article-content.ts";
export { BLOCK_FEATURES, computeBlockFeatures, headingLevel } from "./classification/block-features.ts";
export { BLOCK_TREES, CONFIDENCE_TREES } from "./classification/block-trees.ts";
export { CHOICE_FEATURES, computeChoiceFeatures } from "./classification/choose.ts";
export { CONTEXT_FEATURES, computeContextFeatures } from "./classification/context-features.ts";
export { keepBlocks } from "./classification/keep-blocks.ts";
export { computePageFeatures, PAGE_FEATURES } from "./classification/page-features.ts";
export { buildPageTree, type PageTree } from "./classification/page-tree.ts";
export { isBarePage } from "./classification/short-page.ts";
export { PATTERN_COUNT, patternsOf } from "./classification/text-patterns.ts";
export { decodeTrees, predict } from "./classification/trees.ts";
export {
  computeWordSums,
  decodeWordWeights,
  WORD_SUM_COUNT,
  weightOf,
  wordsOfBlock,
} from "./classification/word-sums.ts";
export { WORD_WEIGHTS } from "./classification/word-weights.ts";
export { renderHtml } from "./content.ts";
export { each, type Features, features, given, joined, ofPart, rowsOf } from "./features.ts";
export { createGarbageWatch } from "./garbage.ts";
export { extractHtml } from "./here.ts";
export { readJsonLd } from "./json-ld.ts";
export { BYLINE_FEATURES } from "./metadata/byline-features.ts";
export { describeBylines, describeDates, describeTitles } from "./metadata/choose.ts";
export { DATE_FEATURES } from "./metadata/date-features.ts";
export { type MetadataPage, viewPage } from "./metadata/metadata-page.ts";
export { cleanName, foldNames } from "./metadata/person-names.ts";
export { TITLE_FEATURES } from "./metadata/title-features.ts";
export { findWrittenDates } from "./metadata/written-dates.ts";
export { readMetadata } from "./metadata.ts";
export { Break, ElementFlag } from "./page/page-model.ts";
export { scanPage } from "./page/scan.ts";
export { codesOf } from "./page/source-text.ts";
export { tagAt, tagName } from "./page/tags.ts";
export { TextTable } from "./page/text-table.ts";
export { Tokenizer } from "./page/tokenizer.ts";
export type { ExtractorOptions } from "./pool.ts";
export { type ExtractionTask, PAGE_TYPES, RENDERINGS } from "./types.ts";
export { countWords } from "./words.ts";
export { runExtractionWorker } from "./worker.ts";
