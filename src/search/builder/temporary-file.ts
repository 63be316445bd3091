import { type FileHandle, open } from "node:fs/promises";
import { type ByteWriter, copyBytes, FEW_BYTES } from "../segment/bytes.ts";
import { asWriteFailure } from "../segment/file-failure.ts";
import { writeAll } from "../segment/file-writer.ts";
import { mapFile } from "../segment/map-file.ts";

const BUFFER_BYTES = 256 * 1024;

/** A file that is written from beginning to end and then read as one array. */
export class TemporaryFile implements AsyncDisposable {
  readonly path: string;
  readonly #file: FileHandle;
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  #buffered = 0;
  #flushed = 0;
  #isClosed = false;

  private constructor(path: string, file: FileHandle) {
    this.path = path;
    this.#file = file;
  }

  /** @throws Failure `unwritable_output`, as all methods do */
  static async create(path: string): Promise<TemporaryFile> {
    try {
      return new TemporaryFile(path, await open(path, "wx", 0o600));
    } catch (error) {
      throw asWriteFailure(error, path);
    }
  }

  get length(): number {
    return this.#flushed + this.#buffered;
  }

  /**
   * Writes the contents of the writer.
   * @returns null when they only went to the buffer, as most small writes do
   */
  writeFrom({ bytes, length }: ByteWriter): Promise<void> | null {
    if (this.#buffered + length > BUFFER_BYTES) return this.write(bytes.subarray(0, length));
    if (length > FEW_BYTES) this.#buffer.set(bytes.subarray(0, length), this.#buffered);
    else copyBytes(bytes, length, this.#buffer, this.#buffered);
    this.#buffered += length;
    return null;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#buffered + bytes.length > BUFFER_BYTES) await this.#flush();
    if (bytes.length > BUFFER_BYTES) return this.#put(bytes);
    this.#buffer.set(bytes, this.#buffered);
    this.#buffered += bytes.length;
  }

  async close(): Promise<void> {
    await this.#flush();
    await this[Symbol.asyncDispose]();
  }

  /** Without `close` the buffered rest is lost. The file itself is removed with its directory. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#file.close();
  }

  /** Reads everything that was written; call it after `close`. */
  read(): Uint8Array {
    return this.length === 0 ? new Uint8Array(0) : mapFile(this.path);
  }

  async #flush(): Promise<void> {
    if (this.#buffered === 0) return;
    await this.#put(this.#buffer.subarray(0, this.#buffered));
    this.#buffered = 0;
  }

  async #put(bytes: Uint8Array): Promise<void> {
    try {
      await writeAll(this.#file, bytes, this.#flushed);
      this.#flushed += bytes.length;
    } catch (error) {
      throw asWriteFailure(error, this.path);
    }
  }
}
