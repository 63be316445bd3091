import { headingLevel } from "../../src/extraction/classification/block-features.ts";
import type { PageTree } from "../../src/extraction/classification/page-tree.ts";
import { wordsOfBlock } from "../../src/extraction/classification/word-sums.ts";

/** The buckets of the words of every candidate, table after table, and how many there are of each table. */
export function wordsOfPage(tree: PageTree): { readonly buckets: Uint16Array; readonly counts: Uint16Array } {
  const buckets: number[] = [];
  const counts: number[] = [];
  let heading = -1;
  for (const block of tree.candidates) {
    for (const words of wordsOfBlock(tree, block, heading)) {
      for (const word of words) buckets.push(word);
      counts.push(words.length);
    }
    if (headingLevel(tree, block) > 0) heading = block;
  }
  return { buckets: Uint16Array.from(buckets), counts: Uint16Array.from(counts) };
}
