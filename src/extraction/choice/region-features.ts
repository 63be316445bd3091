import { Tag } from "../page/tags.ts";
import { headingLevel } from "./block-features.ts";
import type { PageTree } from "./page-tree.ts";
import { plateauOf } from "./plateau.ts";
import { findRegion, NOT_SHOWN, type Region } from "./region.ts";

/** Names of the features that say where a block stands in the container of what the first stage chooses. */
export const REGION_FEATURES = [
  "regionPlace",
  "regionDepth",
  "regionNames",
  "ownName",
  "isShown",
  "sinceChosen",
  "untilChosen",
  "pSection",
  "pageRegionChosen",
  "pageRegionShare",
  "pageRegionPlain",
] as const;
/** What the first stage alone would keep: from this share of the page's own plateau on, and from this probability. */
const PLATEAU_SHARE = 0.6;
const LEAST_CHOSEN = 0.3;
/** Levels and distances above these say no more than these. */
const MOST_LEVELS = 12;
const MOST_BLOCKS = 12;
const SECTION_BLOCKS = 12;

/**
 * The features of every candidate, one row of `REGION_FEATURES.length` numbers each.
 * @param p the first stage's probability of each candidate
 * @param weight the words of each candidate
 */
export function computeRegionFeatures(tree: PageTree, p: Float32Array, weight: Float32Array): Float32Array {
  const { model, candidates } = tree;
  const count = candidates.length;
  const rows = new Float32Array(count * REGION_FEATURES.length);
  const threshold = Math.max(LEAST_CHOSEN, PLATEAU_SHARE * plateauOf(p, weight).plateau);
  const isChosen = Uint8Array.from(p, (value) => (value >= threshold ? 1 : 0));
  const region = findRegion(tree, weight, isChosen);
  const signs = signsOf(tree, weight, isChosen, region);
  const { depths, names } = region === null ? NOTHING : levelsOf(tree, region);
  const until = new Float32Array(count);
  for (let index = count - 1, distance = MOST_BLOCKS; index >= 0; index--) {
    until[index] = distance;
    distance = isChosen[index] === 1 ? 0 : Math.min(distance + 1, MOST_BLOCKS);
  }
  for (let index = 0, at = 0, since = MOST_BLOCKS; index < count; index++) {
    const element = model.blocks.element[candidates[index]!]!;
    rows[at++] = region === null ? -1 : region.isInside[element]! + region.isPlain[element]!;
    rows[at++] = depths === null ? -1 : depths[element]!;
    rows[at++] = names === null ? -1 : names[element]!;
    rows[at++] = model.classId[element] === 0 ? 0 : 1;
    rows[at++] = (model.blocks.flags[candidates[index]!]! & NOT_SHOWN) === 0 ? 1 : 0;
    rows[at++] = since;
    rows[at++] = until[index]!;
    rows[at++] = sectionP(tree, p, weight, index);
    rows[at++] = signs.chosen;
    rows[at++] = signs.share;
    rows[at++] = signs.plain;
    since = isChosen[index] === 1 ? 0 : Math.min(since + 1, MOST_BLOCKS);
  }
  return rows;
}

const NOTHING = { depths: null, names: null };

/** For each element inside the region the levels below it, and how many of them templates have named. */
function levelsOf(
  { model: { elementCount, parent, classId, tag } }: PageTree,
  { isInside, isAuthors }: Region,
): { readonly depths: Int8Array; readonly names: Int8Array } {
  const depths = new Int8Array(elementCount).fill(-1);
  const names = new Int8Array(elementCount).fill(-1);
  for (let element = 0; element < elementCount; element++) {
    if (isInside[element] === 0) continue;
    const outer = parent[element]!;
    const isFirst = outer < 0 || depths[outer]! < 0;
    const isNamed = classId[element] !== 0 && !isAuthors[classId[element]!] && tag[element] !== Tag.p ? 1 : 0;
    depths[element] = isFirst ? 0 : Math.min(depths[outer]! + 1, MOST_LEVELS);
    names[element] = isFirst ? 0 : Math.min(names[outer]! + isNamed, MOST_LEVELS);
  }
  return { depths, names };
}

function signsOf(
  { model, candidates }: PageTree,
  weight: Float32Array,
  isChosen: Uint8Array,
  region: Region | null,
): { readonly chosen: number; readonly share: number; readonly plain: number } {
  if (region === null) return { chosen: -1, share: -1, plain: -1 };
  let all = 0;
  let inside = 0;
  let chosen = 0;
  let plain = 0;
  for (let index = 0; index < candidates.length; index++) {
    const element = model.blocks.element[candidates[index]!]!;
    const words = weight[index]!;
    all += words;
    if (region.isInside[element] === 0) continue;
    inside += words;
    if (isChosen[index] === 1) chosen += words;
    if (region.isPlain[element] === 1) plain += words;
  }
  return {
    chosen: chosen / Math.max(inside, 1),
    share: inside / Math.max(all, 1),
    plain: plain / Math.max(inside, 1),
  };
}

/** Of a heading: the mean probability of what follows it up to the next heading of its level; else -1. */
function sectionP(tree: PageTree, p: Float32Array, weight: Float32Array, index: number): number {
  const level = headingLevel(tree, tree.candidates[index]!);
  if (level === 0) return -1;
  let words = 0;
  let mass = 0;
  const end = Math.min(p.length, index + 1 + SECTION_BLOCKS);
  for (let next = index + 1; next < end; next++) {
    const other = headingLevel(tree, tree.candidates[next]!);
    if (other > 0 && other <= level) break;
    words += weight[next]!;
    mass += weight[next]! * p[next]!;
  }
  return words === 0 ? 0 : mass / words;
}
