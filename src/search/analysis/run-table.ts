import { withRoom } from "../number-list.ts";

// Text is hostile: runs that are made to collide must not turn every look-up into a long walk. A run that
// finds no place within this many steps is not kept.
const MAX_PROBES = 32;

const FIRST_SLOTS = 1024;
const FIRST_UNITS = 8 * 1024;

// The numbers of a slot lie side by side, so that a look-up touches one cache line. A run of up to eight code
// units below 256 is stored in the slot itself, four in a number. For any other run the slot holds the hash
// and the position of its code units. The size tells them apart: it is the length for the former, the length
// + LONG for the latter, and -1 in a free slot.
const SLOT = 4;
const FIRST = 0;
const SECOND = 1;
const SIZE = 2;
const VALUE = 3;
const MAX_SHORT = 8;
const LONG = 16;

/** The value of a run that the table does not hold. */
export const UNKNOWN_RUN = 0x7fff_ffff;

/**
 * A map to 32-bit integers whose keys are looked up as ranges of a text. A `Map` would need each run as a
 * string, which must be made, hashed and collected: on documentation that was half the time of all analysis.
 * Keys are stored in the slots or as code units in one array, because a string would be in three places in
 * memory.
 */
export class RunTable {
  #slots = new Int32Array(FIRST_SLOTS * SLOT).fill(-1);
  #units = new Uint16Array(FIRST_UNITS);
  #unitCount = 0;
  #size = 0;
  /** The slot that a new key may take after the last `find`, or -1, and the contents that it would get. */
  #free = -1;
  #first = 0;
  #second = 0;
  #keySize = 0;

  get size(): number {
    return this.#size;
  }

  /** The value of the run from `start` to `end` (exclusive), or `UNKNOWN_RUN`. */
  find(text: string, start: number, end: number): number {
    const length = end - start;
    if (length > MAX_SHORT) return this.#findLong(text, start, end);
    let first = 0;
    let second = 0;
    let all = 0;
    for (let at = length - 1; at >= 4; at--) {
      const unit = text.charCodeAt(start + at);
      all |= unit;
      second = (second << 8) | unit;
    }
    for (let at = Math.min(length, 4) - 1; at >= 0; at--) {
      const unit = text.charCodeAt(start + at);
      all |= unit;
      first = (first << 8) | unit;
    }
    if (all > 0xff) return this.#findLong(text, start, end);
    this.#first = first;
    this.#second = second;
    this.#keySize = length;
    const slots = this.#slots;
    const mask = slots.length / SLOT - 1;
    const hash = hashOfShort(first, second, length);
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const slot = ((hash + probe) & mask) * SLOT;
      const size = slots[slot + SIZE]!;
      if (size === length && slots[slot] === first && slots[slot + SECOND] === second)
        return slots[slot + VALUE]!;
      if (size >= 0) continue;
      this.#free = slot;
      return UNKNOWN_RUN;
    }
    this.#free = -1;
    return UNKNOWN_RUN;
  }

  #findLong(text: string, start: number, end: number): number {
    const hash = hashOf(text, start, end);
    const wanted = end - start + LONG;
    this.#first = hash;
    this.#keySize = wanted;
    const slots = this.#slots;
    const mask = slots.length / SLOT - 1;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const slot = ((hash + probe) & mask) * SLOT;
      const size = slots[slot + SIZE]!;
      if (size < 0) {
        this.#free = slot;
        return UNKNOWN_RUN;
      }
      if (size === wanted && slots[slot] === hash && this.#isAt(slot, text, start))
        return slots[slot + VALUE]!;
    }
    this.#free = -1;
    return UNKNOWN_RUN;
  }

  /**
   * Stores the value of the run that `find` has just not found.
   * @returns whether there was room for it
   */
  add(key: string, value: number): boolean {
    if (this.#free < 0) return false;
    this.#slots[this.#free + FIRST] = this.#first;
    this.#slots[this.#free + SECOND] = this.#keySize < LONG ? this.#second : this.#keep(key);
    this.#slots[this.#free + SIZE] = this.#keySize;
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
    const from = this.#slots[slot + SECOND]!;
    const length = this.#slots[slot + SIZE]! - LONG;
    for (let at = 0; at < length; at++) if (units[from + at] !== text.charCodeAt(start + at)) return false;
    return true;
  }

  #keep(key: string): number {
    const start = this.#unitCount;
    this.#units = withRoom(this.#units, start + key.length);
    for (let at = 0; at < key.length; at++) this.#units[start + at] = key.charCodeAt(at);
    this.#unitCount += key.length;
    return start;
  }

  #grow(): void {
    const before = this.#slots;
    const slots = new Int32Array(before.length * 2).fill(-1);
    const mask = slots.length / SLOT - 1;
    for (let old = 0; old < before.length; old += SLOT) {
      const size = before[old + SIZE]!;
      if (size < 0) continue;
      const first = before[old]!;
      let slot = (size < LONG ? hashOfShort(first, before[old + SECOND]!, size) : first) & mask;
      while (slots[slot * SLOT + SIZE]! >= 0) slot = (slot + 1) & mask;
      for (let part = 0; part < SLOT; part++) slots[slot * SLOT + part] = before[old + part]!;
    }
    this.#slots = slots;
  }
}

function hashOfShort(first: number, second: number, length: number): number {
  let hash = Math.imul(first, 0x9e37_79b1) ^ Math.imul(second + length, 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d);
  return hash ^ (hash >>> 13);
}

function hashOf(text: string, start: number, end: number): number {
  let hash = end - start;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return hash ^ (hash >>> 12);
}
