import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { systemCode } from "../../base/system-error.ts";
import type { Client, Exchange, Layer } from "./exchange.ts";
import { ClientCounts } from "./limits.ts";
import { ProblemError } from "./problem.ts";

export const MAX_BODY_BYTES = 2 * 1024 * 1024;

export type BodyLimits = {
  readonly maxBytes: number;
  /** How long a body may take to arrive, in ms. */
  readonly maxMs: number;
  /** Any number of bodies up to this length may arrive at once; those of slow senders wait in memory. */
  readonly smallBytes: number;
  /** The most longer bodies that may arrive at once, in total and from one client. */
  readonly maxLarge: number;
  readonly maxLargePerClient: number;
};

export const MAX_BODY_MS = 10_000;

/** With these limits, a thousand slow senders of small bodies and all allowed large bodies hold less than 100 MiB. */
const BODY_LIMITS: BodyLimits = {
  maxBytes: MAX_BODY_BYTES,
  maxMs: MAX_BODY_MS,
  smallBytes: 64 * 1024,
  maxLarge: 16,
  maxLargePerClient: 4,
};

const METHODS_WITH_BODY = ["POST", "PUT", "PATCH"];

/**
 * Reads the whole body of a request before the inner layers see it, so that a slow sender occupies nothing
 * that others wait for. It must be outside every limit on requests under way. Answers 413 over `maxBytes`,
 * 408 after `maxMs`, 400 for an incomplete body, and 429 for one large body too many.
 */
export function receiveBodies(overrides: Partial<BodyLimits> = {}): Layer {
  const limits: Receiving = { ...BODY_LIMITS, ...overrides, large: new ClientCounts() };
  return (next) => async (exchange) => {
    if (!METHODS_WITH_BODY.includes(exchange.request.method)) return next(exchange);
    return next({ ...exchange, body: await receive(exchange, limits) });
  };
}

/** Parses the JSON of a request's body. @throws ProblemError 415 for another type, 400 for invalid JSON */
export function readJsonBody({ request, body }: Exchange): unknown {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json")
    throw new ProblemError(
      415,
      "unsupported_media_type",
      `the body must be application/json, not ${type ? JSON.stringify(type.slice(0, 100)) : "without a type"}`,
    );
  try {
    return JSON.parse(body);
  } catch {
    throw new ProblemError(400, "malformed_json", "the body is not JSON");
  }
}

type Receiving = BodyLimits & { readonly large: ClientCounts };

async function receive(exchange: Exchange, limits: Receiving): Promise<string> {
  const { request } = exchange;
  const { maxBytes, maxMs, smallBytes } = limits;
  const coding = request.headers.get("content-encoding")?.trim().toLowerCase() || "identity";
  if (!/^(?:identity|(?:x-)?gzip)$/.test(coding))
    throw new ProblemError(415, "unsupported_media_type", "the body may be coded as gzip or not at all", {
      headers: { "accept-encoding": "gzip, identity" },
    });
  const written = request.headers.get("content-length");
  if (Number(written ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const deadline = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const detail = `the body took longer than ${maxMs / 1000} s to arrive`;
    deadline.reject(new ProblemError(408, "body_too_slow", detail, { headers: { connection: "close" } }));
  }, maxMs);
  let place: Disposable | null = null;
  const takePlace = (): void => {
    place ??= takeLargePlace(exchange.client, limits);
  };
  try {
    if (Number(written ?? 0) > smallBytes) takePlace();
    const bytes = await (written === null
      ? readChunks(request, limits, { takePlace, late: deadline.promise })
      : // The runtime lets no more bytes through than were announced.
        Promise.race([request.bytes().catch(refuseCut), deadline.promise]));
    if (coding === "identity") return new TextDecoder().decode(bytes);
    // A small body may become a large one.
    takePlace();
    return new TextDecoder().decode(await unzip(bytes, maxBytes));
  } finally {
    clearTimeout(timer);
    (place as Disposable | null)?.[Symbol.dispose]();
  }
}

/** @param takePlace called when the body turns out to be large */
async function readChunks(
  request: Request,
  { maxBytes, smallBytes }: BodyLimits,
  { takePlace, late }: { readonly takePlace: () => void; readonly late: Promise<never> },
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const reader = request.body?.getReader();
  let total = 0;
  try {
    while (reader) {
      const { value, done } = await Promise.race([reader.read().catch(refuseCut), late]);
      if (done) break;
      total += value.length;
      if (total > maxBytes) throw tooLarge(maxBytes);
      if (total > smallBytes) takePlace();
      pieces.push(value);
    }
  } finally {
    // A body that was read completely needs no cancelling.
    void reader?.cancel().catch(() => {});
  }
  return Buffer.concat(pieces);
}

async function unzip(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (systemCode(error) === "ERR_BUFFER_TOO_LARGE") throw tooLarge(maxBytes);
    throw new ProblemError(
      400,
      "malformed_json",
      "the body is not gzip, though its Content-Encoding says so",
    );
  }
}

/** @throws ProblemError 429 when there is no room for another large body, in total or from this client */
function takeLargePlace(
  client: Client,
  { large, maxLarge, maxLargePerClient, smallBytes }: Receiving,
): Disposable {
  const place = large.take(client, maxLargePerClient, { maxTotal: maxLarge });
  if (place) return place;
  throw new ProblemError(429, "overloaded", `too many bodies over ${smallBytes} bytes arrive at once`, {
    headers: { "retry-after": "1", connection: "close" },
  });
}

// The client has left, or sent invalid chunks; the server is not at fault.
function refuseCut(): never {
  throw new ProblemError(400, "body_cut_off", "the body ended before its end");
}

const tooLarge = (maxBytes: number): ProblemError =>
  new ProblemError(413, "body_too_large", `the body is over the limit of ${maxBytes} bytes`);
