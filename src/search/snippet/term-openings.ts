const ASCII = 0x80;
const LETTERS = 26;
const LETTER_A = 0x61;
const LETTER_I = 0x69;
const LETTER_Y = 0x79;
const OTHER_BIT = 1 << LETTERS;
const ALL_BITS = 2 * OTHER_BIT - 1;

/** Stems of fewer letters tell too little of the words that they come from. */
const MIN_TERM_LENGTH = 3;

/**
 * The first two letters of some terms, to tell without analysis that a written run has none of them. Analysis
 * changes them neither by folding of ASCII nor by stemming, but for a second `y` that becomes `i` (`dying`,
 * `die`); what is not ASCII may always be a term.
 */
export class TermOpenings {
  /** By first letter, a bit for each second one. */
  readonly #seconds = new Int32Array(ASCII);

  constructor(terms: Iterable<string>) {
    for (const term of terms) {
      const first = term.charCodeAt(0);
      // A term that is not ASCII is only in runs that are not either, or that fold to it: those pass.
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
      // A part begins after anything that is no letter or digit, or with a capital.
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
