import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { Failure } from "../../base/failure.ts";
import { systemReason } from "../../base/system-error.ts";
import { displayUrl, type FetchOptions, type StreamFetcher } from "../../fetching/index.ts";
import type { PageUrl } from "../../urls/index.ts";
import type { SitemapLimits, SitemapSource } from "./source.ts";

/** A sitemap whose bytes are ready to be read. */
export type OpenSitemap = {
  /**
   * The decompressed bytes. Iterating throws a `Failure` when the input ends too early; call `return` to stop early.
   */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** The charset that its server declares. */
  readonly charset: string | null;
  /** The base of relative locations; null for files. */
  readonly base: PageUrl | null;
};

export type OpenOptions = {
  readonly fetcher: StreamFetcher;
  readonly limits: SitemapLimits;
  /** The options for fetching sitemaps of the web; the signal also ends the reading of files. */
  readonly fetch: FetchOptions;
  /** Values of Authorization headers by origin. */
  readonly authorizations: ReadonlyMap<string, string>;
};

/**
 * @throws Failure as a Fetcher; `http_status`, and `unreadable_input` for a file that is missing, unreadable
 * or a directory
 */
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
  const stats = await stat(path).catch((cause: unknown) => {
    throw unreadable(path, cause);
  });
  if (stats.isDirectory()) throw new Failure("unreadable_input", `sitemap ${path} is a directory`);
  return { bytes: readFile(path, limits.fileBytes, fetch.signal), charset: null, base: null };
}

async function* readFile(
  path: string,
  maxBytes: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const file = createReadStream(path, { ...(signal ? { signal } : {}), highWaterMark: 65_536 });
  let total = 0;
  try {
    for await (const piece of unpacked(file)) {
      total += piece.length;
      if (total > maxBytes)
        throw new Failure("too_large", `sitemap ${path} is over the limit of ${maxBytes} bytes`);
      yield piece;
    }
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    if (signal?.aborted) throw new Failure("cancelled", `reading sitemap ${path} was called off`, { cause });
    throw unreadable(path, cause);
  } finally {
    file.destroy();
  }
}

/** Gzip is recognised by its first bytes, whatever the name of the file. */
async function* unpacked(file: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const pieces = file[Symbol.asyncIterator]();
  const first = await pieces.next();
  if (first.done) return;
  const all = prepend(first.value, pieces);
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) return yield* all;
  const input = Readable.from(all);
  const gunzip = createGunzip();
  input.on("error", (error) => gunzip.destroy(error));
  input.pipe(gunzip);
  try {
    yield* gunzip as AsyncIterable<Buffer>; // zlib's streams give Buffers
  } finally {
    input.destroy();
    gunzip.destroy();
  }
}

async function* prepend(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

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

function findEncoding(head: Uint8Array, charset: string | null): string | null {
  const [a, b, c, d] = head;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  // "<?" or "<u" with two bytes a character proves UTF-16, whatever the declaration says.
  if (a === 0x3c && b === 0 && c !== 0 && d === 0) return "utf-16le";
  if (a === 0 && b === 0x3c && c === 0 && d !== 0) return "utf-16be";
  if (decoderFor(charset) !== null && !isUtf16(charset)) return charset;
  const text = new TextDecoder("windows-1252").decode(head.subarray(0, HEAD_BYTES));
  const declared = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([^"']{1,64})["']/i.exec(text)?.[1] ?? null;
  // A declaration that can be read byte by byte is not in UTF-16, even if it says so.
  return isUtf16(declared) ? "utf-8" : declared;
}

const isUtf16 = (label: string | null): boolean =>
  /^utf-?16|^unicode|^ucs-2|^iso-10646-ucs-2|^csunicode/i.test(label?.trim() ?? "");
