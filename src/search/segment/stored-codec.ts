import { checkDeadlineAt } from "../deadline.ts";
import type { Section, StoredDocument } from "../types.ts";
import type { ByteReader, ByteWriter } from "./bytes.ts";

/** A document without its address, which is kept in a table of its own. */
export type StoredText = Pick<StoredDocument, "title" | "markdown" | "sections">;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Writes a document as it is shown and fetched. Lone surrogates become U+FFFD, which does not change offsets.
 */
export function encodeStored({ title, markdown, sections }: StoredText, writer: ByteWriter): void {
  writeText(title, writer);
  writer.varint(sections.length);
  let before = 0;
  for (const { level, heading, anchor, start, end } of sections) {
    writer.byte(level);
    writeText(heading, writer);
    writeText(anchor, writer);
    writer.varint(start - before);
    writer.varint(end - start);
    before = start;
  }
  writeText(markdown, writer);
}

/** The inverse of `encodeStored`. */
export function decodeStored(reader: ByteReader): StoredText {
  const { title, sections, bytes } = openStored(reader);
  return { title, sections, markdown: decoder.decode(bytes) };
}

/** Does the same as `decodeStored`, but leaves the Markdown in UTF-8; see `MarkdownBytes`. */
export function openStored(reader: ByteReader) {
  const title = readText(reader);
  const sections: Section[] = [];
  const count = reader.varint();
  let before = 0;
  for (let index = 0; index < count; index++) {
    const level = reader.byte();
    const heading = readText(reader);
    const anchor = readText(reader);
    const start = before + reader.varint();
    sections.push({ level, heading, anchor, start, end: start + reader.varint() });
    before = start;
  }
  return { title, sections, bytes: reader.raw(reader.varint()) };
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
