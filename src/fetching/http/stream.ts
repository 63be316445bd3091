import { parseContentType } from "../charset/content-type.ts";
import type { FetchedStream, FetchLimits, StreamPurpose } from "../types.ts";
import { codingsOf, discard, inflateStream, takeFirst, tooLarge } from "./body.ts";
import type { WireResponse } from "./connect.ts";
import { plainHeaders } from "./page.ts";
import type { Watch } from "./tries.ts";
import { wireFailure } from "./wire-failure.ts";

export type OpenStreamOptions = {
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

const limitOf = (purpose: StreamPurpose, limits: FetchLimits): number =>
  ({ robots: limits.robotsBytes, sitemap: limits.sitemapBytes, feed: limits.feedBytes })[purpose];

async function* bounded(options: OpenStreamOptions): AsyncGenerator<Uint8Array> {
  const { wire, url, purpose, watch } = options;
  const maxBytes = limitOf(purpose, options.limits);
  let total = 0;
  try {
    let bytes = received(wire, watch, maxBytes);
    for (const coding of codingsOf(wire)) bytes = inflateStream(bytes, coding);
    if (purpose === "sitemap") bytes = unpackGzipFile(bytes);
    for await (const piece of bytes) {
      if (total + piece.length > maxBytes) {
        if (purpose !== "robots") throw tooLarge(watch.describe(url), maxBytes);
        yield piece.subarray(0, maxBytes - total);
        return;
      }
      total += piece.length;
      yield piece;
    }
  } catch (error) {
    throw watch.failure(url) ?? wireFailure(watch.describe(url), error);
  } finally {
    watch[Symbol.dispose]();
  }
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
async function* unpackGzipFile(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const [first, all] = await takeFirst(source);
  if (!first) return;
  const isGzip = first[0] === 0x1f && (first.length < 2 || first[1] === 0x8b);
  yield* isGzip ? inflateStream(all, "gzip") : all;
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
