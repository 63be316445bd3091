/**
 * The maximum number of slots tried for a text before it goes to the map: a page must not make all of its texts
 * collide.
 */
const MAX_PROBES = 16;
const FIRST_SIZE = 512;
/** Longer texts are rare, and the map hashes them. */
const MAX_LENGTH = 300;

/** Numbers the distinct texts of a page from 1 on. Equal texts have equal numbers. */
export class TextTable {
  readonly #html: string;
  readonly #codes: Uint16Array;
  /** The texts by number; 0 is the empty one. */
  readonly texts: string[] = [""];
  #slots = new Int32Array(FIRST_SIZE);
  /** The offsets of the texts in `#slots`. */
  readonly #starts: number[] = [0];
  readonly #hashes: number[] = [0];
  /** The texts that are long, decoded or found no slot. */
  readonly #others = new Map<string, number>();

  constructor(html: string, codes: Uint16Array) {
    this.#html = html;
    this.#codes = codes;
  }

  /** Returns the number of a text that stands in the page unescaped. */
  numberAt(start: number, end: number): number {
    if (end <= start) return 0;
    if (end - start > MAX_LENGTH) return this.numberOf(this.#html.slice(start, end));
    const hash = this.#hash(start, end);
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const number = slots[(hash + probe) & mask]!;
      if (number === 0) break;
      if (this.#hashes[number] === hash && this.#isAt(number, start, end)) return number;
    }
    const text = this.#html.slice(start, end);
    const known = this.#others.size > 0 ? this.#others.get(text) : undefined;
    if (known !== undefined) return known;
    if (this.texts.length * 2 > slots.length) this.#grow();
    const number = this.#add(text, start, hash);
    if (!this.#place(number)) this.#others.set(text, number);
    return number;
  }

  /** Returns the number of any text. */
  numberOf(text: string): number {
    if (text === "") return 0;
    let number = this.#others.get(text) ?? this.#placedNumber(text);
    if (number < 0) {
      number = this.#add(text, -1, 0);
      this.#others.set(text, number);
    }
    return number;
  }

  /** Returns the number of a text in the slots; -1 for others. */
  #placedNumber(text: string): number {
    if (text.length > MAX_LENGTH) return -1;
    let hash = text.length;
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    hash ^= hash >>> 15;
    const mask = this.#slots.length - 1;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const number = this.#slots[(hash + probe) & mask]!;
      if (number === 0) return -1;
      if (this.texts[number] === text) return number;
    }
    return -1;
  }

  #add(text: string, start: number, hash: number): number {
    this.#starts.push(start);
    this.#hashes.push(hash);
    return this.texts.push(text) - 1;
  }

  #hash(start: number, end: number): number {
    const codes = this.#codes;
    let hash = end - start;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ codes[at]!, 0x01000193);
    return hash ^ (hash >>> 15);
  }

  #isAt(number: number, start: number, end: number): boolean {
    const codes = this.#codes;
    const other = this.#starts[number]!;
    if (this.texts[number]!.length !== end - start) return false;
    for (let index = end - start - 1; index >= 0; index--) {
      if (codes[other + index]! !== codes[start + index]!) return false;
    }
    return true;
  }

  #place(number: number): boolean {
    const mask = this.#slots.length - 1;
    const hash = this.#hashes[number]!;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const slot = (hash + probe) & mask;
      if (this.#slots[slot] !== 0) continue;
      this.#slots[slot] = number;
      return true;
    }
    return false;
  }

  #grow(): void {
    this.#slots = new Int32Array(this.#slots.length * 2);
    for (let number = 1; number < this.texts.length; number++) {
      if (this.#starts[number]! >= 0 && !this.#place(number)) {
        this.#others.set(this.texts[number]!, number);
      }
    }
  }
}
