import { extname } from "node:path";
import { titleOfName } from "../../base/text.ts";
import type { DocumentUrl } from "../../urls/index.ts";
import { type FileKind, isDocument, kindOf, mayBeDocument, refusalOfSize } from "../reading/kinds.ts";
import type { UnreadDocument } from "../reading/read-document.ts";
import type { SourceDocument } from "../types.ts";

// This many files are open at once: 10 000 small ones take a third of the time that they take one by one.
const READ_AHEAD = 16;
/** The most bytes of files that are read ahead, so that few large ones are in memory at once. */
const READ_AHEAD_BYTES = 16 * 1024 * 1024;

/**
 * Extracts the document of an HTML page, or of the bytes of a PDF, DOCX, ODT or EPUB; null when it has no words, the
 * reason when it cannot be read.
 */
export type DocumentExtractor = (
  body: string | Uint8Array,
) => Promise<Omit<SourceDocument, "url"> | { readonly reason: string } | null>;

/** Why a file is left out, without its path. */
export type Refusal = Pick<LeftOut, "reason" | "detail">;

type FilesOptions = {
  /** The bytes of a file, or why it is left out. */
  readonly read: (path: string) => Promise<Uint8Array | Refusal>;
  /** The size of a file in bytes; 0 when it is unknown. */
  readonly sizeOf: (path: string) => number;
  readonly addressOf: (path: string) => DocumentUrl;
  /** Whether the `url` of the front matter replaces the address. */
  readonly mayNameItself: boolean;
  /** Reads the files that have to be extracted; without it they are ignored. */
  readonly extractHtml?: DocumentExtractor | undefined;
  /** Called with each file that is left out. */
  readonly onLeftOut: (file: LeftOut) => void;
};

type FileDocument = UnreadDocument & { readonly path: string };

/** Reads files as documents, in the order of their paths; of the forms of one document only the best. */
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
      "text" in document
        ? document
        : { path: document.path, kind: kindOf(document.path, "") ?? "html", text: document.markdown },
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
  const body = "reason" in file ? file : decodeOrRefuse(file, path);
  if (typeof body !== "string" && "reason" in body) return body;
  const kind = typeof body === "string" ? kindOf(path, body) : "file";
  if (kind === null) return { reason: "unknown_kind" };
  if (body.length === 0 || (typeof body === "string" && body.trim() === "")) return { reason: "empty" };
  const named = { url: addressOf(path), path };
  if (typeof body === "string" && kind !== "html" && kind !== "file")
    return { ...named, text: body, kind, mayNameItself };
  if (!extractHtml) return { reason: "unknown_kind" };
  const document = await extract(body, path, extractHtml);
  return "reason" in document
    ? document
    : { ...document, ...named, title: document.title || titleOfName(path) };
}

async function extract(body: string | Uint8Array, path: string, extractHtml: DocumentExtractor) {
  const document = await extractHtml(body);
  // A page without words usually just leads to another page.
  if (document === null) return { reason: "empty" } as const;
  if ("reason" in document) return { reason: "failed", detail: document.reason } as const;
  // A small archive may hold more text than a file may have.
  return tooLarge(path, document.markdown.length) ?? document;
}

/** The text of a file; its bytes where it is no text by its kind. */
function decodeOrRefuse(bytes: Uint8Array, path: string): string | Uint8Array | Refusal {
  if (isLfsPointer(bytes)) return { reason: "lfs_pointer" };
  if (kindOf(path, "") === "file") return bytes;
  const utf16 = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : "utf-16be";
  const isMarked = utf16 === "utf-16le" || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (isMarked) return new TextDecoder(utf16).decode(bytes);
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

// Text that is not UTF-8 is usually Latin-1, which reads the important parts of other encodings right too.
function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("latin1").decode(bytes);
  }
}

/** Folders of sources and of what generators make of them: `docs/guide.md`, `docs/_build/html/guide.html`. */
const PASSED_OVER = new Set([
  ...["docs", "doc", "documentation", "source", "sources", "_sources", "src", "content", "pages"],
  ...["_build", "build", "html", "dirhtml", "site", "_site", "public", "dist", "out", "output", "book"],
]);

/** The names of a folder's own page. */
const OWN_PAGE = new Set(["index", "readme"]);

/** Larger groups are of names that many pages have, and comparing takes the square of their number. */
const MAX_GROUP = 16;

/**
 * Groups files that may be one document in several forms, as far as their names tell: `guide.md` with
 * `guide.html`, `guide/index.html` or `_build/html/guide.html`. `findDuplicates` compares their texts.
 * @returns all paths, in the order of the first of each group
 */
function groupForms(paths: readonly string[]): readonly (readonly string[])[] {
  return [...Map.groupBy(paths, formKey).values()].flatMap((group) =>
    group.length <= MAX_GROUP && new Set(group.map((path) => extname(path).toLowerCase())).size > 1
      ? [group]
      : group.map((path) => [path]),
  );
}

function formKey(path: string): string {
  let stem = path.normalize("NFC").toLowerCase();
  // `guide.html.md` has two endings, `tool.1.html.md` three.
  for (let round = 0; round < 3 && mayBeDocument(stem); round++) stem = stem.slice(0, -extname(stem).length);
  const names = stem.split("/").filter((name) => !PASSED_OVER.has(name));
  if (OWN_PAGE.has(names.at(-1) ?? "")) names.pop();
  return names.join("/");
}

/** A form of a document: its kind and its text, with the markup of its kind. */
type Form = { readonly path: string; readonly kind: FileKind; readonly text: string };

/**
 * One form counts as another from this share of the smaller one's triples of words on. Of 399 pages of Git's
 * and Python's documentation 2 share less with their own source, and none more than 23 % with another.
 */
const SAME_SHARE = 0.4;
/** A page of this many times the words holds what its source only names: included files, generated lists. */
const CLEARLY_MORE = 1.5;
/** Shorter texts are the same only when all of their words are. */
const MIN_TRIPLES = 8;
/** The beginning tells enough, and a text of megabytes must not hold the thread. */
const MAX_COMPARED = 100_000;

/**
 * Finds the forms that stand for the document of another form. Of two the source is better than text, and text
 * better than HTML, and HTML better than a PDF or its like, unless the other one has clearly more words. Forms of one kind are different documents.
 * @returns the path of the better form, by that of the worse
 */
function findDuplicates(forms: readonly Form[]): ReadonlyMap<string, string> {
  const sources = [...forms].sort((a, b) => rankOf(a.kind) - rankOf(b.kind));
  const kept: Worded[] = [];
  const better = new Map<string, string>();
  for (const form of sources) {
    const one = wordedOf(form);
    const place = kept.findIndex((other) => other.form.kind !== form.kind && isSame(one, other));
    const other = kept[place];
    if (other === undefined) kept.push(one);
    else if (one.count > other.count * CLEARLY_MORE) {
      better.set(other.form.path, form.path);
      kept[place] = one;
    } else better.set(form.path, other.form.path);
  }
  return better;
}

const RANKS: Partial<Record<FileKind, number>> = { plain: 1, html: 2, file: 3 };
const rankOf = (kind: FileKind): number => RANKS[kind] ?? 0;

type Worded = {
  readonly form: Form;
  readonly count: number;
  /** Hashes of each three words in a row. */
  readonly triples: ReadonlySet<number>;
  readonly words: string;
};

function wordedOf(form: Form): Worded {
  // Addresses differ: a source links to sources, and a page to pages.
  const shown = form.text.slice(0, MAX_COMPARED).replace(/\]\([^()\s]*\)|<[a-z/!][^<>]*>/gi, " ");
  const words = shown.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const triples = new Set<number>();
  for (let at = 2; at < words.length; at++)
    triples.add(Bun.hash.xxHash32(`${words[at - 2]} ${words[at - 1]} ${words[at]}`));
  // Of a longer text the rest is taken to be like its beginning.
  const count = words.length * Math.max(1, form.text.length / MAX_COMPARED);
  return { form, count, triples, words: words.join(" ") };
}

function isSame(a: Worded, b: Worded): boolean {
  const [few, many] = a.triples.size < b.triples.size ? [a.triples, b.triples] : [b.triples, a.triples];
  if (few.size < MIN_TRIPLES) return a.words !== "" && a.words === b.words;
  let shared = 0;
  for (const triple of few) if (many.has(triple)) shared++;
  return shared >= few.size * SAME_SHARE;
}

/**
 * Why a file of a folder or repository is not in the index. Of those with `isTrouble` a person would expect
 * that they are; the others are left out as they should be.
 */
export const LEFT_OUT_REASONS = {
  hidden: { text: "the name begins with a dot", isTrouble: false },
  excluded: { text: "an exclude pattern matches it", isTrouble: false },
  not_included: { text: "no include pattern matches it", isTrouble: false },
  unknown_kind: { text: "files of this kind are not read", isTrouble: false },
  duplicate: { text: "another file has the same document", isTrouble: false },
  empty: { text: "it holds no words", isTrouble: false },
  lfs_pointer: { text: "its content is in Git LFS", isTrouble: false },
  submodule: { text: "it is another repository", isTrouble: false },
  link: { text: "it is a symbolic link", isTrouble: false },
  special: { text: "it is not a regular file", isTrouble: false },
  too_large: { text: "it is too large", isTrouble: true },
  not_text: { text: "it is not text", isTrouble: true },
  unreadable: { text: "it could not be read", isTrouble: true },
  bad_name: { text: "its name cannot be used", isTrouble: true },
  too_many: { text: "there are too many files", isTrouble: true },
  failed: { text: "reading or analysing it failed", isTrouble: true },
} as const satisfies Readonly<Record<string, { readonly text: string; readonly isTrouble: boolean }>>;

export type LeftOutReason = keyof typeof LEFT_OUT_REASONS;

/** A file that is not in the index. */
export type LeftOut = {
  /** Below the folder or repository, with `/`; a folder that is left out as a whole ends in a slash. */
  readonly path: string;
  readonly reason: LeftOutReason;
  /** More about this file, in words. */
  readonly detail?: string;
};

/** Says in words why a file is left out. */
export const leftOutText = ({ reason, detail }: Refusal): string => detail ?? LEFT_OUT_REASONS[reason].text;
