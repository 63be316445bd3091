import { TextStat } from "../page/word-stats.ts";
import { PAGE_TYPES } from "../types.ts";
import type { PageTree } from "./page-tree.ts";
import { plateauOf } from "./plateau.ts";

/** Names of the numbers that the confidence is judged by, in their order; a change needs new trees. */
export const CHOICE_FEATURES: readonly string[] = [
  "plateau",
  "keptP",
  "keptWords",
  "keptBlocks",
  "keptShare",
  "uncertainShare",
  "likelyDropped",
  "pageWords",
  "highestP",
  ...PAGE_TYPES.map((type) => `is.${type}`),
];

export type ChoiceEvidence = {
  readonly tree: PageTree;
  /** Probability of each candidate. */
  readonly p: Float32Array;
  /** Probability of each page type. */
  readonly typeP: Float32Array;
  /** The blocks that were kept. */
  readonly blocks: Int32Array;
};

/** How sure a choice was, in numbers. */
export function computeChoiceFeatures({ tree, p, typeP, blocks }: ChoiceEvidence): Float32Array {
  const { model, candidates } = tree;
  const isKept = new Uint8Array(model.blocks.count);
  for (const block of blocks) isKept[block] = 1;
  const words = Float32Array.from(candidates, (block) => model.blocks.stats[block * TextStat.count]!);
  let total = 0;
  let kept = 0;
  let keptMass = 0;
  let uncertain = 0;
  let dropped = 0;
  let highest = 0;
  for (let index = 0; index < candidates.length; index++) {
    const weight = words[index]!;
    const value = p[index]!;
    total += weight;
    highest = Math.max(highest, value);
    if (value > 0.25 && value < 0.75) uncertain += weight;
    if (isKept[candidates[index]!]) {
      kept += weight;
      keptMass += weight * value;
    } else dropped += weight * value;
  }
  return Float32Array.of(
    plateauOf(p, words).plateau,
    kept === 0 ? 0 : keptMass / kept,
    Math.log2(1 + kept),
    Math.log2(1 + blocks.length),
    kept / Math.max(total, 1),
    uncertain / Math.max(kept, 1),
    dropped / Math.max(kept, 1),
    Math.log2(1 + total),
    highest,
    ...typeP,
  );
}
