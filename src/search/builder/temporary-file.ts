import { type FileHandle, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { asWriteFailure, mapFile, writeAll } from "../segment/file.ts";

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
  read(): Uint8Array<ArrayBuffer> {
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

// A directory that has not changed for this long belongs to a killed build; a younger one may be in use.
const STALE_AFTER_MS = 60 * 60 * 1000;

const prefixOf = (path: string): string => `.${basename(path)}-build-`;

/** The directory for the temporary files of the build with this name. */
export const buildDirectory = (path: string, buildName: string): string =>
  join(dirname(path), prefixOf(path) + buildName);

/**
 * Creates a directory for a build's temporary files beside the index, from where the finished file can be
 * renamed, and removes those of killed builds of the same index.
 * @throws Failure `unwritable_output`
 */
export async function makeBuildDirectory(path: string, buildName: string): Promise<string> {
  const parent = dirname(path);
  const directory = buildDirectory(path, buildName);
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    for (const name of await readdir(parent)) {
      if (name.startsWith(prefixOf(path))) await removeIfStale(join(parent, name));
    }
  } catch (error) {
    throw asWriteFailure(error, path);
  }
  return directory;
}

async function removeIfStale(directory: string): Promise<void> {
  const files = await readdir(directory).catch(() => []); // another process may be removing it too
  const times = await Promise.all(
    [directory, ...files.map((file) => join(directory, file))].map(async (path) => {
      const stats = await stat(path).catch(() => null);
      return stats?.mtimeMs ?? 0;
    }),
  );
  if (Date.now() - Math.max(...times) > STALE_AFTER_MS) await rm(directory, { recursive: true, force: true });
}
