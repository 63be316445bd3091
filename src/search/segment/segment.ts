import { Failure } from "../../base/failure.ts";
import type { DocumentUrl } from "../../urls/index.ts";
import { openAttributes } from "../attributes/attributes.ts";
import type { SlugStyle } from "../document/slugs.ts";
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
import { type LengthColumn, openLengths } from "./field-lengths.ts";
import { SegmentFile } from "./file-reader.ts";
import { corrupt } from "./layout.ts";
import { type Blocks, PostingList } from "./posting-reader.ts";
import { BlockCache, interleaveLengths, ScoreTables } from "./score-tables.ts";
import { Signatures } from "./signatures.ts";
import { StoredBlockReader } from "./stored-blocks.ts";
import { decodeLayout, decodeStored, MarkdownBytes, openStored } from "./stored-codec.ts";
import { StringTableCursor } from "./string-table.ts";
import { type LocatedTerm, TermDictionary } from "./term-dictionary.ts";

/**
 * The most blocks whose places and bounds are kept, at 84 bytes each; common words come in every other query.
 */
const MAX_CACHED_BLOCKS = 100_000;

/** An index's description of itself. */
export type SegmentMeta = {
  readonly documentCount: number;
  readonly analyserFingerprint: string;
  readonly fieldTotals: readonly number[];
  /** How the collection's generator makes the anchors of headings. */
  readonly slugStyle: SlugStyle;
  /** Whose index it is, as its builder has written it; 0.1.0 wrote none. */
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

  /**
   * Opens an index file; dispose it after use.
   * @throws Failure `index_missing`, `index_outdated` (another version's format), `index_corrupt`,
   * `unreadable_input`
   */
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

  /** The size of the file in bytes. */
  get byteLength(): number {
    return this.#file.bytes.length;
  }

  /** Field lengths by field, then by document. */
  get lengths(): readonly LengthColumn[] {
    this.#lengths ??= openLengths(this.#file.whole("lengths"), this.documentCount);
    return this.#lengths;
  }

  /**
   * Lengths by document × fields + field, at most 65 535, for scoring, which reads a document's lengths
   * together.
   */
  get lengthsByDocument(): Uint16Array {
    this.#lengthsByDocument ??= interleaveLengths(this.lengths, this.documentCount);
    return this.#lengthsByDocument;
  }

  /**
   * The tables for scoring with a ranking. The last ones of two corpora are kept: the index is searched alone
   * and together with others.
   */
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
    const list = new PostingList(this.#file, this.signatures, { range, blocks: known });
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

  /** The number of the first document whose address comes after this one in code unit order. */
  firstDocumentAfter(url: string): number {
    if (this.#urls.seek(url)) return this.#urls.ordinal + 1;
    return this.#urls.isAtEntry ? this.#urls.ordinal : this.documentCount;
  }

  /** The hash of the document's source, as two halves of 32 bits. */
  contentHash(document: number): readonly [low: number, high: number] {
    const { bytes } = this.#file;
    const start = this.#file.section("hashes").start + document * 8;
    this.#file.verify(start, start + 8);
    const [low = 0, high = 0] = new Uint32Array(bytes.buffer, bytes.byteOffset + start, 2);
    return [low, high];
  }

  /** The sizes of the file's parts in bytes, for reports. */
  sizes(): Readonly<Record<"postings" | "dictionary" | "lengths" | "layouts" | "stored" | "all", number>> {
    const size = (...names: Parameters<SegmentFile["section"]>[0][]): number =>
      names.reduce((total, name) => total + this.#file.section(name).end - this.#file.section(name).start, 0);
    return {
      postings: size("postings", "signatures"),
      dictionary: size("terms", "termBlocks", "termEnds", "termEndBlocks"),
      lengths: size("lengths"),
      layouts: size("layouts", "layoutOffsets"),
      stored: size("stored", "storedOffsets", "urls", "urlBlocks", "hashes", "attributes", "attributeNames"),
      all: this.byteLength,
    };
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
