import { withRoom } from "../number-list.ts";
import type { TermEntry, TermWalk } from "../types.ts";
import { ByteReader, ByteWriter, codeUnitBytes, decodeCodeUnits, writeCodeUnits } from "./bytes.ts";
import type { SectionName, SegmentFile } from "./file.ts";
import type { PostingRange } from "./postings.ts";

const TABLE = { entries: "terms", blocks: "termBlocks" } as const;
/** Terms written from their last letter to their first, with their document frequencies only. */
const ENDS = { entries: "termEnds", blocks: "termEndBlocks" } as const;

/** The shortest word that may consist of two. */
const SHORTEST_COMPOUND = 7;
const LETTERS = /^\p{L}+$/u;

export const reversed = (text: string): string => text.split("").reverse().join("");

/** A term with the position of its postings. */
export type LocatedTerm = TermEntry & {
  readonly range: PostingRange;
};

/** The dictionary's record of a term. */
type TermRecord = {
  readonly term: string;
  readonly documentFrequency: number;
  readonly postingBytes: number;
  /** The forms, the most frequent first. */
  readonly forms: readonly string[];
};

/** Writes the terms of a segment in code unit order. */
export class TermWriter {
  readonly table = new StringTableWriter();
  readonly #payload = new ByteWriter();
  readonly #term = new ByteWriter();
  readonly #form = new ByteWriter();

  /** @param start where its postings start in their section */
  add(record: TermRecord, start: number): void {
    this.#payload.clear();
    this.#encode(record, this.#payload);
    this.table.add(record.term, start, this.#payload);
  }

  /** Writes the document frequency, the length of the postings, the number of forms, and the forms. */
  #encode({ term, documentFrequency, postingBytes, forms }: TermRecord, out: ByteWriter): void {
    out.varint(documentFrequency);
    out.varint(postingBytes);
    // Most terms are their own only form.
    if (forms.length === 1 && forms[0] === term) {
      out.varint(0);
      return;
    }
    out.varint(forms.length);
    this.#term.clear();
    writeCodeUnits(term, this.#term);
    for (const form of forms) {
      this.#form.clear();
      writeCodeUnits(form, this.#form);
      const shared = sharedLength(this.#term, this.#form);
      out.varint(shared);
      out.varint(this.#form.length - shared);
      out.append(this.#form, shared);
    }
  }
}

/** Collects the terms whose ends are looked for, and writes them sorted by these. */
export class TermEndWriter {
  readonly #frequencies = new Map<string, number>();

  add(term: string, documentFrequency: number): void {
    if (term.length >= SHORTEST_COMPOUND && LETTERS.test(term))
      this.#frequencies.set(reversed(term), documentFrequency);
  }

  finish(): StringTableWriter {
    const table = new StringTableWriter();
    const payload = new ByteWriter();
    // The built-in order of strings is that of their code units.
    for (const key of [...this.#frequencies.keys()].sort()) {
      payload.clear();
      payload.varint(this.#frequencies.get(key)!);
      table.add(key, 0, payload);
    }
    return table;
  }
}

/** The terms of a segment, read on demand. */
export class TermDictionary {
  readonly #file: SegmentFile;
  readonly #cursor: StringTableCursor;

  constructor(file: SegmentFile) {
    this.#file = file;
    this.#cursor = new StringTableCursor(file, TABLE);
  }

  find(term: string): LocatedTerm | null {
    return this.#cursor.seek(term) ? this.#entry(term) : null;
  }

  /** The terms with a prefix, in code unit order. */
  withPrefix(prefix: string, limit: number): LocatedTerm[] {
    const found: LocatedTerm[] = [];
    const bytes = codeUnitBytes(prefix);
    const cursor = this.#cursor;
    for (cursor.seek(prefix); cursor.startsWith(bytes) && found.length < limit; cursor.next())
      found.push(this.#entry(cursor.key));
    return found;
  }

  walk(prefix: string): TermWalk {
    return new PrefixWalk(this.#file, TABLE, prefix);
  }

  walkEnds(end: string): TermWalk {
    const { start, end: sectionEnd } = this.#file.section(ENDS.blocks);
    if (start === sectionEnd) return NO_TERMS;
    return new PrefixWalk(this.#file, ENDS, reversed(end));
  }

  /** Every term in code unit order. */
  *all(): Generator<LocatedTerm> {
    const cursor = new StringTableCursor(this.#file, TABLE);
    while (cursor.next()) yield this.#entry(cursor.key, cursor);
  }

  #entry(term: string, cursor = this.#cursor): LocatedTerm {
    const reader = new ByteReader(this.#file.bytes, cursor.payloadStart);
    const documentFrequency = reader.varint();
    const start = this.#file.section("postings").start + cursor.value;
    const end = start + reader.varint();
    const ranked = readForms(term, reader);
    const { forms, formOrder } = inCodeUnitOrder(ranked);
    const range = { start, end, documentFrequency, formCount: forms.length, formOrder };
    return { term, id: cursor.ordinal, documentFrequency, forms, range };
  }
}

const NO_TERMS: TermWalk = { next: () => false, term: "", documentFrequency: 0 };

class PrefixWalk implements TermWalk {
  readonly #cursor: StringTableCursor;
  readonly #reader: ByteReader;
  readonly #prefix: string;
  readonly #bytes: Uint8Array;
  readonly #isReversed: boolean;
  #isBegun = false;
  #term: string | null = null;

  constructor(file: SegmentFile, table: TableSections, prefix: string) {
    this.#isReversed = table === ENDS;
    this.#cursor = new StringTableCursor(file, table);
    this.#reader = new ByteReader(file.bytes);
    this.#prefix = prefix;
    this.#bytes = codeUnitBytes(prefix);
  }

  next(): boolean {
    this.#term = null;
    if (this.#isBegun) this.#cursor.next();
    else this.#cursor.seek(this.#prefix);
    this.#isBegun = true;
    return this.#cursor.startsWith(this.#bytes);
  }

  get term(): string {
    this.#term ??= this.#isReversed ? reversed(this.#cursor.key) : this.#cursor.key;
    return this.#term;
  }

  get documentFrequency(): number {
    this.#reader.offset = this.#cursor.payloadStart;
    return this.#reader.varint();
  }
}

function inCodeUnitOrder(ranked: readonly string[]) {
  if (ranked.length < 2) return { forms: ranked, formOrder: null };
  const forms = ranked.toSorted(byCodeUnits);
  const places = new Map(forms.map((form, place) => [form, place]));
  return { forms, formOrder: Uint16Array.from(ranked, (form) => places.get(form) ?? 0) };
}

function readForms(term: string, reader: ByteReader): string[] {
  const count = reader.varint();
  if (count === 0) return [term];
  const termBytes = codeUnitBytes(term);
  return Array.from({ length: count }, () => {
    const shared = reader.varint();
    const suffix = reader.raw(reader.varint());
    const bytes = new Uint8Array(shared + suffix.length);
    bytes.set(termBytes.subarray(0, shared));
    bytes.set(suffix, shared);
    return decodeCodeUnits(bytes, 0, bytes.length);
  });
}

/** Compares in the order of JavaScript's strings. */
export const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

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

  /** A key follows the previous one in code unit order; a value is not below the previous one. */
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
function sharedLength(a: ByteWriter, b: ByteWriter): number {
  const limit = Math.min(a.length, b.length);
  const { bytes: ofA } = a;
  const { bytes: ofB } = b;
  let length = 0;
  while (length < limit && ofA[length] === ofB[length]) length++;
  return length;
}

/** The sections of a file that hold a table. */
type TableSections = { readonly entries: SectionName; readonly blocks: SectionName };

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
  readonly #blocksStart: number;
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
