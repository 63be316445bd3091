import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, mkdir, readdir, readFile, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { replaceFile } from "../atomic-file.ts";
import { Failure } from "../failure.ts";
import { isMissing, systemCode, systemFailure } from "../system-error.ts";
import { type ListedObject, type ObjectStore, requireKey } from "./store.ts";

const TEMPORARY_NAME = /^\.object-[0-9a-f-]{36}\.tmp$/;

/**
 * Objects as files of a directory, which several machines may share. A file is written aside, flushed and renamed.
 * Symbolic links are no objects: they are neither listed nor read, and writing replaces them.
 * @param directory absolute; made by the first write
 */
export function openDirectoryStore(directory: string): ObjectStore {
  const url = pathToFileURL(directory).href;
  /** The path of an object below folders none of which is a symbolic link, because that could lead anywhere. */
  const pathOf = async (key: string, code: "unreadable_input" | "unwritable_output"): Promise<string> => {
    const parts = requireKey(key).split("/");
    for (let depth = 1; depth < parts.length; depth++) {
      const folder = join(directory, ...parts.slice(0, depth));
      const stats = await lstat(folder).catch(() => null); // whoever uses the path is told why not
      if (stats === null) break;
      if (stats.isSymbolicLink())
        throw new Failure(code, `${folder} is a symbolic link, which is not followed`);
    }
    return join(directory, ...parts);
  };
  const replace = async (
    key: string,
    content: Parameters<typeof replaceFile>[1],
    signal: AbortSignal | undefined,
  ): Promise<string> => {
    const path = await pathOf(key, "unwritable_output");
    refuseCancelled(signal, path);
    try {
      await mkdir(dirname(path), { recursive: true });
      await replaceFile(path, content, { aside: join(dirname(path), `.object-${randomUUID()}.tmp`) });
      return versionOf(await lstat(path));
    } catch (error) {
      throw systemFailure(error, "unwritable_output", `could not write ${path}`);
    }
  };
  /** The file's state; null when there is no object. */
  const look = async (key: string) => {
    const path = await pathOf(key, "unreadable_input");
    try {
      const stats = await lstat(path);
      return stats.isFile() ? { path, size: stats.size, version: versionOf(stats) } : null;
    } catch (error) {
      if (isMissing(error) || systemCode(error) === "ENOTDIR") return null;
      throw systemFailure(error, "unreadable_input", `could not read ${path}`);
    }
  };
  return {
    url,
    put: (key, content, { signal } = {}) => replace(key, content, signal),
    putStream: (key, pieces, { signal } = {}) =>
      replace(
        key,
        async (file) => {
          for await (const piece of pieces) {
            refuseCancelled(signal, key);
            await file.writeFile(piece); // at the end of what is written so far
          }
        },
        signal,
      ),
    async read(key) {
      const found = await look(key);
      if (found === null) return null;
      try {
        return new Uint8Array(await readFile(found.path));
      } catch (error) {
        if (isMissing(error)) return null;
        throw systemFailure(error, "unreadable_input", `could not read ${found.path}`);
      }
    },
    async stream(key) {
      const found = await look(key);
      return found && readPieces(found.path);
    },
    async head(key) {
      const found = await look(key);
      return found && { size: found.size, version: found.version };
    },
    async delete(key) {
      const path = await pathOf(key, "unwritable_output");
      try {
        await unlink(path);
      } catch (error) {
        if (isMissing(error) || systemCode(error) === "ENOTDIR") return;
        throw systemFailure(error, "unwritable_output", `could not delete ${path}`);
      }
    },
    list: (prefix) => listFiles({ directory, below: "", prefix }),
  };
}

async function* readPieces(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path);
  } catch (error) {
    throw systemFailure(error, "unreadable_input", `could not read ${path}`);
  }
}

const versionOf = ({ ino, size, mtimeMs }: { ino: number; size: number; mtimeMs: number }): string =>
  `${ino}-${size}-${mtimeMs}`;

function refuseCancelled(signal: AbortSignal | undefined, what: string): void {
  if (signal?.aborted) throw new Failure("cancelled", `writing ${what} was called off`);
}

type Listing = { readonly directory: string; readonly below: string; readonly prefix: string };

async function* listFiles({ directory, below, prefix }: Listing): AsyncGenerator<ListedObject> {
  const entries = await readdir(join(directory, below), { withFileTypes: true }).catch((error) => {
    if (isMissing(error) || systemCode(error) === "ENOTDIR") return [];
    throw systemFailure(error, "unreadable_input", `could not list ${join(directory, below)}`);
  });
  const named = entries
    .filter((entry) => entry.isDirectory() || (entry.isFile() && !TEMPORARY_NAME.test(entry.name)))
    // With its slash a directory stands where its objects' keys do: after `a-b`, before `a0`.
    .map((entry) => `${below}${entry.name}${entry.isDirectory() ? "/" : ""}`)
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  for (const key of named) {
    if (key.endsWith("/")) {
      if (key.startsWith(prefix) || prefix.startsWith(key))
        yield* listFiles({ directory, below: key, prefix });
    } else if (key.startsWith(prefix)) {
      const stats = await lstat(join(directory, key)).catch(() => null); // deleted meanwhile
      if (stats) yield { key, size: stats.size };
    }
  }
}
