import { wordsIn } from "../../base/text.ts";
import { GROUP_COUNT } from "../page/attributes.ts";
import { FIRST_UNKNOWN_TAG, type PageFacts } from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import { BLOCK_FEATURES, headingLevel, WORD_SUM_COUNT, WORD_SUMS } from "./block-features.ts";
import {
  addToParents,
  COUNT_LIMITS,
  PAGE_SIGNS,
  type PageTree,
  STRUCTURE_COUNT,
  twinsKey,
} from "./page-tree.ts";
import { computeRegionFeatures, REGION_FEATURES } from "./region.ts";
import { each, type Features, features, flag, given, joined, plateauOf, rowsOf } from "./trees.ts";

/** The number of levels above a block whose probability and mass are features. */
const LEVELS = 8;
const TWIN_LEVELS = 3;
/** The smallest element with this share of the page's mass is the core of its content. */
const CORE_SHARE = 0.75;
const NEIGHBOURS = [-3, -2, -1, 1, 2, 3] as const;
const WINDOWS = [3, 8, 20] as const;

const PAGE = features<Context>({
  coreLevels: (block) => (sideOfCore(block) === 0 ? levelsToCore(block) : -1),
  coreDistance: (block) => sideOfCore(block) * distanceToCore(block),
  coreWords: ({ weightIn, core, words }) => weightIn[core]! / Math.max(words, 1),
  pagePlateau: ({ signs }) => signs.plateau,
  pageMean: ({ signs }) => signs.mean,
  pageMass: ({ signs }) => signs.mass,
  pageShareAboveHalf: ({ signs }) => signs.shareAboveHalf,
  place: ({ weightBefore, index, words }) => weightBefore[index]! / Math.max(words, 1),
});

const FEATURES = joined<Context>(
  features({
    p: ({ p, index }) => p[index]!,
    words: ({ weight, index }) => weight[index]!,
    linkDensity: ({ tree: { model, candidates }, index }) =>
      statOf(model, candidates[index]!, TextStat.linkChars) /
      Math.max(statOf(model, candidates[index]!, TextStat.chars), 1),
    tag: ({ tree, element }) => Math.min(tree.model.tag[element]!, FIRST_UNKNOWN_TAG),
    headingLevel: ({ tree, index }) => headingLevel(tree, tree.candidates[index]!),
    pHeadingAbove: ({ p, headingAbove, index }) => (headingAbove[index]! < 0 ? -1 : p[headingAbove[index]!]!),
    samePlace: ({ samePlace, index }) => samePlace[index]!,
  }),
  each(NEIGHBOURS, "p", ({ p, index }, step) => p[index + step] ?? -1),
  each(WINDOWS, "window", ({ p, weightBefore, massBefore, index }, reach) => {
    const first = Math.max(0, index - reach);
    const end = Math.min(p.length, index + reach + 1);
    return (massBefore[end]! - massBefore[first]!) / (weightBefore[end]! - weightBefore[first]!);
  }),
  levels(LEVELS, {
    levelP: ({ massIn, weightIn }, element) => massIn[element]! / weightIn[element]!,
    levelShare: ({ massIn, mass }, element) => massIn[element]! / mass,
  }),
  levels(TWIN_LEVELS, {
    twinP: ({ twinP }, element) => twinP[element]!,
    twins: ({ tree }, element) => Math.min(tree.twins[element]!, COUNT_LIMITS.twins),
  }),
  PAGE,
  given(REGION_FEATURES, ({ inRegion, index }) => rowAt(inRegion, index, REGION_FEATURES.length)),
  given(WORD_SUMS, ({ wordSums, index }) => rowAt(wordSums, index, WORD_SUM_COUNT)),
);

const rowAt = (rows: Float32Array, index: number, width: number): Float32Array =>
  rows.subarray(index * width, (index + 1) * width);

/** Declares features of the block's element and of those around it; -1 above the last one. */
function levels(
  count: number,
  readers: Readonly<Record<string, (block: Context, element: number) => number>>,
): Features<Context> {
  const columns = Object.values(readers);
  return {
    names: Array.from({ length: count }, (_, level) =>
      Object.keys(readers).map((name) => `${name}${level}`),
    ).flat(),
    write: (rows, start, block) => {
      let element = block.element;
      let at = start;
      for (let level = 0; level < count; level++) {
        for (const read of columns) rows[at++] = element < 0 ? -1 : read(block, element);
        if (element >= 0) element = block.tree.above[element]!;
      }
    },
  };
}

/** The names of the second stage's features, in their order; a change needs new trees. */
export const CONTEXT_FEATURES = FEATURES.names;

const WIDTH = CONTEXT_FEATURES.length;

/**
 * Computes the features of the second stage: what the first stage's probabilities say about everything around each
 * candidate.
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
  const context = prepare(tree, p, wordSums);
  for (let index = 0; index < candidates.length; index++) {
    context.index = index;
    context.element = tree.model.blocks.element[candidates[index]!]!;
    FEATURES.write(rows, index * WIDTH, context);
  }
  return rows;
}

/** Builds the rows of the second stage's trees: each block's context, then the odds of the page types. */
export function withPageTypes(context: Float32Array, typeP: Float32Array): Float32Array {
  const width = WIDTH + typeP.length;
  const rows = new Float32Array((context.length / WIDTH) * width);
  for (let from = 0, to = 0; from < context.length; from += WIDTH, to += width) {
    rows.set(context.subarray(from, from + WIDTH), to);
    rows.set(typeP, to + WIDTH);
  }
  return rows;
}

/** A cursor over the candidates of a page; one object serves all of them. */
type Context = ReturnType<typeof prepare>;

function prepare(tree: PageTree, p: Float32Array, wordSums: Float32Array) {
  const { model, candidates } = tree;
  const count = candidates.length;
  const weight = new Float32Array(count);
  // Running sums over the candidates: the weight and the mass before each, and those inside each element.
  const weightBefore = new Float64Array(count + 1);
  const massBefore = new Float64Array(count + 1);
  const weightIn = new Float32Array(model.elementCount);
  const massIn = new Float32Array(model.elementCount);
  const headingAbove = new Int32Array(count);
  let heading = -1;
  for (let index = 0; index < count; index++) {
    const block = candidates[index]!;
    weight[index] = statOf(model, block, TextStat.words);
    weightBefore[index + 1] = weightBefore[index]! + weight[index]!;
    massBefore[index + 1] = massBefore[index]! + weight[index]! * p[index]!;
    const element = model.blocks.element[block]!;
    weightIn[element]! += weight[index]!;
    massIn[element]! += weight[index]! * p[index]!;
    headingAbove[index] = heading;
    if (headingLevel(tree, block) > 0) heading = index;
  }
  addToParents(model, weightIn);
  addToParents(model, massIn);
  const mass = massBefore[count]!;
  return {
    tree,
    p,
    wordSums,
    weight,
    index: 0,
    element: 0,
    // The number of words of the page, and of words that are likely content.
    words: weightBefore[count]!,
    mass: Math.max(mass, 1e-6),
    inRegion: computeRegionFeatures(tree, p, weight),
    weightBefore,
    massBefore,
    weightIn,
    massIn,
    // Elements without candidates have no mean, and nothing asks for it.
    twinP: meansBy(
      Float64Array.from(weightIn, (_, element) => twinsKey(model, element)),
      weightIn,
      massIn,
    ),
    samePlace: meansBy(
      Float64Array.from(candidates, (_, index) => placeOf(tree, index)),
      weight,
      Float64Array.from(p, (value, index) => value * weight[index]!),
    ),
    headingAbove,
    core: findCore(tree, massIn, mass),
    signs: {
      ...plateauOf(p, weight),
      mean: mass / Math.max(weightBefore[count]!, 1),
      mass: Math.log2(1 + Math.min(mass, COUNT_LIMITS.pageWords)),
    },
  };
}

/** Finds the smallest element that contains three quarters of the page's mass. */
function findCore({ model }: PageTree, massIn: Float32Array, mass: number): number {
  let core = 0;
  for (let element = 0; element < model.elementCount; element++) {
    // In document order, a later element that still contains the share is inside the earlier ones.
    if (massIn[element]! >= CORE_SHARE * mass && element < Math.max(model.elementEnd[core]!, 1))
      core = element;
  }
  return core;
}

/** Returns for each thing the mean probability of those with the same key. */
function meansBy(
  keys: ArrayLike<number>,
  weights: ArrayLike<number>,
  masses: ArrayLike<number>,
): Float32Array {
  const sums = new Map<number, { weight: number; mass: number }>();
  const groups = Array.from(keys, (key, index) => {
    const sum = sums.get(key) ?? { weight: 0, mass: 0 };
    sum.weight += weights[index]!;
    sum.mass += masses[index]!;
    sums.set(key, sum);
    return sum;
  });
  return Float32Array.from(groups, ({ weight, mass }) => mass / weight);
}

/** Describes what a block's place looks like: its element's tag and class, and the class around it. */
export function placeOf({ model, candidates }: PageTree, index: number): number {
  const element = model.blocks.element[candidates[index]!]!;
  const parent = model.parent[element]!;
  const outer = parent < 0 ? 0 : model.classId[parent]! & 65535;
  return (model.tag[element]! * 65536 + (model.classId[element]! & 65535)) * 65536 + outer;
}

/** Returns -1 before the core, 1 after it, 0 inside. */
const sideOfCore = ({ tree: { model }, core, element }: Context): number =>
  element < core ? -1 : element >= model.elementEnd[core]! ? 1 : 0;

function levelsToCore({ tree, core, element }: Context): number {
  let at = element;
  let levels = 0;
  for (; at > core && levels < 15; levels++) at = tree.above[at]!;
  return levels;
}

/** Counts the levels up to the first element that contains both the block and the core. */
function distanceToCore({ tree, core, element: own }: Context): number {
  const { model, above } = tree;
  let element = own;
  let levels = 0;
  while (element >= 0 && levels < 15 && !(element <= core && core < model.elementEnd[element]!)) {
    element = above[element]!;
    levels++;
  }
  return levels;
}

const column = (name: string): number => BLOCK_FEATURES.indexOf(name);
const HEADING_COLUMN = column("headingLevel");

const OWN = features<Page>({
  meanP: ({ p, all }) => meanOf(p, 0, all, 1),
  plateau: ({ plateau }) => plateau,
  shareAboveHalf: ({ shareAboveHalf }) => shareAboveHalf,
  keptBlocks: ({ keptBlocks }) => keptBlocks,
  keptWords: ({ kept }) => sum(kept),
  keptWordsPerBlock: ({ kept, keptBlocks }) => sum(kept) / Math.max(keptBlocks, 1),
  keptLinkDensity: ({ rows, kept }) => meanOf(rows, column("above1.linkDensity"), kept),
  keptTwins: ({ rows, kept }) => meanOf(rows, column("above2.twins"), kept),
  keptHeadings: ({ rows, p }) =>
    p.reduce((count, value, index) => count + flag(value > 0.5 && isHeading(rows, index)), 0),
  uncertainShare: ({ p, all }) =>
    sum(all.map((words, index) => (p[index]! > 0.2 && p[index]! < 0.8 ? words : 0))) / Math.max(sum(all), 1),
  currency: ({ rows }) => sumOf(rows, column("currency")),
  years: ({ rows }) => sumOf(rows, column("years")),
  isProductMeta: ({ type, facts }) => flag(/product/i.test(type) || facts.meta.has("product:price:amount")),
  isWebsiteMeta: ({ type }) => flag(/website/i.test(type)),
});

/** The columns of a block's row that are averaged over the kept blocks and over the page. */
const AVERAGED = wordsIn(
  `linkDensity frequentShare titleShare sentenceEnds digits capitalised endsSentence isPreformatted
   above1.twins above0.twins depth`,
);
const FIRST_NAME_COLUMN = column("group0");
const FIRST_SIGN_COLUMN = column("pageWords");
const NAME_COUNT = GROUP_COUNT + STRUCTURE_COUNT;
/** Names further out than this say nothing about a block. */
const NEAR_LEVELS = 5;
const WIDTH_OF_BLOCK = BLOCK_FEATURES.length;

const OF_PAGE = joined<Page>(
  OWN,
  ...AVERAGED.map((name) =>
    features<Page>({
      [`kept.${name}`]: ({ rows, kept }) => meanOf(rows, column(name), kept),
      [`page.${name}`]: ({ rows, all }) => meanOf(rows, column(name), all),
    }),
  ),
  each([...new Array(NAME_COUNT).keys()], "name", ({ rows, all }, name) =>
    shareNear(rows, FIRST_NAME_COLUMN + name, all),
  ),
  given(PAGE_SIGNS, ({ rows }) => rows.subarray(FIRST_SIGN_COLUMN, FIRST_SIGN_COLUMN + PAGE_SIGNS.length)),
);

/** The names of a page's features, in their order; a change needs new trees. */
export const PAGE_FEATURES = OF_PAGE.names;

/** The input of a page's features. */
type PageEvidence = {
  readonly facts: PageFacts;
  /** The rows of the block features, and the probability of each block. */
  readonly rows: Float32Array;
  readonly p: Float32Array;
};

/** Computes the features of the whole page: what it consists of, and what its likely content is made of. */
export const computePageFeatures = (evidence: PageEvidence): Float32Array =>
  rowsOf(OF_PAGE, [describe(evidence)]);

type Page = ReturnType<typeof describe>;

/** Adds up the words of each block, of the page and of its likely content. */
function describe(evidence: PageEvidence) {
  const { facts, rows, p } = evidence;
  const all = Float32Array.from(p, (_, index) => rows[index * WIDTH_OF_BLOCK]!);
  return {
    ...evidence,
    ...plateauOf(p, all),
    all,
    kept: all.map((words, index) => (p[index]! > 0.5 ? words : 0)),
    keptBlocks: p.reduce((count, value) => count + flag(value > 0.5), 0),
    type: facts.meta.get("og:type") ?? "",
  };
}

const isHeading = (rows: Float32Array, index: number): boolean =>
  rows[index * WIDTH_OF_BLOCK + HEADING_COLUMN]! > 0;

const sum = (values: Float32Array): number => values.reduce((total, value) => total + value, 0);

function sumOf(rows: Float32Array, column: number): number {
  let total = 0;
  for (let at = column; at < rows.length; at += WIDTH_OF_BLOCK) total += rows[at]!;
  return total;
}

function meanOf(rows: Float32Array, column: number, weights: Float32Array, width = WIDTH_OF_BLOCK): number {
  let total = 0;
  let weight = 0;
  for (let index = 0; index < weights.length; index++) {
    total += rows[index * width + column]! * weights[index]!;
    weight += weights[index]!;
  }
  return weight === 0 ? 0 : total / weight;
}

function shareNear(rows: Float32Array, column: number, weights: Float32Array): number {
  let near = 0;
  let weight = 0;
  for (let index = 0; index < weights.length; index++) {
    if (rows[index * WIDTH_OF_BLOCK + column]! <= NEAR_LEVELS) near += weights[index]!;
    weight += weights[index]!;
  }
  return weight === 0 ? 0 : near / weight;
}
