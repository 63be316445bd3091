import { lstatSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { systemReason } from "../../base/system-error.ts";
import { docsUrl } from "../../urls/index.ts";
import type { UnreadDocument } from "../reading/read-document.ts";
import type { LeftOut } from "./left-out.ts";
import type { PathRules } from "./path-rules.ts";
import { type DocumentExtractor, type Refusal, readFiles, tooLarge } from "./read-files.ts";
import { listDocuments } from "./walk-folder.ts";

export type FolderOptions = {
  /** The name that replaces the folder in `docs://` addresses; by default its own name. */
  readonly codename?: string;
  /** Without them only hidden names are left out. */
  readonly rules?: PathRules;
  /** Without it HTML files are no documents. */
  readonly extractHtml?: DocumentExtractor;
  /** Called with each file that is left out. */
  readonly onLeftOut: (file: LeftOut) => void;
};

/**
 * Reads the documents of a folder and its subfolders, in the order of their paths (see `readFiles`): the
 * pages of a crawl, or any other documentation. A document's address is the `url` of its front matter, else
 * `docs://<folder>/<path>`; its title is that of the front matter, else its first heading, else the file's name.
 * @throws Failure `unreadable_input` when the folder cannot be read
 */
export async function* readDocumentFolder(
  folder: string,
  { codename = codenameOf(folder), rules, extractHtml, onLeftOut }: FolderOptions,
): AsyncGenerator<UnreadDocument> {
  const paths: string[] = [];
  for await (const path of listDocuments(folder, { rules: rules ?? null, onLeftOut })) paths.push(path);
  yield* readFiles(paths, {
    read: (path) => readBytes(join(folder, path)),
    sizeOf: (path) => sizeOf(join(folder, path)),
    addressOf: (path) => docsUrl(codename, path),
    mayNameItself: true,
    extractHtml,
    onLeftOut,
  });
}

/** The size of a file; 0 when it cannot be read. */
export function sizeOf(path: string): number {
  try {
    return lstatSync(path).size;
  } catch {
    return 0;
  }
}

async function readBytes(path: string): Promise<Uint8Array | Refusal> {
  try {
    const found = lstatSync(path);
    // Another file may have taken the place of the one that was listed; opening a pipe would wait for ever.
    if (!found.isFile()) return { reason: found.isSymbolicLink() ? "link" : "special" };
    return tooLarge(path, found.size) ?? (await readFile(path));
  } catch (error) {
    return { reason: "unreadable", detail: systemReason(error) };
  }
}

/** Turns the folder's name into a valid codename. */
function codenameOf(folder: string): string {
  const name = basename(resolve(folder))
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^[^a-z]+/, "")
    .slice(0, 64);
  return name.length < 2 ? "docs" : name;
}
