import { withRoom } from "../number-list.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { codeUnitBytes, decodeCodeUnits, writeCodeUnits } from "./code-units.ts";
import type { SegmentFile } from "./file-reader.ts";
import type { SectionName } from "./layout.ts";

/** Entries that share one place in the index of blocks: few enough to walk, enough to share prefixes. */
const BLOCK_ENTRIES = 16;

/**
 * Writes a sorted table of strings, each with an ascending number and bytes of its own. An entry is
 *
 *     shared prefix, suffix length, suffix, number − number before, length of the bytes, bytes
 *
 * and every 16th has no shared prefix, so that a reader may do a binary search among those.
 */
export class StringTableWriter {
  readonly #entries = new ByteWriter(64 * 1024);
  readonly #blockStarts = new ByteWriter(4096);
  #key = new ByteWriter();
  #before = new ByteWriter();
  #valueBefore = 0;
  #count = 0;

  /**
   * @param key follows the previous key in code unit order
   * @param value not below the previous value
   */
  add(key: string, value: number, payload: ByteWriter): void {
    const bytes = this.#key;
    bytes.clear();
    writeCodeUnits(key, bytes);
    if (this.#count % BLOCK_ENTRIES === 0) {
      this.#blockStarts.raw(new Uint8Array(Float64Array.of(this.#entries.length).buffer));
      this.#before.clear();
      this.#valueBefore = 0;
    }
    const shared = sharedLength(this.#before, bytes);
    this.#entries.varint(shared);
    this.#entries.varint(bytes.length - shared);
    this.#entries.append(bytes, shared);
    this.#entries.varint(value - this.#valueBefore);
    this.#entries.varint(payload.length);
    this.#entries.append(payload);
    this.#key = this.#before;
    this.#before = bytes;
    this.#valueBefore = value;
    this.#count++;
  }

  entries(): Uint8Array {
    return this.#entries.written();
  }

  /** The start of each block in `entries`, as 64-bit floats. */
  blocks(): Uint8Array {
    return this.#blockStarts.written();
  }
}

/** The length of the common prefix of two texts, in bytes. */
export function sharedLength(a: ByteWriter, b: ByteWriter): number {
  const limit = Math.min(a.length, b.length);
  const { bytes: ofA } = a;
  const { bytes: ofB } = b;
  let length = 0;
  while (length < limit && ofA[length] === ofB[length]) length++;
  return length;
}

/** The sections of a file that hold a table. */
export type TableSections = { readonly entries: SectionName; readonly blocks: SectionName };

/** Walks a table in order. It starts before the first entry. */
export class StringTableCursor {
  /** Whether there is a current entry. */
  isAtEntry = false;
  /** The index of the current entry, from 0. */
  ordinal = -1;
  value = 0;
  /** Offsets in the file. */
  payloadStart = 0;
  payloadEnd = 0;
  readonly #file: SegmentFile;
  readonly #reader: ByteReader;
  readonly #start: number;
  readonly #end: number;
  readonly #blocks: Float64Array;
  #key = new Uint8Array(64);
  #keyLength = 0;

  constructor(file: SegmentFile, sections: TableSections) {
    this.#file = file;
    const { start, end } = file.section(sections.entries);
    this.#start = start;
    this.#end = end;
    const blocks = file.section(sections.blocks);
    this.#blocks = new Float64Array(
      file.bytes.buffer,
      file.bytes.byteOffset + blocks.start,
      (blocks.end - blocks.start) / 8,
    );
    this.#blocksStart = blocks.start;
    this.#reader = new ByteReader(file.bytes, start);
  }

  readonly #blocksStart: number;

  get key(): string {
    return decodeCodeUnits(this.#key, 0, this.#keyLength);
  }

  /** Moves to the next entry; returns false at the end. */
  next(): boolean {
    if ((this.ordinal + 1) % BLOCK_ENTRIES === 0) return this.#enterBlock((this.ordinal + 1) / BLOCK_ENTRIES);
    return this.#read();
  }

  /** Moves to the first entry at or after a key; returns whether it has this key. */
  seek(key: string): boolean {
    const wanted = codeUnitBytes(key);
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      this.#enterBlock(middle);
      if (this.#compare(wanted) <= 0) low = middle + 1;
      else high = middle;
    }
    // The entry is in the last block that begins at or before the key, or is the first of the next block.
    for (let has = this.#enterBlock(Math.max(0, low - 1)); has; has = this.next()) {
      const order = this.#compare(wanted);
      if (order >= 0) return order === 0;
    }
    return false;
  }

  /** Moves to an entry by its ordinal; returns false when there is none. */
  goTo(ordinal: number): boolean {
    let has = this.#enterBlock(Math.floor(ordinal / BLOCK_ENTRIES));
    while (has && this.ordinal < ordinal) has = this.next();
    return has;
  }

  /** Whether there is a current key and it begins with a prefix. */
  startsWith(prefix: Uint8Array): boolean {
    if (!this.isAtEntry || prefix.length > this.#keyLength) return false;
    for (let at = 0; at < prefix.length; at++) if (this.#key[at] !== prefix[at]) return false;
    return true;
  }

  #enterBlock(block: number): boolean {
    this.isAtEntry = false;
    if (block >= this.#blocks.length) {
      this.ordinal = this.#blocks.length * BLOCK_ENTRIES - 1;
      return false;
    }
    this.#file.verify(
      this.#blocksStart + block * 8,
      this.#blocksStart + Math.min(block + 2, this.#blocks.length) * 8,
    );
    const start = this.#start + this.#blocks[block]!;
    const end = block + 1 < this.#blocks.length ? this.#start + this.#blocks[block + 1]! : this.#end;
    this.#file.verify(start, end);
    this.#reader.offset = start;
    this.#keyLength = 0;
    this.value = 0;
    this.ordinal = block * BLOCK_ENTRIES - 1;
    return this.#read();
  }

  #read(): boolean {
    const reader = this.#reader;
    this.isAtEntry = reader.offset < this.#end;
    if (!this.isAtEntry) return false;
    const shared = reader.varint();
    const suffix = reader.varint();
    if (shared + suffix > this.#key.length) this.#key = withRoom(this.#key, (shared + suffix) * 2);
    for (let at = shared; at < shared + suffix; at++) this.#key[at] = reader.bytes[reader.offset++]!;
    this.#keyLength = shared + suffix;
    this.value += reader.varint();
    const length = reader.varint();
    this.payloadStart = reader.offset;
    this.payloadEnd = reader.offset + length;
    reader.offset = this.payloadEnd;
    this.ordinal++;
    return true;
  }

  /** Returns a number below 0 when the current key comes before the wanted one. */
  #compare(wanted: Uint8Array): number {
    const limit = Math.min(this.#keyLength, wanted.length);
    for (let at = 0; at < limit; at++) {
      const difference = this.#key[at]! - wanted[at]!;
      if (difference !== 0) return difference;
    }
    return this.#keyLength - wanted.length;
  }
}
