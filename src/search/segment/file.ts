import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { syncDirectory } from "../../base/atomic-file.ts";
import { Failure } from "../../base/failure.ts";
import { systemCode, systemFailure } from "../../base/system-error.ts";
import { wordsIn } from "../../base/text.ts";
import { type ByteWriter, FEW_BYTES } from "./bytes.ts";

/**
 * A segment file, all numbers little-endian:
 *
 * ```
 *  0                 4096                                        tableStart
 *  ┌────────┬─────────┬──────────┬──────────┬─────┬──────────┬──────────┐
 *  │ header │ section │ section  │ section  │ ... │ section  │ CRC-32   │
 *  │        │ (each begins at a multiple of 8 bytes)        │ of chunks│
 *  └────────┴─────────┴──────────┴──────────┴─────┴──────────┴──────────┘
 * ```
 *
 * The header has a checksum of its own and one of the table; the table has one for each chunk of 16 KiB (the
 * first chunk without the header). Opening reads header and table; a chunk is checked when its first byte is
 * asked for, so that opening costs the same for every size.
 */
export const MAGIC = "AXSEARCH";

/** Raise this with every change of what the sections hold; files of other versions are refused. */
const FORMAT_VERSION = 5;

const HEADER_BYTES = 4096;
const CHUNK_BYTES = 16 * 1024;

/** The sections in the order in which the header lists them. */
const SECTIONS = wordsIn(
  `meta stored storedOffsets urls urlBlocks hashes layouts layoutOffsets lengths signatures postings terms termBlocks
  attributes attributeNames termEnds termEndBlocks`,
);

export type SectionName = (typeof SECTIONS)[number];

/** Byte offsets in the file, `end` exclusive. */
type SectionRange = { readonly start: number; readonly end: number };

/** The offsets of the header's fields. */
const HEADER = {
  version: 8,
  fileLength: 16,
  tableStart: 24,
  chunkCount: 32,
  tableChecksum: 36,
  sections: 64,
  checksum: HEADER_BYTES - 4,
} as const;

/** Translates an error of writing; one that does not come from the system is a bug and stays as it is. */
export const asWriteFailure = (error: unknown, path: string): unknown =>
  systemFailure(error, "unwritable_output", `the search index ${path} could not be written`);

/** Translates an error of opening. */
function asReadFailure(error: unknown, path: string): unknown {
  const reason = systemCode(error);
  if (reason === "ENOENT" || reason === "ENOTDIR") {
    return new Failure("index_missing", `there is no search index at ${path}; it has to be built first`, {
      cause: error,
    });
  }
  return systemFailure(error, "unreadable_input", `the search index ${path} could not be read`);
}

/** The Failure for a file that is not what was written. */
export const corrupt = (path: string, what: string): Failure =>
  new Failure("index_corrupt", `the search index ${path} is damaged (${what}); build it again`);

/**
 * A segment file, mapped into memory. Bytes may be read after `verify` has checked them. The mapping outlives
 * the file's name, so a newer file may take the name.
 */
export class SegmentFile implements Disposable {
  readonly path: string;
  /** All bytes of the file. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The same bytes. */
  readonly view: DataView;
  readonly #descriptor: number;
  readonly #checksums: Uint32Array;
  readonly #isVerified: Uint8Array;
  readonly #sections: Readonly<Record<SectionName, SectionRange>>;
  #isClosed = false;

  private constructor(path: string, descriptor: number, bytes: Uint8Array<ArrayBuffer>) {
    this.path = path;
    this.#descriptor = descriptor;
    this.bytes = bytes;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.view = view;
    checkHeader(path, bytes, view);
    const tableStart = view.getFloat64(HEADER.tableStart, true);
    const count = view.getUint32(HEADER.chunkCount, true);
    const table = bytes.slice(tableStart, tableStart + count * 4);
    if (Bun.hash.crc32(table) !== view.getUint32(HEADER.tableChecksum, true)) {
      throw corrupt(path, "the table of checksums");
    }
    this.#checksums = new Uint32Array(table.buffer);
    this.#isVerified = new Uint8Array(count);
    this.#sections = readSections(view);
  }

  /** @throws Failure `index_missing`, `unreadable_input`, `index_corrupt`, `index_outdated` (its format) */
  static open(path: string): SegmentFile {
    let descriptor: number | null = null;
    try {
      descriptor = openSync(path, "r");
      const { size } = fstatSync(descriptor);
      if (size < HEADER_BYTES) throw corrupt(path, `${size} bytes are too few`);
      const bytes = mapFile(path);
      // The file is opened twice by name, and a new one may have taken the name in between.
      if (bytes.length !== size) throw corrupt(path, `${bytes.length} bytes, and ${size} when it was opened`);
      return new SegmentFile(path, descriptor, bytes);
    } catch (error) {
      if (descriptor !== null) closeSync(descriptor);
      throw asReadFailure(error, path);
    }
  }

  section(name: SectionName): SectionRange {
    return this.#sections[name];
  }

  /** Checks a range's chunks, each once; bytes must not be used before. @throws Failure `index_corrupt` */
  verify(start: number, end: number): void {
    const last = Math.floor((end - 1) / CHUNK_BYTES);
    for (let chunk = Math.floor(start / CHUNK_BYTES); chunk <= last; chunk++) {
      if (this.#isVerified[chunk] !== 1) this.#verifyChunk(chunk);
    }
  }

  /** The bytes of a section, all checked. */
  whole(name: SectionName): Uint8Array<ArrayBuffer> {
    const { start, end } = this.section(name);
    this.verify(start, end);
    return this.bytes.subarray(start, end);
  }

  /**
   * Checks that the file still has its length: reading past the end of a mapped file that somebody has
   * truncated would end the process. This program never writes to a file that has its final name.
   * @throws Failure `index_corrupt`
   */
  requireWhole(): void {
    if (this.#isClosed) throw new Failure("internal", `the search index ${this.path} was closed`);
    const { size } = fstatSync(this.#descriptor);
    if (size < this.bytes.length) throw corrupt(this.path, `cut from ${this.bytes.length} to ${size} bytes`);
  }

  /** Checks all that was not checked yet; reads the whole file. @throws Failure `index_corrupt` */
  verifyAll(): void {
    this.requireWhole();
    this.verify(0, this.#checksums.length * CHUNK_BYTES);
  }

  /** Releases the descriptor and the mapping; arrays of the file's bytes are empty afterwards. */
  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#descriptor);
    // Until the garbage collector frees a mapping it counts as heap, and lets the heap grow by as much again.
    this.bytes.buffer.transfer(0);
  }

  #verifyChunk(chunk: number): void {
    if (chunk < 0 || chunk >= this.#checksums.length) throw corrupt(this.path, "a place outside of it");
    const start = chunk === 0 ? HEADER_BYTES : chunk * CHUNK_BYTES;
    const tableStart = this.bytes.length - this.#checksums.length * 4;
    const end = Math.min((chunk + 1) * CHUNK_BYTES, tableStart);
    if (Bun.hash.crc32(this.bytes.subarray(start, end)) !== this.#checksums[chunk]) {
      throw corrupt(this.path, `bytes ${start} to ${end}`);
    }
    this.#isVerified[chunk] = 1;
  }
}

function checkHeader(path: string, bytes: Uint8Array, view: DataView): void {
  const magic = new TextDecoder("latin1").decode(bytes.subarray(0, MAGIC.length));
  if (magic !== MAGIC) throw corrupt(path, "it does not begin as one");
  if (Bun.hash.crc32(bytes.subarray(0, HEADER.checksum)) !== view.getUint32(HEADER.checksum, true)) {
    throw corrupt(path, "its header");
  }
  const version = view.getUint32(HEADER.version, true);
  if (version !== FORMAT_VERSION) {
    throw new Failure(
      "index_outdated",
      `the search index ${path} has format ${version}, this version reads ${FORMAT_VERSION}; build it again`,
    );
  }
  const length = view.getFloat64(HEADER.fileLength, true);
  if (length !== bytes.length) throw corrupt(path, `${bytes.length} bytes instead of ${length}`);
}

function readSections(view: DataView): Readonly<Record<SectionName, SectionRange>> {
  const ranges = SECTIONS.map((name, index) => {
    const at = HEADER.sections + index * 16;
    return [name, { start: view.getFloat64(at, true), end: view.getFloat64(at + 8, true) }] as const;
  });
  return Object.fromEntries(ranges) as Record<SectionName, SectionRange>; // one range for each name
}

/**
 * A file's bytes, mapped into memory where the system can: only bytes that are used are read. Writing to the
 * array does not change the file. An empty file cannot be mapped.
 * @throws the system's error
 */
export function mapFile(path: string): Uint8Array<ArrayBuffer> {
  // Bun 1.4 cannot map files on Windows.
  return process.platform === "win32"
    ? new Uint8Array(readFileSync(path))
    : Bun.mmap(path, { shared: false });
}

const BUFFER_BYTES = 64 * CHUNK_BYTES;

/**
 * Writes a segment file from beginning to end under a temporary name, with its checksums; `finish` flushes it
 * to the disk and gives it its name. Every method throws `Failure` `unwritable_output`.
 */
export class SegmentFileWriter implements AsyncDisposable {
  readonly #path: string;
  readonly #aside: string;
  readonly #file: FileHandle;
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  #buffered = HEADER_BYTES; // room for the header, which is written last
  #flushed = 0;
  #isFinished = false;
  readonly #checksums: number[] = [];
  readonly #sections = new Map<SectionName, SectionRange>();

  private constructor(path: string, aside: string, file: FileHandle) {
    this.#path = path;
    this.#aside = aside;
    this.#file = file;
  }

  /**
   * Creates the file for its user alone, because it holds the texts of documents.
   * @param aside a temporary name on the same file system as `path`
   */
  static async create(path: string, aside: string): Promise<SegmentFileWriter> {
    try {
      return new SegmentFileWriter(path, aside, await open(aside, "wx", 0o600));
    } catch (error) {
      throw asWriteFailure(error, aside);
    }
  }

  /** The number of bytes written so far, which is the position of the next one. */
  get position(): number {
    return this.#flushed + this.#buffered;
  }

  /** Writes the writer's contents; returns null when they only went to the buffer, as most small ones do. */
  writeFrom({ bytes, length }: ByteWriter): Promise<void> | null {
    if (length > FEW_BYTES || length >= BUFFER_BYTES - this.#buffered)
      return this.write(bytes.subarray(0, length));
    for (let at = 0; at < length; at++) this.#buffer[this.#buffered + at] = bytes[at]!;
    this.#buffered += length;
    return null;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length < BUFFER_BYTES - this.#buffered) {
      this.#buffer.set(bytes, this.#buffered);
      this.#buffered += bytes.length;
      return;
    }
    for (let start = 0; start < bytes.length; ) {
      const count = Math.min(bytes.length - start, BUFFER_BYTES - this.#buffered);
      this.#buffer.set(bytes.subarray(start, start + count), this.#buffered);
      this.#buffered += count;
      start += count;
      if (this.#buffered === BUFFER_BYTES) await this.#flush();
    }
  }

  /** Writes a section with a function; its range is what the function wrote. */
  async section(name: SectionName, write: () => Promise<void>): Promise<void> {
    await this.write(new Uint8Array((8 - (this.position % 8)) % 8));
    const start = this.position;
    await write();
    this.#sections.set(name, { start, end: this.position });
  }

  async finish(): Promise<void> {
    const end = this.position;
    if (this.#buffered > 0) await this.#flush();
    const table = new Uint8Array(Uint32Array.from(this.#checksums).buffer);
    try {
      await writeAll(this.#file, table, end);
      await writeAll(this.#file, this.#header(end, table), 0);
      await this.#file.sync();
      await this.#file.close();
      await rename(this.#aside, this.#path);
      this.#isFinished = true;
      await syncDirectory(dirname(this.#path));
    } catch (error) {
      throw asWriteFailure(error, this.#path);
    }
  }

  /** Removes the temporary file unless `finish` was called. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isFinished) return;
    await this.#file.close().catch(() => {}); // it is already closed when the renaming failed
    await rm(this.#aside, { force: true });
  }

  async #flush(): Promise<void> {
    const bytes = this.#buffer.subarray(0, this.#buffered);
    for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
      const isFirst = this.#flushed === 0 && start === 0;
      this.#checksums.push(
        Bun.hash.crc32(
          bytes.subarray(isFirst ? HEADER_BYTES : start, Math.min(start + CHUNK_BYTES, bytes.length)),
        ),
      );
    }
    try {
      await writeAll(this.#file, bytes, this.#flushed);
    } catch (error) {
      throw asWriteFailure(error, this.#aside);
    }
    this.#flushed += this.#buffered;
    this.#buffered = 0;
  }

  #header(end: number, table: Uint8Array): Uint8Array {
    const header = new Uint8Array(HEADER_BYTES);
    const view = new DataView(header.buffer);
    header.set(new TextEncoder().encode(MAGIC));
    view.setUint32(HEADER.version, FORMAT_VERSION, true);
    view.setFloat64(HEADER.fileLength, end + table.length, true);
    view.setFloat64(HEADER.tableStart, end, true);
    view.setUint32(HEADER.chunkCount, this.#checksums.length, true);
    view.setUint32(HEADER.tableChecksum, Bun.hash.crc32(table), true);
    SECTIONS.forEach((name, index) => {
      const { start, end: sectionEnd } = this.#sections.get(name) ?? { start: end, end };
      view.setFloat64(HEADER.sections + index * 16, start, true);
      view.setFloat64(HEADER.sections + index * 16 + 8, sectionEnd, true);
    });
    view.setUint32(HEADER.checksum, Bun.hash.crc32(header.subarray(0, HEADER.checksum)), true);
    return header;
  }
}
/** Writes all the bytes, since one system call may write fewer than it is given. */
export async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const rest = await file.write(bytes, written, bytes.length - written, position + written);
    written += rest.bytesWritten;
  }
}
