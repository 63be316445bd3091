import type { Section, StoredDocument } from "../types.ts";
import type { ByteReader, ByteWriter } from "./bytes.ts";

/** A document without its address, which has a table of its own. */
export type StoredText = Pick<StoredDocument, "title" | "markdown" | "sections">;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Writes a document as it is shown and fetched. Lone surrogates become U+FFFD, which keeps all offsets. */
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
  return { title, sections, markdown: readText(reader) };
}

function writeText(text: string, writer: ByteWriter): void {
  const start = writer.beginPrefixed();
  writeUtf8(text, writer);
  writer.endPrefixed(start);
}

/** Appends a text as UTF-8. */
export function writeUtf8(text: string, writer: ByteWriter): void {
  writer.reserve(text.length * 3); // no code unit takes more
  writer.length += encoder.encodeInto(text, writer.bytes.subarray(writer.length)).written;
}

function readText(reader: ByteReader): string {
  const length = reader.varint();
  return decoder.decode(reader.raw(length));
}
