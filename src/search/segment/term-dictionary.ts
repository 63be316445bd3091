import type { TermEntry } from "../types.ts";
import { ByteReader, type ByteWriter } from "./bytes.ts";
import { codeUnitBytes, decodeCodeUnits } from "./code-units.ts";
import type { SegmentFile } from "./file-reader.ts";
import type { PostingRange } from "./posting-reader.ts";
import { StringTableCursor } from "./string-table.ts";

const TABLE = { entries: "terms", blocks: "termBlocks" } as const;

/** A term with the place of its postings. */
export type LocatedTerm = TermEntry & {
  readonly range: PostingRange;
  /** Index in `forms` by rank of frequency; null where both orders are the same. */
  readonly formOrder: Uint16Array | null;
};

/** What the dictionary keeps of a term. */
export type TermRecord = {
  readonly term: string;
  readonly documentFrequency: number;
  readonly postingBytes: number;
  /** The most frequent first. */
  readonly forms: readonly string[];
};

/** A term's bytes in the table: document frequency, bytes of its postings, count of forms, forms. */
export function encodeTerm(record: TermRecord, writer: ByteWriter): void {
  writer.varint(record.documentFrequency);
  writer.varint(record.postingBytes);
  // Most terms have themselves as their only form.
  if (record.forms.length === 1 && record.forms[0] === record.term) {
    writer.varint(0);
    return;
  }
  writer.varint(record.forms.length);
  const term = codeUnitBytes(record.term);
  for (const form of record.forms) {
    const bytes = codeUnitBytes(form);
    let shared = 0;
    while (shared < term.length && shared < bytes.length && term[shared] === bytes[shared]) shared++;
    writer.varint(shared);
    writer.varint(bytes.length - shared);
    writer.raw(bytes.subarray(shared));
  }
}

/** The terms of a segment; nothing is read before it is asked for. */
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

  /** In code unit order. */
  withPrefix(prefix: string, limit: number): LocatedTerm[] {
    const found: LocatedTerm[] = [];
    const bytes = codeUnitBytes(prefix);
    const cursor = this.#cursor;
    cursor.seek(prefix);
    for (
      let has = cursor.startsWith(bytes);
      has && found.length < limit;
      has = cursor.next() && cursor.startsWith(bytes)
    ) {
      found.push(this.#entry(cursor.key));
    }
    return found;
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
    return {
      term,
      id: cursor.ordinal,
      documentFrequency,
      forms,
      range: { start, end, documentFrequency, formCount: forms.length },
      formOrder,
    };
  }
}

function inCodeUnitOrder(ranked: readonly string[]): Pick<LocatedTerm, "forms" | "formOrder"> {
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

/** Order of JavaScript's strings. */
export const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
