import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, mkdir, readdir, readFile, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { replaceFile } from "../../base/atomic-file.ts";
import { Failure } from "../../base/failure.ts";
import {
  type ListedObject,
  type ObjectHead,
  type ObjectStore,
  type PutOptions,
  requireKey,
} from "../../base/objects.ts";
import { isMissing, systemCode, systemFailure } from "../../base/system-error.ts";

const TEMPORARY_NAME = /^\.object-[0-9a-f-]{36}\.tmp$/;

type Content = Parameters<typeof replaceFile>[1];

/**
 * Objects as files of a directory, which several machines may share. A file is written aside, flushed and renamed.
 * Symbolic links do not count as objects: they are neither listed nor read, and writing replaces them. Failures name keys,
 * not paths, because a server's callers read them and need not know where the directory is.
 */
export class DirectoryStore implements ObjectStore, AsyncDisposable {
  readonly url: string;
  readonly #directory: string;

  /** @param directory absolute; made by the first write */
  constructor(directory: string) {
    this.url = pathToFileURL(directory).href;
    this.#directory = directory;
  }

  async put(key: string, content: string | Uint8Array, options: PutOptions = {}): Promise<string> {
    return await this.#replace(key, content, options.signal);
  }

  async putStream(
    key: string,
    pieces: AsyncIterable<string | Uint8Array>,
    { signal }: PutOptions = {},
  ): Promise<string> {
    const writeAll: Content = async (file) => {
      for await (const piece of pieces) {
        refuseCancelled(signal, key);
        await file.writeFile(piece); // at the end of what is written so far
      }
    };
    return await this.#replace(key, writeAll, signal);
  }

  async read(key: string): Promise<Uint8Array<ArrayBuffer> | null> {
    const found = await this.#look(key);
    if (found === null) return null;
    try {
      return new Uint8Array(await readFile(found.path));
    } catch (error) {
      if (isMissing(error)) return null;
      throw systemFailure(error, "unreadable_input", `could not read ${key} in the store`);
    }
  }

  async stream(key: string): Promise<AsyncIterable<Uint8Array> | null> {
    const found = await this.#look(key);
    return found && readPieces(found.path, key);
  }

  async head(key: string): Promise<ObjectHead | null> {
    const found = await this.#look(key);
    return found && { size: found.size, version: found.version };
  }

  async delete(key: string): Promise<void> {
    const path = await this.#pathOf(key, "unwritable_output");
    try {
      await unlink(path);
    } catch (error) {
      if (isMissing(error) || systemCode(error) === "ENOTDIR") return;
      throw systemFailure(error, "unwritable_output", `could not delete ${key} in the store`);
    }
  }

  list(prefix: string): AsyncIterable<ListedObject> {
    return listFiles(this.#directory, "", prefix);
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  /** The path of an object below folders none of which is a symbolic link, because that could lead anywhere. */
  async #pathOf(key: string, code: "unreadable_input" | "unwritable_output"): Promise<string> {
    const parts = requireKey(key).split("/");
    for (let depth = 1; depth < parts.length; depth++) {
      const folder = join(this.#directory, ...parts.slice(0, depth));
      const stats = await lstat(folder).catch(() => null); // whoever uses the path is told why not
      if (stats === null) break;
      if (stats.isSymbolicLink())
        throw new Failure(
          code,
          `${parts.slice(0, depth).join("/")} is a symbolic link, which is not followed`,
        );
    }
    return join(this.#directory, ...parts);
  }

  async #replace(key: string, content: Content, signal: AbortSignal | undefined): Promise<string> {
    const path = await this.#pathOf(key, "unwritable_output");
    refuseCancelled(signal, key);
    try {
      await mkdir(dirname(path), { recursive: true });
      await replaceFile(path, content, { aside: join(dirname(path), `.object-${randomUUID()}.tmp`) });
      return versionOf(await lstat(path));
    } catch (error) {
      throw systemFailure(error, "unwritable_output", `could not write ${key} in the store`);
    }
  }

  /** The file's state; null when there is no object. */
  async #look(key: string) {
    const path = await this.#pathOf(key, "unreadable_input");
    try {
      const stats = await lstat(path);
      return stats.isFile() ? { path, size: stats.size, version: versionOf(stats) } : null;
    } catch (error) {
      if (isMissing(error) || systemCode(error) === "ENOTDIR") return null;
      throw systemFailure(error, "unreadable_input", `could not read ${key} in the store`);
    }
  }
}

async function* readPieces(path: string, key: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path);
  } catch (error) {
    throw systemFailure(error, "unreadable_input", `could not read ${key} in the store`);
  }
}

const versionOf = ({ ino, size, mtimeMs }: { ino: number; size: number; mtimeMs: number }): string =>
  `${ino}-${size}-${mtimeMs}`;

function refuseCancelled(signal: AbortSignal | undefined, what: string): void {
  if (signal?.aborted) throw new Failure("cancelled", `writing ${what} was cancelled`);
}

async function* listFiles(directory: string, below: string, prefix: string): AsyncGenerator<ListedObject> {
  const entries = await readdir(join(directory, below), { withFileTypes: true }).catch((error) => {
    if (isMissing(error) || systemCode(error) === "ENOTDIR") return [];
    throw systemFailure(error, "unreadable_input", `could not list ${below || "the store"}`);
  });
  const named = entries
    .filter((entry) => entry.isDirectory() || (entry.isFile() && !TEMPORARY_NAME.test(entry.name)))
    // With its slash a directory stands where its objects' keys do: after `a-b`, before `a0`.
    .map((entry) => `${below}${entry.name}${entry.isDirectory() ? "/" : ""}`)
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  for (const key of named) {
    if (key.endsWith("/")) {
      if (key.startsWith(prefix) || prefix.startsWith(key)) yield* listFiles(directory, key, prefix);
    } else if (key.startsWith(prefix)) {
      const stats = await lstat(join(directory, key)).catch(() => null); // deleted meanwhile
      if (stats) yield { key, size: stats.size };
    }
  }
}
