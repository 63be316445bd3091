import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { attributesOf } from "../attributes/attributes.ts";
import { SlugBallot, type SlugStyle } from "../document/slugs.ts";
import { ByteReader, ByteWriter } from "../segment/bytes.ts";
import { SegmentFileWriter } from "../segment/file-writer.ts";
import { encodePositions } from "../segment/positions-codec.ts";
import type { PostingList } from "../segment/posting-reader.ts";
import { writeFrequencies } from "../segment/posting-writer.ts";
import type { Segment } from "../segment/segment.ts";
import { NO_SIGNATURE } from "../segment/signatures.ts";
import { encodeLayout, encodeStored, openStored, writeUtf8 } from "../segment/stored-codec.ts";
import { type AnalysedDocument, NO_DOCUMENT, type SourceDocument, type Vocabulary } from "../types.ts";
import { DocumentTable } from "./document-table.ts";
import { Inverter } from "./inverter.ts";
import { type MemoryRun, RunSignatures } from "./memory-run.ts";
import { RunReader, RunWriter } from "./run-file.ts";
import type { RunPlace, RunSource } from "./run-format.ts";
import { makeBuildDirectory, TemporaryFile } from "./temporary-file.ts";
import { writeSegment } from "./write-segment.ts";

/** The functions that turn documents into words. */
export type BuildAnalysis = {
  readonly fingerprint: string;
  readonly vocabulary: Vocabulary;
  analyse(source: SourceDocument): AnalysedDocument;
};

export type BuildOptions = {
  /** The index file. Its directory is created; an existing file is replaced when the new one is complete. */
  readonly path: string;
  readonly analysis: BuildAnalysis;
  /**
   * An index whose unchanged documents are carried over without analysis, if it was built with the same
   * analysis.
   */
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
  /**
   * Called for each document whose analysis fails, which is then left out; without it the failure is thrown.
   */
  readonly onFailed?: (document: SourceDocument, error: unknown) => void;
  /** Called for each document that is left out because an earlier one has its address. */
  readonly onRepeated?: (document: SourceDocument) => void;
};

export type BuildCounts = {
  /** Indexed documents, including those that were carried over. */
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
    if (old >= 0) await this.#carryOver(source, contentHash, old);
    else await this.#analyse(source, contentHash);
  }

  async finish(): Promise<void> {
    if (this.#previous !== null && this.#unchanged > 0) {
      await using writer = await this.#newRun();
      this.#runs.push(await writeCarriedRun(this.#previous, this.#carriedRows, writer));
    }
    await this.#stored.close();
    await this.#layouts.close();
    const { path, analysis, owner, slugStyle = this.#slugs.winner() } = this.#options;
    await using file = await SegmentFileWriter.create(path, join(this.#directory, "segment"));
    await writeSegment(file, {
      table: this.#table,
      runs: this.#sources(),
      stored: this.#stored.read(),
      layouts: this.#layouts.read(),
      analyserFingerprint: analysis.fingerprint,
      hasCompounds: analysis.vocabulary.hasCompounds,
      slugStyle,
      owner,
      carriedStyle: (this.#unchanged > 0 && this.#previous?.slugStyle) || "github",
    });
  }

  async #carryOver(source: SourceDocument, contentHash: ContentHash, old: number): Promise<void> {
    const previous = this.#previous!; // `old` is one of its documents
    const stored = previous.storedBytes(old);
    const { sections, linkedFragments } = openStored(new ByteReader(stored));
    this.#slugs.add(sections, linkedFragments);
    const row = this.#table.add({
      url: source.url,
      attributes: attributesOf(source),
      contentHash,
      fieldLengths: previous.lengths.map((column) => column[old]!),
      place: await this.#store(stored, previous.layoutBytes(old)),
    });
    this.#carriedRows[old] = row;
    this.#unchanged++;
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
    const place = await this.#store(bytes.subarray(0, storedLength), bytes.subarray(storedLength));
    const { fieldLengths } = analysed;
    const attributes = attributesOf(source);
    const row = this.#table.add({ url: source.url, attributes, contentHash, fieldLengths, place });
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

  async #store(stored: Uint8Array, layout: Uint8Array) {
    const storedStart = this.#stored.length;
    const layoutStart = this.#layouts.length;
    await this.#stored.write(stored);
    await this.#layouts.write(layout);
    return { storedStart, storedEnd: this.#stored.length, layoutStart, layoutEnd: this.#layouts.length };
  }

  async #spill(): Promise<void> {
    await using writer = await this.#newRun();
    this.#runs.push(await writer.run(this.#gathered()));
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

  #newRun(): Promise<RunWriter> {
    return RunWriter.create(join(this.#directory, `run-${this.#runs.length}`));
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

/** Whether an index is of exactly these documents. */
export async function holdsExactly(
  index: Segment,
  documents: AsyncIterable<SourceDocument>,
): Promise<boolean> {
  const bytes = new ByteWriter(64 * 1024);
  const met = new Set<number>();
  for await (const source of documents) {
    const now = findUnchanged(index, source, hashOf(source, bytes));
    const document = now < 0 ? findUnchanged(index, source, earlierHashOf(source, bytes)) : now;
    if (document < 0) return false;
    met.add(document);
  }
  return met.size === index.documentCount && met.size > 0;
}

function hashOf(source: SourceDocument, scratch: ByteWriter): ContentHash {
  const { url, anchors } = source;
  // 0.1.0 gave some of these documents the anchors of another generator, and they are read again.
  return earlierHashOf(source, scratch, anchors ? anchors.length === 0 : !url.startsWith("docs:"));
}

/** The hash of 0.1.0. */
function earlierHashOf(
  { title, markdown, anchors = [] }: SourceDocument,
  scratch: ByteWriter,
  isOther = false,
): ContentHash {
  scratch.clear();
  if (isOther) scratch.byte(0);
  writeUtf8(title, scratch);
  scratch.byte(0);
  writeUtf8(markdown, scratch);
  for (const { id, start } of anchors) {
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
      copyPosting(list, row, { signatures, formCounts, out: postings });
      postingCount++;
    }
    // All forms are kept in their order, because the numbers in the positions refer to it. Merging the runs drops
    // forms that no document has any more.
    const { term, forms } = entry;
    if (postingCount > 0) await writer.term({ term, forms, formCounts, postingCount }, postings.written());
  }
  return await writer.finish(signatures.head());
}

type CopyTarget = {
  readonly signatures: RunSignatures;
  readonly formCounts: number[];
  readonly out: ByteWriter;
};

function copyPosting(list: PostingList, row: number, { signatures, formCounts, out }: CopyTarget): void {
  const { frequencies } = list;
  const count = list.readPositions();
  const signature = signatures.note(frequencies, count);
  out.varint(row);
  const start = out.beginPrefixed();
  out.varint(signature);
  if (signature === NO_SIGNATURE) writeFrequencies(frequencies, count, out);
  encodePositions(list, { count, hasForms: true }, out);
  out.endPrefixed(start);
  for (let place = 0; place < count; place++) formCounts[list.forms[place]!]!++;
}
