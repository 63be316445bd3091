import { Readable } from "node:stream";
import { rootCertificates } from "node:tls";
import zlib from "node:zlib";
import { Failure } from "../../base/failure.ts";
import { systemCode } from "../../base/system-error.ts";
import { type AuthorityPlaces, trustedAuthorities } from "./authorities.ts";
import { gunzip, isGzip } from "./gunzip.ts";

/** One request, either to one checked address or through a proxy. Redirects are not followed. */
export type WireRequest = {
  /** An http or https URL without credentials. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Makes the request a POST; without it the request is a GET. */
  readonly body?: string | undefined;
  readonly route: WireRoute;
  /** Aborts the connection, the headers or the body. */
  readonly signal: AbortSignal;
};

export type WireRoute =
  | {
      readonly kind: "direct";
      /** The name that the certificate must match. */
      readonly host: string;
      /** The checked address to connect to. */
      readonly address: string;
    }
  | {
      readonly kind: "proxy";
      /** The proxy's URL with its checked address instead of its name, without credentials. */
      readonly proxyUrl: string;
      /** The name that the proxy's own certificate must match. */
      readonly proxyHost: string;
      readonly authorization: string | null;
    };

/** An answer as received, with its body still compressed. */
export type WireResponse = {
  readonly status: number;
  readonly headers: Headers;
  /**
   * The body piece by piece; null when the status has none. It is a function because Node builds the stream on demand.
   */
  stream(): ReadableStream<Uint8Array> | null;
  /** The whole body at once, only for bodies whose known length is within the limit. */
  bytes(): Promise<Uint8Array>;
};

/** Puts a request on the wire, which is the one thing that differs between Bun and Node. */
export type Connect = {
  request(request: WireRequest): Promise<WireResponse>;
  /** The content codings that this runtime can decode, as an Accept-Encoding header. */
  readonly acceptEncoding: string;
  close(): Promise<void>;
};

export type ConnectOptions = {
  /** Trusted certificates in PEM, in addition to the runtime's own. */
  readonly extraCertificates: readonly string[];
  /** The machine's own authorities, read when an authority is not among the built-in ones; null leaves them out. */
  readonly authorityPlaces: AuthorityPlaces | null;
};

/**
 * Sends requests with Bun's own `fetch`, which keeps connections alive. The checked address is put into the
 * URL, the Host header carries the name, and `tls.serverName` makes Bun verify the certificate against the
 * name. Connections are pooled by both.
 */
export function createBunConnect(options: ConnectOptions): Connect {
  let authorities = withBuiltIn(options.extraCertificates);
  let isComplete = options.authorityPlaces === null;
  // Reading all authorities takes 80 ms, which only a server with an unknown one is worth. Nothing was sent to it yet.
  const request = async (wire: WireRequest): Promise<WireResponse> => {
    const used = authorities;
    try {
      return await send(wire, used);
    } catch (error) {
      if (!UNKNOWN_AUTHORITY.has(systemCode(error) ?? "")) throw error;
      if (!isComplete) authorities = [...trustedBy(options)];
      isComplete = true;
      if (authorities === used) throw error;
      return await send(wire, authorities);
    }
  };
  return { request, acceptEncoding: "gzip, deflate, br, zstd", close: async () => {} };
}

/** A list of authorities replaces the built-in one, so it contains the built-in ones too; undefined without extra ones. */
export const withBuiltIn = (extra: readonly string[]): string[] | undefined =>
  extra.length > 0 ? [...rootCertificates, ...extra] : undefined;

/** The certificates that connections may trust. */
export const trustedBy = ({ authorityPlaces, extraCertificates }: ConnectOptions): readonly string[] => [
  ...(authorityPlaces === null ? rootCertificates : trustedAuthorities(authorityPlaces)),
  ...extraCertificates,
];

const UNKNOWN_AUTHORITY = new Set(
  `DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE
   UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY`.split(/\s+/),
);

async function send(wire: WireRequest, authorities: string[] | undefined): Promise<WireResponse> {
  const { route, url } = wire;
  const init: BunFetchRequestInit = {
    headers: wire.headers,
    redirect: "manual",
    signal: wire.signal,
    method: wire.body === undefined ? "GET" : "POST",
    body: wire.body ?? null,
    // Bun decompresses a whole network chunk ahead of the reader: a bomb of 800 bytes took 300 MB with a
    // limit of 20 MB. Our own decompression stops at the limit.
    decompress: false,
  };
  if (route.kind === "proxy") {
    const headers: Record<string, string> = {};
    if (route.authorization !== null) headers["proxy-authorization"] = route.authorization;
    const response = await fetch(url.href, {
      ...init,
      proxy: { url: route.proxyUrl, headers },
      ...(authorities ? { tls: { ca: authorities } } : {}),
    });
    return toWireResponse(response);
  }
  const tls = authorities ? { serverName: route.host, ca: authorities } : { serverName: route.host };
  const response = await fetch(pinned(url, route.address), {
    ...init,
    // Otherwise the proxy variables of the environment would lead the request away from the checked address.
    proxy: NO_PROXY,
    headers: { ...wire.headers, host: url.host },
    ...(url.protocol === "https:" ? { tls } : {}),
  });
  return toWireResponse(response);
}

const toWireResponse = (response: Response): WireResponse => ({
  status: response.status,
  headers: response.headers,
  stream: () => response.body,
  bytes: () => response.bytes(),
});

// For Bun, `false` means "no proxy, whatever the environment says"; its types do not list it.
const NO_PROXY = false as unknown as string;

function pinned(url: URL, address: string): string {
  const host = address.includes(":") ? `[${address}]` : address;
  const port = url.port === "" ? "" : `:${url.port}`;
  return `${url.protocol}//${host}${port}${url.pathname}${url.search}`;
}

/** A body that is known to be at most this long is read in one piece. */
const ONE_PIECE_BYTES = 4 * 1024 * 1024;

/** How much of a long body is checked before the rest is requested. */
const HEAD_BYTES = 1445;

/** Checks the beginning of a body, and throws when the rest is not worth reading. */
type CheckHead = (head: Uint8Array) => void;

/**
 * Reads the whole body, decompressed.
 * @param checkHead called for long bodies that are not compressed
 * @param warn told of what the answer says wrongly of its body
 * @returns null when it is longer than `maxBytes`, on the wire or decompressed
 * @throws the error of the connection or the decompression, and what `checkHead` throws
 */
export async function readBody(
  wire: WireResponse,
  maxBytes: number,
  checkHead: CheckHead | null = null,
  warn: (warning: string) => void = () => {},
): Promise<Uint8Array | null> {
  const isPlain = parseContentCodings(wire.headers.get("content-encoding"))?.length === 0;
  const received = await readWire(wire, maxBytes, isPlain ? checkHead : null);
  if (received === null) return null;
  const codings = codingsOf(wire);
  let bytes: Uint8Array = received;
  for (const coding of codings) {
    if (isMislabelled(bytes, coding)) {
      warn("The body is not compressed, though its Content-Encoding says gzip");
      continue;
    }
    const inflated = await inflate(bytes, coding, maxBytes);
    if (inflated === null) return null;
    bytes = inflated;
  }
  return bytes;
}

/** @throws Error `TOO_MANY_CODINGS`, which `wireFailure` translates, for more layers than any server needs */
export function codingsOf(wire: WireResponse): readonly ContentCoding[] {
  const codings = parseContentCodings(wire.headers.get("content-encoding"));
  if (codings === null) throw Object.assign(new Error("too many codings"), { code: "TOO_MANY_CODINGS" });
  return codings;
}

async function readWire(
  wire: WireResponse,
  maxBytes: number,
  checkHead: CheckHead | null,
): Promise<Uint8Array | null> {
  const announced = wire.headers.get("content-length");
  const length = announced !== null && /^\d+$/.test(announced) ? Number(announced) : null;
  const isChunked = wire.headers.has("transfer-encoding");
  const isTooLong = length !== null && length > maxBytes;
  if (length !== null && !isTooLong && !isChunked && length <= ONE_PIECE_BYTES) return await wire.bytes();
  if (isTooLong && checkHead === null) {
    await discard(wire);
    return null;
  }
  const body = wire.stream();
  // When a body announces too many bytes, only its beginning is read.
  const limit = isTooLong ? Math.min(HEAD_BYTES, maxBytes) : maxBytes;
  return body ? await collect(body, limit, checkHead) : new Uint8Array();
}

async function collect(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  checkHead: CheckHead | null,
): Promise<Uint8Array | null> {
  const pieces: Uint8Array[] = [];
  let total = 0;
  let isChecked = checkHead === null;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return concat(pieces, total);
    total += value.length;
    if (!isChecked && total >= HEAD_BYTES) {
      isChecked = true;
      try {
        checkHead?.(concat([...pieces, value], total));
      } catch (error) {
        await reader.cancel().catch(() => {}); // the answer is refused either way
        throw error;
      }
    }
    if (total > maxBytes) {
      await reader.cancel().catch(() => {}); // the answer is refused either way
      return null;
    }
    pieces.push(value);
  }
}

const concat = (pieces: readonly Uint8Array[], total: number): Uint8Array =>
  pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, total);

/** A body this short is read to its end, because cancelling it would close a connection worth keeping. */
const WORTH_READING_BYTES = 16_384;

/** Discards a body that nobody wants. */
export async function discard(wire: WireResponse): Promise<void> {
  const length = Number(wire.headers.get("content-length") ?? Number.NaN);
  try {
    if (length <= WORTH_READING_BYTES && !wire.headers.has("transfer-encoding")) await wire.bytes();
    else await wire.stream()?.cancel();
  } catch {
    // An error in an unwanted body has no effect: the next request opens its own connection.
  }
}

export const tooLarge = (what: string, maxBytes: number): Failure =>
  new Failure("too_large", `${what}: the body is over the limit of ${maxBytes} bytes`);

/** A content coding that can be decoded (RFC 9110, 8.4.1; RFC 7932; RFC 8878). */
type ContentCoding = "gzip" | "deflate" | "br" | "zstd";

/** More layers than this are an attack or a mistake. */
const MAX_LAYERS = 3;

/**
 * The codings of a Content-Encoding header, in the order in which to decode them. Unknown names are ignored
 * as in browsers, because servers write `utf-8` or `none` there.
 * @returns null for more than three layers
 */
function parseContentCodings(header: string | null): readonly ContentCoding[] | null {
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

/**
 * Decodes one coding of a whole body.
 * @returns null when the result is longer than `maxBytes`; memory never holds more than that
 * @throws the library's error when the bytes are not of that coding
 */
async function inflate(
  bytes: Uint8Array,
  coding: ContentCoding,
  maxBytes: number,
): Promise<Uint8Array | null> {
  if (bytes.length === 0) return bytes;
  const bounds = { maxOutputLength: maxBytes };
  try {
    const { now, later } = decoderOf(coding, bytes);
    if (bytes.length < ASYNC_FROM_BYTES) return now(bytes, bounds);
    return await new Promise<Uint8Array>((resolve, reject) =>
      later(bytes, bounds, (error, result) => (error ? reject(error) : resolve(result))),
    );
  } catch (error) {
    if (systemCode(error) === "ERR_BUFFER_TOO_LARGE") return null;
    if (coding !== "gzip") throw error;
    return await gunzipWhole(bytes, maxBytes);
  }
}

async function gunzipWhole(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array | null> {
  const pieces: Uint8Array[] = [];
  let total = 0;
  for await (const piece of gunzip(Readable.from([bytes]))) {
    total += piece.length;
    if (total > maxBytes) return null;
    pieces.push(piece);
  }
  return concat(pieces, total);
}

/** Servers label error pages and files gzip that they did not compress; programs that know gzip read them. */
const isMislabelled = (bytes: Uint8Array, coding: ContentCoding): boolean =>
  coding === "gzip" && bytes.length > 0 && !isGzip(bytes);

type Bounds = { readonly maxOutputLength: number };

type Decoder = {
  readonly now: (bytes: Uint8Array, bounds: Bounds) => Uint8Array;
  readonly later: (
    bytes: Uint8Array,
    bounds: Bounds,
    settle: (error: Error | null, result: Uint8Array) => void,
  ) => void;
  readonly stream: () => NodeJS.ReadWriteStream & { destroy(error?: Error): void };
};

/** How each coding is decoded: at once, off the event loop, and piece by piece. */
const DECODERS: Readonly<Record<ContentCoding | "rawDeflate", Decoder>> = {
  gzip: { now: zlib.gunzipSync, later: zlib.gunzip, stream: zlib.createGunzip },
  br: { now: zlib.brotliDecompressSync, later: zlib.brotliDecompress, stream: zlib.createBrotliDecompress },
  zstd: { now: zlib.zstdDecompressSync, later: zlib.zstdDecompress, stream: zlib.createZstdDecompress },
  deflate: { now: zlib.inflateSync, later: zlib.inflate, stream: zlib.createInflate },
  rawDeflate: { now: zlib.inflateRawSync, later: zlib.inflateRaw, stream: zlib.createInflateRaw },
};

const decoderOf = (coding: ContentCoding, bytes: Uint8Array): Decoder =>
  DECODERS[coding === "deflate" && !hasZlibHeader(bytes) ? "rawDeflate" : coding];

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
  if (isMislabelled(first, coding)) {
    yield* rest;
    return;
  }
  if (coding === "gzip") {
    yield* gunzip(rest);
    return;
  }
  const input = Readable.from(rest);
  const output = decoderOf(coding, first).stream();
  input.on("error", (error) => output.destroy(error));
  input.pipe(output);
  try {
    yield* output as AsyncIterable<Buffer>; // zlib's streams give Buffers
  } finally {
    input.destroy();
    output.destroy();
  }
}

/** Returns the first piece that is not empty, and an iteration over all pieces from it on. */
export async function takeFirst(
  source: AsyncIterable<Uint8Array>,
): Promise<readonly [first: Uint8Array | null, all: AsyncIterable<Uint8Array>]> {
  const iterator = source[Symbol.asyncIterator]();
  for (;;) {
    const piece = await iterator.next();
    if (piece.done) return [null, Readable.from([])];
    if (piece.value.length > 0) return [piece.value, prepend(piece.value, iterator)];
  }
}

async function* prepend(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield first;
    yield* { [Symbol.asyncIterator]: () => rest };
  } finally {
    await rest.return?.();
  }
}
