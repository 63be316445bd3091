// Text is hostile: runs that are made to collide must not make every look-up a walk. A run that finds no
// place within so many steps is not kept.
const MAX_PROBES = 32;

const FIRST_SLOTS = 1024;
const FIRST_UNITS = 8 * 1024;

// Numbers of a slot, side by side, so that a look-up touches one line of the cache: the run's hash, where its
// code units begin, how many they are (-1 in a free slot), and its value.
const SLOT = 4;
const START = 1;
const LENGTH = 2;
const VALUE = 3;

/** The value of no run. */
export const UNKNOWN_RUN = 0x7fff_ffff;

/**
 * A map to 32-bit integers whose keys are looked up as ranges of a text. A `Map` needs each run as a string of its own, to be
 * made, hashed and collected: on documentation that was half the time of all analysis. Keys are kept as code
 * units in one array, for a string a key is three places in memory to visit.
 */
export class RunTable {
  #slots = new Int32Array(FIRST_SLOTS * SLOT).fill(-1);
  #units = new Uint16Array(FIRST_UNITS);
  #unitCount = 0;
  #size = 0;
  /** Where `find` looked last: the slot that a new key may take, or -1. */
  #free = -1;
  #hash = 0;

  get size(): number {
    return this.#size;
  }

  /** The value of the run from `start` to `end` (exclusive), or `UNKNOWN_RUN`. */
  find(text: string, start: number, end: number): number {
    const length = end - start;
    const hash = hashOf(text, start, end);
    const slots = this.#slots;
    const mask = slots.length / SLOT - 1;
    this.#hash = hash;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const slot = ((hash + probe) & mask) * SLOT;
      const slotLength = slots[slot + LENGTH]!;
      if (slotLength < 0) {
        this.#free = slot;
        return UNKNOWN_RUN;
      }
      if (slots[slot] !== hash || slotLength !== length) continue;
      if (this.#isAt(slot, text, start)) return slots[slot + VALUE]!;
    }
    this.#free = -1;
    return UNKNOWN_RUN;
  }

  /** Keeps the value of the run that `find` has just not found. @returns whether there was a place for it */
  add(key: string, value: number): boolean {
    if (this.#free < 0) return false;
    this.#slots[this.#free] = this.#hash;
    this.#slots[this.#free + START] = this.#keep(key);
    this.#slots[this.#free + LENGTH] = key.length;
    this.#slots[this.#free + VALUE] = value;
    this.#free = -1;
    this.#size++;
    if (this.#size * 2 * SLOT === this.#slots.length) this.#grow();
    return true;
  }

  clear(): void {
    this.#slots = new Int32Array(FIRST_SLOTS * SLOT).fill(-1);
    this.#units = new Uint16Array(FIRST_UNITS);
    this.#unitCount = 0;
    this.#size = 0;
    this.#free = -1;
  }

  #isAt(slot: number, text: string, start: number): boolean {
    const units = this.#units;
    const from = this.#slots[slot + START]!;
    const length = this.#slots[slot + LENGTH]!;
    for (let at = 0; at < length; at++) if (units[from + at] !== text.charCodeAt(start + at)) return false;
    return true;
  }

  #keep(key: string): number {
    const start = this.#unitCount;
    if (start + key.length > this.#units.length) {
      const grown = new Uint16Array(Math.max(this.#units.length * 2, start + key.length));
      grown.set(this.#units);
      this.#units = grown;
    }
    for (let at = 0; at < key.length; at++) this.#units[start + at] = key.charCodeAt(at);
    this.#unitCount += key.length;
    return start;
  }

  #grow(): void {
    const before = this.#slots;
    const slots = new Int32Array(before.length * 2).fill(-1);
    const mask = slots.length / SLOT - 1;
    for (let old = 0; old < before.length; old += SLOT) {
      if (before[old + LENGTH]! < 0) continue;
      let slot = before[old]! & mask;
      while (slots[slot * SLOT + LENGTH]! >= 0) slot = (slot + 1) & mask;
      for (let part = 0; part < SLOT; part++) slots[slot * SLOT + part] = before[old + part]!;
    }
    this.#slots = slots;
  }
}

function hashOf(text: string, start: number, end: number): number {
  let hash = end - start;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return hash ^ (hash >>> 12);
}
