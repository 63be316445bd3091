import { GROUP_COUNT } from "../page/class-groups.ts";
import { ElementFlag, type PageFacts } from "../page/page-model.ts";
import { FIRST_UNKNOWN_TAG, Tag } from "../page/tags.ts";
import { TextStat } from "../page/word-stats.ts";
import {
  COUNT_LIMITS,
  markPageWords,
  PAGE_SIGNS,
  type PageWords,
  readPageSigns,
  WordMark,
} from "./page-signs.ts";
import { type PageTree, STRUCTURE_COUNT } from "./page-tree.ts";
import { PATTERN_COUNT, patternsOf } from "./text-patterns.ts";
import type { FeatureHints } from "./trees.ts";

/** Levels above a block whose size and links are features. */
const SIZE_LEVELS = 5;
/** Levels above a block in which names of groups and tags are looked for. */
const NAME_LEVELS = 12;
/** A group or tag that no level has. */
const NOWHERE = NAME_LEVELS + 1;

const OWN = [
  "words",
  "charsPerWord",
  "linkDensity",
  "frequentShare",
  "titleShare",
  "descriptionShare",
  "sentenceEnds",
  "commas",
  "digits",
  "capitalised",
  "endsSentence",
  "separators",
  "ideographs",
  "links",
  "bold",
  "currency",
  "years",
  "letters",
  "copies",
  "copyBefore",
  "tag",
  "headingLevel",
  "isPanel",
  "isAriaHidden",
  "isNoscript",
  "isTemplate",
  "isForm",
  "isButton",
  "isPreformatted",
] as const;
const PLACE = [
  "wordsBefore",
  "wordsAfter",
  "blockShare",
  "depth",
  "sinceHeadingBlocks",
  "sinceHeadingWords",
  "headingAboveLevel",
  "sinceFirstH1",
] as const;
const NEIGHBOUR = ["words", "linkDensity", "endsSentence", "tag"] as const;
const NEIGHBOURS = [-2, -1, 1, 2] as const;
const LEVEL = ["blocks", "words", "linkDensity", "wordsPerBlock", "twins", "share"] as const;

/** Names of the features of a block, in their order; a change of either needs new trees. */
export const BLOCK_FEATURES: readonly string[] = [
  ...OWN,
  ...numbered("pattern", PATTERN_COUNT),
  ...PLACE,
  ...numbered("headingPattern", PATTERN_COUNT),
  ...NEIGHBOURS.flatMap((step) => NEIGHBOUR.map((name) => `neighbour${step}.${name}`)),
  ...Array.from({ length: SIZE_LEVELS }, (_, level) => LEVEL.map((name) => `above${level}.${name}`)).flat(),
  ...numbered("group", GROUP_COUNT),
  ...numbered("structure", STRUCTURE_COUNT),
  ...PAGE_SIGNS,
];

/** What the trees need not find out: the signs are the page's own, and most blocks stand in few names. */
export const BLOCK_HINTS: FeatureHints = {
  shared: columnsOf(/^page/),
  great: columnsOf(/^(?:group|structure)\d|^(?:wordsAfter|sinceFirstH1|capitalised)$/),
};

function columnsOf(name: RegExp): ReadonlySet<number> {
  return new Set(BLOCK_FEATURES.flatMap((feature, column) => (name.test(feature) ? [column] : [])));
}

function numbered(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${name}${index}`);
}

const WIDTH = BLOCK_FEATURES.length;

/** The features of every candidate, one row of `BLOCK_FEATURES.length` numbers each. */
export function computeBlockFeatures(tree: PageTree, facts: PageFacts): Float32Array {
  const { candidates } = tree;
  const rows = new Float32Array(candidates.length * WIDTH);
  const context = prepare(tree, facts);
  for (let index = 0; index < candidates.length; index++) {
    let at = writeOwn(rows, index * WIDTH, index, context);
    at = writePlace(rows, at, index, context);
    at = writeNeighbours(rows, at, index, context);
    at = writeLevels(rows, at, index, context);
    at = writeNames(rows, at, index, context);
    rows.set(context.signs, at);
  }
  return rows;
}

type Context = {
  readonly tree: PageTree;
  readonly words: PageWords;
  readonly signs: Float32Array;
  readonly patterns: Int32Array;
  /** Occurrences of each candidate's text on the page, and how many of them came before. */
  readonly copies: Float32Array;
  readonly copiesBefore: Float32Array;
  /** Words of the page before each candidate, and of the whole page. */
  readonly wordsBefore: Float32Array;
  readonly totalWords: number;
  /** Candidate number of the heading above each; -1 for none. */
  readonly headingAbove: Int32Array;
  readonly firstH1: number;
};

function prepare(tree: PageTree, facts: PageFacts): Context {
  const { model, candidates } = tree;
  const { blocks } = model;
  const count = candidates.length;
  const patterns = new Int32Array(count);
  const copies = new Float32Array(count);
  const copiesBefore = new Float32Array(count);
  const wordsBefore = new Float32Array(count);
  const headingAbove = new Int32Array(count);
  const seen = new Map<number, number>();
  let totalWords = 0;
  let heading = -1;
  let firstH1 = -1;
  for (let index = 0; index < count; index++) {
    const block = candidates[index]!;
    const at = block * TextStat.count;
    const hash = blocks.stats[at + TextStat.hashLow]!;
    patterns[index] = patternsOf(blocks.text[block]!);
    copiesBefore[index] = seen.get(hash) ?? 0;
    seen.set(hash, copiesBefore[index]! + 1);
    wordsBefore[index] = totalWords;
    totalWords += blocks.stats[at + TextStat.words]!;
    headingAbove[index] = heading;
    const level = headingLevel(tree, block);
    if (level > 0) heading = index;
    if (level === 1 && firstH1 < 0) firstH1 = index;
  }
  for (let index = 0; index < count; index++) {
    copies[index] = seen.get(blocks.stats[candidates[index]! * TextStat.count + TextStat.hashLow]!)!;
  }
  const words = markPageWords(tree, facts);
  const signs = readPageSigns(tree, facts);
  return {
    tree,
    words,
    signs,
    patterns,
    copies,
    copiesBefore,
    wordsBefore,
    totalWords,
    headingAbove,
    firstH1,
  };
}

/** 1–6 in headings, else 0. */
export function headingLevel({ model }: PageTree, block: number): number {
  if ((model.blocks.flags[block]! & ElementFlag.heading) === 0) return 0;
  let element = model.blocks.element[block]!;
  for (let step = 0; step < 4 && element >= 0; step++, element = model.parent[element]!) {
    const level = model.tag[element]! - Tag.h1 + 1;
    if (level >= 1 && level <= 6) return level;
  }
  return 0;
}

function writeOwn(rows: Float32Array, start: number, index: number, context: Context): number {
  const { tree, patterns, copies, copiesBefore } = context;
  const { blocks, tag } = tree.model;
  const block = tree.candidates[index]!;
  const { stats } = blocks;
  const s = block * TextStat.count;
  const words = stats[s + TextStat.words]!;
  const chars = Math.max(stats[s + TextStat.chars]!, 1);
  const flags = blocks.flags[block]!;
  const shares = wordShares(context, block);
  let at = start;
  rows[at++] = words;
  rows[at++] = chars / words;
  rows[at++] = stats[s + TextStat.linkChars]! / chars;
  rows[at++] = shares[0];
  rows[at++] = shares[1];
  rows[at++] = shares[2];
  rows[at++] = stats[s + TextStat.sentenceEnds]! / words;
  rows[at++] = stats[s + TextStat.commas]! / words;
  rows[at++] = stats[s + TextStat.digits]! / chars;
  rows[at++] = stats[s + TextStat.capitalised]! / words;
  rows[at++] = stats[s + TextStat.endsSentence]!;
  rows[at++] = stats[s + TextStat.separators]!;
  rows[at++] = stats[s + TextStat.ideographs]! / chars;
  rows[at++] = stats[s + TextStat.linkCount]!;
  rows[at++] = stats[s + TextStat.boldChars]! / chars;
  rows[at++] = stats[s + TextStat.currency]!;
  rows[at++] = stats[s + TextStat.years]!;
  rows[at++] = stats[s + TextStat.letters]! / chars;
  rows[at++] = copies[index]!;
  rows[at++] = copiesBefore[index]!;
  rows[at++] = featureTag(tag[blocks.element[block]!]!);
  rows[at++] = headingLevel(tree, block);
  rows[at++] = bit(flags, ElementFlag.panel);
  rows[at++] = bit(flags, ElementFlag.ariaHidden);
  rows[at++] = bit(flags, ElementFlag.noscript);
  rows[at++] = bit(flags, ElementFlag.template);
  rows[at++] = bit(flags, ElementFlag.form);
  rows[at++] = bit(flags, ElementFlag.button);
  rows[at++] = bit(flags, ElementFlag.preformatted);
  for (let pattern = 0; pattern < PATTERN_COUNT; pattern++) rows[at++] = bit(patterns[index]!, 1 << pattern);
  return at;
}

function wordShares({ tree, words: { marks } }: Context, block: number): readonly [number, number, number] {
  const { firstWord, endWord, words } = tree.model.blocks;
  let frequent = 0;
  let title = 0;
  let description = 0;
  const first = firstWord[block]!;
  const end = endWord[block]!;
  for (let word = first; word < end; word++) {
    const mark = marks[words[word]!]!;
    if (mark === 0) continue;
    if ((mark & WordMark.frequent) !== 0) frequent++;
    if ((mark & WordMark.title) !== 0) title++;
    if ((mark & WordMark.description) !== 0) description++;
  }
  const count = Math.max(end - first, 1);
  return [frequent / count, title / count, description / count];
}

function writePlace(rows: Float32Array, start: number, index: number, context: Context): number {
  const { tree, wordsBefore, totalWords, headingAbove, firstH1, patterns } = context;
  const block = tree.candidates[index]!;
  const heading = headingAbove[index]!;
  let at = start;
  rows[at++] = wordsBefore[index]! / Math.max(totalWords, 1);
  rows[at++] = Math.min(totalWords - wordsBefore[index]!, COUNT_LIMITS.words);
  rows[at++] = index / tree.candidates.length;
  rows[at++] = Math.min(tree.model.depth[tree.model.blocks.element[block]!]!, 60);
  rows[at++] = heading < 0 ? -1 : Math.min(index - heading, COUNT_LIMITS.blocksSinceHeading);
  rows[at++] =
    heading < 0 ? -1 : Math.min(wordsBefore[index]! - wordsBefore[heading]!, COUNT_LIMITS.wordsSinceHeading);
  rows[at++] = heading < 0 ? 0 : headingLevel(tree, tree.candidates[heading]!);
  rows[at++] = firstH1 < 0 ? 0 : Math.max(-100, Math.min(100, index - firstH1));
  const above = heading < 0 ? 0 : patterns[heading]!;
  for (let pattern = 0; pattern < PATTERN_COUNT; pattern++) rows[at++] = bit(above, 1 << pattern);
  return at;
}

function writeNeighbours(rows: Float32Array, start: number, index: number, { tree }: Context): number {
  const { blocks, tag } = tree.model;
  let at = start;
  for (const step of NEIGHBOURS) {
    const block = tree.candidates[index + step];
    if (block === undefined) {
      rows.fill(-1, at, at + NEIGHBOUR.length);
      at += NEIGHBOUR.length;
      continue;
    }
    const s = block * TextStat.count;
    rows[at++] = blocks.stats[s + TextStat.words]!;
    rows[at++] = blocks.stats[s + TextStat.linkChars]! / Math.max(blocks.stats[s + TextStat.chars]!, 1);
    rows[at++] = blocks.stats[s + TextStat.endsSentence]!;
    rows[at++] = featureTag(tag[blocks.element[block]!]!);
  }
  return at;
}

function writeLevels(
  rows: Float32Array,
  start: number,
  index: number,
  { tree, totalWords }: Context,
): number {
  const block = tree.candidates[index]!;
  let element = tree.model.blocks.element[block]!;
  let at = start;
  for (let level = 0; level < SIZE_LEVELS; level++) {
    if (element < 0) {
      rows.fill(-1, at, at + LEVEL.length);
      at += LEVEL.length;
      continue;
    }
    rows[at++] = Math.min(tree.blockCount[element]!, COUNT_LIMITS.blocks);
    rows[at++] = Math.min(tree.words[element]!, COUNT_LIMITS.words);
    rows[at++] = tree.linkChars[element]! / Math.max(tree.chars[element]!, 1);
    rows[at++] = tree.words[element]! / tree.blockCount[element]!;
    rows[at++] = Math.min(tree.twins[element]!, COUNT_LIMITS.twins);
    rows[at++] = tree.words[element]! / Math.max(totalWords, 1);
    element = tree.above[element]!;
  }
  return at;
}

// For each group and tag the number of levels up to the first one that has it.
function writeNames(rows: Float32Array, start: number, index: number, { tree }: Context): number {
  const { model } = tree;
  const block = tree.candidates[index]!;
  const structure = start + GROUP_COUNT;
  rows.fill(NOWHERE, start, structure + STRUCTURE_COUNT);
  let element = model.blocks.element[block]!;
  let groups = inlineGroups(tree, block);
  let tags = 0;
  for (let level = 0; level < NAME_LEVELS && element >= 0; level++) {
    writeNew(rows, start, tree.levelGroups[element]! & ~groups, level);
    writeNew(rows, structure, tree.levelTags[element]! & ~tags, level);
    if (level === 0) writeNew(rows, start, groups, 0);
    groups |= tree.levelGroups[element]!;
    tags |= tree.levelTags[element]!;
    element = tree.above[element]!;
  }
  return structure + STRUCTURE_COUNT;
}

function writeNew(rows: Float32Array, start: number, mask: number, level: number): void {
  for (let rest = mask; rest !== 0; rest &= rest - 1) rows[start + 31 - Math.clz32(rest & -rest)] = level;
}

/** Groups of the inline elements around a block's first text. */
function inlineGroups({ model }: PageTree, block: number): number {
  const owner = model.blocks.element[block]!;
  let element = model.textParent[model.blocks.firstText[block]!]!;
  let groups = 0;
  for (let step = 0; step < 8 && element > owner; step++, element = model.parent[element]!) {
    groups |= model.groups[element]!;
  }
  return groups;
}

// Elements that no list knows are one kind: their numbers depend on the page.
const featureTag = (tag: number): number => Math.min(tag, FIRST_UNKNOWN_TAG);

const bit = (mask: number, flag: number): number => ((mask & flag) === 0 ? 0 : 1);
