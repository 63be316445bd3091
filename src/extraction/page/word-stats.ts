import { grown } from "./columns.ts";
import type { PageModel } from "./page-model.ts";
/** The columns of a block's text statistics. */
export const TextStat = {
  words: 0,
  chars: 1,
  linkChars: 2,
  digits: 3,
  capitalised: 4,
  sentenceEnds: 5,
  commas: 6,
  ideographs: 7,
  separators: 8,
  boldChars: 9,
  currency: 10,
  /** 1 when the last character ends a sentence. */
  endsSentence: 11,
  letters: 12,
  /** A hash of the text that identifies repeated blocks. */
  hashLow: 13,
  years: 14,
  linkCount: 15,
  count: 16,
} as const;

/** A number of a block's text, see `TextStat`. */
export const statOf = ({ blocks }: PageModel, block: number, stat: number): number =>
  blocks.stats[block * TextStat.count + stat]!;

/** Words are counted in this many buckets; words that share one cost a little precision. */
export const WORD_BUCKETS = 1 << 14;

const OTHER = 0;
const LETTER = 1;
const UPPER = 2;
const DIGIT = 3;
const SPACE = 4;
const STOP = 5;
const COMMA = 6;
const SEPARATOR = 7;
const CURRENCY = 8;
const IDEOGRAPH = 9;

const UNKNOWN = 255;
// Classifying every character takes 20 ms; pages use a few hundred.
const KIND = new Uint8Array(65536).fill(UNKNOWN);

function kindOf(code: number): number {
  const known = KIND[code]!;
  if (known !== UNKNOWN) return known;
  const kind = classify(code);
  KIND[code] = kind;
  return kind;
}

/** Tells whether a character is white space in the sense of `\s`. */
export const isWhiteSpace = (code: number): boolean => kindOf(code) === SPACE;

function classify(code: number): number {
  const character = String.fromCharCode(code);
  if (/\s/.test(character)) return SPACE;
  if (/[0-9]/.test(character)) return DIGIT;
  if (/[.!?…。！？؟।]/.test(character)) return STOP;
  if (/[,;:、，；：،]/.test(character)) return COMMA;
  if (/[|•·»›→/>«‹]/.test(character)) return SEPARATOR;
  if (/\p{Sc}/u.test(character)) return CURRENCY;
  if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(character))
    return IDEOGRAPH;
  if (/\p{Lu}/u.test(character)) return UPPER;
  return /[\p{L}\p{N}\p{M}_]/u.test(character) || (code >= 0xd800 && code < 0xe000) ? LETTER : OTHER;
}

/** The destination of a text's statistics and words. */
export type StatSink = {
  stats: Float32Array;
  /** The first column of this text in `stats`. */
  at: number;
  words: Uint16Array;
  wordCount: number;
};

/**
 * Counts one text into the sink. `marks` are the ranges of the text (start, end, start, …) inside links, `boldMarks`
 * those in bold type. Two ideographs count as a word, because such scripts have no spaces.
 */
export function countText(
  text: string,
  sink: StatSink,
  marks: readonly number[],
  boldMarks: readonly number[],
): void {
  const { stats, at } = sink;
  let words = 0;
  let chars = 0;
  let digits = 0;
  let capitalised = 0;
  let stops = 0;
  let commas = 0;
  let ideographs = 0;
  let separators = 0;
  let currency = 0;
  let letters = 0;
  let years = 0;
  let hash = 0;
  let wordLength = 0;
  let wordDigits = 0;
  let textHash = 0;
  let lastKind = OTHER;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const kind = kindOf(code);
    if (kind !== SPACE) {
      chars++;
      textHash = (Math.imul(textHash, 31) + code) | 0;
      lastKind = kind;
    }
    if (kind === LETTER || kind === UPPER || kind === DIGIT) {
      if (wordLength === 0 && kind === UPPER) capitalised++;
      hash = (Math.imul(hash, 31) + (kind === UPPER && code < 128 ? code + 32 : code)) | 0;
      wordLength++;
      if (kind === DIGIT) {
        digits++;
        wordDigits++;
      } else letters++;
      continue;
    }
    if (wordLength > 0) {
      words++;
      if (wordDigits === 4 && wordLength === 4) years++;
      pushWord(sink, hash);
      hash = 0;
      wordLength = 0;
      wordDigits = 0;
    }
    if (kind === STOP) stops++;
    else if (kind === COMMA) commas++;
    else if (kind === SEPARATOR) separators++;
    else if (kind === CURRENCY) currency++;
    else if (kind === IDEOGRAPH) {
      if ((ideographs++ & 1) === 0) words++;
      pushWord(sink, code);
    }
  }
  if (wordLength > 0) {
    words++;
    if (wordDigits === 4 && wordLength === 4) years++;
    pushWord(sink, hash);
  }
  stats[at + TextStat.words] = words;
  stats[at + TextStat.chars] = chars;
  stats[at + TextStat.linkChars] = visibleChars(text, marks);
  stats[at + TextStat.digits] = digits;
  stats[at + TextStat.capitalised] = capitalised;
  stats[at + TextStat.sentenceEnds] = stops;
  stats[at + TextStat.commas] = commas;
  stats[at + TextStat.ideographs] = ideographs;
  stats[at + TextStat.separators] = separators;
  stats[at + TextStat.boldChars] = visibleChars(text, boldMarks);
  stats[at + TextStat.currency] = currency;
  stats[at + TextStat.endsSentence] = lastKind === STOP ? 1 : 0;
  stats[at + TextStat.letters] = letters + ideographs;
  // 24 bits: a float holds them exactly.
  stats[at + TextStat.hashLow] = (textHash ^ (textHash >>> 8)) & 0xffffff;
  stats[at + TextStat.years] = years;
  stats[at + TextStat.linkCount] = marks.length / 2;
}

function pushWord(sink: StatSink, hash: number): void {
  if (sink.wordCount === sink.words.length) sink.words = grown(sink.words);
  sink.words[sink.wordCount++] = wordBucket(hash);
}

const wordBucket = (hash: number): number => (Math.imul(hash, 0x9e3779b1) >>> 18) & (WORD_BUCKETS - 1);

function visibleChars(text: string, ranges: readonly number[]): number {
  let count = 0;
  for (let range = 0; range < ranges.length; range += 2) {
    const end = Math.min(ranges[range + 1]!, text.length);
    for (let index = ranges[range]!; index < end; index++) {
      if (kindOf(text.charCodeAt(index)) !== SPACE) count++;
    }
  }
  return count;
}
