import { wordsIn } from "../../base/text.ts";
import { isCapital, isLower } from "../page/attributes.ts";
import type { PageModel } from "../page/page-model.ts";
import { WORD_BUCKETS } from "../page/word-stats.ts";
import { headingLevel } from "./block-features.ts";
import type { PageTree } from "./page-tree.ts";

/** The names of a block's word sums, in their order; a change needs new weights. */
export const WORD_SUMS = wordsIn("textWords headingWords ownNames nearNames farNames allWords");
export const WORD_SUM_COUNT = WORD_SUMS.length;

/** Words of class names and ids fall into this many buckets. */
const NAME_BUCKETS = 1 << 13;
/**
 * The sizes of the weight tables: words of a text and of the heading above, names of the own element, near and far.
 */
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
export type WeightTable = { readonly bytes: Int8Array; readonly scale: number };

export type WordWeights = readonly WeightTable[];

/**
 * Reads the weights that the training writes: a scale (float32) for each table, then a byte for each weight.
 */
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
    writeNames(rows, at + 2, model, block, names);
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

type NameSums = ReturnType<typeof sumNames>;

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
    for (let table = 0; table < NAME_TABLES; table++) {
      own[at + table] = byName[ofClass * NAME_TABLES + table]! + byName[ofId * NAME_TABLES + table]!;
    }
    far[element]! += own[at + NAME_TABLES - 1]!;
  }
  return { own, count, far, farCount };
}

function writeNames(rows: Float32Array, at: number, model: PageModel, block: number, sums: NameSums): void {
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
    for (const name of [model.classId[element]!, model.idId[element]!]) {
      eachNameWord(model.names[name]!, (bucket) => found.push(bucket));
    }
    return found;
  };
  const element = model.blocks.element[block]!;
  const own = namesOf(element);
  let inner = model.textParent[model.blocks.firstText[block]!]!;
  for (let step = 0; step < INLINE_LEVELS && inner > element; step++, inner = model.parent[inner]!) {
    own.push(...namesOf(inner));
  }
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
