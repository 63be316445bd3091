import type { DocumentUrl } from "../../urls/index.ts";
import { isDocument, kindOf, refusalOfSize } from "../reading/kinds.ts";
import { titleOfName, type UnreadDocument } from "../reading/read-document.ts";
import type { SourceDocument } from "../types.ts";
import { findDuplicates, groupForms } from "./duplicates.ts";
import type { LeftOut } from "./left-out.ts";

// This many files are open at once: reading 10 000 small ones takes a third of the time that it takes one by
// one.
const READ_AHEAD = 16;
/** The most bytes of files that are read ahead, so that few large ones are in memory at once. */
const READ_AHEAD_BYTES = 16 * 1024 * 1024;

/** Extracts the document of an HTML page; null when it has no words, the reason when it cannot be read. */
export type DocumentExtractor = (
  text: string,
) => Promise<Omit<SourceDocument, "url"> | { readonly reason: string } | null>;

/** Why a file is left out, without its path. */
export type Refusal = Pick<LeftOut, "reason" | "detail">;

export type FilesOptions = {
  /** The bytes of a file, or why it is left out. */
  readonly read: (path: string) => Promise<Uint8Array | Refusal>;
  /** The size of a file in bytes; 0 when it is unknown. */
  readonly sizeOf: (path: string) => number;
  readonly addressOf: (path: string) => DocumentUrl;
  /** Whether the `url` of the front matter replaces the address. */
  readonly mayNameItself: boolean;
  /** Without it HTML files are no documents. */
  readonly extractHtml?: DocumentExtractor | undefined;
  /** Called with each file that is left out. */
  readonly onLeftOut: (file: LeftOut) => void;
};

type FileDocument = UnreadDocument & { readonly path: string };

/**
 * Reads files as documents, in the order of their paths; the forms of one document come together, and only the
 * best of them is a document.
 */
export async function* readFiles(
  paths: readonly string[],
  options: FilesOptions,
): AsyncGenerator<FileDocument> {
  let batch: string[] = [];
  let bytes = 0;
  for (const group of groupForms(paths)) {
    const size = group.reduce((sum, path) => sum + options.sizeOf(path), 0);
    // A group of large files would fill the memory, so they are not compared.
    if (group.length > 1 && size <= READ_AHEAD_BYTES) {
      yield* readBest(group, options);
      continue;
    }
    batch.push(...group);
    bytes += size;
    if (batch.length < READ_AHEAD && bytes < READ_AHEAD_BYTES) continue;
    yield* readBatch(batch, options);
    batch = [];
    bytes = 0;
  }
  yield* readBatch(batch, options);
}

async function* readBatch(paths: readonly string[], options: FilesOptions): AsyncGenerator<FileDocument> {
  const files = await Promise.all(paths.map(options.read));
  for (const [index, file] of files.entries()) {
    const path = paths[index]!; // both lists have the same length
    const document = await documentOf(file, path, options);
    if ("reason" in document) options.onLeftOut({ path, ...document });
    else yield document;
  }
}

async function* readBest(group: readonly string[], options: FilesOptions): AsyncGenerator<FileDocument> {
  const documents: FileDocument[] = [];
  for await (const document of readBatch(group, options)) documents.push(document);
  const better = findDuplicates(
    documents.map((document) =>
      "text" in document ? document : { path: document.path, kind: "html", text: document.markdown },
    ),
  );
  for (const document of documents) {
    const { path } = document;
    const other = better.get(path);
    if (other === undefined) yield document;
    else options.onLeftOut({ path, reason: "duplicate", detail: `it is a duplicate of ${other}` });
  }
}

async function documentOf(
  file: Uint8Array | Refusal,
  path: string,
  { addressOf, mayNameItself, extractHtml }: FilesOptions,
): Promise<FileDocument | Refusal> {
  const text = "reason" in file ? file : textOf(file, path);
  if (typeof text !== "string") return text;
  const kind = kindOf(path, text);
  if (kind === null || (kind === "html" && !extractHtml)) return { reason: "unknown_kind" };
  if (text.trim() === "") return { reason: "empty" };
  const url = addressOf(path);
  if (kind !== "html") return { url, path, text, kind, mayNameItself };
  const document = (await extractHtml?.(text)) ?? null;
  // A page without words usually just leads to another page.
  if (document === null) return { reason: "empty" };
  if ("reason" in document) return { reason: "failed", detail: document.reason };
  return { ...document, url, path, title: document.title || titleOfName(path) };
}

function textOf(bytes: Uint8Array, path: string): string | Refusal {
  if (isLfsPointer(bytes)) return { reason: "lfs_pointer" };
  if (!bytes.includes(0)) return decodeText(bytes);
  // Many files whose ending is also that of a manual page are programs and libraries.
  return { reason: isDocument(path) ? "not_text" : "unknown_kind" };
}

/** Why a file of this many bytes is left out; null when it is not. */
export function tooLarge(path: string, size: number): Refusal | null {
  const detail = refusalOfSize(path, size);
  if (detail === null) return null;
  return isDocument(path) ? { reason: "too_large", detail } : { reason: "unknown_kind" };
}

// Git LFS, docs/spec.md: pointers are shorter than 1024 bytes, and the version is their first line.
const MAX_POINTER_BYTES = 1024;
const POINTER = "version https://git-lfs.github.com/spec/";

const isLfsPointer = (bytes: Uint8Array): boolean =>
  bytes.length < MAX_POINTER_BYTES && new TextDecoder().decode(bytes.subarray(0, POINTER.length)) === POINTER;

// Text that is not UTF-8 is usually Latin-1; of other encodings Latin-1 still reads the important parts
// right.
function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("latin1").decode(bytes);
  }
}
