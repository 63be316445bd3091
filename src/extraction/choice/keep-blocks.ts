import type { PageModel } from "../page/page-model.ts";
import { Tag } from "../page/tags.ts";
import { TextStat } from "../page/word-stats.ts";
import { PAGE_TYPES } from "../types.ts";
import { plateauOf } from "./context-features.ts";
import type { PageTree } from "./page-tree.ts";

/** A block is kept from this share of the page's own plateau on, but never below the least probability. */
const PLATEAU_SHARE = 0.6;
const LEAST_PROBABILITY = 0.3;
/** Shorter texts repeat for good reasons: prices, names, table cells. */
const REPEAT_WORDS = 6;

/** Reference pages say the same of many things: where this is as likely, every text counts. */
const DOCUMENTATION = PAGE_TYPES.indexOf("documentation");
const SURELY_DOCUMENTATION = 0.5;

/**
 * The blocks that are content, by their probabilities: those that reach a share of the page's own plateau,
 * each longer text in one place, save in documentation.
 * @param p the probability of each candidate
 * @param typeP the probability of each page type
 * @returns numbers of blocks, rising
 */
export function keepBlocks(
  { model, candidates }: PageTree,
  p: Float32Array,
  typeP: Float32Array,
): Int32Array {
  const { stats, text } = model.blocks;
  const words = Float32Array.from(candidates, (block) => stats[block * TextStat.count + TextStat.words]!);
  const threshold = Math.max(LEAST_PROBABILITY, PLATEAU_SHARE * plateauOf(p, words).plateau);
  const keepsRepeats = typeP[DOCUMENTATION]! > SURELY_DOCUMENTATION;
  const kept: number[] = [];
  const seen = new Map<string, number>();
  for (let index = 0; index < candidates.length; index++) {
    if (p[index]! < threshold) continue;
    const block = candidates[index]!;
    if (words[index]! >= REPEAT_WORDS && !keepsRepeats) {
      // Under one parent the author repeats; elsewhere it is another copy of the card.
      const parent = parentOf(model, block);
      if ((seen.get(text[block]!) ?? parent) !== parent) continue;
      seen.set(text[block]!, parent);
    }
    kept.push(block);
  }
  return Int32Array.from(kept);
}

function parentOf({ blocks, parent, tag }: PageModel, block: number): number {
  const holder = parent[blocks.element[block]!] ?? -1;
  return holder >= 0 && tag[holder] === Tag.body ? -1 : holder;
}
