import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { syncDirectory } from "../../base/atomic-file.ts";
import { type ByteWriter, FEW_BYTES } from "./bytes.ts";
import {
  asWriteFailure,
  CHUNK_BYTES,
  FORMAT_VERSION,
  HEADER,
  HEADER_BYTES,
  MAGIC,
  SECTIONS,
  type SectionName,
  type SectionRange,
} from "./layout.ts";

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

  /**
   * Writes the contents of the writer.
   * @returns null when they only went to the buffer, as most small writes do
   */
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
