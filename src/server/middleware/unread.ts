import type { BunFile } from "bun";
import { onAbort } from "../../base/abort.ts";
import { subscriberNetwork } from "../../fetching/index.ts";
import type { Layer } from "./exchange.ts";
import { ClientCounts } from "./limits.ts";
import { ProblemError } from "./problem.ts";

/** The most bytes of answers that the clients of a process may leave unread, together and each of them. */
export type UnreadLimits = { readonly maxUnreadBytes: number; readonly maxUnreadBytesPerClient: number };

/** A longer answer is sent in pieces, as fast as its client reads; the kernel soon takes a shorter one. */
const PIECE_BYTES = 64 * 1024;

/** A client without room is refused for this time, in ms, without making its answer; the time doubles up to the longest. */
const FIRST_REST_MS = 1000;
const LONGEST_REST_MS = 8000;

/** The number of bytes that each stream counts as, since its length is unknown. */
const streams = new WeakMap<Response, number>();

/**
 * Answers with what is made, or read, while it is sent.
 * @param countedBytes how many unread bytes it counts as until its end; 0 when it keeps next to nothing
 */
export function streamAnswer(
  body: BunFile | ReadableStream<Uint8Array>,
  headers: Readonly<Record<string, string>>,
  countedBytes: number,
): Response {
  const response = new Response(body, { headers });
  streams.set(response, countedBytes);
  return response;
}

/**
 * Counts the bytes of an answer until the client has taken the last one, and answers 429 where there is no room for
 * it. A client that has read all else may have one answer of any length. This layer has to be outside any limit of
 * time, since nobody would read, or count off, what comes too late; and inside the others, so that their turns end.
 * @param openPaths paths that are answered at any time
 */
export function limitUnread(
  { maxUnreadBytes, maxUnreadBytesPerClient: max }: UnreadLimits,
  openPaths: readonly string[],
): Layer {
  const unread = new ClientCounts();
  const rests = new Rests();
  const garbage = new Garbage();
  const full = (whose: string, most: number, waitMs = FIRST_REST_MS): ProblemError =>
    new ProblemError(429, "overloaded", `the unread answers of ${whose} would have over ${most} bytes`, {
      headers: { "retry-after": String(Math.ceil(waitMs / 1000)) },
    });
  return (next) => async (exchange) => {
    if (openPaths.includes(exchange.path)) return next(exchange);
    const client = subscriberNetwork(exchange.client.address);
    const restMs = rests.leftMs(client);
    if (restMs > 0) throw full("one client", max, restMs);
    const answer = await next(exchange);
    if (unread.total > 0) garbage.collect();
    const countedBytes = streams.get(answer);
    if (countedBytes === 0) return answer;
    const bytes = countedBytes === undefined ? await answer.bytes() : null;
    if (bytes && bytes.length <= PIECE_BYTES) return new Response(bytes.length > 0 ? bytes : null, answer);
    const amount = bytes?.length ?? countedBytes ?? 0;
    const place = unread.take(exchange.client, max, { amount, maxTotal: maxUnreadBytes, isFreeAlone: true });
    const drop = (): void => void answer.body?.cancel().catch(() => {});
    if (place === null) {
      drop();
      if (unread.total + amount > maxUnreadBytes) throw full("all clients", maxUnreadBytes);
      throw full("one client", max, rests.begin(client));
    }
    const end = (): void => {
      place[Symbol.dispose]();
      drop();
    };
    // A client that leaves before it has read anything never closes the stream.
    onAbort(exchange.signal(), end);
    return new Response(streamOf(cut(bytes ? [bytes] : (answer.body ?? [])), { onEnd: end }), answer);
  };
}

/** Growth of the process, in bytes, after which a garbage collection is started, and after which it is waited for. */
const BEGUN_BYTES = 32 * 1024 * 1024;
const WAITED_BYTES = 96 * 1024 * 1024;

/** Garbage of past answers. Unread answers make the heap look large, so the collector alone would let as much gather. */
class Garbage {
  #begunAt = Number.POSITIVE_INFINITY;
  #waitedAt = Number.POSITIVE_INFINITY;

  /** Collects garbage when the process has grown. Waiting for a collection is rare, as it delays all answers by 50 ms. */
  collect(): void {
    const bytes = process.memoryUsage.rss();
    this.#begunAt = Math.min(this.#begunAt, bytes);
    this.#waitedAt = Math.min(this.#waitedAt, bytes);
    const isWaitedFor = bytes > this.#waitedAt + WAITED_BYTES;
    if (!isWaitedFor && bytes <= this.#begunAt + BEGUN_BYTES) return;
    Bun.gc(isWaitedFor);
    this.#begunAt = process.memoryUsage.rss();
    if (isWaitedFor) this.#waitedAt = this.#begunAt;
  }
}

/** Clients that have asked for more than they read, and are refused for a while. */
class Rests {
  /** How long each rests, and until when, on the clock of `performance.now`. */
  readonly #rests = new Map<string, { readonly ms: number; readonly until: number }>();

  leftMs(client: string): number {
    return (this.#rests.get(client)?.until ?? 0) - performance.now();
  }

  /** @returns for how long, in ms */
  begin(client: string): number {
    const ms = Math.min(LONGEST_REST_MS, 2 * (this.#rests.get(client)?.ms ?? FIRST_REST_MS / 2));
    const mine = { ms, until: performance.now() + ms };
    this.#rests.set(client, mine);
    // A client that is not refused again within twice the time is forgotten.
    setTimeout(() => this.#rests.get(client) === mine && this.#rests.delete(client), 2 * ms).unref();
    return ms;
  }
}

async function* cut(chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>) {
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) yield chunk.subarray(at, at + PIECE_BYTES);
}

/**
 * A stream of pieces, each of which is taken when the client has room for it.
 * @param more.first what was read of them before @param more.onEnd called at the end, however it comes about
 */
export function streamOf(
  pieces: AsyncIterator<Uint8Array>,
  { first, onEnd = () => {} }: { readonly first?: Uint8Array; readonly onEnd?: () => void } = {},
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => (first?.length ? controller.enqueue(first) : undefined),
      async pull(controller) {
        const { value, done } = await pieces.next().catch((error: unknown) => {
          onEnd();
          throw error;
        });
        if (!done) return controller.enqueue(value);
        onEnd();
        controller.close();
      },
      async cancel() {
        onEnd();
        await pieces.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
