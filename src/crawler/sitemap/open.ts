import { type FileHandle, open, stat } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { orAborted } from "../../base/abort.ts";
import { Failure } from "../../base/failure.ts";
import { systemReason } from "../../base/system-error.ts";
import {
  displayUrl,
  type FetchOptions,
  type RobotsRules,
  type StreamFetcher,
  unpackGzipFile,
} from "../../fetching/index.ts";
import { hostOf, type PageUrl, parsePageUrl } from "../../urls/index.ts";

/** A sitemap whose bytes are ready to be read. */
export type OpenSitemap = {
  /** The decompressed bytes. Iterating throws a `Failure` when they end early; call `return` to stop. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** The charset that its server declares. */
  readonly charset: string | null;
  /** The base of relative locations; null for files. */
  readonly base: PageUrl | null;
};

type OpenOptions = {
  readonly fetcher: StreamFetcher;
  readonly limits: SitemapLimits;
  /** The options for fetching sitemaps of the web; the signal also ends the reading of files. */
  readonly fetch: FetchOptions;
  /** Values of Authorization headers by origin. */
  readonly authorizations: ReadonlyMap<string, string>;
};

/** @throws Failure as a Fetcher; `http_status`; `unreadable_input` for what is no readable file */
export const openSitemap = (source: SitemapSource, options: OpenOptions): Promise<OpenSitemap> =>
  source.kind === "url" ? openUrl(source.url, options) : openFile(source.path, options);

async function openUrl(
  url: PageUrl,
  { fetcher, fetch, limits, authorizations }: OpenOptions,
): Promise<OpenSitemap> {
  const answer = await fetcher.fetchStream(url, {
    deadlineMs: limits.deadlineMs,
    ...fetch,
    authorization: authorizations.get(new URL(url).origin) ?? null,
    purpose: "sitemap",
  });
  if (answer.status < 200 || answer.status > 299) {
    await answer.body.cancel();
    throw new Failure("http_status", `GET ${displayUrl(url)} answered with status ${answer.status}`);
  }
  const header = answer.headers["content-type"] ?? "";
  return {
    bytes: answer.body,
    charset: /;\s*charset\s*=\s*["']?([^\s"';]{1,64})/i.exec(header.slice(0, 1000))?.[1] ?? null,
    base: answer.finalUrl,
  };
}

async function openFile(path: string, { limits, fetch }: OpenOptions): Promise<OpenSitemap> {
  const fail = (cause: unknown): never => {
    throw unreadable(path, cause);
  };
  const stats = await stat(path).catch(fail);
  if (stats.isDirectory()) throw new Failure("unreadable_input", `sitemap ${path} is a directory`);
  const opening = open(path, "r").catch(fail);
  // A pipe opens when somebody writes to it.
  const file = await orAborted(opening, fetch.signal, () => calledOff(path));
  return { bytes: readFile(file, path, limits.fileBytes, fetch.signal), charset: null, base: null };
}

async function* readFile(
  opened: FileHandle,
  path: string,
  maxBytes: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const file = opened.createReadStream({ highWaterMark: 65_536 });
  let total = 0;
  try {
    for await (const piece of unpackGzipFile(promptly(file, signal))) {
      total += piece.length;
      if (total > maxBytes)
        throw new Failure("too_large", `sitemap ${path} is over the limit of ${maxBytes} bytes`);
      yield piece;
    }
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    if (signal?.aborted) throw calledOff(path);
    throw unreadable(path, cause);
  } finally {
    file.destroy();
  }
}

/** Yields the pieces until the signal aborts. A pending read of a pipe cannot be cancelled, so it is abandoned. */
async function* promptly<T>(pieces: AsyncIterable<T>, signal: AbortSignal | undefined): AsyncGenerator<T> {
  const iterator = pieces[Symbol.asyncIterator]();
  while (true) {
    const next = await orAborted(iterator.next(), signal, () => signal?.reason);
    if (next.done) return;
    yield next.value;
  }
}

const calledOff = (path: string): Failure =>
  new Failure("cancelled", `reading sitemap ${path} was cancelled`);

function unreadable(path: string, cause: unknown): Failure {
  const { code = "" } = cause as NodeJS.ErrnoException; // what the system and zlib throw
  const reason = ZLIB_REASONS[code] ?? systemReason(cause);
  return new Failure("unreadable_input", `sitemap ${path} cannot be read: ${reason}`, { cause });
}

const ZLIB_REASONS: Readonly<Record<string, string>> = {
  Z_BUF_ERROR: "the gzip data is cut off",
  Z_DATA_ERROR: "the gzip data is damaged",
};

/** A declaration can only be within these bytes; the standard's prescan reads as many. */
const HEAD_BYTES = 1024;

/** The maximum size of decoded pieces, so that later steps handle little at a time. */
const PIECE_BYTES = 32_768;

/**
 * Decodes a sitemap piece by piece, by its byte order mark, the charset of the header, the XML declaration, or else
 * as UTF-8 (RFC 7303, section 3). Invalid bytes become U+FFFD; unknown labels are ignored.
 * @param charset of the Content-Type header, null when it has none
 */
export async function* decodeStream(
  bytes: AsyncIterable<Uint8Array>,
  charset: string | null,
): AsyncGenerator<string> {
  let head: Uint8Array | null = new Uint8Array();
  let decoder: TextDecoder | null = null;
  for await (const piece of bytes) {
    if (head !== null) {
      head = Buffer.concat([head, piece]);
      if (head.length < HEAD_BYTES) continue;
    }
    decoder ??= decoderFor(findEncoding(head ?? piece, charset)) ?? new TextDecoder();
    yield* decodePieces(head ?? piece, decoder);
    head = null;
  }
  if (head !== null && head.length > 0) {
    decoder = decoderFor(findEncoding(head, charset)) ?? new TextDecoder();
    yield* decodePieces(head, decoder);
  }
  const rest = decoder?.decode() ?? "";
  if (rest !== "") yield rest;
}

function* decodePieces(bytes: Uint8Array, decoder: TextDecoder): Generator<string> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    yield decoder.decode(bytes.subarray(at, at + PIECE_BYTES), { stream: true });
}

/** Creates a decoder; null for an unknown label. */
function decoderFor(label: string | null): TextDecoder | null {
  if (label === null) return null;
  try {
    // The types of the runtime list fewer labels than it knows.
    return new TextDecoder(label as ConstructorParameters<typeof TextDecoder>[0]);
  } catch {
    return null;
  }
}

/**
 * How a text in Unicode begins, in hexadecimal: a mark, or "<?" and "<u" with two bytes a character, which prove UTF-16
 * whatever the declaration says.
 */
const BEGINNINGS: readonly (readonly [RegExp, string])[] = [
  [/^efbbbf/, "utf-8"],
  [/^feff|^003c00(?!00)/, "utf-16be"],
  [/^fffe|^3c00(?!00)..00/, "utf-16le"],
];

function findEncoding(head: Uint8Array, charset: string | null): string | null {
  const first = head.subarray(0, 4).toHex();
  const proven = BEGINNINGS.find(([beginning]) => beginning.test(first));
  if (proven) return proven[1];
  if (decoderFor(charset) !== null && !isUtf16(charset)) return charset;
  const text = new TextDecoder("windows-1252").decode(head.subarray(0, HEAD_BYTES));
  const declared = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([^"']{1,64})["']/i.exec(text)?.[1] ?? null;
  // A declaration that can be read byte by byte is not in UTF-16, even if it says so.
  return isUtf16(declared) ? "utf-8" : declared;
}

const isUtf16 = (label: string | null): boolean =>
  /^utf-?16|^unicode|^ucs-2|^iso-10646-ucs-2|^csunicode/i.test(label?.trim() ?? "");

/** The location of a sitemap: on the web, or an absolute path of this machine. */
export type SitemapSource =
  | { readonly kind: "url"; readonly url: PageUrl }
  | { readonly kind: "file"; readonly path: string };

export type SitemapLimits = {
  /** The maximum decompressed size of a local sitemap; the fetcher limits those of the web. */
  readonly fileBytes: number;
  /** The maximum number of indexes above a sitemap. */
  readonly indexDepth: number;
  /** The maximum number of sitemaps in one crawl, including indexes. */
  readonly sitemaps: number;
  /** How many may be read that lead to less than ten pages each; an index can name any number, of nothing. */
  readonly fruitless: number;
  /** The time limit for one sitemap of the web, including retries and reading, in ms. */
  readonly deadlineMs: number;
};

/** The default limits: for bytes those of web pages, for the rest far more than sites need. */
export const DEFAULT_SITEMAP_LIMITS: SitemapLimits = {
  fileBytes: 50 * 1024 * 1024,
  indexDepth: 5,
  sitemaps: 10_000,
  fruitless: 440,
  deadlineMs: 5 * 60_000,
};

/** An entry of a sitemap, as written. */
export type SitemapRecord = {
  /** Whether it names a page or, in an index, a sitemap. */
  readonly names: "page" | "sitemap";
  readonly loc: string;
  /** Whether a relative location is allowed; in a list of URLs, a bare word is not one. */
  readonly mayBeRelative: boolean;
  /** The `xml:base` where the location stands, as written; absent without one. */
  readonly base?: string | undefined;
  readonly lastModified: string | null;
};

/** Reads a sitemap's text piece by piece. */
export interface RecordReader {
  /** @throws Failure `unsupported_content` when the file is not a sitemap, or is made to do harm */
  read(piece: string): void;
  /** Ends the text. */
  finish(): void;
  /** Returns what has been read since the last call, also after a failure. */
  take(): readonly SitemapRecord[];
}

/** Longer locations are traps; little more text than this is kept of them. */
export const MAX_LOC_LENGTH = 8192;

/** Longer URLs are mistakes: the protocol's limit is 2048 (sitemaps.org, "loc"). */
const MAX_SITEMAP_URL_LENGTH = 2048;

/**
 * Parses what a person gives as a sitemap: an http or https URL (its credentials are dropped), a `file:` URL, or a
 * path.
 * @param directory what a relative path starts from
 * @returns null for a URL of another scheme and for an empty text
 */
export function parseSitemapSource(written: string, directory: string): SitemapSource | null {
  const text = written.trim();
  if (text === "") return null;
  if (/^https?:/i.test(text)) {
    const url = parsePageUrl(text);
    return url && { kind: "url", url };
  }
  if (/^file:/i.test(text)) return fromFileUrl(URL.parse(text));
  // "c:\sitemap.xml" is a path; "ftp://…" and "javascript:…" are not.
  if (/^[a-z][a-z0-9+.-]+:/i.test(text)) return null;
  return { kind: "file", path: resolve(directory, text) };
}

/** Matches what begins with a host: "www.example.org/sitemap.xml" without a scheme. */
const HOST_START = /^(?:[a-z\d-]+\.)+[a-z]{2,}(?::\d+)?\//i;

/**
 * Lists a robots.txt's sitemaps of the web, each once: a site must not name a path of this machine.
 * @param site any page of the site, against which relative lines are resolved
 */
export const sitemapsOfRobots = (rules: RobotsRules, site: PageUrl): readonly PageUrl[] => {
  const resolve = (line: string): PageUrl | null => {
    const namesHost = line.startsWith(`${hostOf(site)}/`) || HOST_START.test(line);
    return parsePageUrl(namesHost ? `//${line}` : line, site);
  };
  return [...new Set(rules.sitemaps.map(resolve).filter((url) => url !== null))];
};

/** Returns the name of a sitemap for messages; it is equal for equal sources. */
export const sitemapName = (source: SitemapSource): string =>
  source.kind === "url" ? source.url : source.path;

/**
 * Resolves the sitemap that an index names. An index on the web may only name sitemaps on the web. A local one may
 * also name files beside and below itself; its author should not choose which other files are read.
 * @param base where the index was found: its URL after redirects, null for a local one
 */
export function childSource(loc: string, parent: SitemapSource, base: PageUrl | null): SitemapSource | null {
  if (loc.length > MAX_SITEMAP_URL_LENGTH) return null;
  const url = parsePageUrl(loc, base ?? undefined);
  if (url) return { kind: "url", url };
  if (parent.kind === "url") return null;
  const child = fromFileUrl(URL.parse(loc, pathToFileURL(parent.path)));
  const isBelow = child?.path.startsWith(dirname(parent.path).replace(/[\\/]?$/, sep)) ?? false;
  return isBelow ? child : null;
}

function fromFileUrl(url: URL | null): Extract<SitemapSource, { kind: "file" }> | null {
  if (url?.protocol !== "file:") return null;
  try {
    return { kind: "file", path: fileURLToPath(url) };
  } catch {
    return null; // a host, or an escaped slash: no path of this machine
  }
}
