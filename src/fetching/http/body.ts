import { Failure } from "../../base/failure.ts";
import type { WireResponse } from "./connect.ts";
import { type ContentCoding, inflate, parseContentCodings } from "./inflate.ts";

/** A body that is known to be at most this long is read in one piece. */
const ONE_PIECE_BYTES = 4 * 1024 * 1024;

/** How much of a long body is checked before the rest is requested. */
const HEAD_BYTES = 1445;

/** Checks the beginning of a body, and throws when the rest is not worth reading. */
export type CheckHead = (head: Uint8Array) => void;

/**
 * Reads the whole body, decompressed.
 * @param checkHead called for long bodies that are not compressed
 * @returns null when it is longer than `maxBytes`, on the wire or decompressed
 * @throws the error of the connection or the decompression, and what `checkHead` throws
 */
export async function readBody(
  wire: WireResponse,
  maxBytes: number,
  checkHead: CheckHead | null = null,
): Promise<Uint8Array | null> {
  const isPlain = parseContentCodings(wire.headers.get("content-encoding"))?.length === 0;
  const received = await readWire(wire, maxBytes, isPlain ? checkHead : null);
  if (received === null) return null;
  const codings = codingsOf(wire);
  let bytes: Uint8Array = received;
  for (const coding of codings) {
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

function concat(pieces: readonly Uint8Array[], total: number): Uint8Array {
  const [only] = pieces;
  if (pieces.length === 1 && only) return only;
  const whole = new Uint8Array(total);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

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
