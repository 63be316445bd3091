import { randomUUID } from "node:crypto";
import { lstat, open, readdir, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../base/failure.ts";
import { systemReason } from "../base/system-reason.ts";
import { type Page, parsePage } from "./page.ts";

export type StoredPage = { readonly name: string; readonly page: Page };

// More than any front matter of ours, so that one read tells whose a file is.
const HEAD_BYTES = 64 * 1024;

// Files open at once while a directory is read: 10 000 pages of 5 KB take 2.2 s one by one, 0.7 s with 16 or 64.
const READ_AHEAD = 16;

// Younger temporary files may be another process's writes in progress.
const STALE_AFTER_MS = 60 * 60 * 1000;

const TEMPORARY_NAME = /^\.page-[0-9a-f-]{36}\.tmp$/;

/** Pages in the order of their names; of each the whole, or what its first 64 KiB tell. */
export async function* readPages(directory: string, part: "head" | "whole"): AsyncGenerator<StoredPage> {
  const names = (await listNames(directory)).filter((name) => name.endsWith(".md") && !name.startsWith("."));
  names.sort();
  for (let start = 0; start < names.length; start += READ_AHEAD) {
    const batch = names.slice(start, start + READ_AHEAD);
    const read = async (name: string) => ({ name, page: await readPage(join(directory, name), part) });
    for (const { name, page } of await Promise.all(batch.map(read))) {
      if (page) yield { name, page };
    }
  }
}

/** Every entry of the directory; none when it does not exist. */
export async function listNames(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw asFailure(error, "unreadable_input", `could not read the directory ${directory}`);
  }
}

/** Null for what is no page of ours. The head decides that, so a foreign file of gigabytes is not read. */
export async function readPage(path: string, part: "head" | "whole"): Promise<Page | null> {
  try {
    if (!(await lstat(path)).isFile()) return null;
    await using file = await open(path);
    // Of the opened file: the path may name another one by now.
    const { size } = await file.stat();
    const head = Buffer.allocUnsafe(Math.min(HEAD_BYTES, size));
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    const page = parsePage(head.toString("utf8", 0, bytesRead));
    if (!page || size <= HEAD_BYTES || part === "head") return page;
    return parsePage(await file.readFile("utf8"));
  } catch (error) {
    if (isMissing(error)) return null;
    throw asFailure(error, "unreadable_input", `could not read ${path}`);
  }
}

/** Writes to a temporary name, flushes, renames: a reader or a crash never leaves half a file in place. */
export async function writeAside(directory: string, name: string, text: string): Promise<void> {
  // Not made of the page's name, which may be as long as the file system allows.
  const temporary = join(directory, `.page-${randomUUID()}.tmp`);
  try {
    {
      await using file = await open(temporary, "wx");
      await file.writeFile(text);
      await file.datasync();
    }
    await rename(temporary, join(directory, name));
  } catch (error) {
    // The error of the write is the one to report.
    await unlink(temporary).catch(() => {});
    throw error;
  }
}

/** Removes what writers that were killed left. */
export async function removeStaleFiles(directory: string): Promise<void> {
  for (const name of await listNames(directory)) {
    if (!TEMPORARY_NAME.test(name)) continue;
    const path = join(directory, name);
    const entry = await lstat(path).catch(nullIfMissing);
    if (entry && Date.now() - entry.mtimeMs > STALE_AFTER_MS) await unlink(path).catch(nullIfMissing);
  }
}

export const isMissing = (error: unknown): boolean => systemCode(error) === "ENOENT";

export function nullIfMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}

/** A Failure that names the system's error; what is no system error is a bug and stays as it is. */
export function asFailure(
  error: unknown,
  code: "unreadable_input" | "unwritable_output",
  message: string,
): unknown {
  if (error instanceof Failure) return error;
  if (systemCode(error) === undefined) return error;
  return new Failure(code, `${message}: ${systemReason(error)}`, { cause: error });
}

function systemCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
