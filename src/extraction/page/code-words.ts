/**
 * A fixed list of short ASCII words in lower case that is searched by the UTF-16 units of a text, so that a lookup
 * needs no substring.
 */
export class CodeWords {
  /** The words concatenated, and the offset of each; one more entry ends the last. */
  readonly #codes: Uint16Array;
  readonly #starts: Int32Array;
  /** The number of each word plus one, by hash; 0 is free. At most a quarter of the slots is taken. */
  readonly #slots: Int16Array;
  readonly #mask: number;
  readonly #longest: number;

  /** @param words distinct */
  constructor(words: readonly string[]) {
    let size = 16;
    while (size < words.length * 4) size *= 2;
    this.#slots = new Int16Array(size);
    this.#mask = size - 1;
    this.#longest = Math.max(...words.map((word) => word.length));
    this.#codes = Uint16Array.from(words.join(""), (letter) => letter.charCodeAt(0));
    this.#starts = new Int32Array(words.length + 1);
    words.forEach((word, index) => {
      const start = this.#starts[index]!;
      const end = start + word.length;
      this.#starts[index + 1] = end;
      let slot = hashOf(this.#codes, start, end) & this.#mask;
      while (this.#slots[slot]! !== 0) slot = (slot + 1) & this.#mask;
      this.#slots[slot] = index + 1;
    });
  }

  /**
   * Returns the position in the list of the word at these units, in any case; -1 when the word is not listed.
   */
  find(codes: Uint16Array, start: number, end: number): number {
    if (end - start > this.#longest || end <= start) return -1;
    const starts = this.#starts;
    let slot = hashOf(codes, start, end) & this.#mask;
    for (let index = this.#slots[slot]!; index > 0; index = this.#slots[slot]!) {
      const word = starts[index - 1]!;
      if (starts[index]! - word === end - start && this.#isAt(word, codes, start, end)) return index - 1;
      slot = (slot + 1) & this.#mask;
    }
    return -1;
  }

  #isAt(word: number, codes: Uint16Array, start: number, end: number): boolean {
    const own = this.#codes;
    for (let at = start; at < end; at++) {
      const code = codes[at]!;
      const isCapital = (code - 65) >>> 0 < 26;
      if ((isCapital ? code | 32 : code) !== own[word + at - start]!) return false;
    }
    return true;
  }
}

/** Hashes the length and three letters; reading every letter of every name on a page takes twice the time. */
function hashOf(codes: Uint16Array, start: number, end: number): number {
  const first = codes[start]! | 32;
  const middle = codes[(start + end) >>> 1]! | 32;
  const last = codes[end - 1]! | 32;
  const hash = Math.imul(first, 0x1f35) + Math.imul(middle, 0x02c7) + Math.imul(last, 0x51) + (end - start);
  return hash ^ (hash >>> 9);
}
