import { FIELDS } from "../types.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";

/** Marks a posting whose frequencies are written out. */
export const NO_SIGNATURE = 0;

// Further signatures are so rare that writing out their frequencies costs less than wider numbers for all.
const MAX_SIGNATURES = 4095;

const MAX_FREQUENCY = 15;
const FIELD_COUNT = FIELDS.length;

/**
 * Packs the frequencies of a posting into one number, four bits per field. It returns -1 when that is not
 * enough: for a frequency above 15, or when the number of positions differs from the sum of frequencies (a
 * term twice at one position).
 */
export function signatureKey(frequencies: Uint32Array, positionCount: number): number {
  let key = 0;
  let expected = 0;
  for (let field = FIELD_COUNT - 1; field >= 0; field--) {
    const frequency = frequencies[field]!;
    if (frequency > MAX_FREQUENCY) return -1;
    key = key * 16 + frequency;
    expected += frequency;
  }
  return expected === positionCount ? key : -1;
}

/**
 * The inverse of `signatureKey`.
 * @returns the number of positions
 */
export function readSignatureKey(key: number, frequencies: Uint32Array): number {
  let rest = key;
  let positionCount = 0;
  for (let field = 0; field < FIELD_COUNT; field++) {
    const frequency = rest % 16;
    rest = Math.floor(rest / 16);
    frequencies[field] = frequency;
    positionCount += frequency;
  }
  return positionCount;
}

/**
 * Numbers an index's combinations of frequencies from 1, the most frequent first. Nearly all postings have
 * one of a few dozen ("once in the body"), so that a posting is a document and a small number.
 */
export class SignatureNumbers {
  readonly #numbers: ReadonlyMap<number, number>;

  /** @param counts the number of postings of each key */
  constructor(counts: ReadonlyMap<number, number>) {
    const sorted = [...counts].sort(([a, countA], [b, countB]) => countB - countA || a - b);
    this.#numbers = new Map(sorted.slice(0, MAX_SIGNATURES).map(([key], index) => [key, index + 1]));
  }

  /** Returns `NO_SIGNATURE` for a key without a number. */
  numberOf(key: number): number {
    return this.#numbers.get(key) ?? NO_SIGNATURE;
  }

  encode(): Uint8Array {
    const writer = new ByteWriter();
    writer.varint(this.#numbers.size);
    for (const key of this.#numbers.keys()) writer.varint(key);
    return writer.written();
  }
}

/** The inverse: the frequencies of each number, in flat arrays. */
export class Signatures {
  /** Entries of number n: from `starts[n]` to `starts[n + 1]` in `fields` and `frequencies`. */
  readonly starts: Uint32Array;
  readonly fields: Uint8Array;
  readonly frequencies: Uint32Array;
  readonly positionCounts: Uint32Array;

  constructor(bytes: Uint8Array) {
    const reader = new ByteReader(bytes);
    const count = Math.min(reader.varint(), MAX_SIGNATURES);
    this.starts = new Uint32Array(count + 2);
    this.positionCounts = new Uint32Array(count + 1);
    const fields: number[] = [];
    const frequencies: number[] = [];
    const ofKey = new Uint32Array(FIELD_COUNT);
    for (let number = 1; number <= count; number++) {
      this.starts[number] = fields.length;
      this.positionCounts[number] = readSignatureKey(reader.varint(), ofKey);
      ofKey.forEach((frequency, field) => {
        if (frequency === 0) return;
        fields.push(field);
        frequencies.push(frequency);
      });
    }
    this.starts[count + 1] = fields.length;
    this.fields = Uint8Array.from(fields);
    this.frequencies = Uint32Array.from(frequencies);
  }
}
