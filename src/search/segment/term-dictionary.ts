import type { TermEntry, TermWalk } from "../types.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { codeUnitBytes, decodeCodeUnits, writeCodeUnits } from "./code-units.ts";
import type { SegmentFile } from "./file-reader.ts";
import type { PostingRange } from "./posting-reader.ts";
import { StringTableCursor, StringTableWriter, sharedLength, type TableSections } from "./string-table.ts";

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
export type TermRecord = {
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

  add({ term, documentFrequency }: Pick<TermRecord, "term" | "documentFrequency">): void {
    if (term.length >= SHORTEST_COMPOUND && LETTERS.test(term))
      this.#frequencies.set(reversed(term), documentFrequency);
  }

  finish(): Pick<StringTableWriter, "entries" | "blocks"> {
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

function inCodeUnitOrder(
  ranked: readonly string[],
): Pick<TermEntry, "forms"> & Pick<PostingRange, "formOrder"> {
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
