import type { ScannedPage } from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import { type Selection, selectGiven, selectJudged } from "../selection/selection.ts";
import { isBarePage } from "../selection/short-page.ts";
import { type Favor, PAGE_TYPES, type PageType } from "../types.ts";
import {
  BLOCK_FEATURES,
  computeBlockFeatures,
  computeWordSums,
  decodeWordWeights,
} from "./block-features.ts";
import { BLOCK_TREES, CONFIDENCE_TREES, CONTEXT_TREES, TYPE_TREES } from "./block-trees.ts";
import {
  CONTEXT_FEATURES,
  computeContextFeatures,
  computePageFeatures,
  PAGE_FEATURES,
  withPageTypes,
} from "./context-features.ts";
import { buildPageTree, type PageTree } from "./page-tree.ts";
import { features, given, joined, loadTrees, plateauOf, predict, rowsOf, type Trees } from "./trees.ts";
import { WORD_WEIGHTS } from "./word-weights.ts";

/** The selection of a page's content, with what the classification says of the page. */
export type Choice = {
  readonly selection: Selection;
  /** The blocks that title, date and byline are read from. */
  readonly blocks: Int32Array;
  /** Null for a page without words, and for one that is all content. */
  readonly pageType: PageType | null;
  /** 0–1: how likely the result is mostly right (F1 ≥ 0.8 in training); null where nothing was classified. */
  readonly confidence: number | null;
  /** The verdict on each block of the page, by its number; null unless requested. */
  readonly verdicts: readonly BlockVerdict[] | null;
};

/** The classifier's verdict on one block; see `PageBlock`. */
export type BlockVerdict = { readonly probability: number | null; readonly isUnsure: boolean };

export type ChoiceOptions = {
  readonly favor: Favor;
  /** Whether to tell the verdict on each block, for which the other values of `favor` are tried too. */
  readonly hasVerdicts: boolean;
};

/** Reads the trees and weights of the training. @throws Error for trees of other features than this code computes */
const readModels = () => ({
  blocks: loadTrees(BLOCK_TREES, BLOCK_FEATURES.length),
  context: loadTrees(CONTEXT_TREES, CONTEXT_FEATURES.length + PAGE_TYPES.length),
  types: TYPE_TREES.map((base64) => loadTrees(base64, PAGE_FEATURES.length)),
  confidence: loadTrees(CONFIDENCE_TREES, CHOICE_FEATURES.length),
  words: decodeWordWeights(WORD_WEIGHTS),
});

let models: ReturnType<typeof readModels> | null = null;

/**
 * Chooses the content blocks of a page in two stages: first from each block and its place, then from the first stage's
 * verdicts on everything around it. The trees come from scripts/train-extraction. They never see the URL, because the
 * choice must not depend on the site.
 */
export function chooseBlocks({ model, facts }: ScannedPage, { favor, hasVerdicts }: ChoiceOptions): Choice {
  models ??= readModels();
  const tree = buildPageTree(model);
  const { candidates } = tree;
  if (candidates.length === 0 || isBarePage(tree)) {
    const verdicts = hasVerdicts ? verdictsOn(tree, [], null) : null;
    const confidence = candidates.length === 0 ? 0 : null;
    const selection = selectGiven(tree, candidates, hasVerdicts);
    return { selection, blocks: candidates, pageType: null, confidence, verdicts };
  }
  const rows = computeBlockFeatures(tree, facts);
  const first = predict(models.blocks, rows);
  const typeP = typesOf(models.types, computePageFeatures({ facts, rows, p: first }));
  const context = computeContextFeatures(tree, first, computeWordSums(tree, models.words));
  const p = predict(models.context, withPageTypes(context, typeP));
  const judgement = { p, typeP, favor };
  const selection = selectJudged(tree, judgement, hasVerdicts);
  const blocks = selection.judged;
  const [confidence = 0] = predict(models.confidence, computeChoiceFeatures({ tree, p, typeP, blocks }));
  const others = (): readonly Int32Array[] =>
    FAVORS.filter((other) => other !== favor).map(
      (other) => selectJudged(tree, { ...judgement, favor: other }).judged,
    );
  return {
    selection,
    blocks,
    pageType: likeliestOf(typeP),
    confidence: Math.round(confidence * 100) / 100,
    verdicts: hasVerdicts ? verdictsOn(tree, [blocks, ...others()], p) : null,
  };
}

/** @param p the probability of each candidate; null without probabilities */
function verdictsOn(
  tree: PageTree,
  selections: readonly Int32Array[],
  p: Float32Array | null,
): BlockVerdict[] {
  const { count } = tree.model.blocks;
  const times = new Uint8Array(count);
  for (const blocks of selections) for (const block of blocks) times[block]!++;
  const verdicts = Array.from(times, (kept): { probability: number | null; isUnsure: boolean } => ({
    probability: null,
    isUnsure: kept % selections.length > 0,
  }));
  for (const [index, block] of tree.candidates.entries())
    if (p !== null) verdicts[block]!.probability = Math.round(p[index]! * 100) / 100;
  return verdicts;
}

const FAVORS: readonly Favor[] = ["precision", "balanced", "recall"];

export const likeliestOf = (typeP: Float32Array): PageType | null =>
  PAGE_TYPES[typeP.indexOf(Math.max(...typeP))] ?? null;

function typesOf(types: readonly Trees[], features: Float32Array): Float32Array {
  const p = Float32Array.from(types, (trees) => predict(trees, features)[0]!);
  const sum = p.reduce((total, value) => total + value, 0);
  return p.map((value) => value / sum);
}

type ChoiceEvidence = {
  readonly tree: PageTree;
  /** The probability of each candidate. */
  readonly p: Float32Array;
  /** The probability of each page type. */
  readonly typeP: Float32Array;
  readonly blocks: Int32Array;
};

const FEATURES = joined<ReturnType<typeof sumsOf>>(
  features({
    plateau: ({ plateau }) => plateau,
    keptP: ({ kept, keptMass }) => (kept === 0 ? 0 : keptMass / kept),
    keptWords: ({ kept }) => Math.log2(1 + kept),
    keptBlocks: ({ keptBlocks }) => Math.log2(1 + keptBlocks),
    keptShare: ({ kept, total }) => kept / Math.max(total, 1),
    uncertainShare: ({ uncertain, kept }) => uncertain / Math.max(kept, 1),
    likelyDropped: ({ dropped, kept }) => dropped / Math.max(kept, 1),
    pageWords: ({ total }) => Math.log2(1 + total),
    highestP: ({ highest }) => highest,
  }),
  given(
    PAGE_TYPES.map((type) => `is.${type}`),
    ({ typeP }) => typeP,
  ),
);

/** The names of the features of the confidence, in their order; a change needs new trees. */
export const CHOICE_FEATURES = FEATURES.names;

/** Computes the features that the confidence is predicted from. */
export const computeChoiceFeatures = (evidence: ChoiceEvidence): Float32Array =>
  rowsOf(FEATURES, [sumsOf(evidence)]);

function sumsOf({ tree, p, typeP, blocks }: ChoiceEvidence) {
  const { model, candidates } = tree;
  const isKept = new Uint8Array(model.blocks.count);
  for (const block of blocks) isKept[block] = 1;
  const words = Float32Array.from(candidates, (block) => statOf(model, block, TextStat.words));
  const sums = { total: 0, kept: 0, keptMass: 0, uncertain: 0, dropped: 0, highest: 0 };
  for (let index = 0; index < candidates.length; index++) {
    const weight = words[index]!;
    const value = p[index]!;
    sums.total += weight;
    sums.highest = Math.max(sums.highest, value);
    if (value > 0.25 && value < 0.75) sums.uncertain += weight;
    if (isKept[candidates[index]!]) {
      sums.kept += weight;
      sums.keptMass += weight * value;
    } else sums.dropped += weight * value;
  }
  return { ...sums, ...plateauOf(p, words), keptBlocks: blocks.length, typeP };
}
