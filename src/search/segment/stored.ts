import { checkDeadlineAt } from "../deadline.ts";
import type { DocumentAnchor, DocumentLayout, Section, StoredDocument } from "../types.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { corrupt, type SegmentFile } from "./file.ts";
import { BlockCache } from "./score-tables.ts";

/** A document without its address, which is kept in a table of its own. */
type StoredText = Pick<StoredDocument, "title" | "markdown" | "sections" | "anchors">;

/** Besides what is shown, the hashes of the fragments that the document links to. */
type StoredRecord = StoredText & { readonly linkedFragments: Uint32Array };

/** The bit beside a section's level that tells a written anchor. */
const WRITTEN = 8;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Writes a document as it is shown and fetched; lone surrogates become U+FFFD, which moves no offsets. */
export function encodeStored(record: StoredRecord, writer: ByteWriter): void {
  writeHead(record, writer);
  writeText(record.markdown, writer);
}

/** Writes a record that was read, with other sections; the Markdown is copied as it is. */
export function encodeReadStored(
  record: ReturnType<typeof openStored>,
  sections: readonly Section[],
  writer: ByteWriter,
): void {
  writeHead({ ...record, anchors: record.anchors(), sections }, writer);
  writer.varint(record.bytes.length);
  writer.raw(record.bytes);
}

function writeHead(
  { title, sections, anchors, linkedFragments }: Omit<StoredRecord, "markdown">,
  writer: ByteWriter,
): void {
  writeText(title, writer);
  writer.varint(sections.length);
  let before = 0;
  for (const { level, heading, anchor, isAnchorWritten, start, end } of sections) {
    writer.byte(isAnchorWritten ? level | WRITTEN : level);
    writeText(heading, writer);
    writeText(anchor, writer);
    writer.varint(start - before);
    writer.varint(end - start);
    before = start;
  }
  const begin = writer.beginPrefixed();
  writer.varint(anchors.length);
  before = 0;
  for (const { id, start } of anchors) {
    writeText(id, writer);
    writer.varint(start - before);
    before = start;
  }
  writer.endPrefixed(begin);
  writeAscending(linkedFragments, writer);
}

/** The inverse of `encodeStored`. */
export function decodeStored(reader: ByteReader): StoredText {
  const { title, sections, anchors, bytes } = openStored(reader);
  return { title, sections, anchors: anchors(), markdown: decoder.decode(bytes) };
}

/** Like `decodeStored`, but leaves the Markdown in UTF-8 (see `MarkdownBytes`) and the anchors unread. */
export function openStored(reader: ByteReader) {
  const title = readText(reader);
  const sections: Section[] = [];
  const count = reader.varint();
  let before = 0;
  for (let index = 0; index < count; index++) {
    const byte = reader.byte();
    const heading = readText(reader);
    const anchor = readText(reader);
    const start = before + reader.varint();
    const end = start + reader.varint();
    sections.push({
      level: byte & ~WRITTEN,
      heading,
      anchor,
      isAnchorWritten: (byte & WRITTEN) !== 0,
      start,
      end,
    });
    before = start;
  }
  const anchorBytes = reader.raw(reader.varint());
  const linkedFragments = readAscending(reader);
  const anchors = (): DocumentAnchor[] => readAnchors(new ByteReader(anchorBytes));
  return { title, sections, anchors, linkedFragments, bytes: reader.raw(reader.varint()) };
}

function readAnchors(reader: ByteReader): DocumentAnchor[] {
  const anchors: DocumentAnchor[] = [];
  const count = reader.varint();
  let start = 0;
  for (let index = 0; index < count; index++) {
    const id = readText(reader);
    start += reader.varint();
    anchors.push({ id, start });
  }
  return anchors;
}

/** Reads ranges of a Markdown of possibly megabytes, and decodes only what is asked for. */
export class MarkdownBytes {
  readonly #bytes: Uint8Array;
  readonly #deadline: number;
  /** The number of UTF-16 code units before `#byte`, a position that was found. */
  #unit = 0;
  #byte = 0;

  /** @param deadline in the time of performance.now(), ms */
  constructor(bytes: Uint8Array, deadline: number) {
    this.#bytes = bytes;
    this.#deadline = deadline;
  }

  /**
   * A range in UTF-16 code units, end exclusive; shorter at the text's end, and longer to split no character.
   * @throws Failure `timeout`
   */
  range(start: number, end: number): string {
    if (start < this.#unit) {
      this.#unit = 0;
      this.#byte = 0;
    }
    this.#goTo(start);
    const from = this.#byte;
    this.#goTo(end);
    return decoder.decode(this.#bytes.subarray(from, this.#byte));
  }

  /** Moves forward to the first character at or after a code unit, or to the end. */
  #goTo(unit: number): void {
    const bytes = this.#bytes;
    let at = this.#byte;
    let units = this.#unit;
    while (units < unit && at < bytes.length) {
      checkDeadlineAt(at, this.#deadline);
      const lead = bytes[at]!;
      units += lead >= 0xf0 ? 2 : 1;
      at += lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    }
    this.#byte = at;
    this.#unit = units;
  }
}

function writeText(text: string, writer: ByteWriter): void {
  const start = writer.beginPrefixed();
  writeUtf8(text, writer);
  writer.endPrefixed(start);
}

/** Appends a text as UTF-8. */
export function writeUtf8(text: string, writer: ByteWriter): void {
  writer.reserve(text.length * 3); // the most that the code units can take
  writer.length += encoder.encodeInto(text, writer.bytes.subarray(writer.length)).written;
}

function readText(reader: ByteReader): string {
  const length = reader.varint();
  return decoder.decode(reader.raw(length));
}

/** Writes a layout; ascending numbers are written as differences. */
export function encodeLayout(layout: DocumentLayout, writer: ByteWriter): void {
  for (const value of [layout.titleEnd, layout.contentStart, layout.leadEnd, layout.end])
    writer.varint(value);
  writeAscending(layout.passageStarts, writer);
  writeAscending(layout.sectionStarts, writer);
  for (let section = 0; section < layout.sectionStarts.length; section++) {
    writer.varint(layout.headingEnds[section]! - layout.sectionStarts[section]!);
    writer.varint(layout.sectionParents[section]!);
  }
}

/** The inverse of `encodeLayout`. */
export function decodeLayout(reader: ByteReader): DocumentLayout {
  const titleEnd = reader.varint();
  const contentStart = reader.varint();
  const leadEnd = reader.varint();
  const end = reader.varint();
  const passageStarts = readAscending(reader);
  const sectionStarts = readAscending(reader);
  const headingEnds = new Uint32Array(sectionStarts.length);
  const sectionParents = new Uint32Array(sectionStarts.length);
  for (let section = 0; section < sectionStarts.length; section++) {
    headingEnds[section] = sectionStarts[section]! + reader.varint();
    sectionParents[section] = reader.varint();
  }
  return { titleEnd, contentStart, leadEnd, end, passageStarts, sectionStarts, headingEnds, sectionParents };
}

function writeAscending(values: Uint32Array, writer: ByteWriter): void {
  writer.varint(values.length);
  let before = 0;
  for (const value of values) {
    writer.varint(value - before);
    before = value;
  }
}

function readAscending(reader: ByteReader): Uint32Array {
  const values = new Uint32Array(reader.varint());
  let value = 0;
  for (let index = 0; index < values.length; index++) {
    value += reader.varint();
    values[index] = value;
  }
  return values;
}

/**
 * The amount of text that is compressed together. Documentation in 700-byte sections shrinks to 50 % with 1
 * KiB, 41 % with 4 KiB, 35 % with 16 KiB and 33 % with 32 KiB; reading a block takes 18, 25, 94 and 126 µs,
 * and a page of hits reads ten.
 */
const BLOCK_BYTES = 4 * 1024;
const COMPRESSION_LEVEL = 3;

/** Packs documents into compressed blocks. */
export class StoredBlockWriter {
  readonly #write: (bytes: Uint8Array) => Promise<void>;
  readonly #raw = new ByteWriter(BLOCK_BYTES * 2);
  readonly #blocks: number[] = [];
  #firstDocument = 0;
  #documentCount = 0;
  #offset = 0;

  constructor(write: (bytes: Uint8Array) => Promise<void>) {
    this.#write = write;
  }

  /** @param record the next document's record */
  async add(record: Uint8Array): Promise<void> {
    this.#raw.varint(record.length);
    this.#raw.raw(record);
    this.#documentCount++;
    if (this.#raw.length >= BLOCK_BYTES) await this.#endBlock();
  }

  /** Writes the rest; returns the index: start and first document of each block, as 64-bit floats. */
  async finish(): Promise<Uint8Array> {
    if (this.#raw.length > 0) await this.#endBlock();
    this.#blocks.push(this.#offset, this.#documentCount);
    return new Uint8Array(Float64Array.from(this.#blocks).buffer);
  }

  async #endBlock(): Promise<void> {
    const compressed = Bun.zstdCompressSync(this.#raw.written(), { level: COMPRESSION_LEVEL });
    this.#blocks.push(this.#offset, this.#firstDocument);
    await this.#write(compressed);
    this.#offset += compressed.length;
    this.#firstDocument = this.#documentCount;
    this.#raw.clear();
  }
}

/** Unpacked blocks of all indexes together: hits of a query are often neighbours, and those of the next the same. */
const unpacked = new BlockCache<Uint8Array>(16 * 1024 * 1024);
let readers = 0;

/** Finds documents in compressed blocks. */
export class StoredBlockReader {
  readonly #file: SegmentFile;
  readonly #start: number;
  /** The number of this reader's first block among those of all. */
  readonly #firstKey = readers++ * 2 ** 32;
  #index: Float64Array | null = null;

  constructor(file: SegmentFile) {
    this.#file = file;
    this.#start = file.section("stored").start;
  }

  /** The document's record. */
  find(document: number): Uint8Array {
    const index = this.#openIndex();
    let low = 0;
    let high = index.length / 2 - 1;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (index[middle * 2 + 1]! <= document) low = middle;
      else high = middle;
    }
    const reader = new ByteReader(this.#block(low, index));
    for (let current = index[low * 2 + 1]!; current < document; current++) {
      const length = reader.varint();
      reader.offset += length;
    }
    return reader.raw(reader.varint());
  }

  #openIndex(): Float64Array {
    if (this.#index === null) {
      const bytes = this.#file.whole("storedOffsets");
      this.#index = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
    }
    return this.#index;
  }

  #block(block: number, index: Float64Array): Uint8Array {
    const cached = unpacked.get(this.#firstKey + block);
    if (cached) return cached;
    const start = this.#start + index[block * 2]!;
    const end = this.#start + index[block * 2 + 2]!;
    this.#file.verify(start, end);
    const bytes = decompress(this.#file, start, end);
    unpacked.set(this.#firstKey + block, bytes, bytes.length);
    return bytes;
  }
}

function decompress(file: SegmentFile, start: number, end: number): Uint8Array {
  try {
    return Bun.zstdDecompressSync(file.bytes.subarray(start, end));
  } catch {
    throw corrupt(file.path, `stored text at ${start}`);
  }
}
