// Porter2 leaves these on English nouns of one family: `installer`, `installation` → `instal`.
const SUFFIXES = [
  "ation",
  "ition",
  "ator",
  "ment",
  "ness",
  "able",
  "ible",
  "abl",
  "ibl",
  "ing",
  "ion",
  "ism",
  "ist",
  "iv",
  "ic",
  "al",
  "at",
  "er",
  "or",
  "ur",
  "ly",
  "li",
  "i",
  "e",
] as const;

const MIN_STEM_LENGTH = 4;

/**
 * Removes further suffixes from a Porter2 stem, keeping at least four letters, and then a doubled last
 * letter. It serves `aggressive-stem`, which finds more and confuses more words.
 */
export function stemFurther(stem: string): string {
  if (!/^[a-z]+$/.test(stem)) return stem;
  let rest = stem;
  for (let round = 0; round < 2; round++) {
    const suffix = SUFFIXES.find((one) => rest.endsWith(one) && rest.length - one.length >= MIN_STEM_LENGTH);
    if (!suffix) break;
    rest = rest.slice(0, -suffix.length);
  }
  return rest.replace(/([^aeiou])\1$/, "$1");
}
