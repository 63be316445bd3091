import { foldForComparison } from "../text.ts";

const UNSPACED = /([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])/gu;

/** The words of a text, folded; scripts without spaces give their characters. */
export function foldedWords(text: string): string[] {
  const folded = foldForComparison(text).replace(UNSPACED, " $1 ").trim();
  return folded === "" ? [] : folded.split(/ +/);
}

/** Which share of the first words the second ones hold, and the other way round; -1 where there are none. */
export function overlap(first: readonly string[], second: readonly string[]): readonly [number, number] {
  if (first.length === 0 || second.length === 0) return [-1, -1];
  return [shareIn(first, second), shareIn(second, first)];
}

/** Titles and names are a few words, in which looking is quicker than building a set. */
const FEW = 24;

function shareIn(words: readonly string[], others: readonly string[]): number {
  const known = others.length > FEW ? new Set(others) : null;
  let held = 0;
  for (const word of words) if (known ? known.has(word) : others.includes(word)) held++;
  return held / words.length;
}
