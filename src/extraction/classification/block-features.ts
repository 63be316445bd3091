import { wordsIn } from "../../base/text.ts";
import { GROUP_COUNT, isCapital, isLower } from "../page/attributes.ts";
import { ElementFlag, FIRST_UNKNOWN_TAG, type PageFacts, type PageModel, Tag } from "../page/page-model.ts";
import { statOf, TextStat, WORD_BUCKETS } from "../page/word-stats.ts";
import {
  COUNT_LIMITS,
  markPageWords,
  PAGE_SIGNS,
  PATTERN_COUNT,
  type PageTree,
  patternsOf,
  readPageSigns,
  STRUCTURE_COUNT,
  WordMark,
} from "./page-tree.ts";
import { type Features, features, given, joined, numbered } from "./trees.ts";

/** The number of levels above a block whose size and links are features. */
const SIZE_LEVELS = 5;
/** The number of levels above a block in which name groups and tags are looked for. */
const NAME_LEVELS = 12;
/** The value for a group or tag that no level has. */
const NOWHERE = NAME_LEVELS + 1;

/** A cursor over the candidates of a page; one object serves all of them. */
class BlockCursor {
  readonly page: Page;
  readonly stats: Float32Array;
  /** The divisors of counts, see `Per`. */
  readonly per = new Float64Array([1, 1, 1]);
  index = 0;
  block = 0;
  /** The offset of its numbers in `stats`. */
  at = 0;
  flags = 0;
  element = 0;
  /** The candidate number of the heading above; -1 for none. */
  heading = -1;

  constructor(page: Page) {
    this.page = page;
    this.stats = page.tree.model.blocks.stats;
  }

  moveTo(index: number): void {
    const { tree, headingAbove } = this.page;
    const { blocks } = tree.model;
    const block = tree.candidates[index]!;
    this.index = index;
    this.block = block;
    this.at = block * TextStat.count;
    this.per[Per.word] = this.stats[this.at + TextStat.words]!;
    this.per[Per.character] = Math.max(this.stats[this.at + TextStat.chars]!, 1);
    this.flags = blocks.flags[block]!;
    this.element = blocks.element[block]!;
    this.heading = headingAbove[index]!;
  }
}

const Per = { block: 0, word: 1, character: 2 } as const;

// A function call for each number would make a page's features 50 % slower.
/** Declares counts of a block's text, per block, per word or per character. */
function counts(
  columns: Readonly<Record<string, readonly [stat: number, per: number]>>,
): Features<BlockCursor> {
  const stat = Int32Array.from(Object.values(columns), ([name]) => name);
  const per = Int32Array.from(Object.values(columns), ([, unit]) => unit);
  return {
    names: Object.keys(columns),
    write: (rows, start, block) => {
      for (let column = 0; column < stat.length; column++)
        rows[start + column] = block.stats[block.at + stat[column]!]! / block.per[per[column]!]!;
    },
  };
}

/** Declares one feature for each of some bits. */
function bits(
  columns: Readonly<Record<string, number>>,
  find: (block: BlockCursor) => number,
): Features<BlockCursor> {
  const masks = Int32Array.from(Object.values(columns));
  return {
    names: Object.keys(columns),
    write: (rows, start, block) => {
      const found = find(block);
      for (let column = 0; column < masks.length; column++)
        rows[start + column] = (found & masks[column]!) === 0 ? 0 : 1;
    },
  };
}

const patterns = (name: string): Readonly<Record<string, number>> =>
  Object.fromEntries(numbered(name, PATTERN_COUNT).map((column, pattern) => [column, 1 << pattern]));

/** The features of a block by itself. */
const OWN = joined<BlockCursor>(
  features({
    words: ({ per }) => per[Per.word]!,
    charsPerWord: ({ per }) => per[Per.character]! / per[Per.word]!,
  }),
  counts({ linkDensity: [TextStat.linkChars, Per.character] }),
  { names: ["frequentShare", "titleShare", "descriptionShare"], write: writeWordShares },
  counts({
    sentenceEnds: [TextStat.sentenceEnds, Per.word],
    commas: [TextStat.commas, Per.word],
    digits: [TextStat.digits, Per.character],
    capitalised: [TextStat.capitalised, Per.word],
    endsSentence: [TextStat.endsSentence, Per.block],
    separators: [TextStat.separators, Per.block],
    ideographs: [TextStat.ideographs, Per.character],
    links: [TextStat.linkCount, Per.block],
    bold: [TextStat.boldChars, Per.character],
    currency: [TextStat.currency, Per.block],
    years: [TextStat.years, Per.block],
    letters: [TextStat.letters, Per.character],
  }),
  features({
    copies: ({ page, index }) => page.copies[index]!,
    copyBefore: ({ page, index }) => page.copiesBefore[index]!,
    // Unlisted elements are one kind, because their numbers depend on the page.
    tag: ({ page: { tree }, element }) => Math.min(tree.model.tag[element]!, FIRST_UNKNOWN_TAG),
    headingLevel: ({ page, block }) => headingLevel(page.tree, block),
  }),
  bits(
    {
      isPanel: ElementFlag.panel,
      isAriaHidden: ElementFlag.ariaHidden,
      isNoscript: ElementFlag.noscript,
      isTemplate: ElementFlag.template,
      isForm: ElementFlag.form,
      isButton: ElementFlag.button,
      isPreformatted: ElementFlag.preformatted,
    },
    ({ flags }) => flags,
  ),
);

const PLACE = features<BlockCursor>({
  wordsBefore: ({ page, index }) => page.wordsBefore[index]! / Math.max(page.totalWords, 1),
  wordsAfter: ({ page, index }) => Math.min(page.totalWords - page.wordsBefore[index]!, COUNT_LIMITS.words),
  blockShare: ({ page, index }) => index / page.tree.candidates.length,
  depth: ({ page, element }) => Math.min(page.tree.model.depth[element]!, 60),
  sinceHeadingBlocks: ({ index, heading }) =>
    heading < 0 ? -1 : Math.min(index - heading, COUNT_LIMITS.blocksSinceHeading),
  sinceHeadingWords: ({ page: { wordsBefore }, index, heading }) =>
    heading < 0 ? -1 : Math.min(wordsBefore[index]! - wordsBefore[heading]!, COUNT_LIMITS.wordsSinceHeading),
  headingAboveLevel: ({ page: { tree }, heading }) =>
    heading < 0 ? 0 : headingLevel(tree, tree.candidates[heading]!),
  sinceFirstH1: ({ page: { firstH1 }, index }) =>
    firstH1 < 0 ? 0 : Math.max(-100, Math.min(100, index - firstH1)),
});

/** The features of an element around a block. */
const LEVEL: Features<{ readonly page: Page; readonly element: number }> = features({
  blocks: ({ page: { tree }, element }) => Math.min(tree.blockCount[element]!, COUNT_LIMITS.blocks),
  words: ({ page: { tree }, element }) => Math.min(tree.words[element]!, COUNT_LIMITS.words),
  linkDensity: ({ page: { tree }, element }) => tree.linkChars[element]! / Math.max(tree.chars[element]!, 1),
  wordsPerBlock: ({ page: { tree }, element }) => tree.words[element]! / tree.blockCount[element]!,
  twins: ({ page: { tree }, element }) => Math.min(tree.twins[element]!, COUNT_LIMITS.twins),
  share: ({ page: { tree, totalWords }, element }) => tree.words[element]! / Math.max(totalWords, 1),
});

/** The features of a block's surroundings. */
const AROUND = joined<BlockCursor>(
  bits(patterns("pattern"), ({ page, index }) => page.patterns[index]!),
  PLACE,
  bits(patterns("headingPattern"), ({ page, heading }) => (heading < 0 ? 0 : page.patterns[heading]!)),
  ...[-2, -1, 1, 2].map((step) => neighbour(step, ["words", "linkDensity", "endsSentence", "tag"])),
  {
    names: Array.from({ length: SIZE_LEVELS }, (_, level) =>
      LEVEL.names.map((name) => `above${level}.${name}`),
    ).flat(),
    write: writeLevels,
  },
  {
    names: [...numbered("group", GROUP_COUNT), ...numbered("structure", STRUCTURE_COUNT)],
    write: writeNames,
  },
  given(PAGE_SIGNS, ({ page }) => page.signs),
);

/** The names of a block's features, in their order; a change of either needs new trees. */
export const BLOCK_FEATURES: readonly string[] = [...OWN.names, ...AROUND.names];

const WIDTH = BLOCK_FEATURES.length;

/** Computes the features of every candidate, one row of `BLOCK_FEATURES.length` numbers each. */
export function computeBlockFeatures(tree: PageTree, facts: PageFacts): Float32Array {
  const count = tree.candidates.length;
  const rows = new Float32Array(count * WIDTH);
  const cursor = new BlockCursor(prepare(tree, facts));
  for (let index = 0; index < count; index++) {
    cursor.moveTo(index);
    OWN.write(rows, index * WIDTH, cursor);
  }
  // The features of neighbours are copied from theirs, so this runs after all of those.
  for (let index = 0; index < count; index++) {
    cursor.moveTo(index);
    AROUND.write(rows, index * WIDTH + OWN.names.length, cursor);
  }
  return rows;
}

/** Declares features of the block this many blocks further on; -1 when there is none. */
function neighbour(step: number, names: readonly string[]): Features<BlockCursor> {
  const columns = Int32Array.from(names, (name) => OWN.names.indexOf(name));
  return {
    names: names.map((name) => `neighbour${step}.${name}`),
    write: (rows, at, { page, index }) => {
      const other = index + step;
      const exists = other >= 0 && other < page.tree.candidates.length;
      for (let column = 0; column < columns.length; column++)
        rows[at + column] = exists ? rows[other * WIDTH + columns[column]!]! : -1;
    },
  };
}

/** Writes the elements around a block; each is described once and then copied. */
function writeLevels(rows: Float32Array, start: number, { page, element: own }: BlockCursor): void {
  const { levels, isDescribed, tree } = page;
  const width = LEVEL.names.length;
  let element = own;
  let at = start;
  for (let level = 0; level < SIZE_LEVELS; level++, at += width) {
    if (element < 0) {
      rows.fill(-1, at, at + width);
      continue;
    }
    if (isDescribed[element] === 0) {
      LEVEL.write(levels, element * width, { page, element });
      isDescribed[element] = 1;
    }
    for (let column = 0; column < width; column++) rows[at + column] = levels[element * width + column]!;
    element = tree.above[element]!;
  }
}

type Page = ReturnType<typeof prepare>;

function prepare(tree: PageTree, facts: PageFacts) {
  const { model, candidates } = tree;
  const count = candidates.length;
  const patterns = new Int32Array(count);
  // The number of occurrences of each candidate's text on the page, and how many of them came before.
  const copies = new Float32Array(count);
  const copiesBefore = new Float32Array(count);
  /** The number of words of the page before each candidate. */
  const wordsBefore = new Float32Array(count);
  /** The candidate number of the heading above each; -1 for none. */
  const headingAbove = new Int32Array(count);
  const seen = new Map<number, number>();
  let totalWords = 0;
  let heading = -1;
  let firstH1 = -1;
  for (let index = 0; index < count; index++) {
    const block = candidates[index]!;
    const hash = statOf(model, block, TextStat.hashLow);
    patterns[index] = patternsOf(model.blocks.text[block]!);
    copiesBefore[index] = seen.get(hash) ?? 0;
    seen.set(hash, copiesBefore[index]! + 1);
    wordsBefore[index] = totalWords;
    totalWords += statOf(model, block, TextStat.words);
    headingAbove[index] = heading;
    const level = headingLevel(tree, block);
    if (level > 0) heading = index;
    if (level === 1 && firstH1 < 0) firstH1 = index;
  }
  for (let index = 0; index < count; index++)
    copies[index] = seen.get(statOf(model, candidates[index]!, TextStat.hashLow))!;
  return {
    tree,
    marks: markPageWords(tree, facts),
    signs: readPageSigns(tree, facts),
    patterns,
    copies,
    copiesBefore,
    wordsBefore,
    totalWords,
    headingAbove,
    firstH1,
    // A row of `LEVEL` for each element, and whether it has been written.
    levels: new Float32Array(model.elementCount * LEVEL.names.length),
    isDescribed: new Uint8Array(model.elementCount),
  };
}

/** Returns 1–6 in headings, otherwise 0. */
export function headingLevel({ model }: PageTree, block: number): number {
  if ((model.blocks.flags[block]! & ElementFlag.heading) === 0) return 0;
  let element = model.blocks.element[block]!;
  for (let step = 0; step < 4 && element >= 0; step++, element = model.parent[element]!) {
    const level = model.tag[element]! - Tag.h1 + 1;
    if (level >= 1 && level <= 6) return level;
  }
  return 0;
}

/** Counts how many of a block's words are frequent on the page, in its title, and in its description. */
function writeWordShares(
  rows: Float32Array,
  at: number,
  { page: { tree, marks }, block }: BlockCursor,
): void {
  const { firstWord, endWord, words: numbers } = tree.model.blocks;
  let frequent = 0;
  let title = 0;
  let description = 0;
  const first = firstWord[block]!;
  const end = endWord[block]!;
  for (let word = first; word < end; word++) {
    const mark = marks[numbers[word]!]!;
    if (mark === 0) continue;
    if ((mark & WordMark.frequent) !== 0) frequent++;
    if ((mark & WordMark.title) !== 0) title++;
    if ((mark & WordMark.description) !== 0) description++;
  }
  const count = Math.max(end - first, 1);
  rows[at] = frequent / count;
  rows[at + 1] = title / count;
  rows[at + 2] = description / count;
}

// Writes for each group and tag the number of levels up to the first element that has it.
function writeNames(
  rows: Float32Array,
  start: number,
  { page: { tree }, block, element: own }: BlockCursor,
): void {
  const structure = start + GROUP_COUNT;
  rows.fill(NOWHERE, start, structure + STRUCTURE_COUNT);
  let element = own;
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
}

function writeNew(rows: Float32Array, start: number, mask: number, level: number): void {
  for (let rest = mask; rest !== 0; rest &= rest - 1) rows[start + 31 - Math.clz32(rest & -rest)] = level;
}

/** Returns the groups of the inline elements around a block's first text. */
function inlineGroups({ model }: PageTree, block: number): number {
  const owner = model.blocks.element[block]!;
  let element = model.textParent[model.blocks.firstText[block]!]!;
  let groups = 0;
  for (let step = 0; step < 8 && element > owner; step++, element = model.parent[element]!)
    groups |= model.groups[element]!;
  return groups;
}

/** The names of a block's word sums, in their order; a change needs new weights. */
export const WORD_SUMS = wordsIn("textWords headingWords ownNames nearNames farNames allWords");
export const WORD_SUM_COUNT = WORD_SUMS.length;

/** Words of class names and ids fall into this many buckets. */
const NAME_BUCKETS = 1 << 13;
/** The sizes of the weight tables: words of a text and its heading; names of the element, near and far. */
const TABLE_SIZES = [WORD_BUCKETS, WORD_BUCKETS, NAME_BUCKETS, NAME_BUCKETS, NAME_BUCKETS] as const;
const TABLE_COUNT = TABLE_SIZES.length;
const NAME_TABLES = 3;
/** At most this many words of a text, and of a heading, are read; further ones add no information. */
const TEXT_WORDS = 64;
const HEADING_WORDS = 16;
/** The number of ancestors whose names count as near. */
const NEAR_LEVELS = 3;
/** The maximum number of inline elements between a block's element and its first text. */
const INLINE_LEVELS = 8;
/** Longer values are data, not names. */
const MAX_NAME = 300;

/**
 * The weights of one table, a byte for each bucket. They are scaled when they are read: a page reads a few thousand
 * of the 57 344, and scaling all of them delayed the first page by 30 ms.
 */
type WeightTable = { readonly bytes: Int8Array; readonly scale: number };

type WordWeights = readonly WeightTable[];

/** Reads the weights that the training writes: each table's scale (float32), then a byte for each weight. */
export function decodeWordWeights(base64: string): WordWeights {
  // The bytes are copied to the start of a new buffer, so that the scales are aligned.
  const { buffer } = new Uint8Array(Buffer.from(base64, "base64"));
  const scales = new Float32Array(buffer, 0, TABLE_COUNT);
  let at = TABLE_COUNT * 4;
  return TABLE_SIZES.map((size, table) => {
    const bytes = new Int8Array(buffer, at, size);
    at += size;
    return { bytes, scale: scales[table]! };
  });
}

/** Returns the weight of a bucket, exactly as the training's 32 bits have it. */
export const weightOf = ({ bytes, scale }: WeightTable, bucket: number): number =>
  Math.fround(bytes[bucket]! * scale);

/**
 * Sums up the learned weights of a block's words: those of its text, of the heading above, and of the class names and
 * ids of its own element, of three around it and of all around it. Each sum is divided by the root of its number of
 * words; the last column is the sum of all.
 */
export function computeWordSums(tree: PageTree, weights: WordWeights): Float32Array {
  const { model, candidates } = tree;
  const [textWeights, headingWeights] = weights;
  const names = sumNames(model, weights);
  const rows = new Float32Array(candidates.length * WORD_SUM_COUNT);
  let headingSum = 0;
  for (let index = 0, at = 0; index < candidates.length; index++, at += WORD_SUM_COUNT) {
    const block = candidates[index]!;
    rows[at] = sumOfWords(model, block, TEXT_WORDS, textWeights!);
    rows[at + 1] = headingSum;
    writeNameSums(rows, at + 2, model, block, names);
    for (let table = 0; table < TABLE_COUNT; table++) rows[at + TABLE_COUNT]! += rows[at + table]!;
    if (headingLevel(tree, block) > 0) headingSum = sumOfWords(model, block, HEADING_WORDS, headingWeights!);
  }
  return rows;
}

function sumOfWords({ blocks }: PageModel, block: number, most: number, weights: WeightTable): number {
  const first = blocks.firstWord[block]!;
  const end = Math.min(blocks.endWord[block]!, first + most);
  let sum = 0;
  for (let word = first; word < end; word++) sum += weightOf(weights, blocks.words[word]!);
  return end > first ? sum / Math.sqrt(end - first) : 0;
}

function sumNames(model: PageModel, weights: WordWeights) {
  const { elementCount, names, classId, idId, parent } = model;
  const [, , ownWeights, nearWeights, farWeights] = weights;
  const byName = new Float32Array(names.length * NAME_TABLES);
  const counts = new Float32Array(names.length);
  for (let name = 0, at = 0; name < names.length; name++, at += NAME_TABLES) {
    eachNameWord(names[name]!, (bucket) => {
      counts[name]!++;
      byName[at]! += weightOf(ownWeights!, bucket);
      byName[at + 1]! += weightOf(nearWeights!, bucket);
      byName[at + 2]! += weightOf(farWeights!, bucket);
    });
  }
  // For each element the sums of its own names, a column for each table of names, and their number.
  const own = new Float32Array(elementCount * NAME_TABLES);
  const count = new Float32Array(elementCount);
  // The sums of the element and everything around it, by the table for far names.
  const far = new Float32Array(elementCount);
  const farCount = new Float32Array(elementCount);
  for (let element = 0, at = 0; element < elementCount; element++, at += NAME_TABLES) {
    const outer = parent[element]!;
    if (outer >= 0) {
      far[element] = far[outer]!;
      farCount[element] = farCount[outer]!;
    }
    const ofClass = classId[element]!;
    const ofId = idId[element]!;
    const found = counts[ofClass]! + counts[ofId]!;
    // Most elements have no name.
    if (found === 0) continue;
    count[element] = found;
    farCount[element]! += found;
    for (let table = 0; table < NAME_TABLES; table++)
      own[at + table] = byName[ofClass * NAME_TABLES + table]! + byName[ofId * NAME_TABLES + table]!;
    far[element]! += own[at + NAME_TABLES - 1]!;
  }
  return { own, count, far, farCount };
}

function writeNameSums(
  rows: Float32Array,
  at: number,
  model: PageModel,
  block: number,
  sums: ReturnType<typeof sumNames>,
): void {
  const element = model.blocks.element[block]!;
  let sum = sums.own[element * NAME_TABLES]!;
  let count = sums.count[element]!;
  let inner = model.textParent[model.blocks.firstText[block]!]!;
  for (let step = 0; step < INLINE_LEVELS && inner > element; step++, inner = model.parent[inner]!) {
    sum += sums.own[inner * NAME_TABLES]!;
    count += sums.count[inner]!;
  }
  rows[at] = count > 0 ? sum / Math.sqrt(count) : 0;
  const outer = model.parent[element]!;
  sum = 0;
  count = 0;
  for (let level = 0, near = outer; level < NEAR_LEVELS && near >= 0; level++, near = model.parent[near]!) {
    sum += sums.own[near * NAME_TABLES + 1]!;
    count += sums.count[near]!;
  }
  rows[at + 1] = count > 0 ? sum / Math.sqrt(count) : 0;
  rows[at + 2] =
    outer >= 0 && sums.farCount[outer]! > 0 ? sums.far[outer]! / Math.sqrt(sums.farCount[outer]!) : 0;
}

/** Returns the buckets that make up a block's sums, for the training: those of each table in turn. */
export function wordsOfBlock(tree: PageTree, block: number, heading: number): readonly (readonly number[])[] {
  const { model } = tree;
  const wordsOf = (of: number, most: number): number[] => {
    const first = model.blocks.firstWord[of]!;
    return Array.from(model.blocks.words.subarray(first, Math.min(model.blocks.endWord[of]!, first + most)));
  };
  const namesOf = (element: number): number[] => {
    const found: number[] = [];
    for (const name of [model.classId[element]!, model.idId[element]!])
      eachNameWord(model.names[name]!, (bucket) => found.push(bucket));
    return found;
  };
  const element = model.blocks.element[block]!;
  const own = namesOf(element);
  let inner = model.textParent[model.blocks.firstText[block]!]!;
  for (let step = 0; step < INLINE_LEVELS && inner > element; step++, inner = model.parent[inner]!)
    own.push(...namesOf(inner));
  const near: number[] = [];
  const far: number[] = [];
  for (let level = 0, outer = model.parent[element]!; outer >= 0; level++, outer = model.parent[outer]!) {
    const names = namesOf(outer);
    far.push(...names);
    if (level < NEAR_LEVELS) near.push(...names);
  }
  return [wordsOf(block, TEXT_WORDS), heading < 0 ? [] : wordsOf(heading, HEADING_WORDS), own, near, far];
}

/**
 * Visits the buckets of the words of a class attribute or id: runs of ASCII letters, split where a capital starts a
 * word, and pairs of words in one name ("post-body").
 */
function eachNameWord(name: string, visit: (bucket: number) => void): void {
  const length = Math.min(name.length, MAX_NAME);
  let before = 0;
  for (let at = 0; at < length; ) {
    const code = name.charCodeAt(at);
    if (!isLower(code) && !isCapital(code)) {
      if (code === 32 || (code >= 9 && code <= 13)) before = 0;
      at++;
      continue;
    }
    const start = at;
    let hash = 0;
    for (let last = 0; at < length; at++) {
      const next = name.charCodeAt(at);
      if (isLower(last) && isCapital(next)) break;
      if (!isLower(next) && !isCapital(next)) break;
      hash = (Math.imul(hash, 31) + (next | 32)) | 0;
      last = next;
    }
    if (at - start > 1) visit(bucketOf(hash));
    if (before !== 0) visit(bucketOf(Math.imul(before, 17) ^ hash));
    before = hash;
  }
}

function bucketOf(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 12)) & (NAME_BUCKETS - 1);
}
