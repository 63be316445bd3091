import { NO_SIGNATURE, signatureKey } from "../segment/signatures.ts";

/** The signatures of a run's postings, numbered from 1 as they are met, with the count of each. */
export class RunSignatures {
  readonly #numbers = new Map<number, number>();
  readonly #counts: number[] = [];

  /** @returns the number to write, `NO_SIGNATURE` for frequencies that have no key */
  note(frequencies: Uint32Array, positionCount: number): number {
    const key = signatureKey(frequencies, positionCount);
    if (key < 0) return NO_SIGNATURE;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#counts.push(0);
      this.#numbers.set(key, number);
    }
    this.#counts[number - 1]!++;
    return number;
  }

  /** Keys with the count of their postings, in the order of their numbers. */
  *entries(): Generator<readonly [key: number, count: number]> {
    for (const [key, number] of this.#numbers) yield [key, this.#counts[number - 1]!];
  }

  get size(): number {
    return this.#counts.length;
  }

  clear(): void {
    this.#numbers.clear();
    this.#counts.length = 0;
  }
}
