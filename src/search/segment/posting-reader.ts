import { checkDeadlineAt } from "../deadline.ts";
import { FIELDS, NO_DOCUMENT, type Postings } from "../types.ts";
import { packedLength, unpackBits } from "./bit-packing.ts";
import { ByteReader } from "./bytes.ts";
import type { SegmentFile } from "./file-reader.ts";
import { corrupt } from "./layout.ts";
import { decodePositions } from "./positions-codec.ts";
import { BLOCK_POSTINGS, MIN_PACKED } from "./posting-writer.ts";
import { NO_SIGNATURE, type Signatures } from "./signatures.ts";

const FIELD_COUNT = FIELDS.length;

/** Numbers for a posting without a signature: its frequencies and the count of its positions. */
const WRITTEN = FIELD_COUNT + 1;

/** Where a term's postings are, as offsets in the file. */
export type PostingRange = {
  readonly start: number;
  readonly end: number;
  readonly documentFrequency: number;
  readonly formCount: number;
  /** Index in `TermEntry.forms` by rank of frequency; null when rank and index are equal. */
  readonly formOrder: Uint16Array | null;
};

/** The blocks of a list without their postings. */
export type Blocks = {
  readonly count: number;
  readonly lastDocuments: Int32Array;
  readonly starts: Float64Array;
  readonly positionStarts: Float64Array;
  /** Entries of a block: its index × fields + field; a frequency of 0 means that the field does not occur. */
  readonly maxFrequencies: Uint32Array;
  readonly minLengths: Uint32Array;
};

/** One word with more positions than this in a document has an unusually long list. */
const LONG_LIST = 100_000;

/**
 * Reads the postings that `PostingWriter` wrote. Besides walking (see `Postings`), a caller may load whole
 * blocks and read `documents` and `numbers`; the two ways must not be mixed.
 */
export class PostingList implements Postings {
  readonly documentFrequency: number;
  readonly blocks: Blocks;
  document = -1;
  /** The documents of the loaded block. */
  readonly documents = new Int32Array(BLOCK_POSTINGS);
  /** The signatures of the loaded block. */
  readonly numbers = new Uint32Array(BLOCK_POSTINGS);
  /** The number of postings in the loaded block. */
  count = 0;
  /** The current posting's index in the loaded block. */
  index = -1;
  /** The loaded block; -1 before the first. */
  block = -1;
  positions = new Uint32Array(16);
  forms = new Uint16Array(16);
  readonly #file: SegmentFile;
  readonly #signatures: Signatures;
  readonly #reader: ByteReader;
  readonly #end: number;
  readonly #hasForms: boolean;
  /** The numbers of postings without a signature, by index in the block × `WRITTEN`; allocated when needed. */
  #written: Uint32Array | null = null;
  readonly #frequencies = new Uint32Array(FIELD_COUNT);
  #frequenciesOf = -1;
  #numbersOffset = 0;
  #hasNumbers = false;
  #positionOffset = 0;
  /** The posting whose positions begin at `#positionOffset`. */
  #positionIndex = 0;
  readonly #formOrder: Uint16Array | null;

  /** @param blocks the blocks of a longer list, if they were read before */
  constructor(
    file: SegmentFile,
    signatures: Signatures,
    { range, blocks }: { readonly range: PostingRange; readonly blocks: Blocks | undefined },
  ) {
    this.#file = file;
    this.#signatures = signatures;
    this.#end = range.end;
    this.#hasForms = range.formCount > 1;
    this.#formOrder = range.formOrder;
    this.documentFrequency = range.documentFrequency;
    this.#reader = new ByteReader(file.bytes, range.start);
    this.blocks = blocks ?? this.#readBlocks(range);
    if (this.blocks.count === 1) this.load(0); // only its postings tell its last document
  }

  next(): number {
    if (this.document === NO_DOCUMENT) return NO_DOCUMENT;
    this.index++;
    if (this.index >= this.count) {
      if (this.block + 1 >= this.blocks.count) return this.#finish();
      this.load(this.block + 1);
      this.index = 0;
    }
    this.document = this.documents[this.index]!;
    return this.document;
  }

  advance(target: number): number {
    if (this.document >= target) return this.document;
    const { lastDocuments, count } = this.blocks;
    let block = Math.max(0, this.block);
    while (block < count && lastDocuments[block]! < target) block++;
    if (block >= count) return this.#finish();
    if (block !== this.block) {
      this.load(block);
      this.index = 0;
    }
    let index = Math.max(0, this.index);
    while (this.documents[index]! < target) index++;
    this.index = index;
    this.document = this.documents[index]!;
    return this.document;
  }

  get frequencies(): Uint32Array {
    if (this.#frequenciesOf !== this.document) {
      this.readFrequencies(this.index, this.#frequencies);
      this.#frequenciesOf = this.document;
    }
    return this.#frequencies;
  }

  /** Reads the frequencies of a posting in the loaded block. */
  readFrequencies(index: number, frequencies: Uint32Array): void {
    const number = this.numberAt(index);
    if (number === NO_SIGNATURE) {
      for (let field = 0; field < FIELD_COUNT; field++) {
        frequencies[field] = this.#written![index * WRITTEN + field]!;
      }
      return;
    }
    frequencies.fill(0);
    const { starts, fields, frequencies: values } = this.#signatures;
    for (let at = starts[number]!; at < starts[number + 1]!; at++) frequencies[fields[at]!] = values[at]!;
  }

  readPositions(deadline = Number.POSITIVE_INFINITY): number {
    return this.readPositionsAt(this.index, deadline);
  }

  /**
   * Reads the positions of a posting in the loaded block; ascending order is the cheapest.
   * @throws Failure `timeout`
   */
  readPositionsAt(index: number, deadline: number): number {
    if (this.#positionIndex > index || this.#positionIndex < 0) {
      this.#positionIndex = 0;
      this.#positionOffset = this.blocks.positionStarts[this.block]!;
      this.#file.verify(this.#positionOffset, this.#blockEnd(this.block));
    }
    const reader = this.#reader;
    reader.offset = this.#positionOffset;
    while (this.#positionIndex < index) {
      this.#skipPositions(this.#positionCount(this.#positionIndex++), deadline);
    }
    const count = this.#positionCount(index);
    if (count > this.positions.length) {
      // A short list gets twice the room, so that arrays are rarely replaced; for a long list that would be
      // megabytes.
      const capacity = count > LONG_LIST ? count : count * 2;
      this.positions = new Uint32Array(capacity);
      this.forms = new Uint16Array(capacity);
    }
    this.#positionOffset = reader.offset;
    decodePositions(reader, { count, hasForms: this.#hasForms, deadline }, this);
    const order = this.#formOrder;
    if (order !== null)
      for (let place = 0; place < count; place++) this.forms[place] = order[this.forms[place]!]!;
    return count;
  }

  /** Reads a block's documents and signatures. */
  load(block: number): void {
    const start = this.blocks.starts[block]!;
    const isLast = block + 1 === this.blocks.count;
    this.block = block;
    this.index = -1;
    this.#frequenciesOf = -1;
    this.#positionIndex = -1;
    this.count = isLast ? this.documentFrequency - block * BLOCK_POSTINGS : BLOCK_POSTINGS;
    this.#file.verify(start, this.blocks.count === 1 ? this.#end : this.blocks.positionStarts[block]!);
    this.#reader.offset = start;
    this.#readPacked(this.documents);
    this.#hasNumbers = false;
    this.#numbersOffset = this.#reader.offset;
    let document = block === 0 ? -1 : this.blocks.lastDocuments[block - 1]!;
    const { documents, count } = this;
    for (let index = 0; index < count; index++) {
      document += documents[index]! + 1;
      documents[index] = document;
    }
    if (this.#reader.offset > this.#end) throw corrupt(this.#file.path, "a block of postings");
    if (this.blocks.count > 1) return;
    this.readAllNumbers();
    this.blocks.positionStarts[0] = this.#reader.offset;
    this.blocks.lastDocuments[0] = document;
  }

  /** Fills `numbers` for the loaded block; looking up one posting does not need this. */
  readAllNumbers(): void {
    if (this.#hasNumbers) return;
    this.#hasNumbers = true;
    this.#reader.offset = this.#numbersOffset;
    const { numbers, count } = this;
    this.#readPacked(numbers);
    for (let index = 0; index < count; index++)
      if (numbers[index] === NO_SIGNATURE) this.#readFrequencies(index * WRITTEN);
  }

  /** The signature of a posting in the loaded block. */
  numberAt(index: number): number {
    if (!this.#hasNumbers && this.count >= MIN_PACKED) {
      const number = this.#unpackNumber(index);
      if (number !== NO_SIGNATURE) return number;
    }
    // Frequencies that are written out follow the numbers of all postings; positions may be half read at this
    // moment.
    const { offset } = this.#reader;
    this.readAllNumbers();
    this.#reader.offset = offset;
    return this.numbers[index]!;
  }

  #finish(): number {
    this.document = NO_DOCUMENT;
    return NO_DOCUMENT;
  }

  #blockEnd(block: number): number {
    return block + 1 < this.blocks.count ? this.blocks.starts[block + 1]! : this.#end;
  }

  #positionCount(index: number): number {
    const number = this.numberAt(index);
    return number === NO_SIGNATURE
      ? this.#written![index * WRITTEN + FIELD_COUNT]!
      : this.#signatures.positionCounts[number]!;
  }

  #skipPositions(count: number, deadline: number): void {
    const { bytes } = this.#reader;
    let { offset } = this.#reader;
    for (let index = 0; index < count; index++) {
      checkDeadlineAt(index, deadline);
      const first = bytes[offset]!;
      while (bytes[offset++]! >= 128);
      if (this.#hasForms && (first & 1) === 1) while (bytes[offset++]! >= 128);
    }
    this.#reader.offset = offset;
  }

  #unpackNumber(index: number): number {
    const { bytes } = this.#reader;
    const width = bytes[this.#numbersOffset]!;
    const bit = index * width;
    const at = this.#numbersOffset + 1 + (bit >>> 3);
    // A number has at most 12 bits, so three bytes hold it wherever it begins.
    const three = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16);
    return (three >>> (bit & 7)) & ((1 << width) - 1);
  }

  #readPacked(values: Uint32Array | Int32Array): void {
    const reader = this.#reader;
    const { count } = this;
    if (count < MIN_PACKED) {
      for (let index = 0; index < count; index++) values[index] = reader.varint();
      return;
    }
    const width = reader.byte();
    unpackBits(reader.bytes, reader.offset, { count, width }, values);
    reader.offset += packedLength(count, width);
  }

  #readFrequencies(place: number): void {
    this.#written ??= new Uint32Array(BLOCK_POSTINGS * WRITTEN);
    const written = this.#written;
    const reader = this.#reader;
    const { bytes, offset } = reader;
    for (let entry = 0; entry < WRITTEN; entry++) {
      const byte = bytes[offset + entry]!;
      if (byte >= 128) {
        reader.offset = offset + entry;
        for (let rest = entry; rest < WRITTEN; rest++) written[place + rest] = reader.varint();
        return;
      }
      written[place + entry] = byte;
    }
    reader.offset = offset + WRITTEN;
  }

  #readBlocks({ start, end, documentFrequency }: PostingRange): Blocks {
    const count = Math.ceil(documentFrequency / BLOCK_POSTINGS);
    const blocks: Blocks = {
      count,
      lastDocuments: new Int32Array(count),
      starts: new Float64Array(count),
      positionStarts: new Float64Array(count),
      maxFrequencies: new Uint32Array(count === 1 ? 0 : count * FIELD_COUNT),
      minLengths: new Uint32Array(count === 1 ? 0 : count * FIELD_COUNT),
    };
    if (count === 1) {
      blocks.starts[0] = start;
      return blocks;
    }
    const reader = this.#reader;
    this.#file.verify(start, Math.min(start + 8, end));
    const skipBytes = reader.varint();
    this.#file.verify(start, reader.offset + skipBytes);
    let blockStart = reader.offset + skipBytes;
    let document = -1;
    for (let block = 0; block < count; block++) {
      document += reader.varint();
      blocks.lastDocuments[block] = document;
      blocks.starts[block] = blockStart;
      blocks.positionStarts[block] = blockStart + reader.varint();
      blockStart = blocks.positionStarts[block]! + reader.varint();
      const mask = reader.byte();
      for (let field = 0; field < FIELD_COUNT; field++) {
        if ((mask & (1 << field)) === 0) continue;
        blocks.maxFrequencies[block * FIELD_COUNT + field] = reader.varint();
        blocks.minLengths[block * FIELD_COUNT + field] = reader.varint();
      }
    }
    return blocks;
  }
}
