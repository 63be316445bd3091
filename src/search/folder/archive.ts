import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { asideOf } from "../../base/atomic-file.ts";
import { Failure } from "../../base/failure.ts";
import { isRecord, parseJson } from "../../base/json.ts";
import { systemFailure } from "../../base/system-error.ts";
import { isSafePath, pathKey } from "./safe-path.ts";

/*
 * Documents in one file, for somebody else to search: gzip of JSON lines. The first line says what they are, each other
 * has a document, and the last has the SHA-256 of all before it.
 */

/** What a file of documents says of them; null where nobody said it. */
export type AboutDocuments = {
  readonly name: string;
  readonly description: string | null;
  readonly source: string | null;
  readonly licence: string | null;
  readonly version: string | null;
  /** When the file was written, in ISO 8601. */
  readonly date: string;
  readonly documents: number;
};

type Line = Readonly<Record<string, unknown>>;

const FORMAT = 1;
const FIELDS = ["description", "source", "licence", "version"] as const;
const MAX_FIELD = 1000;
const MAX_DOCUMENTS = 100_000;
/** Documents have up to 64 MiB, which JSON may escape. */
const MAX_LINE = 128 * 1024 ** 2;
const MAX_BYTES = 4 * 1024 ** 3;

/**
 * Packs documents of a folder into one file.
 * @param paths below the folder
 * @returns the bytes of the file, as far as somebody reads them
 * @throws Failure `unreadable_input` while they are read; and what the signal throws
 */
export function packDocuments(
  folder: string,
  { paths, about }: { readonly paths: readonly string[]; readonly about: AboutDocuments },
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  const hash = new Bun.CryptoHasher("sha256");
  const lineOf = (record: Line): Uint8Array => {
    const line = Buffer.from(`${JSON.stringify(record)}\n`);
    hash.update(line);
    return line;
  };
  async function* lines(): AsyncGenerator<Uint8Array> {
    yield lineOf({ article_extractor_documents: FORMAT, ...about });
    for (const name of paths) {
      signal.throwIfAborted();
      const bytes = await readFile(join(folder, name)).catch((error: unknown) => {
        throw systemFailure(error, "unreadable_input", `${join(folder, name)} could not be read`);
      });
      const text = bytes.toString("utf8");
      // Text in another charset stays as it is.
      const isText = Buffer.from(text).equals(bytes);
      yield lineOf(isText ? { path: name, text } : { path: name, base64: bytes.toString("base64") });
    }
    yield Buffer.from(`${JSON.stringify({ sha256: hash.digest("hex") })}\n`);
  }
  return streamOf(lines()).pipeThrough(new CompressionStream("gzip") as never) as never;
}

/** A stream of what is yielded, as far as somebody reads it. */
const streamOf = (pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => void pieces.return(undefined),
  });

/** Where a file of documents comes from: its name in messages, and its bytes, each time from the beginning. */
export type DocumentsSource = { readonly name: string; readonly stream: () => ReadableStream<Uint8Array> };
export type DocumentsFile = { readonly about: AboutDocuments; readonly paths: readonly string[] };
type ReadDocument = { readonly path: string; readonly bytes: Uint8Array };

/**
 * Reads a file of documents to its end, and checks all of it.
 * @param onDocument called with each; without it they are only checked
 * @returns what the file says, and the paths of the documents
 * @throws Failure `unreadable_input` for a file that is none, is damaged or holds a path that leads elsewhere
 */
export async function readDocumentsFile(
  { name: path, stream }: DocumentsSource,
  onDocument?: (document: ReadDocument) => Promise<void>,
): Promise<DocumentsFile> {
  const hash = new Bun.CryptoHasher("sha256");
  const keys = new Set<string>();
  const folders = new Set<string>();
  const paths: string[] = [];
  let about: AboutDocuments | null = null;
  let sum: string | null = null;
  for await (const line of linesOf(path, stream())) {
    const record = recordOf(line, path);
    if (sum !== null) throw damaged(path, "it goes on after its checksum");
    if (about === null) about = firstLineOf(record, path);
    else if (typeof record.sha256 === "string") {
      sum = record.sha256;
      continue;
    } else {
      const document = documentOf(record, path);
      const key = pathKey(document.path);
      const above = foldersOf(key);
      if (keys.has(key)) throw damaged(path, `${shown(document.path)} is there twice`);
      if (folders.has(key) || above.some((one) => keys.has(one)))
        throw damaged(path, `${shown(document.path)} is a file and a folder`);
      keys.add(key);
      for (const one of above) folders.add(one);
      paths.push(document.path);
      if (paths.length > MAX_DOCUMENTS) throw damaged(path, `it has more than ${MAX_DOCUMENTS} documents`);
      await onDocument?.(document);
    }
    hash.update(line);
    hash.update("\n");
  }
  if (about === null || sum === null) throw damaged(path, "it ends too early");
  if (sum !== hash.digest("hex")) throw damaged(path, "its checksum is another");
  if (paths.length !== about.documents)
    throw damaged(path, `it has ${paths.length} of ${about.documents} documents`);
  return { about, paths };
}

/**
 * Unpacks a file of documents into a folder that is not there or is empty: all of them or none.
 * @param agrees called when all of it is read and checked, with what the file says and the paths of its documents
 * @returns what the file says; null when that was not agreed to
 * @throws Failure of `readDocumentsFile`; `invalid_usage` for a folder with something in it; `unwritable_output`; and
 * what the signal throws
 */
export async function importDocuments(
  source: DocumentsSource,
  {
    folder,
    agrees,
  }: { readonly folder: string; readonly agrees: (found: DocumentsFile) => Promise<boolean> },
  signal: AbortSignal,
): Promise<AboutDocuments | null> {
  const target = resolve(folder);
  const present = await readdir(target).catch(() => []);
  if (present.length > 0)
    throw new Failure("invalid_usage", `${folder} is not empty; documents are unpacked into a new folder`);
  await removeLeftovers(dirname(target));
  const aside = asideOf(target, PREFIX);
  const write = async (name: string, bytes: string | Uint8Array): Promise<void> => {
    signal.throwIfAborted();
    const file = join(aside, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, bytes, { flag: "wx" });
  };
  try {
    const found = await readDocumentsFile(source, (document) => write(document.path, document.bytes));
    if (!(await agrees(found))) return null;
    await write(ABOUT_FILE, JSON.stringify(found.about));
    await rm(target, { recursive: true, force: true });
    await rename(aside, target);
    return found.about;
  } catch (error) {
    if (error instanceof Failure || signal.aborted) throw error;
    throw systemFailure(error, "unwritable_output", `${folder} could not be written`);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** What the file said whose documents are in a folder; null for other folders. */
export async function importedFrom(folder: string): Promise<AboutDocuments | null> {
  const text = await readFile(join(folder, ABOUT_FILE), "utf8").catch(() => "null");
  const about = parseJson(text);
  return isRecord(about) ? aboutOf(about) : null;
}

const ABOUT_FILE = ".article-extractor/documents.json";
const PREFIX = "documents";
const LEFT_BEHIND_MS = 24 * 60 * 60 * 1000;

/** Removes what imports that were killed have left in a directory; one that still unpacks is younger. */
async function removeLeftovers(directory: string): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    if (!name.startsWith(`.${PREFIX}-`) || !name.endsWith(".tmp")) continue;
    const path = join(directory, name);
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > LEFT_BEHIND_MS) await rm(path, { recursive: true, force: true });
  }
}

const foldersOf = (path: string): string[] =>
  [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));

const damaged = (path: string, why: string): Failure =>
  new Failure("unreadable_input", `${path} is no file of documents, or is damaged: ${why}`);

/** Foreign text in a message. */
const shown = (text: string): string => JSON.stringify(text.slice(0, 200));

/** The lines of a packed file, without their ends. */
async function* linesOf(path: string, stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let kept: Uint8Array[] = [];
  let length = 0;
  let all = 0;
  try {
    for await (const piece of unpacked(stream)) {
      all += piece.length;
      if (all > MAX_BYTES) throw damaged(path, "it unpacks to more than 4 GiB");
      let from = 0;
      for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, from)) {
        yield Buffer.concat([...kept, piece.subarray(from, end)]);
        [kept, length, from] = [[], 0, end + 1];
      }
      kept.push(piece.slice(from));
      length += piece.length - from;
      if (length > MAX_LINE) throw damaged(path, "a line has more than 128 MiB");
    }
  } catch (error) {
    if (error instanceof Failure) throw error;
    const failure = systemFailure(error, "unreadable_input", `${path} could not be read`);
    throw failure instanceof Failure ? failure : damaged(path, "it cannot be unpacked to its end");
  }
  if (length > 0) throw damaged(path, "it ends within a line");
}

/** The bytes of a file; those of one that a server has unpacked already, by Content-Encoding, as they are. */
async function* unpacked(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const [head, whole] = stream.tee();
  const reader = head.getReader();
  const { value } = await reader.read();
  void reader.cancel();
  yield* value?.[0] === BRACE
    ? whole
    : whole.pipeThrough<Uint8Array>(new DecompressionStream("gzip") as never);
}

const BRACE = 123;

function recordOf(line: Uint8Array, path: string): Line {
  const value = parseJson(Buffer.from(line).toString("utf8"));
  if (!isRecord(value)) throw damaged(path, "a line is no JSON object");
  return value;
}

function firstLineOf(record: Line, path: string): AboutDocuments {
  const { article_extractor_documents: format } = record;
  if (format !== FORMAT) throw damaged(path, `its format is ${shown(String(format))}, not ${FORMAT}`);
  const about = aboutOf(record);
  if (about === null) throw damaged(path, "its first line says too little");
  return about;
}

function aboutOf(record: Line): AboutDocuments | null {
  const { name, date, documents } = record;
  const isText = (value: unknown): value is string => typeof value === "string" && value.length <= MAX_FIELD;
  if (!isText(name) || !isText(date) || typeof documents !== "number") return null;
  const [description, source, licence, version] = FIELDS.map((field) => {
    const value = record[field];
    return isText(value) ? value : null;
  }) as [string | null, string | null, string | null, string | null];
  return { name, description, source, licence, version, date, documents };
}

function documentOf({ path: name, text, base64 }: Line, path: string): ReadDocument {
  if (typeof name !== "string" || !isSafePath(name))
    throw damaged(path, `${shown(String(name))} is no path for a document`);
  if (typeof text === "string") return { path: name, bytes: Buffer.from(text) };
  if (typeof base64 === "string") return { path: name, bytes: Buffer.from(base64, "base64") };
  throw damaged(path, `${shown(name)} has no text`);
}
