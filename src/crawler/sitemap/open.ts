import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { Failure } from "../../base/failure.ts";
import { systemReason } from "../../base/system-error.ts";
import { displayUrl, type FetchOptions, type StreamFetcher } from "../../fetching/index.ts";
import type { PageUrl } from "../../urls/index.ts";
import type { SitemapLimits, SitemapSource } from "./types.ts";

/** A sitemap whose bytes are ready to be read. */
export type OpenSitemap = {
  /** Decompressed. Throws a `Failure` where reading ends too early; end it early by `return`. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** What its server says about the encoding. */
  readonly charset: string | null;
  /** What relative locations start from; null for files. */
  readonly base: PageUrl | null;
};

export type OpenOptions = {
  readonly fetcher: StreamFetcher;
  readonly limits: SitemapLimits;
  /** How the sitemaps of the web are asked for; its signal ends the reading of files as well. */
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

/** Gzip is known by its first bytes, whatever the file is called. */
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
