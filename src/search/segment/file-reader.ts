import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { Failure } from "../../base/failure.ts";
import {
  asReadFailure,
  CHUNK_BYTES,
  corrupt,
  FORMAT_VERSION,
  HEADER,
  HEADER_BYTES,
  MAGIC,
  SECTIONS,
  type SectionName,
  type SectionRange,
} from "./layout.ts";

/**
 * A segment file, mapped into memory. Bytes may be read after `verify` has checked them. The mapping outlives
 * the file's name, so a newer file may take the name.
 */
export class SegmentFile implements Disposable {
  readonly path: string;
  /** All bytes of the file. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly #descriptor: number;
  readonly #checksums: Uint32Array;
  readonly #isVerified: Uint8Array;
  readonly #sections: Readonly<Record<SectionName, SectionRange>>;
  #isClosed = false;

  private constructor(path: string, descriptor: number, bytes: Uint8Array<ArrayBuffer>) {
    this.path = path;
    this.#descriptor = descriptor;
    this.bytes = bytes;
    const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
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

  /**
   * @throws Failure `index_missing`, `unreadable_input`, `index_corrupt`, `index_outdated` (another version's
   * format)
   */
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

  /**
   * Checks the chunks that hold a range, each once. Bytes must not be used before they are checked.
   * @throws Failure `index_corrupt`
   */
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

  /**
   * Checks all that was not checked yet; reads the whole file.
   * @throws Failure `index_corrupt`
   */
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
