import { Readable } from "node:stream";
import zlib from "node:zlib";
import { systemCode } from "../../base/system-error.ts";

/** A content coding that can be decoded (RFC 9110, 8.4.1; RFC 7932; RFC 8878). */
export type ContentCoding = "gzip" | "deflate" | "br" | "zstd";

/** More layers than this are an attack or a mistake. */
const MAX_LAYERS = 3;

/**
 * The codings of a Content-Encoding header, in the order in which to decode them. Unknown names are ignored
 * as in browsers, because servers write `utf-8` or `none` there.
 * @returns null for more than three layers
 */
export function parseContentCodings(header: string | null): readonly ContentCoding[] | null {
  if (header === null || header === "") return [];
  const codings = header
    .slice(0, 200)
    .split(",")
    .map((name) => CODING_NAMES.get(name.trim().toLowerCase()))
    .filter((coding) => coding !== undefined);
  return codings.length > MAX_LAYERS ? null : codings.reverse();
}

const CODING_NAMES = new Map<string, ContentCoding>([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
  ["br", "br"],
  ["zstd", "zstd"],
]);

/** From this size on a body is decompressed off the event loop; for smaller ones the hand-over costs more. */
const ASYNC_FROM_BYTES = 65_536;

type Bounds = { readonly maxOutputLength: number };
type Settle = (error: Error | null, result: Uint8Array) => void;

/**
 * Decodes one coding of a whole body.
 * @returns null when the result is longer than `maxBytes`; memory never holds more than that
 * @throws the library's error when the bytes are not of that coding
 */
export async function inflate(
  bytes: Uint8Array,
  coding: ContentCoding,
  maxBytes: number,
): Promise<Uint8Array | null> {
  if (bytes.length === 0) return bytes;
  const bounds: Bounds = { maxOutputLength: maxBytes };
  try {
    if (bytes.length < ASYNC_FROM_BYTES) return inflateNow(bytes, coding, bounds);
    return await new Promise<Uint8Array>((resolve, reject) =>
      inflateLater(bytes, coding, bounds, (error, result) => (error ? reject(error) : resolve(result))),
    );
  } catch (error) {
    if (isTooLarge(error)) return null;
    throw error;
  }
}

const isTooLarge = (error: unknown): boolean => systemCode(error) === "ERR_BUFFER_TOO_LARGE";

function inflateNow(bytes: Uint8Array, coding: ContentCoding, bounds: Bounds): Uint8Array {
  if (coding === "gzip") return zlib.gunzipSync(bytes, bounds);
  if (coding === "br") return zlib.brotliDecompressSync(bytes, bounds);
  if (coding === "zstd") return zlib.zstdDecompressSync(bytes, bounds);
  return hasZlibHeader(bytes) ? zlib.inflateSync(bytes, bounds) : zlib.inflateRawSync(bytes, bounds);
}

function inflateLater(bytes: Uint8Array, coding: ContentCoding, bounds: Bounds, settle: Settle): void {
  if (coding === "gzip") zlib.gunzip(bytes, bounds, settle);
  else if (coding === "br") zlib.brotliDecompress(bytes, bounds, settle);
  else if (coding === "zstd") zlib.zstdDecompress(bytes, bounds, settle);
  else if (hasZlibHeader(bytes)) zlib.inflate(bytes, bounds, settle);
  else zlib.inflateRaw(bytes, bounds, settle);
}

// "deflate" means zlib's format in RFC 9110, but old servers send raw deflate.
const hasZlibHeader = (bytes: Uint8Array): boolean =>
  ((bytes[0] ?? 0) & 0x0f) === 8 && (((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0)) % 31 === 0;

/** Decodes one coding piece by piece, holding no more than the library's buffers. */
export async function* inflateStream(
  source: AsyncIterable<Uint8Array>,
  coding: ContentCoding,
): AsyncGenerator<Uint8Array> {
  const [first, rest] = await takeFirst(source);
  if (!first) return;
  const input = Readable.from(rest);
  const output = createInflate(coding, first);
  input.on("error", (error) => output.destroy(error));
  input.pipe(output);
  try {
    yield* output as AsyncIterable<Buffer>; // zlib's streams give Buffers
  } finally {
    input.destroy();
    output.destroy();
  }
}

function createInflate(
  coding: ContentCoding,
  first: Uint8Array,
): NodeJS.ReadWriteStream & { destroy(error?: Error): void } {
  if (coding === "gzip") return zlib.createGunzip();
  if (coding === "br") return zlib.createBrotliDecompress();
  if (coding === "zstd") return zlib.createZstdDecompress();
  return hasZlibHeader(first) ? zlib.createInflate() : zlib.createInflateRaw();
}

/** Returns the first piece that is not empty, and an iteration over all pieces from it on. */
export async function takeFirst(
  source: AsyncIterable<Uint8Array>,
): Promise<readonly [first: Uint8Array | null, all: AsyncIterable<Uint8Array>]> {
  const iterator = source[Symbol.asyncIterator]();
  for (;;) {
    const piece = await iterator.next();
    if (piece.done) return [null, iterate([])];
    if (piece.value.length > 0) return [piece.value, prepend(piece.value, iterator)];
  }
}

async function* iterate(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

async function* prepend(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield first;
    for (;;) {
      const piece = await rest.next();
      if (piece.done) return;
      yield piece.value;
    }
  } finally {
    await rest.return?.();
  }
}
