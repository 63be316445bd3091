import { ElementFlag, type PageModel, type ScannedPage, Tag, tagsNamed } from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import { type BlockReason, type Favor, PAGE_TYPES, type PageType } from "../types.ts";
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
import { type ChoiceObserver, type Judgement, type Kept, keepBlocks } from "./keep-blocks.ts";
import { buildPageTree, type PageTree } from "./page-tree.ts";
import { NOT_SHOWN } from "./region.ts";
import { features, given, joined, loadTrees, plateauOf, predict, rowsOf, type Trees } from "./trees.ts";
import { WORD_WEIGHTS } from "./word-weights.ts";

/** The result of classifying a page's blocks. */
export type Choice = Kept & {
  /** Null for a page without words, and for one that is all content. */
  readonly pageType: PageType | null;
  /** The same, by the name that what decides about content asks for. */
  readonly contentType: PageType | null;
  /** 0–1: how likely the result is mostly right (F1 ≥ 0.8 in training); null where nothing was classified. */
  readonly confidence: number | null;
  /** What became of each block of the page, by its number; null unless asked for. */
  readonly verdicts: readonly BlockVerdict[] | null;
};

/** What the classification says of one block; see `PageBlock`. */
export type BlockVerdict = {
  readonly probability: number | null;
  readonly reason: BlockReason;
  readonly isUnsure: boolean;
};

export type ChoiceOptions = {
  readonly favor: Favor;
  /** Whether to tell the verdict on each block, which takes about as long as another choice. */
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
 * Chooses the content blocks of a page in two stages: first from each block and its place, then from what the first
 * stage says about everything around it. The trees come from scripts/train-extraction. What is kept must not depend on
 * where a page stands, so they know no address.
 */
export function chooseBlocks({ model, facts }: ScannedPage, { favor, hasVerdicts }: ChoiceOptions): Choice {
  models ??= readModels();
  const tree = buildPageTree(model);
  const unchosen = {
    pageType: null,
    contentType: null,
    mainPart: null,
    isInside: null,
    barred: new Set<number>(),
    verdicts: hasVerdicts ? verdictsOnAll(tree) : null,
  };
  if (tree.candidates.length === 0) return { ...unchosen, blocks: new Int32Array(0), confidence: 0 };
  if (isBarePage(tree)) return { ...unchosen, blocks: tree.candidates, confidence: null };
  const rows = computeBlockFeatures(tree, facts);
  const first = predict(models.blocks, rows);
  const typeP = typesOf(models.types, computePageFeatures({ facts, rows, p: first }));
  const context = computeContextFeatures(tree, first, computeWordSums(tree, models.words));
  const p = predict(models.context, withPageTypes(context, typeP));
  const kept = contentBlocks(tree, { p, typeP, favor });
  const pageType = likeliestOf(typeP);
  const [confidence = 0] = predict(
    models.confidence,
    computeChoiceFeatures({ tree, p, typeP, blocks: kept.blocks }),
  );
  return {
    ...kept,
    pageType,
    contentType: pageType,
    confidence: Math.round(confidence * 100) / 100,
    verdicts: hasVerdicts ? verdictsOn(tree, { p, typeP, favor }) : null,
  };
}

/** Chooses among blocks whose probabilities are known, and those of the page types. */
export function contentBlocks(tree: PageTree, judgement: Judgement, observe?: ChoiceObserver): Kept {
  const kept = keepBlocks(tree, judgement, observe);
  const likely = kept.blocks.length === 0 ? shortPageBlocks(tree) : kept.blocks;
  return { ...kept, blocks: withoutShortForms(tree.model, likely) };
}

/** The verdicts on a page whose blocks are all content, but for those that are no candidates. */
function verdictsOnAll({ model, candidates }: PageTree): BlockVerdict[] {
  const isCandidate = new Set(candidates);
  return Array.from({ length: model.blocks.count }, (_, block) => ({
    probability: null,
    // A block with words is no candidate where it asks for consent.
    reason: isCandidate.has(block) ? "whole" : "consent",
    isUnsure: false,
  }));
}

/** Makes the choice for each value of `favor` again, and watches how the one that counts comes about. */
function verdictsOn(tree: PageTree, judgement: Judgement): BlockVerdict[] {
  const { candidates } = tree;
  const reasons = new Array<BlockReason>(candidates.length).fill("unlikely");
  const before = new Uint8Array(candidates.length);
  const observe: ChoiceObserver = (isChosen, reason) => {
    for (let index = 0; index < isChosen.length; index++)
      if (isChosen[index] !== before[index]) reasons[index] = reason;
    before.set(isChosen);
  };
  const isKept = new Uint8Array(tree.model.blocks.count);
  const times = new Uint8Array(isKept.length);
  for (const favor of FAVORS) {
    const isOwn = favor === judgement.favor;
    const { blocks } = contentBlocks(tree, { ...judgement, favor }, isOwn ? observe : undefined);
    for (const block of blocks) {
      times[block]!++;
      if (isOwn) isKept[block] = 1;
    }
  }
  const verdicts = verdictsOnAll(tree);
  for (const [index, block] of candidates.entries()) {
    const isChosen = before[index] === 1;
    const reason = isKept[block]
      ? isChosen
        ? reasons[index]!
        : "whole"
      : isChosen
        ? "repeated"
        : reasons[index]!;
    const probability = Math.round(judgement.p[index]! * 100) / 100;
    verdicts[block] = { probability, reason, isUnsure: times[block]! % FAVORS.length !== 0 };
  }
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

/** Matches names of a text's beginning and of the full text, of which a script shows one. */
const SHORT_NAME = /short|brief|teaser|truncat|excerpt|preview|collapsed|summary/i;
const FULL_NAME = /full|long|complete|expanded|detail/i;
/** Such names are on the text's own element, or on a box close around it. */
const MAX_LEVELS = 4;
/** Longer names are data. */
const MAX_NAME = 300;
const ELLIPSIS = /(?:…|\.\.\.)$/;
/** A short label such as "Returns" may also begin the next text. */
const FEWEST_CHARS = 12;

/** Drops blocks that only begin what the next block says in full. */
function withoutShortForms(model: PageModel, blocks: Int32Array): Int32Array {
  const { text, flags } = model.blocks;
  return blocks.filter((block, index) => {
    const next = blocks[index + 1];
    // Few texts begin alike, so this is checked before the names.
    if (next === undefined || !text[next]!.startsWith(text[block]!.slice(0, FEWEST_CHARS))) return true;
    // A section may begin with the words of its heading.
    if ((flags[block]! & ElementFlag.heading) !== 0) return true;
    const start = text[block]!.replace(ELLIPSIS, "");
    const isStart = start.length >= FEWEST_CHARS && text[next]!.startsWith(start);
    return !isStart || !isNamed(model, block, SHORT_NAME) || !isNamed(model, next, FULL_NAME);
  });
}

function isNamed({ blocks, parent, classId, names }: PageModel, block: number, pattern: RegExp): boolean {
  let element = blocks.element[block]!;
  for (let level = 0; level < MAX_LEVELS && element >= 0; level++, element = parent[element]!) {
    const name = names[classId[element]!]!;
    if (name.length <= MAX_NAME && pattern.test(name)) return true;
  }
  return false;
}

/** A longer page in which the trees choose nothing is a shell of menus. */
const MAX_WORDS = 200;
const MOSTLY_LINKS = 0.5;
const MAIN_TAGS = tagsNamed("main article");
const FRAME_TAGS = tagsNamed("nav header footer aside form dialog button");
/** Outside of a main part, text directly in a box is a message such as "Loading". */
const TEXT_TAGS = tagsNamed("p pre li td th dt dd blockquote h1 h2 h3");

const IN_FRAME = 1;
const IN_MAIN = 2;

/**
 * Returns the content of a page that is too short for the trees, which were trained on pages of sites: what is
 * visible in its main part or, without one, outside of its header, navigation, sidebar and footer.
 */
function shortPageBlocks(tree: PageTree): Int32Array {
  const { model } = tree;
  const { elementCount, parent, tag, blocks } = model;
  const place = new Uint8Array(elementCount);
  for (let element = 0; element < elementCount; element++) {
    const around = parent[element]! < 0 ? 0 : place[parent[element]!]!;
    if (around === 0 && MAIN_TAGS.has(tag[element]!)) place[element] = IN_MAIN;
    // The header of an article contains its heading.
    else if (FRAME_TAGS.has(tag[element]!) && !(around === IN_MAIN && tag[element] === Tag.header))
      place[element] = IN_FRAME;
    else place[element] = around;
  }
  const shown = tree.candidates.filter((block) => {
    if ((blocks.flags[block]! & NOT_SHOWN) !== 0) return false;
    return statOf(model, block, TextStat.linkChars) <= MOSTLY_LINKS * statOf(model, block, TextStat.chars);
  });
  const inMain = shown.filter((block) => place[blocks.element[block]!] === IN_MAIN);
  const found =
    inMain.length > 0
      ? inMain
      : shown.filter((block) => {
          const element = blocks.element[block]!;
          return place[element] === 0 && TEXT_TAGS.has(tag[element]!);
        });
  const words = found.reduce((sum, block) => sum + statOf(model, block, TextStat.words), 0);
  return words > MAX_WORDS ? new Int32Array(0) : found;
}

/** The groups of names for content, dates and code, which do not mark a frame. */
const CONTENT_GROUPS = (1 << 11) | (1 << 12) | (1 << 16) | (1 << 20) | (1 << 27) | (1 << 29);
/** DocBook uses these one-word names for its navigation. */
const FRAME_NAME = /(?:^|\s)nav(?:header|footer)(?:\s|$)/;
const MOST_LINKED = 0.5;
/** A page this short may be a sentence with a link. */
const SHORT_CHARS = 200;

/**
 * Tells whether a page has no sign of a frame around its content: no navigation, header, sidebar or form by tag or by
 * name, and few links. A document written by hand is all content. Pages of sites never are, so trees trained on them
 * cannot know.
 */
export function isBarePage({ model, candidates }: PageTree): boolean {
  for (let element = 0; element < model.elementCount; element++) {
    if (FRAME_TAGS.has(model.tag[element]!)) return false;
    if ((model.groups[element]! & ~CONTENT_GROUPS) !== 0) return false;
  }
  if (model.names.some((name) => FRAME_NAME.test(name))) return false;
  let all = 0;
  let linked = 0;
  for (const block of candidates) {
    all += statOf(model, block, TextStat.chars);
    linked += statOf(model, block, TextStat.linkChars);
  }
  return all <= SHORT_CHARS || linked <= MOST_LINKED * all;
}
