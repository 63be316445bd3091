import { wordsIn } from "../../base/text.ts";
import { each, features, flag, given, joined, rowsOf } from "../features.ts";
import { GROUP_COUNT } from "../page/attributes.ts";
import type { PageFacts } from "../page/page-model.ts";
import { BLOCK_FEATURES } from "./block-features.ts";
import { PAGE_SIGNS } from "./page-signs.ts";
import { STRUCTURE_COUNT } from "./page-tree.ts";
import { plateauOf } from "./trees.ts";

/** Matches words in addresses that all kinds of sites use for one type of page. */
const ADDRESS_PATTERNS: readonly RegExp[] = [
  /\/(?:products?|items?|p|dp|pd|itm|buy|shop)\/[^/]+/i,
  /\/(?:forums?|threads?|topics?|viewtopic|showthread|questions?|discussions?|comments|t|r|community)\b/i,
  /\/(?:docs?|documentation|reference|api|guides?|manual|wiki|learn|tutorials?|handbook|glossary|man)\b|^https?:\/\/(?:docs?|developers?|api|wiki|learn|help|support)\./i,
  /\/(?:collections?|categor(?:y|ies)|c|cat|shop|store|catalog|departments?|browse)\b/i,
  /\/(?:blogs?|news|articles?|posts?|stor(?:y|ies)|magazine|press|insights)\/|\/20\d\d\//i,
  /\/(?:services?|solutions?|pricing|features?|about|contact|platform|company|careers)\b/i,
  /\/(?:search|list|listings?|directory|tags?|archive|events?|jobs?|schedule|rankings?|top|best)\b/i,
];

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
  pathDepth: ({ path }) => path.split("/").filter(Boolean).length,
  pathLength: ({ path }) => path.length,
  pathDashes: ({ path }) => path.split("-").length - 1,
  pathDigits: ({ path }) => path.replace(/[^0-9]/g, "").length,
  hasQuery: ({ query }) => flag(query !== ""),
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

const FEATURES = joined<Page>(
  OWN,
  each([...ADDRESS_PATTERNS.keys()], "address", ({ url }, pattern) =>
    flag(ADDRESS_PATTERNS[pattern]!.test(url ?? "")),
  ),
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
export const PAGE_FEATURES = FEATURES.names;

/** The input of a page's features. */
export type PageEvidence = {
  readonly facts: PageFacts;
  readonly url: string | null;
  /** The rows of the block features, and the probability of each block. */
  readonly rows: Float32Array;
  readonly p: Float32Array;
};

/**
 * Computes the features of the page as a whole: what it consists of, and what the likely content is made of.
 */
export const computePageFeatures = (evidence: PageEvidence): Float32Array =>
  rowsOf(FEATURES, [describe(evidence)]);

type Page = ReturnType<typeof describe>;

/** Adds up the words of each block, of the page and of its likely content. */
function describe(evidence: PageEvidence) {
  const { facts, url, rows, p } = evidence;
  const all = Float32Array.from(p, (_, index) => rows[index * WIDTH_OF_BLOCK]!);
  const address = URL.parse(url ?? "");
  return {
    ...evidence,
    ...plateauOf(p, all),
    all,
    kept: all.map((words, index) => (p[index]! > 0.5 ? words : 0)),
    keptBlocks: p.reduce((count, value) => count + flag(value > 0.5), 0),
    path: address?.pathname ?? "",
    query: address?.search ?? "",
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
