import type { ScannedPage } from "../page/page-model.ts";
import { type Favor, PAGE_TYPES, type PageType } from "../types.ts";
import { isBarePage } from "./bare-page.ts";
import { BLOCK_FEATURES, BLOCK_HINTS, computeBlockFeatures } from "./block-features.ts";
import { BLOCK_TREES, CONFIDENCE_TREES, CONTEXT_TREES, TYPE_TREES } from "./block-trees.ts";
import { CHOICE_FEATURES, computeChoiceFeatures } from "./choice-features.ts";
import {
  CONTEXT_FEATURES,
  CONTEXT_HINTS,
  computeContextFeatures,
  withPageTypes,
} from "./context-features.ts";
import { keepBlocks, type MainPart } from "./keep-blocks.ts";
import { computePageFeatures, PAGE_FEATURES } from "./page-features.ts";
import { buildPageTree } from "./page-tree.ts";
import { withoutShortForms } from "./short-forms.ts";
import { shortPageBlocks } from "./short-page.ts";
import { decodeTrees, type FeatureHints, predict, type Trees } from "./trees.ts";
import { computeWordSums, decodeWordWeights, type WordWeights } from "./word-sums.ts";
import { WORD_WEIGHTS } from "./word-weights.ts";

/** What the choice says about a page. */
export type Choice = {
  /** Numbers of the blocks that are content, rising. */
  readonly blocks: Int32Array;
  /** Null for a page without a word, and for one that is all content. */
  readonly pageType: PageType | null;
  /**
   * 0–1: the chance that the choice is right for the most part (F1 of at least 0.8 in training); null where
   * nothing had to be chosen.
   */
  readonly confidence: number | null;
  /** How much of the page's main part is in `blocks`; null where no part of the page is the main one. */
  readonly mainPart: MainPart | null;
};

/** The trees of one training. */
export type Models = {
  readonly blocks: Trees;
  readonly context: Trees;
  readonly types: readonly Trees[];
  readonly confidence: Trees;
  readonly words: WordWeights;
};

let models: Models | null = null;

/**
 * Chooses the blocks that are the page's content, in two stages: each block by itself and its place, then
 * by what the first stage says about everything around it. The trees come from scripts/train-extraction.
 */
export function chooseBlocks(page: ScannedPage, url: string | null, favor: Favor): Choice {
  models ??= readModels({
    blocks: BLOCK_TREES,
    context: CONTEXT_TREES,
    types: TYPE_TREES,
    confidence: CONFIDENCE_TREES,
    words: WORD_WEIGHTS,
  });
  return chooseWith(models, page, url, favor);
}

/** Chooses with other trees than the product's own; the training judges pages that its trees have not seen. */
export function chooseWith(
  models: Models,
  { model, facts }: ScannedPage,
  url: string | null,
  favor: Favor,
): Choice {
  const tree = buildPageTree(model);
  if (tree.candidates.length === 0)
    return { blocks: new Int32Array(0), pageType: null, confidence: 0, mainPart: null };
  if (isBarePage(tree)) return { blocks: tree.candidates, pageType: null, confidence: null, mainPart: null };
  const rows = computeBlockFeatures(tree, facts);
  const first = predict(models.blocks, rows);
  const typeP = typesOf(models, computePageFeatures({ facts, url, rows, p: first }));
  const context = computeContextFeatures(tree, first, computeWordSums(tree, models.words));
  const p = predict(models.context, withPageTypes(context, typeP));
  const { blocks: likely, mainPart } = keepBlocks(tree, { p, typeP, favor });
  const blocks = withoutShortForms(model, likely.length > 0 ? likely : shortPageBlocks(tree));
  const [confidence = 0] = predict(models.confidence, computeChoiceFeatures({ tree, p, typeP, blocks }));
  const likeliest = typeP.indexOf(Math.max(...typeP));
  return {
    blocks,
    pageType: PAGE_TYPES[likeliest] ?? null,
    confidence: Math.round(confidence * 100) / 100,
    mainPart,
  };
}

function typesOf({ types }: Models, features: Float32Array): Float32Array {
  const p = Float32Array.from(types, (trees) => predict(trees, features)[0]!);
  const sum = p.reduce((total, value) => total + value, 0);
  return p.map((value) => value / sum);
}

/** Trees as the training writes them, see `decodeTrees`. */
export type StoredModels = {
  readonly blocks: string;
  readonly context: string;
  readonly types: readonly string[];
  readonly confidence: string;
  /** See `decodeWordWeights`. */
  readonly words: string;
};

/** @throws Error for trees of other features than this code computes */
export function readModels({ blocks, context, types, confidence, words }: StoredModels): Models {
  return {
    blocks: load(blocks, BLOCK_FEATURES.length, BLOCK_HINTS),
    context: load(context, CONTEXT_FEATURES.length + PAGE_TYPES.length, CONTEXT_HINTS),
    types: types.map((base64) => load(base64, PAGE_FEATURES.length)),
    confidence: load(confidence, CHOICE_FEATURES.length),
    words: decodeWordWeights(words),
  };
}

function load(base64: string, width: number, hints?: FeatureHints): Trees {
  const trees = decodeTrees(base64, hints);
  if (trees.width !== width)
    throw new Error(`trees of ${trees.width} features, not ${width}: train them anew`);
  return trees;
}
