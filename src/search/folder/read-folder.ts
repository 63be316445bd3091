import { type Dirent, lstatSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import { Failure } from "../../base/failure.ts";
import { systemReason } from "../../base/system-error.ts";
import { type DocumentUrl, docsUrl } from "../../urls/index.ts";
import { type TextForm, titleOfName, type UnreadDocument } from "../reading/read-document.ts";
import type { SourceDocument } from "../types.ts";

/** A larger file is no document that a person wrote. */
const MAX_FILE_BYTES = 20 * 1024 * 1024;

// This many files are open at once: reading 10 000 small ones takes a third of the time that it takes one by
// one.
const READ_AHEAD = 16;
/** The most bytes of files that are read ahead, so that few large ones are in memory at once. */
const READ_AHEAD_BYTES = 16 * 1024 * 1024;

/** The extensions of Markdown files, in lower case. */
export const MARKDOWN_ENDINGS: readonly string[] = ["md", "markdown", "mdx"];
const MARKDOWN_NAME = /\.(?:md|markdown|mdx)$/i;

/** Extracts the document of an HTML page; null when it has no words, the reason when it cannot be read. */
export type DocumentExtractor = (
  text: string,
) => Promise<Omit<SourceDocument, "url"> | { readonly reason: string } | null>;

/** How a file that is no Markdown becomes a document: while the index is built (a text form), or before. */
export type DocumentReader = TextForm | DocumentExtractor;

export type FolderOptions = {
  /** The name that replaces the folder in `docs://` addresses; by default its own name. */
  readonly codename?: string;
  /** Readers of more kinds of files, by extension in lower case without the dot. */
  readonly readers?: Readonly<Record<string, DocumentReader>>;
  /** Called with each file that is left out, and the reason. */
  readonly onSkipped: (path: string, reason: string) => void;
};

/**
 * Reads the Markdown files of a folder and its subfolders as documents, in the order of their paths: the
 * pages of a crawl, or any other documentation. Names that begin with a dot and symbolic links are left out.
 * A document's address is the `url` of its front matter, else `docs://<folder>/<path>`; its title is that of
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
  for await (const path of listDocuments(folder, options.readers)) {
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
 * Lists the files that are documents, as paths below the folder in the order of their names. Names that begin
 * with a dot and symbolic links are left out.
 * @throws Failure `unreadable_input`
 */
export async function* listDocuments(
  folder: string,
  readers: FolderOptions["readers"] = {},
  below = "",
): AsyncGenerator<string> {
  for (const entry of await entriesOf(join(folder, below))) {
    if (entry.name.startsWith(".")) continue;
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) yield* listDocuments(folder, readers, path);
    else if (entry.isFile() && (MARKDOWN_NAME.test(entry.name) || readerOf(path, readers))) yield path;
  }
}

const readerOf = (path: string, readers: FolderOptions["readers"] = {}): DocumentReader | undefined => {
  const ending = extname(path).slice(1).toLowerCase();
  return Object.hasOwn(readers, ending) ? readers[ending] : undefined;
};

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
  { codename, onSkipped, readers }: BatchOptions,
): AsyncGenerator<UnreadDocument> {
  const texts = await Promise.all(paths.map((path) => readText(join(folder, path))));
  for (const [index, read] of texts.entries()) {
    const path = paths[index]!; // both lists have the same length
    const url = docsUrl(codename, path);
    const document =
      "reason" in read ? read : await documentOf(read.text, path, { url, readers, mayNameItself: true });
    // A page without words usually just leads to another page, so it is not reported.
    if (document === null) continue;
    if ("reason" in document) onSkipped(join(folder, path), document.reason);
    else yield document;
  }
}

type DocumentOptions = {
  readonly url: DocumentUrl;
  readonly readers: FolderOptions["readers"];
  readonly mayNameItself: boolean;
};

/**
 * Makes the document of a file's bytes, as `readDocumentFolder` does, under the caller's address.
 * @param path its extension tells the kind of file
 */
export async function documentOfBytes(
  bytes: Uint8Array,
  path: string,
  options: Omit<DocumentOptions, "mayNameItself">,
): Promise<UnreadDocument | { readonly reason: string }> {
  if (bytes.includes(0)) return { reason: "it is not text" };
  const document = await documentOf(decodeText(bytes), path, { ...options, mayNameItself: false });
  return document ?? { reason: "it holds no words" };
}

async function documentOf(
  text: string,
  path: string,
  { url, readers, mayNameItself }: DocumentOptions,
): Promise<UnreadDocument | { readonly reason: string } | null> {
  const reader = MARKDOWN_NAME.test(path) ? "markdown" : (readerOf(path, readers) ?? "markdown");
  if (typeof reader === "string") return { url, path, text, form: reader, mayNameItself };
  const document = await reader(text);
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

async function readText(path: string): Promise<{ readonly text: string } | { readonly reason: string }> {
  try {
    const { size } = lstatSync(path);
    if (size > MAX_FILE_BYTES) return { reason: `${size} bytes are more than ${MAX_FILE_BYTES}` };
    const bytes = await readFile(path);
    if (bytes.includes(0)) return { reason: "it is not text" };
    return { text: decodeText(bytes) };
  } catch (error) {
    return { reason: systemReason(error) };
  }
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
