import { FIELDS } from "../types.ts";
import { bitWidth, packBits, packedLength } from "./bit-packing.ts";
import { ByteWriter } from "./bytes.ts";
import { NO_SIGNATURE } from "./signatures.ts";

/** Postings that are decoded together. */
export const BLOCK_POSTINGS = 128;

/**
 * A block with fewer postings stores its numbers as varints, which cost less than the widths of packed ones.
 */
export const MIN_PACKED = 8;

const FIELD_COUNT = FIELDS.length;

/** One posting to write, without its positions. */
export type PostingInput = {
  readonly document: number;
  /** The number of its signature, or `NO_SIGNATURE`. */
  readonly number: number;
  /** Frequencies by field number. */
  readonly frequencies: Uint32Array;
  /** A bit for each field whose frequency is not 0. */
  readonly fieldMask: number;
  readonly positionCount: number;
};

/** Computes the `fieldMask` of frequencies. */
export function fieldMaskOf(frequencies: Uint32Array): number {
  let mask = 0;
  for (let field = 0; field < FIELD_COUNT; field++) if (frequencies[field] !== 0) mask |= 1 << field;
  return mask;
}

/** Writes the frequencies of a posting without a signature, as runs and indexes have them. */
export function writeFrequencies(frequencies: Uint32Array, positionCount: number, out: ByteWriter): void {
  for (let field = 0; field < FIELD_COUNT; field++) out.varint(frequencies[field]!);
  out.varint(positionCount);
}

/**
 * Encodes the postings of one term after another. A list of more than one block is
 *
 *     length of the skip table, skip table, block, block, ...
 *
 * where the table has for each block: last document − previous block's last document, length of its
 * documents, length of its positions, and for each field that occurs in it the highest frequency and the
 * smallest field length. Those two bound the score of every posting of the block for all boosts, `k1` and
 * `b`, so that a query may choose the ranking. A list of one block is the block alone.
 *
 * A block holds the documents as differences − 1, the signatures (see signatures.ts), the frequencies of the
 * postings without one, and then the positions.
 */
export class PostingWriter {
  readonly #lengths: readonly ArrayLike<number>[];
  readonly #gaps = new Uint32Array(BLOCK_POSTINGS);
  readonly #numbers = new Uint32Array(BLOCK_POSTINGS);
  readonly #maxFrequencies = new Uint32Array(FIELD_COUNT);
  readonly #minLengths = new Uint32Array(FIELD_COUNT);
  readonly #written = new ByteWriter();
  readonly #positions = new ByteWriter();
  readonly #skips = new ByteWriter();
  readonly #blocks = new ByteWriter(64 * 1024);
  readonly #list = new ByteWriter(64 * 1024);
  #count = 0;
  #lastDocument = -1;
  #lastOfBlockBefore = -1;
  /** Whether the list has several blocks and so a skip table. */
  #hasTable = false;

  /** @param lengths the field lengths by field, then by document */
  constructor(lengths: readonly ArrayLike<number>[]) {
    this.#lengths = lengths;
  }

  /** Begins a list with this many postings. */
  begin(postingCount: number): void {
    this.#hasTable = postingCount > BLOCK_POSTINGS;
    this.#lastDocument = -1;
    this.#lastOfBlockBefore = -1;
    this.#skips.clear();
    this.#blocks.clear();
    this.#beginBlock();
  }

  /**
   * @param posting a posting whose document follows the previous one
   * @returns the writer for its positions, which `encodePositions` must write next
   */
  add({ document, number, frequencies, fieldMask, positionCount }: PostingInput): ByteWriter {
    if (this.#count === BLOCK_POSTINGS) this.#endBlock();
    this.#gaps[this.#count] = document - this.#lastDocument - 1;
    this.#lastDocument = document;
    this.#numbers[this.#count] = number;
    this.#count++;
    if (number === NO_SIGNATURE) writeFrequencies(frequencies, positionCount, this.#written);
    if (this.#hasTable) {
      for (let rest = fieldMask; rest !== 0; rest &= rest - 1) {
        const field = 31 - Math.clz32(rest & -rest);
        const frequency = frequencies[field]!;
        if (frequency > this.#maxFrequencies[field]!) this.#maxFrequencies[field] = frequency;
        const length = this.#lengths[field]![document]!;
        if (length < this.#minLengths[field]!) this.#minLengths[field] = length;
      }
    }
    return this.#positions;
  }

  /**
   * Ends the list.
   * @returns its bytes, valid until the next list begins
   */
  finish(): ByteWriter {
    this.#endBlock();
    if (!this.#hasTable) return this.#blocks;
    this.#list.clear();
    this.#list.varint(this.#skips.length);
    this.#list.append(this.#skips);
    this.#list.append(this.#blocks);
    return this.#list;
  }

  #beginBlock(): void {
    this.#count = 0;
    if (this.#hasTable) {
      this.#maxFrequencies.fill(0);
      this.#minLengths.fill(0xffff_ffff);
    }
    this.#written.clear();
    this.#positions.clear();
  }

  #endBlock(): void {
    const start = this.#blocks.length;
    this.#writeNumbers(this.#gaps);
    this.#writeNumbers(this.#numbers);
    this.#blocks.append(this.#written);
    if (this.#hasTable) this.#writeSkip(this.#blocks.length - start);
    this.#blocks.append(this.#positions);
    this.#lastOfBlockBefore = this.#lastDocument;
    this.#beginBlock();
  }

  #writeNumbers(values: Uint32Array): void {
    const count = this.#count;
    if (count < MIN_PACKED) {
      for (let index = 0; index < count; index++) this.#blocks.varint(values[index]!);
      return;
    }
    let all = 0;
    for (let index = 0; index < count; index++) all |= values[index]!;
    const width = bitWidth(all);
    this.#blocks.byte(width);
    this.#blocks.reserve(packedLength(count, width));
    this.#blocks.length = packBits(values, { count, width }, this.#blocks.bytes, this.#blocks.length);
  }

  #writeSkip(documentBytes: number): void {
    const skips = this.#skips;
    skips.varint(this.#lastDocument - this.#lastOfBlockBefore);
    skips.varint(documentBytes);
    skips.varint(this.#positions.length);
    skips.byte(fieldMaskOf(this.#maxFrequencies));
    for (let field = 0; field < FIELD_COUNT; field++) {
      if (this.#maxFrequencies[field]! === 0) continue;
      skips.varint(this.#maxFrequencies[field]!);
      skips.varint(this.#minLengths[field]!);
    }
  }
}
