// Text is hostile: runs that are made to collide must not make every look-up a walk. A run that finds no
// place within so many steps is not kept.
const MAX_PROBES = 32;

const FIRST_SLOTS = 1024;

/**
 * A map whose keys are looked up as ranges of a text. A `Map` needs each run as a string of its own, to be
 * made, hashed and collected: on documentation that was half the time of all analysis (24 of 55 µs for a
 * document of 800 characters; this takes 9).
 */
export class RunTable<Value> {
  #slots = new Int32Array(FIRST_SLOTS).fill(-1);
  #hashes = new Int32Array(FIRST_SLOTS / 2);
  #keys: string[] = [];
  #values: Value[] = [];
  /** Where `find` looked last: the slot that a new key may take, or -1. */
  #free = -1;
  #hash = 0;

  get size(): number {
    return this.#keys.length;
  }

  /** The value of the run from `start` to `end` (exclusive). */
  find(text: string, start: number, end: number): Value | undefined {
    const length = end - start;
    const hash = hashOf(text, start, end);
    const mask = this.#slots.length - 1;
    this.#hash = hash;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const slot = (hash + probe) & mask;
      const place = this.#slots[slot]!;
      if (place < 0) {
        this.#free = slot;
        return undefined;
      }
      if (this.#hashes[place] !== hash) continue;
      const key = this.#keys[place]!;
      if (key.length === length && isAt(key, text, start)) return this.#values[place];
    }
    this.#free = -1;
    return undefined;
  }

  /** Keeps the value of the run that `find` has just not found. */
  add(key: string, value: Value): void {
    if (this.#free < 0) return;
    const place = this.#keys.push(key) - 1;
    this.#values.push(value);
    this.#hashes[place] = this.#hash;
    this.#slots[this.#free] = place;
    if (this.#keys.length * 2 === this.#slots.length) this.#grow();
  }

  clear(): void {
    this.#slots = new Int32Array(FIRST_SLOTS).fill(-1);
    this.#hashes = new Int32Array(FIRST_SLOTS / 2);
    this.#keys = [];
    this.#values = [];
  }

  #grow(): void {
    const hashes = new Int32Array(this.#slots.length);
    hashes.set(this.#hashes);
    this.#hashes = hashes;
    this.#slots = new Int32Array(this.#slots.length * 2).fill(-1);
    const mask = this.#slots.length - 1;
    for (let place = 0; place < this.#keys.length; place++) {
      let slot = hashes[place]! & mask;
      while (this.#slots[slot]! >= 0) slot = (slot + 1) & mask;
      this.#slots[slot] = place;
    }
  }
}

function hashOf(text: string, start: number, end: number): number {
  let hash = end - start;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return hash ^ (hash >>> 12);
}

function isAt(key: string, text: string, start: number): boolean {
  for (let at = 0; at < key.length; at++)
    if (key.charCodeAt(at) !== text.charCodeAt(start + at)) return false;
  return true;
}
