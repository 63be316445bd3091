import { NumberList } from "../number-list.ts";
import { NO_SIGNATURE, signatureKey } from "../segment/signatures.ts";
import type { RunHead } from "./run-format.ts";

const RECENT = 1024;

/**
 * The signatures of a run's postings, numbered from 1 in the order of their first use, each with its count.
 */
export class RunSignatures {
  readonly #numbers = new Map<number, number>();
  readonly #counts = new NumberList();
  // This small cache answers before the map for nearly all postings: each hash has one key and its number.
  readonly #recentKeys = new Float64Array(RECENT).fill(-1);
  readonly #recentNumbers = new Uint32Array(RECENT);

  /** @returns the number to write, `NO_SIGNATURE` for frequencies that have no key */
  note(frequencies: Uint32Array, positionCount: number): number {
    const key = signatureKey(frequencies, positionCount);
    return key < 0 ? NO_SIGNATURE : this.noteKey(key);
  }

  /**
   * @param key a key that `signatureKey` returned
   * @returns the number to write
   */
  noteKey(key: number): number {
    const place = Math.imul(key | 0, 0x9e37_79b1) >>> 22;
    const number = this.#recentKeys[place] === key ? this.#recentNumbers[place]! : this.#find(key, place);
    this.#counts.values[number - 1]!++;
    return number;
  }

  /** The keys by number, and how many postings have each. */
  head(): RunHead {
    return { keys: [0, ...this.#numbers.keys()], keyCounts: [0, ...this.#counts.used()] };
  }

  clear(): void {
    this.#numbers.clear();
    this.#counts.clear();
    this.#recentKeys.fill(-1);
  }

  #find(key: number, place: number): number {
    let number = this.#numbers.get(key);
    if (number === undefined) {
      this.#counts.push(0);
      number = this.#counts.length;
      this.#numbers.set(key, number);
    }
    this.#recentKeys[place] = key;
    this.#recentNumbers[place] = number;
    return number;
  }
}
