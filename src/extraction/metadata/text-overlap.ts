import { foldForComparison } from "../text.ts";

const UNSPACED = /([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])/gu;

/** The words of a text, folded; scripts without spaces give their characters. */
export function foldedWords(text: string): string[] {
  const folded = foldForComparison(text).replace(UNSPACED, " $1 ").trim();
  return folded === "" ? [] : folded.split(/ +/);
}

/** Titles and names are a few words, in which looking is quicker than building a set. */
const FEW = 24;

/** Which share of the words the others hold; -1 where there are none of either. */
export function shareIn(words: readonly string[], others: readonly string[]): number {
  if (words.length === 0 || others.length === 0) return -1;
  const known = others.length > FEW ? new Set(others) : null;
  let held = 0;
  for (const word of words) if (known ? known.has(word) : others.includes(word)) held++;
  return held / words.length;
}
