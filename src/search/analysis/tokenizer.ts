// A longer run is cut: nobody searches for it, and the work on its parts stays linear.
const MAX_RUN_LENGTH = 256;

const UNDERSCORE = 0x5f;
const HYPHEN = 0x2d;
const COLON = 0x3a;
const RIGHT_QUOTE = 0x2019;
const ASCII = 0x80;
const PLUS = 0x2b;
const HASH = 0x23;

const marked = (signs: RegExp): Uint8Array =>
  Uint8Array.from({ length: ASCII }, (_, unit) => (signs.test(String.fromCharCode(unit)) ? 1 : 0));

/** Marks ASCII letters, digits and `_`, which make up most of any text. */
const IS_WORD = marked(/\w/);
/** Marks the characters that may stand between two parts of a run; a colon needs a second one. */
const MAY_JOIN = marked(/[.\-/':@]/);
/** Marks the signs that belong to a run when they stand right before it. */
const IS_SIGN = marked(/[-./$]/);

/**
 * Walks the written words of a text from left to right. A word is a run of letters, digits and `_`, with `.`,
 * `-`, `/`, `::`, `'` and `@` between them, and with the signs around them that make it another word
 * (`--flag`, `.NET`, `$HOME`, `C++`). Runs of scripts without spaces are separate from others.
 */
export class Tokenizer {
  #text = "";
  #at = 0;
  #end = 0;
  /** The range of the run that `next` found, in UTF-16 code units. */
  start = 0;
  end = 0;

  /** Sets the text to walk: `text` from `start` to `end` (exclusive). */
  reset(text: string, start: number, end: number): void {
    this.#text = text;
    this.#at = start;
    this.#end = end;
  }

  /** Moves to the next run; returns false when there is none. */
  next(): boolean {
    const text = this.#text;
    const from = this.#at;
    let at = from;
    let kind = LOWER;
    for (; at < this.#end; at++) {
      const unit = text.charCodeAt(at);
      if (unit < ASCII) {
        if (IS_WORD[unit] === 1) break;
        continue;
      }
      kind = classAt(text, at);
      if (kind !== OTHER && kind !== MARK) break;
      kind = LOWER;
    }
    if (at >= this.#end) {
      this.#at = this.#end;
      return false;
    }
    if (kind === UNSPACED) {
      this.start = at;
      this.end = this.#at = this.#unspacedEnd(at);
      return true;
    }
    const runEnd = this.#runEnd(at);
    this.start = this.#withSignsBefore(at, from);
    this.end = this.#at = this.#withSignsAfter(at, runEnd);
    return true;
  }

  #unspacedEnd(start: number): number {
    let at = start + 1;
    const limit = Math.min(this.#end, start + MAX_RUN_LENGTH);
    while (at < limit) {
      const kind = classAt(this.#text, at);
      if (kind !== UNSPACED && kind !== MARK) break;
      at++;
    }
    return this.#wholeCharacter(start, at);
  }

  #runEnd(start: number): number {
    const text = this.#text;
    const limit = Math.min(this.#end, start + MAX_RUN_LENGTH);
    let at = start + 1;
    let unit = 0;
    // Most runs consist of ASCII letters and end at a character that cannot continue a run.
    for (; at < limit; at++) {
      unit = text.charCodeAt(at);
      if (unit >= ASCII || IS_WORD[unit] === 0) break;
    }
    if (at < limit && unit < ASCII && MAY_JOIN[unit] === 0) return at;
    while (at < limit) {
      unit = text.charCodeAt(at);
      const kind = unit < ASCII ? (IS_WORD[unit] === 1 ? LOWER : OTHER) : classAt(text, at);
      if (kind === UNSPACED) break;
      if (kind !== OTHER) {
        at++;
        continue;
      }
      const joiner = this.#joinerLength(at, unit);
      if (joiner === 0 || at + joiner >= limit || !this.#isWordStart(at + joiner)) break;
      at += joiner;
    }
    return this.#wholeCharacter(start, at);
  }

  // A cut at the length limit must not split a surrogate pair.
  #wholeCharacter(start: number, end: number): number {
    const last = this.#text.charCodeAt(end - 1);
    const isHalf = last >= 0xd800 && last <= 0xdbff && end - 1 > start;
    return isHalf ? end - 1 : end;
  }

  #joinerLength(at: number, unit: number): number {
    if (unit === COLON) return this.#text.charCodeAt(at + 1) === COLON ? 2 : 0;
    return MAY_JOIN[unit] === 1 || unit === RIGHT_QUOTE ? 1 : 0;
  }

  #isWordStart(at: number): boolean {
    if (this.#text.charCodeAt(at) === UNDERSCORE) return true;
    const kind = classAt(this.#text, at);
    return kind !== OTHER && kind !== MARK && kind !== UNSPACED;
  }

  #withSignsBefore(start: number, from: number): number {
    if (start === from) return start;
    const text = this.#text;
    const sign = text.charCodeAt(start - 1);
    if (sign >= ASCII || IS_SIGN[sign] === 0) return start;
    let first = start - 1;
    if (sign === HYPHEN && first > from && text.charCodeAt(first - 1) === HYPHEN) first--;
    // A sign counts only at the start of a word: not the second dot of `...`, nor the slashes of `//`.
    return first > from && !isOpening(text.charCodeAt(first - 1)) ? start : first;
  }

  #withSignsAfter(start: number, end: number): number {
    const text = this.#text;
    const sign = end < this.#end ? text.charCodeAt(end) : 0;
    if (sign === HASH && end - start === 1) return end + 1;
    const isDouble = sign === PLUS && end + 1 < this.#end && text.charCodeAt(end + 1) === PLUS;
    if (!isDouble) return end;
    const after = end + 2 < this.#end && classAt(text, end + 2) !== OTHER;
    return after ? end : end + 2;
  }
}

/** Whether the character is a space, or a bracket, quote or mark that opens something. */
const isOpening = (unit: number): boolean =>
  unit <= 0x20 || unit === 0xa0 || (unit < 0x80 && OPENING.includes(String.fromCharCode(unit)));

const OPENING = "([{<\"'`*|,=>~";

/** The classes of UTF-16 code units for the tokenizer; scripts without spaces have a class of their own. */
const OTHER = 0;
export const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 3;
export const UNSPACED = 4;
/** Combining marks and the like, which continue a word but do not begin one. */
const MARK = 5;

const UNKNOWN = 255;
const classes = new Uint8Array(0x1_0000).fill(UNKNOWN);

const UNSPACED_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc]/u;

/** The class of a code unit. Both halves of a pair have the pair's class; a lone surrogate is OTHER. */
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
