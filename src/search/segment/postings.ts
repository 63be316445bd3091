import { checkDeadlineAt } from "../deadline.ts";
import { FIELD_COUNT, NO_DOCUMENT, type Postings } from "../types.ts";
import { ByteReader, ByteWriter, bitWidth, packBits, packedLength, unpackBits } from "./bytes.ts";
import { corrupt, type SegmentFile } from "./file.ts";

/** Numbers for a posting without a signature: its frequencies and the count of its positions. */
const WRITTEN = FIELD_COUNT + 1;

/** Takes the frequencies where only the count of positions is asked for. */
const UNUSED = new Uint32Array(FIELD_COUNT);

/** The range of a term's postings, as offsets in the file. */
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
  readonly numbers = new Int32Array(BLOCK_POSTINGS);
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
  /** Starts of the frequencies of postings without a signature, from `#numbersOffset` on; allocated when needed. */
  #written: Uint32Array | null = null;
  #hasWritten = false;
  #writtenEnd = 0;
  readonly #frequencies = new Uint32Array(FIELD_COUNT);
  #frequenciesOf = -1;
  #numbersOffset = 0;
  #numbersEnd = 0;
  #hasNumbers = false;
  #positionOffset = 0;
  /** The posting whose positions begin at `#positionOffset`. */
  #positionIndex = 0;
  readonly #formOrder: Uint16Array | null;

  /** @param blocks the blocks of a longer list, if they were read before */
  constructor(file: SegmentFile, signatures: Signatures, range: PostingRange, blocks?: Blocks) {
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
      this.#readWritten(index, frequencies);
      return;
    }
    frequencies.fill(0);
    const { starts, fields, frequencies: values } = this.#signatures;
    for (let at = starts[number]!; at < starts[number + 1]!; at++) frequencies[fields[at]!] = values[at]!;
  }

  readPositions(deadline = Number.POSITIVE_INFINITY): number {
    return this.readPositionsAt(this.index, deadline);
  }

  /** Reads a posting's positions in the loaded block; ascending is cheapest. @throws Failure `timeout` */
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
      // A short list gets twice the room, so that arrays are rarely replaced; for a long one it is megabytes.
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
    this.#hasWritten = false;
    this.#numbersOffset = this.#reader.offset;
    let document = block === 0 ? -1 : this.blocks.lastDocuments[block - 1]!;
    const { documents, count } = this;
    for (let index = 0; index < count; index++) {
      document += documents[index]! + 1;
      documents[index] = document;
    }
    if (this.#reader.offset > this.#end) throw corrupt(this.#file.path, "a block of postings");
    if (this.blocks.count > 1) return;
    this.#findWritten();
    this.blocks.positionStarts[0] = this.#writtenEnd;
    this.blocks.lastDocuments[0] = document;
  }

  /** Fills `numbers` for the loaded block; looking up one posting does not need this. */
  readAllNumbers(): void {
    if (this.#hasNumbers) return;
    this.#hasNumbers = true;
    // Positions may be half read by now.
    const { offset } = this.#reader;
    this.#reader.offset = this.#numbersOffset;
    this.#readPacked(this.numbers);
    this.#numbersEnd = this.#reader.offset;
    this.#reader.offset = offset;
  }

  /** The signature of a posting in the loaded block. */
  numberAt(index: number): number {
    if (!this.#hasNumbers && this.count >= MIN_PACKED) return this.#unpackNumber(index);
    this.readAllNumbers();
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
      ? this.#readWritten(index, UNUSED)
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

  #readPacked(values: Int32Array): void {
    const reader = this.#reader;
    const { count } = this;
    if (count < MIN_PACKED) {
      for (let index = 0; index < count; index++) values[index] = reader.varint();
      return;
    }
    const width = reader.byte();
    unpackBits(this.#file.view, reader.offset, { count, width }, values);
    reader.offset += packedLength(count, width);
  }

  /** Reads the frequencies of a posting without a signature; returns the count of its positions. */
  #readWritten(index: number, frequencies: Uint32Array): number {
    this.#findWritten();
    const reader = this.#reader;
    const { offset } = reader;
    reader.offset = this.#numbersOffset + this.#written![index]!;
    for (let field = 0; field < FIELD_COUNT; field++) frequencies[field] = reader.varint();
    const positionCount = reader.varint();
    reader.offset = offset;
    return positionCount;
  }

  /** Finds the frequencies that are written out, behind the numbers of all postings. */
  #findWritten(): void {
    if (this.#hasWritten) return;
    this.#hasWritten = true;
    this.readAllNumbers();
    const { bytes } = this.#reader;
    const { numbers, count } = this;
    let at = this.#numbersEnd;
    for (let index = numbers.indexOf(NO_SIGNATURE); index >= 0 && index < count; ) {
      this.#written ??= new Uint32Array(BLOCK_POSTINGS);
      this.#written[index] = at - this.#numbersOffset;
      for (let entry = 0; entry < WRITTEN; entry++) while (bytes[at++]! >= 128);
      index = numbers.indexOf(NO_SIGNATURE, index + 1);
    }
    this.#writtenEnd = at;
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

/** Postings that are decoded together. */
const BLOCK_POSTINGS = 128;

/** A block with fewer postings stores its numbers as varints, which cost less than widths and packed ones. */
const MIN_PACKED = 8;

/** One posting to write, without its positions. */
type PostingInput = {
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

  /** Ends the list; returns its bytes, valid until the next list begins. */
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

/**
 * Writes the positions of a posting as differences. When the term has several forms, a bit tells that the
 * form differs from that of the previous position, and the form follows.
 * @param places positions, never descending, and the form of each
 */
export function encodePositions(
  places: { readonly positions: Uint32Array; readonly forms: ArrayLike<number> },
  { count, hasForms }: { readonly count: number; readonly hasForms: boolean },
  writer: ByteWriter,
): void {
  const { positions, forms } = places;
  let before = 0;
  let formBefore = 0;
  for (let index = 0; index < count; index++) {
    const position = positions[index]!;
    const gap = position - before;
    before = position;
    if (!hasForms) {
      writer.varint(gap);
      continue;
    }
    const form = forms[index]!;
    if (form === formBefore) {
      writer.varint(gap * 2);
      continue;
    }
    writer.varint(gap * 2 + 1);
    writer.varint(form);
    formBefore = form;
  }
}

/** The inverse of `encodePositions`; the arrays must have `count` places. @throws Failure `timeout` */
export function decodePositions(
  reader: ByteReader,
  options: { readonly count: number; readonly hasForms: boolean; readonly deadline: number },
  places: { readonly positions: Uint32Array; readonly forms: Uint16Array },
): void {
  const { count, hasForms, deadline } = options;
  const { positions, forms } = places;
  let position = 0;
  let form = 0;
  for (let index = 0; index < count; index++) {
    checkDeadlineAt(index, deadline);
    const gap = reader.varint();
    if (hasForms) {
      position += gap >>> 1;
      if ((gap & 1) === 1) form = reader.varint();
    } else position += gap;
    positions[index] = position;
    forms[index] = form;
  }
}

/** Marks a posting whose frequencies are written out. */
export const NO_SIGNATURE = 0;

// Further signatures are so rare that writing out their frequencies costs less than wider numbers for all.
const MAX_SIGNATURES = 4095;

const MAX_FREQUENCY = 15;
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

/** The inverse of `signatureKey`; returns the number of positions. */
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
