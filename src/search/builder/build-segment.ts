import { randomUUID } from "node:crypto";
import { rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { DocumentUrl } from "../../urls/index.ts";
import type { Analyser } from "../analysis/analyser.ts";
import { attributesOf, attributeTable, type DocumentAttributes, encodeAttributes } from "../attributes.ts";
import { SlugBallot, type SlugStyle, styleAt, withSlugs } from "../document/sections.ts";
import { NumberList } from "../number-list.ts";
import { ByteReader, ByteWriter } from "../segment/bytes.ts";
import { SegmentFileWriter } from "../segment/file.ts";
import { encodePositions, NO_SIGNATURE, writeFrequencies } from "../segment/postings.ts";
import { encodeLengths, type Segment, type SegmentMeta, totalsOf } from "../segment/segment.ts";
import {
  encodeLayout,
  encodeReadStored,
  encodeStored,
  openStored,
  StoredBlockWriter,
  writeUtf8,
} from "../segment/stored.ts";
import { byCodeUnits, StringTableWriter, TermEndWriter, TermWriter } from "../segment/terms.ts";
import {
  type AnalysedDocument,
  type AttributeTable,
  FIELDS,
  NO_DOCUMENT,
  type SourceDocument,
} from "../types.ts";
import { Inverter } from "./inverter.ts";
import { mergeSignatures, RunMerger } from "./merge.ts";
import {
  type MemoryRun,
  type RunPlace,
  RunReader,
  RunSignatures,
  type RunSource,
  RunWriter,
} from "./runs.ts";
import { makeBuildDirectory, TemporaryFile } from "./temporary-file.ts";

/** The functions that turn documents into words. */
type BuildAnalysis = {
  readonly fingerprint: string;
  readonly vocabulary: Analyser;
  analyse(source: SourceDocument): AnalysedDocument;
};

export type BuildOptions = {
  /** The index file. Its directory is created; an existing file is replaced when the new one is complete. */
  readonly path: string;
  readonly analysis: BuildAnalysis;
  /** An index whose unchanged documents are carried over, unless it was built with another analysis. */
  readonly previous: Segment | null;
  /** The memory for postings and their words, in bytes; beyond it they are spilled to the disk. */
  readonly memoryBytes: number;
  /** How the documents' generator makes anchors, where its configuration tells; else their links do. */
  readonly slugStyle?: SlugStyle | undefined;
  /** Whose index it is; see `SearchIndex.owner`. */
  readonly owner?: string | undefined;
  /** Part of the name of the directory for temporary files; by default a random one. */
  readonly buildName?: string;
  /** Called after every document. */
  readonly onProgress?: (counts: BuildCounts) => void;
  /** Called for each document whose analysis fails, which is left out; without it the failure is thrown. */
  readonly onFailed?: (document: SourceDocument, error: unknown) => void;
  /** Called for each document that is left out because an earlier one has its address. */
  readonly onRepeated?: (document: SourceDocument) => void;
};

export type BuildCounts = {
  /** Indexed documents, including documents carried over. */
  readonly documents: number;
  /** Documents that are unchanged since the previous index. */
  readonly unchanged: number;
};

/**
 * Builds an index file from documents that come one by one. Its memory does not grow with their text: the
 * text goes to temporary files beside the index, postings are spilled as sorted runs and merged at the end.
 * The same documents give the same bytes, whatever their order and whatever is carried over. Of two documents
 * with one address the first counts. A build that is stopped or killed changes no index.
 * @throws Failure `unwritable_output`, and what the documents throw
 */
export async function buildSegment(
  documents: AsyncIterable<SourceDocument> | Iterable<SourceDocument>,
  options: BuildOptions,
): Promise<BuildCounts> {
  const directory = await makeBuildDirectory(options.path, options.buildName ?? randomUUID());
  try {
    await using build = await Build.start(directory, options);
    for await (const document of documents) {
      await build.add(document);
      options.onProgress?.(build.counts);
    }
    await build.finish();
    return build.counts;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

class Build implements AsyncDisposable {
  #unchanged = 0;
  readonly #directory: string;
  readonly #options: BuildOptions;
  readonly #previous: Segment | null;
  readonly #table = new DocumentTable();
  readonly #inverter: Inverter;
  readonly #runs: RunPlace[] = [];
  readonly #carriedRows: Uint32Array;
  readonly #stored: TemporaryFile;
  readonly #layouts: TemporaryFile;
  readonly #bytes = new ByteWriter(64 * 1024);
  readonly #slugs = new SlugBallot();
  /** The first documents, while all of them are unchanged: their texts are copied with the first one that is not. */
  #waiting: number[] = [];
  #isChanged = false;

  private constructor(
    { stored, layouts }: { stored: TemporaryFile; layouts: TemporaryFile },
    directory: string,
    options: BuildOptions,
  ) {
    this.#directory = directory;
    this.#options = options;
    this.#stored = stored;
    this.#layouts = layouts;
    const { previous, analysis } = options;
    this.#previous = previous?.analyserFingerprint === analysis.fingerprint ? previous : null;
    this.#carriedRows = new Uint32Array(this.#previous?.documentCount ?? 0).fill(NOT_CARRIED);
    this.#inverter = new Inverter(analysis.vocabulary);
  }

  static async start(directory: string, options: BuildOptions): Promise<Build> {
    const stored = await TemporaryFile.create(join(directory, "stored"));
    const layouts = await TemporaryFile.create(join(directory, "layouts"));
    return new Build({ stored, layouts }, directory, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stored[Symbol.asyncDispose]();
    await this.#layouts[Symbol.asyncDispose]();
  }

  get counts(): BuildCounts {
    return { documents: this.#table.length, unchanged: this.#unchanged };
  }

  async add(source: SourceDocument): Promise<void> {
    if (this.#table.has(source.url)) return this.#options.onRepeated?.(source);
    const contentHash = hashOf(source, this.#bytes);
    const old = this.#previous === null ? -1 : findUnchanged(this.#previous, source, contentHash);
    if (old >= 0) this.#carryOver(source, contentHash, old);
    else this.#isChanged = true;
    if (this.#isChanged) await this.#copyWaiting();
    if (old < 0) await this.#analyse(source, contentHash);
  }

  async finish(): Promise<void> {
    if (await this.#keepsPrevious()) return;
    await this.#copyWaiting();
    if (this.#previous !== null && this.#unchanged > 0) {
      await using file = await this.#newRun();
      this.#runs.push(await writeCarriedRun(this.#previous, this.#carriedRows, new RunWriter(file)));
    }
    await this.#stored.close();
    await this.#layouts.close();
    await using file = await SegmentFileWriter.create(this.#options.path, join(this.#directory, "segment"));
    this.#options.analysis.vocabulary.forgetRuns();
    await this.#writeSegment(file);
  }

  /** Writes all sections of the index, and finishes the file. */
  async #writeSegment(file: SegmentFileWriter): Promise<void> {
    const table = this.#table;
    const { analysis, owner, slugStyle = this.#slugs.winner() } = this.#options;
    const order = table.sorted();
    const lengths = table.lengths(order);
    await this.#writeStored(file, order, slugStyle);
    await this.#writeUrls(file, order);
    await file.section("hashes", () => file.write(bytesOf(table.hashes(order))));
    await this.#writeLayouts(file, order);
    await file.section("lengths", () => file.write(encodeLengths(lengths)));
    await this.#writeTerms(file, order, lengths);
    const { columns, names } = encodeAttributes(table.attributes(order));
    await file.section("attributes", () => file.write(columns));
    await file.section("attributeNames", () => file.write(names));
    const meta: SegmentMeta = {
      documentCount: order.length,
      analyserFingerprint: analysis.fingerprint,
      fieldTotals: [...totalsOf(lengths)],
      slugStyle,
      owner,
    };
    await file.section("meta", () => file.write(new TextEncoder().encode(JSON.stringify(meta))));
    await file.finish();
  }

  /** @param slugStyle how the collection's generator makes the anchors of headings; analysis takes it to be GitHub's */
  async #writeStored(file: SegmentFileWriter, order: Uint32Array, slugStyle: SlugStyle): Promise<void> {
    const stored = this.#stored.read();
    const carriedStyle = (this.#unchanged > 0 && this.#previous?.slugStyle) || "github";
    const styled = new ByteWriter();
    const blocks = new StoredBlockWriter((bytes) => file.write(bytes));
    let index: Uint8Array = new Uint8Array(0);
    await file.section("stored", async () => {
      for (const row of order) {
        const record = this.#table.recordIn(stored, STORED, row);
        const url = this.#table.urls[row]!;
        const style = styleAt(url, slugStyle);
        const isStyled = style === styleAt(url, "github") && style === styleAt(url, carriedStyle);
        await blocks.add(isStyled ? record : withSlugsOf(style, record, styled));
      }
      index = await blocks.finish();
    });
    stored.buffer.transfer(0); // it would count as memory until it is collected
    await file.section("storedOffsets", () => file.write(index));
  }

  async #writeUrls(file: SegmentFileWriter, order: Uint32Array): Promise<void> {
    const urls = new StringTableWriter();
    const nothing = new ByteWriter(0);
    for (const row of order) urls.add(this.#table.urls[row]!, 0, nothing);
    await file.section("urls", () => file.write(urls.entries()));
    await file.section("urlBlocks", () => file.write(urls.blocks()));
  }

  async #writeLayouts(file: SegmentFileWriter, order: Uint32Array): Promise<void> {
    const layouts = this.#layouts.read();
    const offsets = new Uint32Array(order.length + 1);
    await file.section("layouts", async () => {
      let offset = 0;
      for (let number = 0; number < order.length; number++) {
        const layout = this.#table.recordIn(layouts, LAYOUT, order[number]!);
        await file.write(layout);
        offset += layout.length;
        offsets[number + 1] = offset;
      }
    });
    await file.section("layoutOffsets", () => file.write(bytesOf(offsets)));
  }

  async #writeTerms(
    file: SegmentFileWriter,
    order: Uint32Array,
    lengths: readonly Uint32Array[],
  ): Promise<void> {
    const runs = this.#sources();
    const signatures = mergeSignatures(runs);
    const dictionary = new TermWriter();
    const ends = this.#options.analysis.vocabulary.hasCompounds ? new TermEndWriter() : null;
    const merger = new RunMerger({
      runs,
      signatures,
      finalNumbers: this.#table.finalNumbers(order),
      lengths,
    });
    await file.section("signatures", () => file.write(signatures.encode()));
    await file.section("postings", async () => {
      let start = 0;
      for (const { term, documentFrequency, forms, postings } of merger.terms()) {
        dictionary.add({ term, documentFrequency, forms, postingBytes: postings.length }, start);
        ends?.add(term, documentFrequency);
        const writing = file.writeFrom(postings);
        if (writing !== null) await writing;
        start += postings.length;
      }
    });
    await file.section("terms", () => file.write(dictionary.table.entries()));
    await file.section("termBlocks", () => file.write(dictionary.table.blocks()));
    const endTable = ends?.finish();
    if (!endTable) return;
    await file.section("termEnds", () => file.write(endTable.entries()));
    await file.section("termEndBlocks", () => file.write(endTable.blocks()));
  }

  #carryOver(source: SourceDocument, contentHash: ContentHash, old: number): void {
    const attributes = attributesOf(source);
    const fieldLengths = this.#previous!.lengths.map((column) => column[old]!); // `old` is one of its documents
    this.#carriedRows[old] = this.#table.add({ url: source.url, attributes, contentHash, fieldLengths });
    this.#waiting.push(old);
    this.#unchanged++;
  }

  async #copyWaiting(): Promise<void> {
    for (const old of this.#waiting) {
      const stored = this.#countSlugs(old);
      this.#table.ends.push(await this.#store(stored, this.#previous!.layoutBytes(old)));
    }
    this.#waiting = [];
  }

  /** @returns the record of an unchanged document */
  #countSlugs(old: number): Uint8Array {
    const stored = this.#previous!.storedBytes(old);
    const { sections, linkedFragments } = openStored(new ByteReader(stored));
    this.#slugs.add(sections, linkedFragments);
    return stored;
  }

  /** Keeps the file that is there with a new time, where the same bytes would be written. */
  async #keepsPrevious(): Promise<boolean> {
    const previous = this.#previous;
    const { path, owner = null, slugStyle } = this.#options;
    const { length } = this.#waiting;
    if (length === 0 || length !== this.#table.length || length !== previous?.documentCount) return false;
    if (previous.path !== path || previous.owner !== owner) return false;
    previous.verifyAll();
    if (!Bun.deepEquals(previous.attributes, this.#table.attributes(this.#carriedRows), true)) return false;
    if (slugStyle === undefined) for (const old of this.#waiting) this.#countSlugs(old);
    if ((slugStyle ?? this.#slugs.winner()) !== previous.slugStyle) return false;
    const now = new Date();
    // A file that is gone meanwhile, or is another user's, is written anew.
    return (await utimes(path, now, now).catch(() => null)) !== null;
  }

  async #analyse(source: SourceDocument, contentHash: ContentHash): Promise<void> {
    const analysed = this.#tryAnalyse(source);
    if (analysed === null) return;
    this.#slugs.add(analysed.sections, analysed.linkedFragments);
    this.#bytes.clear();
    encodeStored(analysed, this.#bytes);
    const storedLength = this.#bytes.length;
    encodeLayout(analysed.layout, this.#bytes);
    const bytes = this.#bytes.written();
    const ends = await this.#store(bytes.subarray(0, storedLength), bytes.subarray(storedLength));
    const { fieldLengths } = analysed;
    const attributes = attributesOf(source);
    const row = this.#table.add({ url: source.url, attributes, contentHash, fieldLengths });
    this.#table.ends.push(ends);
    this.#inverter.add(analysed, row);
    if (this.#inverter.byteLength > this.#options.memoryBytes) await this.#spill();
  }

  // Nothing of the document has been written yet, so the build continues without it.
  #tryAnalyse(source: SourceDocument): AnalysedDocument | null {
    const { analysis, onFailed } = this.#options;
    if (!onFailed) return analysis.analyse(source);
    try {
      return analysis.analyse(source);
    } catch (error) {
      onFailed(source, error);
      return null;
    }
  }

  async #store(stored: Uint8Array, layout: Uint8Array): Promise<RecordEnds> {
    await this.#stored.write(stored);
    await this.#layouts.write(layout);
    return [this.#stored.length, this.#layouts.length];
  }

  async #spill(): Promise<void> {
    await using file = await this.#newRun();
    this.#runs.push(await new RunWriter(file).run(this.#gathered()));
    this.#inverter.clear();
  }

  #gathered(): MemoryRun {
    return this.#inverter.run((rows) => this.#table.orderOf(rows));
  }

  /** The spilled runs, and the one that is still in memory. */
  #sources(): readonly RunSource[] {
    const spilled = this.#runs.map((place) => new RunReader(place));
    return this.#inverter.isEmpty ? spilled : [...spilled, this.#gathered()];
  }

  #newRun(): Promise<TemporaryFile> {
    return TemporaryFile.create(join(this.#directory, `run-${this.#runs.length}`));
  }
}

type ContentHash = readonly [low: number, high: number];

/** The document of an index with this address and text; -1 for none. */
function findUnchanged(index: Segment, { url }: SourceDocument, [low, high]: ContentHash): number {
  const document = index.findDocument(url);
  if (document < 0) return -1;
  const [oldLow, oldHigh] = index.contentHash(document);
  return oldLow === low && oldHigh === high ? document : -1;
}

function hashOf({ title, markdown, anchors }: SourceDocument, scratch: ByteWriter): ContentHash {
  scratch.clear();
  // Anchors that are merely not known are made from the headings.
  scratch.byte(anchors === undefined ? 0 : 1);
  writeUtf8(title, scratch);
  scratch.byte(0);
  writeUtf8(markdown, scratch);
  for (const { id, start } of anchors ?? []) {
    scratch.byte(0);
    writeUtf8(id, scratch);
    scratch.varint(start);
  }
  const hash = Bun.hash.xxHash3(scratch.written());
  return [Number(hash & 0xffff_ffffn), Number(hash >> 32n)];
}

/** Marks a document of the old index that is not carried over. */
const NOT_CARRIED = 0xffff_ffff;

/**
 * Writes the postings of an older index as a run, for the documents that have not changed.
 * @param rows the new row of each old document, or `NOT_CARRIED`
 */
async function writeCarriedRun(segment: Segment, rows: Uint32Array, writer: RunWriter): Promise<RunPlace> {
  const signatures = new RunSignatures();
  const postings = new ByteWriter(64 * 1024);
  for (const entry of segment.terms()) {
    postings.clear();
    const formCounts = new Array<number>(entry.forms.length).fill(0);
    const list = segment.postings(entry);
    let postingCount = 0;
    while (list.next() !== NO_DOCUMENT) {
      const row = rows[list.document]!;
      if (row === NOT_CARRIED) continue;
      const { frequencies } = list;
      const count = list.readPositions();
      const signature = signatures.note(frequencies, count);
      postings.varint(row);
      const start = postings.beginPrefixed();
      postings.varint(signature);
      if (signature === NO_SIGNATURE) writeFrequencies(frequencies, count, postings);
      encodePositions(list, { count, hasForms: true }, postings);
      postings.endPrefixed(start);
      for (let place = 0; place < count; place++) formCounts[list.forms[place]!]!++;
      postingCount++;
    }
    // All forms are kept in their order, because the numbers in the positions refer to it. Merging the runs drops
    // forms that no document has any more.
    const { term, forms } = entry;
    if (postingCount > 0) await writer.term({ term, forms, formCounts, postingCount }, postings.written());
  }
  return await writer.finish(signatures.head());
}

/** The record with the anchors that a generator gives its headings. */
function withSlugsOf(style: SlugStyle, bytes: Uint8Array, writer: ByteWriter): Uint8Array {
  const record = openStored(new ByteReader(bytes));
  writer.clear();
  encodeReadStored(record, withSlugs(record.sections, style), writer);
  return writer.written();
}

const bytesOf = (values: Uint32Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

/** Ends of a document's bytes in the temporary files; they begin at the end of the row before. */
type RecordEnds = readonly [stored: number, layout: number];
const STORED = 0;
const LAYOUT = 1;

type DocumentRow = {
  readonly url: DocumentUrl;
  readonly contentHash: readonly [low: number, high: number];
  /** The number of tokens by field number. */
  readonly fieldLengths: ArrayLike<number>;
  readonly attributes: DocumentAttributes;
};

/**
 * The data about every document that a build keeps in memory until its end: URL, hash, field lengths and positions,
 * about 400 bytes. Rows are numbered in the order of the documents.
 */
class DocumentTable {
  readonly urls: DocumentUrl[] = [];
  readonly #known = new Set<DocumentUrl>();
  readonly #hashes = new NumberList();
  readonly #lengths = new NumberList();
  /** Ends of the records of each row; they may be added after the row. */
  readonly ends: RecordEnds[] = [];
  readonly #attributes: DocumentAttributes[] = [];

  get length(): number {
    return this.urls.length;
  }

  has(url: DocumentUrl): boolean {
    return this.#known.has(url);
  }

  /** @param row a row whose address the table does not have yet */
  add(row: DocumentRow): number {
    this.#known.add(row.url);
    this.#hashes.push(row.contentHash[0]);
    this.#hashes.push(row.contentHash[1]);
    for (let field = 0; field < FIELDS.length; field++) this.#lengths.push(row.fieldLengths[field]!);
    this.#attributes.push(row.attributes);
    return this.urls.push(row.url) - 1;
  }

  /** A document's bytes in one of the temporary files. */
  recordIn(bytes: Uint8Array, file: typeof STORED | typeof LAYOUT, row: number): Uint8Array {
    return bytes.subarray(this.ends[row - 1]?.[file] ?? 0, this.ends[row]![file]);
  }

  /** The rows in the order of their addresses. */
  sorted(): Uint32Array {
    return this.orderOf(Uint32Array.from(this.urls.keys()));
  }

  /** Indexes into a list of rows, in the order of the rows' addresses. */
  orderOf(rows: Uint32Array): Uint32Array {
    const { urls } = this;
    const places = Uint32Array.from(rows.keys());
    const byUrl = (a: number, b: number): number => byCodeUnits(urls[rows[a]!]!, urls[rows[b]!]!);
    // Stores often list their pages in this order already.
    const isSorted = places.every((place) => place === 0 || byUrl(place - 1, place) <= 0);
    return isSorted ? places : places.sort(byUrl);
  }

  /** The document number in the index of each row; `order` has the rows in the order of the index. */
  finalNumbers(order: Uint32Array): Uint32Array {
    const numbers = new Uint32Array(this.length);
    order.forEach((row, number) => {
      numbers[row] = number;
    });
    return numbers;
  }

  /** Field lengths by field, then by document number. */
  lengths(order: Uint32Array): Uint32Array[] {
    const values = this.#lengths.values;
    return FIELDS.map((_, field) => Uint32Array.from(order, (row) => values[row * FIELDS.length + field]!));
  }

  /** Attributes by document number. */
  attributes(order: Uint32Array): AttributeTable {
    return attributeTable(Array.from(order, (row) => this.#attributes[row]!));
  }

  /** Hashes by document number, two halves each. */
  hashes(order: Uint32Array): Uint32Array {
    const hashes = new Uint32Array(order.length * 2);
    order.forEach((row, number) => {
      hashes[number * 2] = this.#hashes.values[row * 2]!;
      hashes[number * 2 + 1] = this.#hashes.values[row * 2 + 1]!;
    });
    return hashes;
  }
}
