import { Failure } from "../../base/failure.ts";
import { type PageUrl, parsePageUrl } from "../../urls/index.ts";
import {
  binaryBody,
  type ContentType,
  isFileBody,
  isFileType,
  isPageType,
  parseContentType,
  sniffPageType,
} from "../charset/content-type.ts";
import { decodeText, decodingWarnings } from "../charset/decode.ts";
import type { FetchedHeaders, FetchedPage, FetchedStream, FetchLimits, StreamPurpose } from "../types.ts";
import { gunzip, isGzip } from "./gunzip.ts";
import { displayUrl, type Watch, wireFailure } from "./tries.ts";
import {
  codingsOf,
  discard,
  inflateStream,
  readBody,
  takeFirst,
  tooLarge,
  type WireResponse,
} from "./wire.ts";

type PageBody = Pick<
  FetchedPage,
  "contentType" | "html" | "file" | "encoding" | "headers" | "bodyBytes" | "warnings"
>;

/**
 * Reads the body of an answer as a page.
 * @throws Failure `unsupported_content` or `too_large`, but not for an error status: there the status is the
 * answer, and a body that cannot be shown is left empty
 */
export async function readPage(
  wire: WireResponse,
  url: URL,
  { maxBytes, acceptsFiles }: { readonly maxBytes: number; readonly acceptsFiles: boolean },
): Promise<PageBody> {
  const type = parseContentType(wire.headers.get("content-type"));
  const headers = plainHeaders(wire.headers);
  const empty = { contentType: type?.essence ?? "", html: "", encoding: "utf-8", headers, warnings: [] };
  const isAnswerByStatus = wire.status >= 400 || wire.status === 304;
  if (wire.status === 304 || isRefused(type, acceptsFiles)) {
    await discard(wire);
    if (isAnswerByStatus) return { ...empty, bodyBytes: 0 };
    throw unsupported(`GET ${displayUrl(url)}`, type);
  }
  const isFile = (head: Uint8Array): boolean => acceptsFiles && !isAnswerByStatus && isFileBody(head);
  const check = (head: Uint8Array): void => {
    if (!isFile(head)) requireText(head, `GET ${displayUrl(url)}`, type);
  };
  // An installer that is served as a page, or without a type, is refused by its first bytes.
  const mislabelled: string[] = [];
  const warn = (warning: string): unknown => mislabelled.push(warning);
  const bytes = await readBody(wire, maxBytes, isAnswerByStatus ? null : check, warn);
  if (!bytes) {
    if (isAnswerByStatus) return { ...empty, bodyBytes: 0 };
    throw tooLarge(`GET ${displayUrl(url)}`, maxBytes);
  }
  if (!isAnswerByStatus) check(bytes);
  if (isFile(bytes)) return { ...empty, file: bytes, bodyBytes: bytes.length, warnings: mislabelled };
  const contentType = isPageType(type) ? type?.essence : sniffPageType(bytes, type);
  if (!contentType || binaryBody(bytes) !== null) return { ...empty, bodyBytes: bytes.length };
  const decoded = decodeText(bytes, wire.headers.get("content-type"));
  return {
    headers,
    contentType,
    html: decoded.text,
    encoding: decoded.encoding,
    bodyBytes: bytes.length,
    warnings: [...mislabelled, ...decodingWarnings(decoded)],
  };
}

const isRefused = (type: ContentType | null, acceptsFiles: boolean): boolean =>
  isPageType(type) === false && !(acceptsFiles && isFileType(type));

/** @throws Failure `unsupported_content` for a body that is no page, by its type or by its first bytes */
function requireText(head: Uint8Array, what: string, type: ContentType | null): void {
  const otherwise = binaryBody(head);
  const isPage = otherwise === null && (isPageType(type) ?? sniffPageType(head, type) !== null);
  if (!isPage) throw unsupported(what, type, otherwise);
}

/**
 * The Failure for a body that holds no article.
 * @param otherwise what the body is, when that differs from its type
 */
export function unsupported(
  what: string,
  type: ContentType | null,
  otherwise: string | null = null,
): Failure {
  const essence = type?.essence.slice(0, 80) ?? "";
  const isMistaken = otherwise !== null && isPageType(type);
  const is = otherwise ?? (essence === "" ? "not text" : essence);
  const rest = isMistaken ? `, though its type says ${essence}` : ", not HTML, plain text or Markdown";
  return new Failure("unsupported_content", `${what}: the body is ${is}${rest}`);
}

/** Copies headers without cookies: what is fetched may be kept and shown, a session may not. */
export function plainHeaders(headers: Iterable<[name: string, value: string]>): FetchedHeaders {
  const plain: Record<string, string> = Object.create(null);
  for (const [name, value] of headers) if (name !== "set-cookie") plain[name] = value;
  return plain;
}

/** The canonical URL of a hop, or `fallback` when the hop's URL is too long to be canonical. */
export const pageUrlOf = (url: URL, fallback: PageUrl): PageUrl => parsePageUrl(url.href) ?? fallback;

type OpenStreamOptions = {
  readonly wire: WireResponse;
  readonly url: URL;
  readonly purpose: StreamPurpose;
  readonly limits: FetchLimits;
  /** Disposed of when the stream ends, fails or is cancelled. */
  readonly watch: Watch;
};

/** Turns an answer into a stream of decompressed bytes within the limits of its purpose. */
export function openStream(
  options: OpenStreamOptions,
): Pick<FetchedStream, "body" | "contentType" | "headers"> {
  const { wire } = options;
  return {
    contentType: parseContentType(wire.headers.get("content-type"))?.essence ?? "",
    headers: plainHeaders(wire.headers),
    body: streamOf(bounded(options), options),
  };
}

async function* bounded(options: OpenStreamOptions): AsyncGenerator<Uint8Array> {
  const { wire, url, purpose, watch, limits } = options;
  const maxBytes = limits[`${purpose}Bytes`];
  let total = 0;
  try {
    let bytes = received(wire, watch, maxBytes);
    for (const coding of codingsOf(wire)) bytes = inflateStream(bytes, coding);
    if (purpose === "sitemap") bytes = unpackGzipFile(bytes);
    if (purpose === "robots") bytes = cutAtLine(bytes, maxBytes);
    for await (const piece of bytes) {
      if (total + piece.length > maxBytes) throw tooLarge(watch.describe(url), maxBytes);
      total += piece.length;
      yield piece;
    }
  } catch (error) {
    throw watch.failure(url) ?? wireFailure(watch.describe(url), error);
  } finally {
    watch[Symbol.dispose]();
  }
}

/** Cuts a file after its last whole line within the limit: half a rule would say something else. */
async function* cutAtLine(bytes: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let total = 0;
  for await (const piece of bytes) {
    pieces.push(piece);
    total += piece.length;
    if (total <= maxBytes) continue;
    const kept = Buffer.concat(pieces).subarray(0, maxBytes);
    yield kept.subarray(0, Math.max(kept.lastIndexOf(10), kept.lastIndexOf(13)) + 1);
    return;
  }
  yield Buffer.concat(pieces);
}

/** Reads the pieces from the wire; each must arrive within the time limit of a request. */
async function* received(wire: WireResponse, watch: Watch, maxBytes: number): AsyncGenerator<Uint8Array> {
  const reader = wire.stream()?.getReader();
  if (!reader) return;
  let total = 0;
  try {
    // Compressed bytes count too, even when they decompress to nothing.
    while (total <= maxBytes) {
      watch.startRequest();
      const { done, value } = await reader.read();
      watch.endRequest();
      if (done) return;
      total += value.length;
      yield value;
    }
  } finally {
    // This closes the connection when the reader stopped early; after the end it has no effect.
    await reader.cancel().catch(() => {});
  }
}

/** Decompresses gzip files that are served as they are, as sitemaps often are (sitemap.xml.gz). */
export async function* unpackGzipFile(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const [first, all] = await takeFirst(source);
  if (!first) return;
  yield* isGzip(first) ? gunzip(all) : all;
}

function streamOf(
  pieces: AsyncGenerator<Uint8Array>,
  { wire, watch }: OpenStreamOptions,
): ReadableStream<Uint8Array> {
  let hasStarted = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        hasStarted = true;
        const piece = await pieces.next();
        if (piece.done) controller.close();
        else controller.enqueue(piece.value);
      },
      async cancel() {
        await pieces.return(undefined);
        watch[Symbol.dispose]();
        // A generator that was never started does not run its finally blocks.
        if (!hasStarted) await discard(wire);
      },
    },
    { highWaterMark: 0 },
  );
}
