import { createHash } from "node:crypto";
import { lstatSync } from "node:fs";
import { lstat, open, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../base/failure.ts";
import { isMissing, systemFailure } from "../base/system-error.ts";
import type { DocumentUrl } from "../urls/index.ts";
import { type Page, parsePage } from "./page.ts";

/**
 * Knows which file of a directory holds which URL. It reads this from the files when first needed. Most files
 * have the name that their URL gives, so the catalog keeps only two numbers for them: 236 bytes of the
 * resident set instead of 730. Two texts with the same number are unlikely and harmless: a name gets a hash
 * that it would not need, and before a file is overwritten the file itself is asked whose it is.
 */
export class Catalog {
  readonly #directory: string;
  /** Numbers of the URLs whose files have the plain name. */
  readonly #plain = new Set<number>();
  /** Names of all other files. */
  readonly #renamed = new Map<DocumentUrl, string>();
  // Numbers of the keys of every entry in the directory, and of the names that puts in progress have reserved.
  readonly #takenKeys = new Set<number>();
  #loading: Promise<void> | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Returns the name for a URL's page: the one that it has, or a free one, which is reserved for it. */
  async claim(url: DocumentUrl): Promise<string> {
    await this.#load();
    for (;;) {
      // There is no await between looking and reserving, so overlapping puts never get one name for two URLs.
      const name = this.#nameOf(url) ?? this.#reserve(url);
      if (!(await this.#holdsAnother(name, url))) return name;
      // Somebody has put a file there since the directory was read, so its name stays taken.
      if (this.#nameOf(url) === name) this.#forget(url);
    }
  }

  async find(url: DocumentUrl): Promise<StoredPage | null> {
    // The usual names come first: they do not need the whole directory, and show what another process has stored since.
    const plain = plainName(url);
    const withHash = pageFileName(url, (name) => name === plain);
    for (const name of new Set([this.#nameOf(url) ?? plain, plain, withHash])) {
      const found = await this.#readIfHolds(name, url);
      if (found) return found;
    }
    await this.#load();
    const name = this.#nameOf(url);
    return name === undefined ? null : this.#readIfHolds(name, url);
  }

  /** Forgets a page whose file is gone. */
  release(url: DocumentUrl, name: string): void {
    this.#takenKeys.delete(numberOf(fileNameKey(name)));
    if (this.#nameOf(url) === name) this.#forget(url);
  }

  #nameOf(url: DocumentUrl): string | undefined {
    return this.#renamed.get(url) ?? (this.#plain.has(numberOf(url)) ? plainName(url) : undefined);
  }

  #remember(url: DocumentUrl, name: string): void {
    if (name === plainName(url)) this.#plain.add(numberOf(url));
    else this.#renamed.set(url, name);
  }

  #forget(url: DocumentUrl): void {
    if (!this.#renamed.delete(url)) this.#plain.delete(numberOf(url));
  }

  #load(): Promise<void> {
    this.#loading ??= this.#readDirectory().catch((error) => {
      this.#loading = undefined; // the next call may find the disk readable again
      throw error;
    });
    return this.#loading;
  }

  async #readDirectory(): Promise<void> {
    await removeStaleFiles(this.#directory);
    for (const name of await listNames(this.#directory)) this.#takenKeys.add(numberOf(fileNameKey(name)));
    for await (const { name, page } of readPages(this.#directory, "head"))
      if (this.#nameOf(page.url) === undefined) this.#remember(page.url, name);
  }

  #reserve(url: DocumentUrl): string {
    const name = pageFileName(url, (candidate) => this.#takenKeys.has(numberOf(fileNameKey(candidate))));
    this.#remember(url, name);
    this.#takenKeys.add(numberOf(fileNameKey(name)));
    return name;
  }

  async #readIfHolds(name: string, url: DocumentUrl): Promise<StoredPage | null> {
    const page = await readPage(join(this.#directory, name), "whole");
    return page?.url === url ? { name, page } : null;
  }

  async #holdsAnother(name: string, url: DocumentUrl): Promise<boolean> {
    const path = join(this.#directory, name);
    // On this thread: the answer takes microseconds, and handing the question to another takes more.
    if (!lstatSync(path, { throwIfNoEntry: false })) return false;
    return (await readPage(path, "head"))?.url !== url;
  }
}

const plainName = (url: DocumentUrl): string => pageFileName(url, () => false);

/** Shortens a digest to 48 bits: a set stores such a number without extra memory. */
const numberOf = (text: string): number => createHash("sha256").update(text).digest().readUIntBE(0, 6);

type StoredPage = { readonly name: string; readonly page: Page };

// One read tells whose file it is; only the ids of a page with thousands of headings are longer.
const HEAD_BYTES = 64 * 1024;
const LONGEST_HEAD_BYTES = 640 * 1024;

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
    for (const { name, page } of await Promise.all(batch.map(read))) if (page) yield { name, page };
  }
}

/** Lists every entry of the directory; an absent directory has none. */
async function listNames(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw systemFailure(error, "unreadable_input", `could not read the directory ${directory}`);
  }
}

/** Reads a page; null for a file that this program did not write, which the head of even a large file shows. */
async function readPage(path: string, part: "head" | "whole"): Promise<Page | null> {
  try {
    if (!(await lstat(path)).isFile()) return null;
    await using file = await open(path);
    // The size comes from the opened file, because the path may name another one by now.
    const { size } = await file.stat();
    const headOf = async (bytes: number): Promise<string> => {
      const head = Buffer.allocUnsafe(Math.min(bytes, size));
      const { bytesRead } = await file.read(head, 0, head.length, 0);
      return head.toString("utf8", 0, bytesRead);
    };
    const head = await headOf(HEAD_BYTES);
    const mayBeLonger = size > HEAD_BYTES && head.startsWith("---") && !head.includes("\n---");
    const page = parsePage(mayBeLonger ? await headOf(LONGEST_HEAD_BYTES) : head);
    if (!page || size <= HEAD_BYTES || part === "head") return page;
    return parsePage(await file.readFile("utf8"));
  } catch (error) {
    if (isMissing(error)) return null;
    throw systemFailure(error, "unreadable_input", `could not read ${path}`);
  }
}

/** Removes the files that killed writers left behind. */
async function removeStaleFiles(directory: string): Promise<void> {
  for (const name of await listNames(directory)) {
    if (!TEMPORARY_NAME.test(name)) continue;
    const path = join(directory, name);
    const entry = await lstat(path).catch(nullIfMissing);
    if (entry && Date.now() - entry.mtimeMs > STALE_AFTER_MS) await unlink(path).catch(nullIfMissing);
  }
}

function nullIfMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}

const EXTENSION = ".md";

// File systems allow 255 bytes; backup and sync tools append to the name.
const MAX_NAME_BYTES = 240;

// These are numbers of SHA-256 digits, ten first: the name must only differ from names with the same readable part.
const HASH_LENGTHS = [10, 20, 40, 64] as const;

// Each of these characters is refused or reinterpreted by some system. Categories C (control, format, unassigned)
// and Z (all spaces but U+0020) are invisible.
const UNSAFE_CHARACTER = /[/\\:*?"<>|\p{C}]|(?! )\p{Z}/u;
const UNSAFE_CHARACTERS = new RegExp(UNSAFE_CHARACTER, "gu");

// Windows reserves these device names, also before the first dot of a longer name.
const RESERVED_NAME = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?=[ .]|$)/i;

/**
 * The flat file name of a page: the URL without its scheme, `/` as `__`, `:` of a port as `_`, a query as `_q_` and its
 * safe form, with percent-escapes decoded where that is valid and safe. A hash of the URL is added before `.md` when
 * the name is taken, would also fit another URL, is longer than 240 bytes or is unsafe on some system.
 * @param isTaken whether another URL's page, or a foreign file, has the name; compare names by `fileNameKey`,
 * so that no two meet on disks that fold case or normalise Unicode
 */
export function pageFileName(url: DocumentUrl, isTaken: (name: string) => boolean): string {
  const readable = readableName(url);
  const plain = readable.text + EXTENSION;
  if (readable.isFaithful && Buffer.byteLength(plain) <= MAX_NAME_BYTES && !isTaken(plain)) return plain;
  for (const length of HASH_LENGTHS) {
    const name = hashedPageFileName(url, length);
    if (!isTaken(name)) return name;
  }
  throw new Failure("unwritable_output", `every file name for ${url} is taken by another file`);
}

/**
 * The name of a page with a hash of its URL, which no other URL gets, so nobody has to be asked whether it is taken.
 * @param length digits of the hash; 20 keep a million URLs apart that begin alike
 */
export function hashedPageFileName(url: DocumentUrl, length = 20): string {
  const hash = createHash("sha256").update(url).digest("hex");
  const suffix = `-${hash.slice(0, length)}${EXTENSION}`;
  return cutToBytes(readableName(url).text, MAX_NAME_BYTES - suffix.length) + suffix;
}

/**
 * A key that is equal for names that some file system treats as the same: case is folded fully (as in ext4's
 * casefold and APFS), Unicode decomposed, and ignorable code points dropped. It is coarser than any one of
 * them; a false match only costs a hash in a name.
 */
export function fileNameKey(name: string): string {
  const visible = name.normalize("NFKD").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  return visible.toUpperCase().toLowerCase().normalize("NFKD");
}

/** A name is faithful when no other URL reads the same, apart from its scheme, case and escapes. */
type ReadableName = { readonly text: string; readonly isFaithful: boolean };

function readableName(url: DocumentUrl): ReadableName {
  const [location = "", query] = splitOnce(url.slice(url.indexOf("://") + 3), "?");
  const [host = "", path = ""] = splitOnce(location, "/");
  const segments = path === "" ? [] : path.split("/").map(decodeSafely);
  const parts = [host.replaceAll(":", "_"), ...segments];
  const raw = parts.join("__") + (query === undefined ? "" : `_q_${decodeSafely(query)}`);
  const text = makeSafe(raw);
  const isAmbiguous = segments.some(readsAsSeparator) || readsAsSeparator(host) || /_\d+$/.test(host);
  return { text, isFaithful: text === raw && !isAmbiguous };
}

// `a__b` in a path would read as `a/b`, `a_` before the separator as `_` after it, and `_q_` as a query.
const readsAsSeparator = (segment: string): boolean =>
  segment.includes("__") || segment.includes("_q_") || segment.endsWith("_");

function makeSafe(name: string): string {
  return name
    .replace(UNSAFE_CHARACTERS, "_")
    .replace(/\.{2,}/g, "_")
    .replace(/^[.\- ~]/, "_")
    .replace(/[. ]$/, "_")
    .replace(RESERVED_NAME, "_$&");
}

// Keeps escapes of unsafe characters and of bytes that are not valid UTF-8.
function decodeSafely(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return [...decodeURIComponent(escapes)].map(keepSafe).join("");
    } catch {
      return escapes; // decodeURIComponent throws only for bytes that are no UTF-8
    }
  });
}

function keepSafe(character: string): string {
  return character === "%" || UNSAFE_CHARACTER.test(character) ? encodeURIComponent(character) : character;
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
}

// The cut is at a code point's boundary and leaves no blank or dot at the end.
function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  let end = Math.min(bytes.length, maxBytes);
  while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end).replace(/[. ]$/, "_");
}
