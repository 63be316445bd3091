import { randomUUID } from "node:crypto";
import { closeSync, fdatasync, openSync, renameSync, writeFileSync } from "node:fs";
import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/**
 * Texts and bytes up to this length are written on the calling thread: handing each step to one of the runtime's threads
 * took half a millisecond of CPU time a page. Only the flush, which may take long, is handed over.
 */
const SMALL_LENGTH = 256 * 1024;

/** A hidden name beside a file, which scanners pass over; `prefix` tells its owner whose it is after a crash. */
export const asideOf = (path: string, prefix: string): string =>
  // The name is not made of the file's name, which may be as long as the file system allows.
  join(dirname(path), `.${prefix}-${randomUUID()}.tmp`);

/**
 * Writes a file aside, flushes and renames it: a reader or a crash finds the old one or the new one, never half.
 * @param content a text, bytes, or what writes them
 * @param aside where the file is written first, on the same disk: a name that nobody else can know or write to
 * @param mode of the new file; by default the one that the system gives to new files
 * @throws Error of the file system, and what `content` throws; nothing is left aside then
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array | ((file: FileHandle) => Promise<void>),
  { aside, mode }: { readonly aside: string; readonly mode?: number | undefined },
): Promise<void> {
  try {
    if (typeof content !== "function" && content.length <= SMALL_LENGTH) {
      const file = openSync(aside, "w", mode);
      try {
        writeFileSync(file, content);
        await flush(file);
      } finally {
        closeSync(file);
      }
      renameSync(aside, path);
      return;
    }
    {
      await using file = await open(aside, "w", mode);
      if (typeof content === "function") await content(file);
      else await file.writeFile(content);
      await file.datasync();
    }
    await rename(aside, path);
  } catch (error) {
    // The error to report is that of the write.
    await unlink(aside).catch(() => {});
    throw error;
  }
}

const flush = promisify(fdatasync);

/** Makes renames in a directory durable; some systems offer no way to do so and do it by themselves. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r").catch(() => null);
  await directory?.sync().catch(() => {});
  await directory?.close();
}
