import { GROUP_COUNT } from "../page/class-groups.ts";
import type { PageFacts } from "../page/page-model.ts";
import { BLOCK_FEATURES } from "./block-features.ts";
import { PAGE_SIGNS } from "./page-signs.ts";
import { STRUCTURE_COUNT } from "./page-tree.ts";
import { plateauOf } from "./trees.ts";

/** Words in addresses that sites of all kinds give to pages of one kind. */
const ADDRESS_PATTERNS: readonly RegExp[] = [
  /\/(?:products?|items?|p|dp|pd|itm|buy|shop)\/[^/]+/i,
  /\/(?:forums?|threads?|topics?|viewtopic|showthread|questions?|discussions?|comments|t|r|community)\b/i,
  /\/(?:docs?|documentation|reference|api|guides?|manual|wiki|learn|tutorials?|handbook|glossary|man)\b|^https?:\/\/(?:docs?|developers?|api|wiki|learn|help|support)\./i,
  /\/(?:collections?|categor(?:y|ies)|c|cat|shop|store|catalog|departments?|browse)\b/i,
  /\/(?:blogs?|news|articles?|posts?|stor(?:y|ies)|magazine|press|insights)\/|\/20\d\d\//i,
  /\/(?:services?|solutions?|pricing|features?|about|contact|platform|company|careers)\b/i,
  /\/(?:search|list|listings?|directory|tags?|archive|events?|jobs?|schedule|rankings?|top|best)\b/i,
];

const OWN = [
  "meanP",
  "plateau",
  "shareAboveHalf",
  "keptBlocks",
  "keptWords",
  "keptWordsPerBlock",
  "keptLinkDensity",
  "keptTwins",
  "keptHeadings",
  "uncertainShare",
  "currency",
  "years",
  "pathDepth",
  "pathLength",
  "pathDashes",
  "pathDigits",
  "hasQuery",
  "isProductMeta",
  "isWebsiteMeta",
] as const;

/** Columns of a block's row that are averaged over the kept blocks and over the page. */
const AVERAGED = [
  "linkDensity",
  "frequentShare",
  "titleShare",
  "sentenceEnds",
  "digits",
  "capitalised",
  "endsSentence",
  "isPreformatted",
  "above1.twins",
  "above0.twins",
  "depth",
] as const;
const AVERAGED_COLUMNS = AVERAGED.map((name) => BLOCK_FEATURES.indexOf(name));
const FIRST_NAME_COLUMN = BLOCK_FEATURES.indexOf("group0");
const FIRST_SIGN_COLUMN = BLOCK_FEATURES.indexOf(PAGE_SIGNS[0]);
const NAME_COUNT = GROUP_COUNT + STRUCTURE_COUNT;
/** Names further out than this say nothing of a block. */
const NEAR_LEVELS = 5;
const WIDTH_OF_BLOCK = BLOCK_FEATURES.length;

/** Names of the features of a page, in their order; a change needs new trees. */
export const PAGE_FEATURES: readonly string[] = [
  ...OWN,
  ...ADDRESS_PATTERNS.map((_, index) => `address${index}`),
  ...AVERAGED.flatMap((name) => [`kept.${name}`, `page.${name}`]),
  ...Array.from({ length: NAME_COUNT }, (_, index) => `name${index}`),
  ...PAGE_SIGNS,
];

/** What a page's features are computed from. */
export type PageEvidence = {
  readonly facts: PageFacts;
  readonly url: string | null;
  /** Rows of the block features, and the probability of each block. */
  readonly rows: Float32Array;
  readonly p: Float32Array;
};

/** The features of the page as a whole: what it is made of, and of which kind the likely content is. */
export function computePageFeatures(evidence: PageEvidence): Float32Array {
  const features = new Float32Array(PAGE_FEATURES.length);
  const weights = weightsOf(evidence);
  let at = writeOwn(features, evidence, weights);
  for (const pattern of ADDRESS_PATTERNS) features[at++] = pattern.test(evidence.url ?? "") ? 1 : 0;
  for (const column of AVERAGED_COLUMNS) {
    features[at++] = meanOf(evidence.rows, column, weights.kept);
    features[at++] = meanOf(evidence.rows, column, weights.all);
  }
  for (let name = 0; name < NAME_COUNT; name++) {
    features[at++] = shareNear(evidence.rows, FIRST_NAME_COLUMN + name, weights.all);
  }
  if (evidence.p.length > 0) {
    features.set(evidence.rows.subarray(FIRST_SIGN_COLUMN, FIRST_SIGN_COLUMN + PAGE_SIGNS.length), at);
  }
  return features;
}

type Weights = { readonly all: Float32Array; readonly kept: Float32Array };

function weightsOf({ rows, p }: PageEvidence): Weights {
  const all = Float32Array.from(p, (_, index) => rows[index * WIDTH_OF_BLOCK]!);
  return { all, kept: all.map((words, index) => (p[index]! > 0.5 ? words : 0)) };
}

function writeOwn(features: Float32Array, { facts, url, rows, p }: PageEvidence, weights: Weights): number {
  const { all, kept } = weights;
  const { plateau, shareAboveHalf } = plateauOf(p, all);
  const column = (name: string): number => BLOCK_FEATURES.indexOf(name);
  const keptBlocks = p.reduce((count, value) => count + (value > 0.5 ? 1 : 0), 0);
  const keptWords = sum(kept);
  const address = URL.parse(url ?? "");
  const path = address?.pathname ?? "";
  const type = facts.meta.get("og:type") ?? "";
  const values = [
    meanOf(Float32Array.from(p), 0, all, 1),
    plateau,
    shareAboveHalf,
    keptBlocks,
    keptWords,
    keptWords / Math.max(keptBlocks, 1),
    meanOf(rows, column("above1.linkDensity"), kept),
    meanOf(rows, column("above2.twins"), kept),
    p.reduce((count, value, index) => count + (value > 0.5 && isHeading(rows, index) ? 1 : 0), 0),
    sum(all.map((words, index) => (p[index]! > 0.2 && p[index]! < 0.8 ? words : 0))) / Math.max(sum(all), 1),
    sumOf(rows, column("currency")),
    sumOf(rows, column("years")),
    path.split("/").filter(Boolean).length,
    path.length,
    path.split("-").length - 1,
    path.replace(/[^0-9]/g, "").length,
    address?.search ? 1 : 0,
    /product/i.test(type) || facts.meta.has("product:price:amount") ? 1 : 0,
    /website/i.test(type) ? 1 : 0,
  ];
  features.set(values);
  return OWN.length;
}

const HEADING_COLUMN = BLOCK_FEATURES.indexOf("headingLevel");
const isHeading = (rows: Float32Array, index: number): boolean =>
  rows[index * WIDTH_OF_BLOCK + HEADING_COLUMN]! > 0;

function sum(values: Float32Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

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
