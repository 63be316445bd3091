import type { PageTree } from "../classification/page-tree.ts";
import { besideContent, NOT_SHOWN } from "../classification/region.ts";
import { plateauOf } from "../classification/trees.ts";
import { ElementFlag } from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import type { Favor } from "../types.ts";
import { type Draft, keptBlocks, likelihood } from "./draft.ts";

/** A block is kept from this share of the page's own plateau on, but never below the least probability. */
const THRESHOLDS: Readonly<Record<Favor, { readonly plateauShare: number; readonly least: number }>> = {
  precision: { plateauShare: 0.8, least: 0.5 },
  balanced: { plateauShare: 0.6, least: 0.3 },
  recall: { plateauShare: 0.4, least: 0.2 },
};
/** Texts with fewer words say little about themselves, so this share of the threshold is enough for them. */
const SHORT_WORDS = 3;
const SHORT_SHARE = 0.75;
/**
 * A page without any sure block is an index: its lists are its content, and half of the best probability is enough.
 * Below the second value the page is an empty shell without content.
 */
const SURE = 0.5;
const LEAST_BEST = 0.2;
const FEWEST_ENTRIES = 3;
const LINE_NUMBERS = /^[\d\s]*$/;

/** Keeps each block that reaches a share of the page's own plateau. */
export function addLikely({ tree: { model, candidates }, p, words, favor, isKept }: Draft): void {
  const threshold = thresholdOf({ p, words, favor });
  // A menu is the best that an empty shell has.
  const isBeside = threshold < THRESHOLDS[favor].least ? besideContent(model) : () => false;
  for (let index = 0; index < p.length; index++) {
    const block = candidates[index]!;
    const enough = words[index]! < SHORT_WORDS ? SHORT_SHARE * threshold : threshold;
    if (p[index]! >= enough && !isBeside(model.blocks.element[block]!)) isKept[block] = 1;
  }
}

/** Code only needs the least probability, because hardly anything but content is written as code. */
export function addCode({ tree, p, words, favor, isKept }: Draft): void {
  const least = Math.min(THRESHOLDS[favor].least, thresholdOf({ p, words, favor }));
  for (let index = 0; index < p.length; index++)
    if (p[index]! >= least && isCodeBlock(tree, tree.candidates[index]!)) isKept[tree.candidates[index]!] = 1;
}

function thresholdOf({ p, words, favor }: Pick<Draft, "p" | "words" | "favor">): number {
  const { plateauShare, least } = THRESHOLDS[favor];
  const best = p.reduce((most, value) => Math.max(most, value), 0);
  const isIndex = best < SURE && best >= LEAST_BEST && p.length >= FEWEST_ENTRIES;
  return isIndex ? best / 2 : Math.max(least, plateauShare * plateauOf(p, words).plateau);
}

/** Tells whether a block is code, not line numbers. Templates have none, whatever they wrap around it. */
export const isCodeBlock = ({ model }: PageTree, block: number): boolean =>
  (model.blocks.flags[block]! & ElementFlag.preformatted) !== 0 &&
  !LINE_NUMBERS.test(model.blocks.text[block]!);

/** Fewer chosen words only introduce the page, if the next likely blocks have this much more text. */
const FEW_CHOSEN = 30;
const INTRODUCED_SHARE = 1;
/** The third best of the other blocks represents them: one or two may be a slogan or a button. */
const RANK = 2;
const LEAST_INTRODUCED = 0.1;
const SHARE_OF_INTRODUCED = 0.5;
const LIKELY_ARTICLE = 0.5;

/**
 * Chooses what a few chosen words introduce. A page with only a sure heading and first sentence is an index, and its
 * entries are its content.
 */
export function addIntroduced(draft: Draft): void {
  const { tree, words, p, isKept } = draft;
  const chosenWords = words.reduce((sum, count, index) => sum + count * isKept[tree.candidates[index]!]!, 0);
  if (chosenWords >= FEW_CHOSEN || likelihood(draft, "article") >= LIKELY_ARTICLE) return;
  const isBeside = besideContent(tree.model);
  const { blocks } = tree.model;
  const others = Array.from(tree.candidates.keys()).filter((index) => {
    const block = tree.candidates[index]!;
    const isShown = (blocks.flags[block]! & NOT_SHOWN) === 0;
    return isKept[block] === 0 && isShown && !isBeside(blocks.element[block]!);
  });
  const [third = 0] = others
    .map((index) => p[index]!)
    .sort((a, b) => b - a)
    .slice(RANK);
  if (third < LEAST_INTRODUCED) return;
  const entries = others.filter((index) => p[index]! >= SHARE_OF_INTRODUCED * third);
  const entryWords = entries.reduce((sum, index) => sum + words[index]!, 0);
  if (entryWords > INTRODUCED_SHARE * chosenWords)
    for (const index of entries) isKept[tree.candidates[index]!] = 1;
}

/** Pages built by scripts have their content in templates; beside visible content, those are spare parts. */
export function dropTemplates({ tree: { model }, isKept }: Draft): void {
  const isSpare = (block: number): boolean => (model.blocks.flags[block]! & ElementFlag.template) !== 0;
  const kept = Array.from(keptBlocks({ isKept }));
  const wordsOf = (blocks: readonly number[]): number =>
    blocks.reduce((sum, block) => sum + statOf(model, block, TextStat.words), 0);
  const spare = kept.filter(isSpare);
  if (2 * wordsOf(spare) <= wordsOf(kept)) for (const block of spare) isKept[block] = 0;
}
