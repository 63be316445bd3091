// What tests, benches and training use of this room besides its door; nothing of the product does.
export { sayMissing } from "./absence.ts";
export { renderPage } from "./article-content.ts";
export { BLOCK_FEATURES, computeBlockFeatures, headingLevel } from "./classification/block-features.ts";
export { BLOCK_TREES, CONFIDENCE_TREES } from "./classification/block-trees.ts";
export { CHOICE_FEATURES, computeChoiceFeatures, isBarePage } from "./classification/choose.ts";
export { CONTEXT_FEATURES, computeContextFeatures } from "./classification/context-features.ts";
export { keepBlocks } from "./classification/keep-blocks.ts";
export { computePageFeatures, PAGE_FEATURES } from "./classification/page-features.ts";
export { PATTERN_COUNT, patternsOf } from "./classification/page-signs.ts";
export { buildPageTree, type PageTree } from "./classification/page-tree.ts";
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
export { BYLINE_FEATURES } from "./metadata/byline-features.ts";
export { cleanName, foldNames } from "./metadata/byline-mentions.ts";
export { DATE_FEATURES } from "./metadata/date-features.ts";
export { readJsonLd } from "./metadata/declared.ts";
export { type MetadataPage, viewPage } from "./metadata/metadata-page.ts";
export { TITLE_FEATURES } from "./metadata/title-features.ts";
export { findWrittenDates } from "./metadata/written-dates.ts";
export { describeBylines, describeDates, describeTitles, readMetadata } from "./metadata.ts";
export { Break, ElementFlag, tagAt, tagName } from "./page/page-model.ts";
export { scanPage } from "./page/scan.ts";
export { codesOf, TextTable } from "./page/source-text.ts";
export { Tokenizer } from "./page/tokenizer.ts";
export { type ExtractorOptions, extractHtml } from "./pool.ts";
export { countWords } from "./text.ts";
export { type ExtractionTask, PAGE_TYPES, RENDERINGS } from "./types.ts";
export { createGarbageWatch, runExtractionWorker } from "./worker.ts";
