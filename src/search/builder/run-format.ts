import type { ByteReader, ByteWriter } from "../segment/bytes.ts";
import { decodeCodeUnits, encodedLength, writeCodeUnits } from "../segment/code-units.ts";

/**
 * A run: the postings of some documents, sorted by term, in memory or in a temporary file.
 *
 *     run     = terms, head
 *     head    = count of signatures, then the key and the count of postings of each, from number 1 on
 *     term    = length, term, count of forms, (length, form, count of positions) of each,
 *               count of postings, length of the postings, postings
 *     posting = document, length of the rest, number of its signature (0: frequencies and count of positions
 *               follow), positions
 *
 * Documents are numbered in the order in which they came; texts are bytes in code unit order.
 */
export type RunTerm = {
  readonly term: string;
  readonly forms: readonly string[];
  /** The number of positions of each form. */
  readonly formCounts: readonly number[];
  readonly postingCount: number;
};

/** The signatures of a run: their keys by number, from 1, and how many postings have each. */
export type RunHead = { readonly keys: readonly number[]; readonly keyCounts: readonly number[] };

/** Walks the terms of a run in code unit order. It starts before the first term. */
export interface RunSource extends RunHead {
  /** The current term; null at the end. */
  readonly current: RunTerm | null;
  /** A reader at the postings of the current term, which are in the order of the index. */
  readonly reader: ByteReader;
  next(): void;
}

/** The temporary file of a run, and the position of its head. */
export type RunPlace = { readonly path: string; readonly headStart: number };

function writeText(text: string, writer: ByteWriter): void {
  writer.varint(encodedLength(text));
  writeCodeUnits(text, writer);
}

function readText(reader: ByteReader): string {
  const length = reader.varint();
  const start = reader.offset;
  reader.offset += length;
  return decodeCodeUnits(reader.bytes, start, start + length);
}

export function writeRunTerm(term: RunTerm, postingBytes: number, writer: ByteWriter): void {
  writeText(term.term, writer);
  writer.varint(term.forms.length);
  term.forms.forEach((form, index) => {
    writeText(form, writer);
    writer.varint(term.formCounts[index]!);
  });
  writer.varint(term.postingCount);
  writer.varint(postingBytes);
}

export function readRunTerm(reader: ByteReader): RunTerm & { readonly postingBytes: number } {
  const term = readText(reader);
  const formCount = reader.varint();
  const forms: string[] = [];
  const formCounts: number[] = [];
  for (let index = 0; index < formCount; index++) {
    forms.push(readText(reader));
    formCounts.push(reader.varint());
  }
  return { term, forms, formCounts, postingCount: reader.varint(), postingBytes: reader.varint() };
}
