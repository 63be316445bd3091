/**
 * A fixed list of short ASCII words in lower case, found by the UTF-16 units of a text: no string is cut
 * out of the page to look one up.
 */
export class CodeWords {
  readonly #words: readonly string[];
  /** Number of a word plus one, by hash; 0 is free. At most a quarter is taken. */
  readonly #slots: Int16Array;
  readonly #mask: number;
  readonly #longest: number;

  /** @param words distinct */
  constructor(words: readonly string[]) {
    this.#words = words;
    let size = 16;
    while (size < words.length * 4) size *= 2;
    this.#slots = new Int16Array(size);
    this.#mask = size - 1;
    this.#longest = Math.max(...words.map((word) => word.length));
    words.forEach((word, index) => {
      const codes = Uint16Array.from(word, (letter) => letter.charCodeAt(0));
      let slot = hashOf(codes, 0, codes.length) & this.#mask;
      while (this.#slots[slot]! !== 0) slot = (slot + 1) & this.#mask;
      this.#slots[slot] = index + 1;
    });
  }

  /** Position in the list of the word at these units, in any case; -1 for a word that is not listed. */
  find(codes: Uint16Array, start: number, end: number): number {
    if (end - start > this.#longest) return -1;
    let slot = hashOf(codes, start, end) & this.#mask;
    for (let index = this.#slots[slot]!; index > 0; index = this.#slots[slot]!) {
      if (isWordAt(this.#words[index - 1]!, codes, start, end)) return index - 1;
      slot = (slot + 1) & this.#mask;
    }
    return -1;
  }
}

function hashOf(codes: Uint16Array, start: number, end: number): number {
  let hash = 0;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (codes[at]! | 32)) | 0;
  return hash ^ (hash >>> 11);
}

function isWordAt(word: string, codes: Uint16Array, start: number, end: number): boolean {
  if (word.length !== end - start) return false;
  for (let index = 0; index < word.length; index++) {
    const code = codes[start + index]!;
    const isCapital = (code - 65) >>> 0 < 26;
    if ((isCapital ? code | 32 : code) !== word.charCodeAt(index)) return false;
  }
  return true;
}
