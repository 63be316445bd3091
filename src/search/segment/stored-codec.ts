import { checkDeadlineAt } from "../deadline.ts";
import type { DocumentAnchor, DocumentLayout, Section, StoredDocument } from "../types.ts";
import { ByteReader, type ByteWriter } from "./bytes.ts";

/** A document without its address, which is kept in a table of its own. */
export type StoredText = Pick<StoredDocument, "title" | "markdown" | "sections" | "anchors">;

/** Besides what is shown, the hashes of the fragments that the document links to. */
export type StoredRecord = StoredText & { readonly linkedFragments: Uint32Array };

/** The bit beside a section's level that tells a written anchor. */
const WRITTEN = 8;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Writes a document as it is shown and fetched. Lone surrogates become U+FFFD, which does not change offsets.
 */
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

/** Does the same as `decodeStored`, but leaves the Markdown in UTF-8 (see `MarkdownBytes`) and the anchors unread. */
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
   * A range in UTF-16 code units, end exclusive. It is shorter when the text ends, and a unit longer when it
   * would split a character.
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
