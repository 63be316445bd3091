import { type Dirent, lstatSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { Failure } from "../../base/failure.ts";
import { systemReason } from "../../base/system-error.ts";
import { type DocumentUrl, docsUrl } from "../../urls/index.ts";
import { isDocument, kindOf, mayBeDocument, refusalOfSize } from "../reading/kinds.ts";
import { titleOfName, type UnreadDocument } from "../reading/read-document.ts";
import type { SourceDocument } from "../types.ts";

// This many files are open at once: reading 10 000 small ones takes a third of the time that it takes one by
// one.
const READ_AHEAD = 16;
/** The most bytes of files that are read ahead, so that few large ones are in memory at once. */
const READ_AHEAD_BYTES = 16 * 1024 * 1024;

/** Extracts the document of an HTML page; null when it has no words, the reason when it cannot be read. */
export type DocumentExtractor = (
  text: string,
) => Promise<Omit<SourceDocument, "url"> | { readonly reason: string } | null>;

export type FolderOptions = {
  /** The name that replaces the folder in `docs://` addresses; by default its own name. */
  readonly codename?: string;
  /** Without it HTML files are no documents. */
  readonly extractHtml?: DocumentExtractor;
  /** Called with each file that is left out, and the reason. */
  readonly onSkipped: (path: string, reason: string) => void;
};

/**
 * Reads the documents of a folder and its subfolders, in the order of their paths: the pages of a crawl, or
 * any other documentation. Names that begin with a dot and symbolic links are left out. A document's address is the `url` of its front matter, else `docs://<folder>/<path>`; its title is that of
 * the front matter, else its first heading, else the file's name.
 * @throws Failure `unreadable_input` when the folder cannot be read
 */
export async function* readDocumentFolder(
  folder: string,
  options: FolderOptions,
): AsyncGenerator<UnreadDocument> {
  const batchOptions = { ...options, codename: options.codename ?? codenameOf(folder) };
  let batch: string[] = [];
  let bytes = 0;
  for await (const path of listDocuments(folder)) {
    batch.push(path);
    bytes += sizeOf(join(folder, path));
    if (batch.length < READ_AHEAD && bytes < READ_AHEAD_BYTES) continue;
    yield* readBatch(folder, batch, batchOptions);
    batch = [];
    bytes = 0;
  }
  yield* readBatch(folder, batch, batchOptions);
}

/**
 * Lists the files that may be documents by their names, as paths below the folder in the order of their
 * names. Names that begin with a dot and symbolic links are left out.
 * @throws Failure `unreadable_input`
 */
export async function* listDocuments(folder: string, below = ""): AsyncGenerator<string> {
  for (const entry of await entriesOf(join(folder, below))) {
    if (entry.name.startsWith(".")) continue;
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) yield* listDocuments(folder, path);
    else if (entry.isFile() && mayBeDocument(path)) yield path;
  }
}

async function entriesOf(directory: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (cause) {
    const reason = systemReason(cause, "folder");
    throw new Failure("unreadable_input", `the folder ${directory} could not be read: ${reason}`, { cause });
  }
}

type BatchOptions = FolderOptions & { readonly codename: string };

async function* readBatch(
  folder: string,
  paths: readonly string[],
  { codename, onSkipped, extractHtml }: BatchOptions,
): AsyncGenerator<UnreadDocument> {
  const texts = await Promise.all(paths.map((path) => readText(folder, path)));
  for (const [index, read] of texts.entries()) {
    const path = paths[index]!; // both lists have the same length
    const url = docsUrl(codename, path);
    const document =
      read === null || "reason" in read
        ? read
        : await documentOf(read.text, path, { url, extractHtml, mayNameItself: true });
    if (document === null) continue;
    if ("reason" in document) onSkipped(join(folder, path), document.reason);
    else yield document;
  }
}

type DocumentOptions = {
  readonly url: DocumentUrl;
  readonly extractHtml: DocumentExtractor | undefined;
  readonly mayNameItself: boolean;
};

/**
 * Makes the document of a file's bytes, as `readDocumentFolder` does, under the caller's address; null for a
 * file that is no document.
 * @param path its extension tells the kind of file, with the text
 */
export async function documentOfBytes(
  bytes: Uint8Array,
  path: string,
  options: Omit<DocumentOptions, "mayNameItself">,
): Promise<UnreadDocument | { readonly reason: string } | null> {
  const read = textOf(bytes, path);
  if (read === null || "reason" in read) return read;
  return await documentOf(read.text, path, { ...options, mayNameItself: false });
}

async function documentOf(
  text: string,
  path: string,
  { url, extractHtml, mayNameItself }: DocumentOptions,
): Promise<UnreadDocument | { readonly reason: string } | null> {
  const kind = kindOf(path, text);
  if (kind !== "html") return kind && { url, path, text, kind, mayNameItself };
  // A page without words usually just leads to another page, so it is not reported.
  const document = (await extractHtml?.(text)) ?? null;
  if (document === null || "reason" in document) return document;
  return { ...document, url, title: document.title || titleOfName(path) };
}

/** Returns 0 when the file cannot be read; `readText` reports why. */
function sizeOf(path: string): number {
  try {
    return lstatSync(path).size;
  } catch {
    return 0;
  }
}

type ReadText = { readonly text: string } | { readonly reason: string } | null;

async function readText(folder: string, path: string): Promise<ReadText> {
  try {
    const { size } = lstatSync(join(folder, path));
    const reason = refusalOfSize(path, size);
    if (reason !== null) return isDocument(path) ? { reason } : null;
    return textOf(await readFile(join(folder, path)), path);
  } catch (error) {
    return { reason: systemReason(error) };
  }
}

function textOf(bytes: Uint8Array, path: string): ReadText {
  if (!bytes.includes(0)) return { text: decodeText(bytes) };
  // Many files whose ending is also that of a manual page are programs and libraries.
  return isDocument(path) ? { reason: "it is not text" } : null;
}

// Text that is not UTF-8 is usually Latin-1; of other encodings Latin-1 still reads the important parts
// right.
function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("latin1").decode(bytes);
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
