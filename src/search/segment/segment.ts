import { Failure } from "../../base/failure.ts";
import type { DocumentUrl } from "../../urls/index.ts";
import { openAttributes } from "../attributes.ts";
import type { SlugStyle } from "../document/sections.ts";
import {
  type AttributeTable,
  type DocumentLayout,
  type DocumentParts,
  FIELDS,
  type FieldNumber,
  type IndexReader,
  type LengthTotals,
  type RankingSettings,
  type StoredDocument,
  type TermEntry,
  type TermWalk,
} from "../types.ts";
import { ByteReader } from "./bytes.ts";
import { corrupt, SegmentFile } from "./file.ts";
import { type Blocks, PostingList, Signatures } from "./postings.ts";
import { BlockCache, interleaveLengths, ScoreTables } from "./score-tables.ts";
import { decodeLayout, decodeStored, MarkdownBytes, openStored, StoredBlockReader } from "./stored.ts";
import { type LocatedTerm, StringTableCursor, TermDictionary } from "./terms.ts";

/** The most blocks whose places and bounds are kept, at 84 bytes; common words come in every other query. */
const MAX_CACHED_BLOCKS = 100_000;

/** An index's description of itself. */
export type SegmentMeta = {
  readonly documentCount: number;
  readonly analyserFingerprint: string;
  readonly fieldTotals: readonly number[];
  /** How the collection's generator makes the anchors of headings. */
  readonly slugStyle: SlugStyle;
  /** Whose index it is, as its builder has written it. */
  readonly owner?: string | undefined;
};

type KeptTables = {
  readonly ranking: RankingSettings;
  readonly corpus: LengthTotals;
  readonly tables: ScoreTables;
};

/**
 * An index in one immutable file, mapped into memory. Opening reads a few kilobytes, and bytes are checked
 * when a search first uses them. A running search keeps its segment when another file takes the name. Every
 * method throws `Failure` `index_corrupt` when the file is not what was written.
 */
export class Segment implements IndexReader, Disposable {
  readonly documentCount: number;
  readonly analyserFingerprint: string;
  readonly fieldTotals: Float64Array;
  readonly slugStyle: SlugStyle;
  readonly owner: string | null;
  readonly #file: SegmentFile;
  readonly #terms: TermDictionary;
  readonly #stored: StoredBlockReader;
  readonly #urls: StringTableCursor;
  readonly #blocks = new BlockCache<Blocks>(MAX_CACHED_BLOCKS);
  #signatures: Signatures | null = null;
  #lengths: readonly LengthColumn[] | null = null;
  #lengthsByDocument: Uint16Array | null = null;
  #layoutOffsets: Uint32Array | null = null;
  #tables: readonly KeptTables[] = [];
  #attributes: AttributeTable | null = null;

  private constructor(file: SegmentFile) {
    this.#file = file;
    const meta = readMeta(file);
    this.documentCount = meta.documentCount;
    this.analyserFingerprint = meta.analyserFingerprint;
    this.fieldTotals = Float64Array.from(meta.fieldTotals);
    this.slugStyle = meta.slugStyle;
    this.owner = meta.owner ?? null;
    this.#terms = new TermDictionary(file);
    this.#stored = new StoredBlockReader(file);
    this.#urls = new StringTableCursor(file, { entries: "urls", blocks: "urlBlocks" });
  }

  /** Opens an index file; dispose it after use. @throws Failure as `SegmentFile.open` */
  static open(path: string): Segment {
    const file = SegmentFile.open(path);
    try {
      return new Segment(file);
    } catch (error) {
      file[Symbol.dispose]();
      throw error;
    }
  }

  /** Does the same; null where there is no file, or one that is damaged or of another version. */
  static openIfWhole(path: string): Segment | null {
    try {
      return Segment.open(path);
    } catch (error) {
      if (error instanceof Failure) return null;
      throw error;
    }
  }

  get path(): string {
    return this.#file.path;
  }

  /** Field lengths by field, then by document. */
  get lengths(): readonly LengthColumn[] {
    this.#lengths ??= openLengths(this.#file.whole("lengths"), this.documentCount);
    return this.#lengths;
  }

  /** Lengths by document × fields + field, at most 65 535: scoring reads a document's lengths together. */
  get lengthsByDocument(): Uint16Array {
    this.#lengthsByDocument ??= interleaveLengths(this.lengths, this.documentCount);
    return this.#lengthsByDocument;
  }

  /** The tables of a ranking. Those of two corpora are kept: an index is searched alone and with others. */
  scoreTables(ranking: RankingSettings, corpus: LengthTotals): ScoreTables {
    const kept = this.#tables.find((one) => one.ranking === ranking && one.corpus === corpus);
    if (kept) return kept.tables;
    const tables = new ScoreTables(this, ranking, corpus);
    this.#tables = [{ ranking, corpus, tables }, ...this.#tables.slice(0, 1)];
    return tables;
  }

  get signatures(): Signatures {
    this.#signatures ??= new Signatures(this.#file.whole("signatures"));
    return this.#signatures;
  }

  get attributes(): AttributeTable {
    const names = this.#file.whole("attributeNames");
    this.#attributes ??= openAttributes(this.#file.whole("attributes"), names, this.documentCount);
    if (this.#attributes === null) throw corrupt(this.path, "its attributes");
    return this.#attributes;
  }

  fieldLength(document: number, field: FieldNumber): number {
    return this.lengths[field]?.[document] ?? 0;
  }

  find(term: string): TermEntry | null {
    return this.#terms.find(term);
  }

  postings(entry: TermEntry): PostingList {
    const located = "range" in entry ? (entry as LocatedTerm) : this.#terms.find(entry.term); // made by `find`
    if (located === null) throw corrupt(this.path, "a term that is not there any more");
    const { id, range } = located;
    const known = this.#blocks.get(id);
    const list = new PostingList(this.#file, this.signatures, range, known);
    const { blocks } = list;
    if (blocks.count > 1 && known === undefined) this.#blocks.set(id, blocks, blocks.count);
    return list;
  }

  termsWithPrefix(prefix: string, limit: number): readonly TermEntry[] {
    return this.#terms.withPrefix(prefix, limit);
  }

  walk(prefix: string): TermWalk {
    return this.#terms.walk(prefix);
  }

  walkEnds(end: string): TermWalk {
    return this.#terms.walkEnds(end);
  }

  /** Every term in code unit order. */
  terms(): Iterable<LocatedTerm> {
    return this.#terms.all();
  }

  layout(document: number): DocumentLayout {
    const { start } = this.#layoutRange(document);
    return decodeLayout(new ByteReader(this.#file.bytes, start));
  }

  /** A layout as the file has it. */
  layoutBytes(document: number): Uint8Array {
    const { start, end } = this.#layoutRange(document);
    return this.#file.bytes.subarray(start, end);
  }

  /** The range of a layout in the file, checked. */
  #layoutRange(document: number): { readonly start: number; readonly end: number } {
    const file = this.#file;
    const section = file.section("layoutOffsets");
    this.#layoutOffsets ??= new Uint32Array(
      file.bytes.buffer,
      file.bytes.byteOffset + section.start,
      (section.end - section.start) / 4,
    );
    const at = section.start + document * 4;
    file.verify(at, at + 8);
    const base = file.section("layouts").start;
    const start = base + this.#layoutOffsets[document]!;
    const end = base + this.#layoutOffsets[document + 1]!;
    file.verify(start, end);
    return { start, end };
  }

  document(document: number): StoredDocument {
    return { url: this.url(document), ...decodeStored(new ByteReader(this.storedBytes(document))) };
  }

  parts(document: number, deadline: number): DocumentParts {
    const { title, sections, bytes } = openStored(new ByteReader(this.storedBytes(document)));
    const markdown = new MarkdownBytes(bytes, deadline);
    const markdownOf = (start: number, end: number): string => markdown.range(start, end);
    return { url: this.url(document), title, sections, markdownOf };
  }

  /** A document's text as the file has it. */
  storedBytes(document: number): Uint8Array {
    return this.#stored.find(document);
  }

  /** @param document below `documentCount` */
  url(document: number): DocumentUrl {
    if (!this.#urls.goTo(document)) throw corrupt(this.path, `document ${document} has no address`);
    return this.#urls.key as DocumentUrl; // it was written from one
  }

  /** The number of the document with this address; -1 when there is none. */
  findDocument(url: string): number {
    return this.#urls.seek(url) ? this.#urls.ordinal : -1;
  }

  /** The hash of the document's source, as two halves of 32 bits. */
  contentHash(document: number): readonly [low: number, high: number] {
    const { bytes } = this.#file;
    const start = this.#file.section("hashes").start + document * 8;
    this.#file.verify(start, start + 8);
    const [low = 0, high = 0] = new Uint32Array(bytes.buffer, bytes.byteOffset + start, 2);
    return [low, high];
  }

  /** Call this before a search; see `SegmentFile.requireWhole`. */
  requireWhole(): void {
    this.#file.requireWhole();
  }

  /** See `SegmentFile.verifyAll`. */
  verifyAll(): void {
    this.#file.verifyAll();
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }
}

function readMeta(file: SegmentFile): SegmentMeta {
  const meta: SegmentMeta = JSON.parse(new TextDecoder().decode(file.whole("meta")));
  if (meta.fieldTotals.length !== FIELDS.length) throw corrupt(file.path, "its fields");
  return meta;
}

/** A column of numbers in the smallest width that holds them all. */
type LengthColumn = Uint8Array | Uint16Array | Uint32Array;

const WIDTHS = [1, 2, 4] as const;

/**
 * Writes exact field lengths, one column per field: eight bytes with the width of each column, then the
 * columns, each starting at a multiple of 4.
 */
export function encodeLengths(columns: readonly Uint32Array[]): Uint8Array {
  const widths = columns.map(widthOf);
  const size = columns.reduce((total, column, field) => total + aligned(column.length * widths[field]!), 0);
  const bytes = new Uint8Array(8 + size);
  bytes.set(widths);
  let offset = 8;
  columns.forEach((column, field) => {
    const width = widths[field]!;
    viewOf(bytes, offset, column.length, width).set(column);
    offset += aligned(column.length * width);
  });
  return bytes;
}

/** Opens in place the columns that `encodeLengths` wrote, at a multiple of 4. */
export function openLengths(bytes: Uint8Array<ArrayBuffer>, documentCount: number): readonly LengthColumn[] {
  let offset = 8;
  return FIELDS.map((_, field) => {
    const width = bytes[field]!;
    const column = viewOf(bytes, offset, documentCount, width);
    offset += aligned(documentCount * width);
    return column;
  });
}

/** The sum of each column, by field. */
export const totalsOf = (columns: readonly ArrayLike<number>[]): Float64Array =>
  Float64Array.from(columns, (column) => {
    let total = 0;
    for (let document = 0; document < column.length; document++) total += column[document]!;
    return total;
  });

const aligned = (length: number): number => Math.ceil(length / 4) * 4;

function widthOf(column: Uint32Array): number {
  let all = 0;
  for (let document = 0; document < column.length; document++) all |= column[document]!;
  return WIDTHS.find((width) => width === 4 || all >>> (width * 8) === 0) ?? 4;
}

function viewOf(bytes: Uint8Array<ArrayBuffer>, offset: number, count: number, width: number): LengthColumn {
  const start = bytes.byteOffset + offset;
  if (width === 1) return new Uint8Array(bytes.buffer, start, count);
  if (width === 2) return new Uint16Array(bytes.buffer, start, count);
  return new Uint32Array(bytes.buffer, start, count);
}
