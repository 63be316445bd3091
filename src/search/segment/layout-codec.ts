import type { DocumentLayout } from "../types.ts";
import type { ByteReader, ByteWriter } from "./bytes.ts";

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
  return {
    titleEnd,
    contentStart,
    leadEnd,
    end,
    passageStarts,
    sectionStarts,
    headingEnds,
    sectionParents,
  };
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
