import { foldForComparison } from "../text.ts";

const UNSPACED = /([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])/gu;

/** Splits a text into folded words; scripts without spaces are split into characters. */
export function foldedWords(text: string): string[] {
  const folded = foldForComparison(text).replace(UNSPACED, " $1 ").trim();
  return folded === "" ? [] : folded.split(/ +/);
}

/** Titles and names have few words, so searching them is faster than building a set. */
const FEW = 24;

/** Returns the share of the words that the others contain; -1 when either list is empty. */
export function shareIn(words: readonly string[], others: readonly string[]): number {
  if (words.length === 0 || others.length === 0) return -1;
  const known = others.length > FEW ? new Set(others) : null;
  let held = 0;
  for (const word of words) if (known ? known.has(word) : others.includes(word)) held++;
  return held / words.length;
}
