/** The classes of UTF-16 code units for the tokenizer; scripts without spaces have a class of their own. */
export const OTHER = 0;
export const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 3;
export const UNSPACED = 4;
/** Combining marks and the like, which continue a word but do not begin one. */
export const MARK = 5;

const UNKNOWN = 255;
const classes = new Uint8Array(0x1_0000).fill(UNKNOWN);

const UNSPACED_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc]/u;

/**
 * The class of the code unit at an index. Beyond the basic plane both halves of a pair get the pair's class;
 * a lone surrogate is OTHER.
 */
export function classAt(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  const known = classes[unit]!;
  if (known !== UNKNOWN) return known;
  if (unit >= 0xd800 && unit <= 0xdfff) return classOfPair(text, index, unit);
  const found = classify(String.fromCharCode(unit));
  classes[unit] = found;
  return found;
}

function classOfPair(text: string, index: number, unit: number): number {
  const isLow = unit >= 0xdc00;
  const point = text.codePointAt(isLow ? index - 1 : index);
  return point === undefined || point <= 0xffff ? OTHER : classify(String.fromCodePoint(point));
}

function classify(character: string): number {
  if (/\p{L}/u.test(character)) {
    if (UNSPACED_SCRIPT.test(character)) return UNSPACED;
    return /\p{Lu}|\p{Lt}/u.test(character) ? UPPER : LOWER;
  }
  if (/\p{N}/u.test(character)) return DIGIT;
  return /[\p{M}\u200c\u200d]/u.test(character) ? MARK : OTHER;
}

/**
 * The form in which words are compared: lower case, compatibility forms and accents folded (`Zürich` →
 * `zurich`, `ﬁ` → `fi`, `Straße` → `strasse`), typographic apostrophes as `'`. The voicing marks of Japanese
 * stay, because they make other letters.
 */
export function fold(word: string): string {
  let isLower = true;
  for (let i = 0; i < word.length && isLower; i++) {
    const unit = word.charCodeAt(i);
    isLower = unit < 0x80 && (unit < 0x41 || unit > 0x5a);
  }
  if (isLower) return word;
  const lower = word.toLowerCase();
  let isPlain = true;
  for (let i = 0; i < lower.length && isPlain; i++) isPlain = lower.charCodeAt(i) < 0x80;
  if (isPlain) return lower;
  return lower
    .normalize("NFKD")
    .replace(/(?![\u3099\u309a])\p{M}|\u200c|\u200d|\u00ad/gu, "")
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .replace(/[ßæœøđłðþı]/g, (letter) => PLAIN_LETTERS[letter] ?? letter)
    .normalize("NFC");
}

/** Latin letters that have no decomposition. */
export const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ł: "l",
  ð: "d",
  þ: "th",
  ı: "i",
};
