import { open } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../base/failure.ts";
import { MAGIC } from "./segment/layout.ts";

/**
 * The index of a folder of documents, kept in a hidden folder in it, which is left out when documents are
 * read.
 */
export const indexFileOf = (folder: string): string => join(folder, ".article-extractor", "search.index");

/**
 * Refuses to overwrite a file that is no index.
 * @throws Failure `invalid_usage` when the path is somebody else's file
 */
export async function refuseForeignFile(path: string): Promise<void> {
  const file = await open(path).catch(() => null);
  if (file === null) return;
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    if (bytesRead > 0 && buffer.toString("latin1", 0, bytesRead) !== MAGIC)
      throw new Failure("invalid_usage", `${path} is there and is no search index: name another file`);
  } finally {
    await file.close();
  }
}
