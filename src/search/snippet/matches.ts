import type { Analyser } from "../analysis/analyser.ts";
import { Tokenizer } from "../analysis/tokenizer.ts";
import type { QueryTerm } from "../query/compile.ts";

/** A word of a text that the query asks for, as a range of UTF-16 code units, end exclusive. */
export type Match = {
  readonly start: number;
  readonly end: number;
  /** The number of the query's term. */
  readonly term: number;
  readonly weight: number;
};

const MAX_MATCHES = 400;

/** Finds the words of a text that a query's terms match, in order. */
export function findMatches(text: string, analyser: Analyser, terms: readonly QueryTerm[]): Match[] {
  const numbers = new Map(terms.map(({ entry }, number) => [entry.term, number]));
  const openings = new TermPrefixes(numbers.keys());
  const tokenizer = new Tokenizer();
  const runs = analyser.prose;
  tokenizer.reset(text, 0, text.length);
  const matches: Match[] = [];
  while (matches.length < MAX_MATCHES && tokenizer.next()) {
    const { start, end } = tokenizer;
    // Most words of a text have nothing to do with the query, and analysing them is the main cost of a
    // snippet.
    if (!openings.mayBeIn(text, start, end)) continue;
    const code = runs.codeAt(text, start, end);
    for (const word of code >= 0 ? [code] : runs.shape(code).words) {
      const term = numbers.get(analyser.term(word));
      if (term === undefined) continue;
      const { entry, forms, weight } = terms[term]!;
      if (forms && !forms.has(entry.forms.indexOf(analyser.form(word)))) continue;
      matches.push({ start, end, term, weight });
      break;
    }
  }
  return matches;
}

const ASCII = 0x80;
const LETTERS = 26;
const LETTER_A = 0x61;
const LETTER_I = 0x69;
const LETTER_Y = 0x79;
const OTHER_BIT = 1 << LETTERS;
const ALL_BITS = 2 * OTHER_BIT - 1;

/** Shorter stems say too little about the words that they come from. */
const MIN_TERM_LENGTH = 3;

/**
 * The first two letters of some terms, which show without analysis that a written run has none of them.
 * Neither folding nor stemming changes these letters of an ASCII word, except that a second `y` may become
 * `i` (`dying`, `die`); a run outside ASCII may always contain a term.
 */
export class TermPrefixes {
  /** Each first letter has a bit for each possible second one. */
  readonly #seconds = new Int32Array(ASCII);

  constructor(terms: Iterable<string>) {
    for (const term of terms) {
      const first = term.charCodeAt(0);
      // A term outside ASCII is only in runs outside ASCII, or in runs that fold to it; those always pass.
      if (first < ASCII) this.#seconds[first]! |= term.length < MIN_TERM_LENGTH ? ALL_BITS : bitOf(term, 1);
    }
  }

  /** Whether a part of the run from `start` to `end` (exclusive) may be one of the terms. */
  mayBeIn(text: string, start: number, end: number): boolean {
    let isInWord = false;
    let mayBe = false;
    for (let at = start; at < end; at++) {
      const unit = text.charCodeAt(at);
      if (unit >= ASCII) return true;
      const isUpper = unit >= 0x41 && unit <= 0x5a;
      // A part begins with a capital, or after a character that is no letter or digit.
      if (!isInWord || isUpper) {
        const seconds = this.#seconds[isUpper ? unit | 0x20 : unit]!;
        if (seconds !== 0 && (seconds & bitOf(text, at + 1)) !== 0) mayBe = true;
      }
      isInWord = isUpper || (unit >= LETTER_A && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39);
    }
    return mayBe;
  }
}

function bitOf(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  const lower = unit >= 0x41 && unit <= 0x5a ? unit | 0x20 : unit;
  if (lower >= LETTER_A && lower <= 0x7a) return 1 << ((lower === LETTER_Y ? LETTER_I : lower) - LETTER_A);
  return OTHER_BIT;
}
