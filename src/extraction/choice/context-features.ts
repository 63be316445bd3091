import { FIRST_UNKNOWN_TAG } from "../page/tags.ts";
import { TextStat } from "../page/word-stats.ts";
import { PAGE_TYPES } from "../types.ts";
import { headingLevel } from "./block-features.ts";
import { COUNT_LIMITS } from "./page-signs.ts";
import type { PageTree } from "./page-tree.ts";
import { computeRegionFeatures, REGION_FEATURES } from "./region.ts";
import { type FeatureHints, plateauOf } from "./trees.ts";
import { WORD_SUM_COUNT, WORD_SUMS } from "./word-sums.ts";

/** Levels above a block whose probability and mass are features. */
const LEVELS = 8;
const TWIN_LEVELS = 3;
/** Share of the page's mass that the smallest element around the content holds. */
const CORE_SHARE = 0.75;
const NEIGHBOURS = [-3, -2, -1, 1, 2, 3] as const;
const WINDOWS = [3, 8, 20] as const;

/** Names of the features of the second stage, in their order; a change needs new trees. */
export const CONTEXT_FEATURES: readonly string[] = [
  "p",
  "words",
  "linkDensity",
  "tag",
  "headingLevel",
  "pHeadingAbove",
  "samePlace",
  ...NEIGHBOURS.map((step) => `p${step}`),
  ...WINDOWS.map((reach) => `window${reach}`),
  ...Array.from({ length: LEVELS }, (_, level) => [`levelP${level}`, `levelShare${level}`]).flat(),
  ...Array.from({ length: TWIN_LEVELS }, (_, level) => [`twinP${level}`, `twins${level}`]).flat(),
  "coreLevels",
  "coreDistance",
  "coreWords",
  "pagePlateau",
  "pageMean",
  "pageMass",
  "pageShareAboveHalf",
  "place",
  ...REGION_FEATURES,
  ...WORD_SUMS,
];

const WIDTH = CONTEXT_FEATURES.length;

/** The features that say the same of all blocks of a page: its own, and behind them its types. */
export const CONTEXT_HINTS: FeatureHints = {
  shared: new Set([
    ...CONTEXT_FEATURES.flatMap((name, column) => (/^page|^coreWords$/.test(name) ? [column] : [])),
    ...PAGE_TYPES.map((_, type) => WIDTH + type),
  ]),
  great: new Set(),
};

/**
 * The features of the second stage: what the first stage's probabilities say about everything around
 * each candidate.
 * @param p the first stage's probability of each candidate
 * @param wordSums see `computeWordSums`
 */
export function computeContextFeatures(
  tree: PageTree,
  p: Float32Array,
  wordSums: Float32Array,
): Float32Array {
  const { candidates } = tree;
  const rows = new Float32Array(candidates.length * WIDTH);
  const context = prepare(tree, p);
  const inRegion = computeRegionFeatures(tree, p, context.weight);
  for (let index = 0; index < candidates.length; index++) {
    let at = writeOwn(rows, index * WIDTH, index, context);
    at = writeNeighbours(rows, at, index, context);
    at = writeLevels(rows, at, index, context);
    at = writePage(rows, at, index, context);
    rows.set(inRegion.subarray(index * REGION_FEATURES.length, (index + 1) * REGION_FEATURES.length), at);
    at += REGION_FEATURES.length;
    rows.set(wordSums.subarray(index * WORD_SUM_COUNT, (index + 1) * WORD_SUM_COUNT), at);
  }
  return rows;
}

/** Rows of the second stage's trees: the context of each block, then the probabilities of the page types. */
export function withPageTypes(context: Float32Array, typeP: Float32Array): Float32Array {
  const width = WIDTH + typeP.length;
  const rows = new Float32Array((context.length / WIDTH) * width);
  for (let from = 0, to = 0; from < context.length; from += WIDTH, to += width) {
    rows.set(context.subarray(from, from + WIDTH), to);
    rows.set(typeP, to + WIDTH);
  }
  return rows;
}

type Context = {
  readonly tree: PageTree;
  readonly p: Float32Array;
  readonly weight: Float32Array;
  /** Running sums over the candidates: weight and mass before each. */
  readonly weightBefore: Float64Array;
  readonly massBefore: Float64Array;
  /** Sums inside each element. */
  readonly weightIn: Float32Array;
  readonly massIn: Float32Array;
  readonly twinP: Float32Array;
  /** Mean probability of the blocks whose elements look the same anywhere on the page. */
  readonly samePlace: Float32Array;
  readonly headingAbove: Int32Array;
  readonly core: number;
  readonly signs: PageSigns;
};

type PageSigns = {
  readonly plateau: number;
  readonly mean: number;
  readonly mass: number;
  readonly shareAboveHalf: number;
};

function prepare(tree: PageTree, p: Float32Array): Context {
  const { model, candidates } = tree;
  const count = candidates.length;
  const weight = new Float32Array(count);
  const weightBefore = new Float64Array(count + 1);
  const massBefore = new Float64Array(count + 1);
  const weightIn = new Float32Array(model.elementCount);
  const massIn = new Float32Array(model.elementCount);
  const headingAbove = new Int32Array(count);
  let heading = -1;
  for (let index = 0; index < count; index++) {
    const block = candidates[index]!;
    weight[index] = model.blocks.stats[block * TextStat.count + TextStat.words]!;
    weightBefore[index + 1] = weightBefore[index]! + weight[index]!;
    massBefore[index + 1] = massBefore[index]! + weight[index]! * p[index]!;
    const element = model.blocks.element[block]!;
    weightIn[element]! += weight[index]!;
    massIn[element]! += weight[index]! * p[index]!;
    headingAbove[index] = heading;
    if (headingLevel(tree, block) > 0) heading = index;
  }
  for (let child = model.elementCount - 1; child > 0; child--) {
    const parent = model.parent[child]!;
    if (parent < 0) continue;
    weightIn[parent]! += weightIn[child]!;
    massIn[parent]! += massIn[child]!;
  }
  const mass = massBefore[count]!;
  return {
    tree,
    p,
    weight,
    weightBefore,
    massBefore,
    weightIn,
    massIn,
    twinP: meanOfTwins(tree, weightIn, massIn),
    samePlace: meanOfSamePlaces(tree, weight, p),
    headingAbove,
    core: findCore(tree, massIn, mass),
    signs: {
      ...plateauOf(p, weight),
      mean: mass / Math.max(weightBefore[count]!, 1),
      mass: Math.log2(1 + Math.min(mass, COUNT_LIMITS.pageWords)),
    },
  };
}

/** The smallest element that holds three quarters of the page's mass. */
function findCore({ model }: PageTree, massIn: Float32Array, mass: number): number {
  let core = 0;
  for (let element = 0; element < model.elementCount; element++) {
    // In document order a later element that still holds the share lies inside the ones before.
    if (massIn[element]! >= CORE_SHARE * mass && element < Math.max(model.elementEnd[core]!, 1))
      core = element;
  }
  return core;
}

function meanOfTwins(
  { model, blockCount }: PageTree,
  weightIn: Float32Array,
  massIn: Float32Array,
): Float32Array {
  const weights = new Map<number, number>();
  const masses = new Map<number, number>();
  const means = new Float32Array(model.elementCount);
  const keyOf = (element: number): number =>
    ((model.parent[element]! + 1) * 4096 + model.tag[element]!) * 65536 + (model.classId[element]! & 65535);
  for (let element = 0; element < model.elementCount; element++) {
    if (blockCount[element] === 0) continue;
    const key = keyOf(element);
    weights.set(key, (weights.get(key) ?? 0) + weightIn[element]!);
    masses.set(key, (masses.get(key) ?? 0) + massIn[element]!);
  }
  for (let element = 0; element < model.elementCount; element++) {
    if (blockCount[element] === 0) continue;
    const key = keyOf(element);
    means[element] = masses.get(key)! / weights.get(key)!;
  }
  return means;
}

/** What a block's place looks like: its element's tag and class, and the class around. */
export function placeOf({ model, candidates }: PageTree, index: number): number {
  const element = model.blocks.element[candidates[index]!]!;
  const parent = model.parent[element]!;
  const outer = parent < 0 ? 0 : model.classId[parent]! & 65535;
  return (model.tag[element]! * 65536 + (model.classId[element]! & 65535)) * 65536 + outer;
}

function meanOfSamePlaces(tree: PageTree, weight: Float32Array, p: Float32Array): Float32Array {
  const sums = new Map<number, [number, number]>();
  const { candidates } = tree;
  const means = new Float32Array(candidates.length);
  for (let index = 0; index < candidates.length; index++) {
    const sum = sums.get(placeOf(tree, index));
    if (sum) {
      sum[0] += weight[index]!;
      sum[1] += weight[index]! * p[index]!;
    } else sums.set(placeOf(tree, index), [weight[index]!, weight[index]! * p[index]!]);
  }
  for (let index = 0; index < candidates.length; index++) {
    const [weights, mass] = sums.get(placeOf(tree, index))!;
    means[index] = mass / weights;
  }
  return means;
}

function writeOwn(rows: Float32Array, start: number, index: number, context: Context): number {
  const { tree, p, weight, headingAbove, samePlace } = context;
  const { blocks, tag } = tree.model;
  const block = tree.candidates[index]!;
  const s = block * TextStat.count;
  const heading = headingAbove[index]!;
  const element = tag[blocks.element[block]!]!;
  let at = start;
  rows[at++] = p[index]!;
  rows[at++] = weight[index]!;
  rows[at++] = blocks.stats[s + TextStat.linkChars]! / Math.max(blocks.stats[s + TextStat.chars]!, 1);
  rows[at++] = Math.min(element, FIRST_UNKNOWN_TAG);
  rows[at++] = headingLevel(tree, block);
  rows[at++] = heading < 0 ? -1 : p[heading]!;
  rows[at++] = samePlace[index]!;
  return at;
}

function writeNeighbours(rows: Float32Array, start: number, index: number, context: Context): number {
  const { p, weightBefore, massBefore } = context;
  const count = p.length;
  let at = start;
  for (const step of NEIGHBOURS) {
    const other = index + step;
    rows[at++] = other < 0 || other >= count ? -1 : p[other]!;
  }
  for (const reach of WINDOWS) {
    const first = Math.max(0, index - reach);
    const end = Math.min(count, index + reach + 1);
    rows[at++] = (massBefore[end]! - massBefore[first]!) / (weightBefore[end]! - weightBefore[first]!);
  }
  return at;
}

function writeLevels(rows: Float32Array, start: number, index: number, context: Context): number {
  const { tree, weightIn, massIn, massBefore, twinP } = context;
  const total = Math.max(massBefore[massBefore.length - 1]!, 1e-6);
  const first = tree.model.blocks.element[tree.candidates[index]!]!;
  let element = first;
  let at = start;
  for (let level = 0; level < LEVELS; level++) {
    if (element < 0) {
      rows[at++] = -1;
      rows[at++] = -1;
      continue;
    }
    rows[at++] = massIn[element]! / weightIn[element]!;
    rows[at++] = massIn[element]! / total;
    element = tree.above[element]!;
  }
  element = first;
  for (let level = 0; level < TWIN_LEVELS; level++) {
    rows[at++] = element < 0 ? -1 : twinP[element]!;
    rows[at++] = element < 0 ? -1 : Math.min(tree.twins[element]!, COUNT_LIMITS.twins);
    if (element >= 0) element = tree.above[element]!;
  }
  return at;
}

function writePage(rows: Float32Array, start: number, index: number, context: Context): number {
  const { tree, core, weightIn, signs, weightBefore } = context;
  const { model, candidates } = tree;
  let at = start;
  let element = model.blocks.element[candidates[index]!]!;
  const outside = element < core ? -1 : element >= model.elementEnd[core]! ? 1 : 0;
  let levels = 0;
  while (element > core && levels < 15) {
    element = tree.above[element]!;
    levels++;
  }
  rows[at++] = outside === 0 ? levels : -1;
  rows[at++] = outside === 0 ? 0 : outside * distanceToCore(context, index);
  rows[at++] = weightIn[core]! / Math.max(weightBefore[weightBefore.length - 1]!, 1);
  rows[at++] = signs.plateau;
  rows[at++] = signs.mean;
  rows[at++] = signs.mass;
  rows[at++] = signs.shareAboveHalf;
  rows[at++] = weightBefore[index]! / Math.max(weightBefore[weightBefore.length - 1]!, 1);
  return at;
}

/** Levels up to the first element that holds both the block and the core. */
function distanceToCore({ tree, core }: Context, index: number): number {
  const { model, candidates, above } = tree;
  let element = model.blocks.element[candidates[index]!]!;
  let levels = 0;
  while (element >= 0 && levels < 15 && !(element <= core && core < model.elementEnd[element]!)) {
    element = above[element]!;
    levels++;
  }
  return levels;
}
