import { lstat, open, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { isMissing, systemFailure } from "../base/system-error.ts";
import { type Page, parsePage } from "./page.ts";

export type StoredPage = { readonly name: string; readonly page: Page };

// No front matter of ours is longer, so one read tells whose file it is.
const HEAD_BYTES = 64 * 1024;

// This many files are open at once while a directory is read: 10 000 pages of 5 KB take 2.2 s one by one and
// 0.7 s with 16 or 64.
const READ_AHEAD = 16;

// A younger temporary file may belong to another process that is still writing.
const STALE_AFTER_MS = 60 * 60 * 1000;

const TEMPORARY_NAME = /^\.page-[0-9a-f-]{36}\.tmp$/;

/** Reads the pages in the order of their names, each as a whole or only its first 64 KiB. */
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

/** Lists every entry of the directory; an absent directory has none. */
export async function listNames(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw systemFailure(error, "unreadable_input", `could not read the directory ${directory}`);
  }
}

/**
 * Reads a page, or null when the file is none of ours. The head decides that, so a foreign file of gigabytes
 * is never read.
 */
export async function readPage(path: string, part: "head" | "whole"): Promise<Page | null> {
  try {
    if (!(await lstat(path)).isFile()) return null;
    await using file = await open(path);
    // The size comes from the opened file, because the path may name another one by now.
    const { size } = await file.stat();
    const head = Buffer.allocUnsafe(Math.min(HEAD_BYTES, size));
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    const page = parsePage(head.toString("utf8", 0, bytesRead));
    if (!page || size <= HEAD_BYTES || part === "head") return page;
    return parsePage(await file.readFile("utf8"));
  } catch (error) {
    if (isMissing(error)) return null;
    throw systemFailure(error, "unreadable_input", `could not read ${path}`);
  }
}

/** Removes the files that killed writers left behind. */
export async function removeStaleFiles(directory: string): Promise<void> {
  for (const name of await listNames(directory)) {
    if (!TEMPORARY_NAME.test(name)) continue;
    const path = join(directory, name);
    const entry = await lstat(path).catch(nullIfMissing);
    if (entry && Date.now() - entry.mtimeMs > STALE_AFTER_MS) await unlink(path).catch(nullIfMissing);
  }
}

export function nullIfMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}
