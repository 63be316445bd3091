// What Porter2 leaves on English nouns of one family: `installer`, `installation` → `instal`.
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
 * Takes further suffixes off a Porter2 stem, at least four letters staying, then doubles a last letter no
 * more. For `aggressive-stem`: finds more, and takes more words for one.
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
