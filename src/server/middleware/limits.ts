import { setImmediate } from "node:timers/promises";
import { onAbort, within } from "../../base/abort.ts";
import { FairQueue } from "../../base/fair-queue.ts";
import { subscriberNetwork } from "../../fetching/index.ts";
import type { Client, Exchange, Layer } from "./exchange.ts";
import { ProblemError } from "./problem.ts";

type ConcurrencyLimit = {
  /** The most requests under way. */
  readonly max: number;
  /** How long other requests wait for their turn, in ms. */
  readonly waitMs?: number;
  /** The most waiting requests; by default none may wait. */
  readonly maxWaiting?: number;
  /** The answer for requests that do not get a turn. */
  readonly refuse: () => ProblemError;
  /** Which requests count; all others are answered under any load. */
  readonly counts: (exchange: Exchange) => boolean;
};

/** Limits the number of requests under way; turns rotate among the waiting clients. */
export function limitConcurrency({
  max,
  waitMs = 0,
  maxWaiting = 0,
  refuse,
  counts,
}: ConcurrencyLimit): Layer {
  let running = 0;
  const waiting = new FairQueue<() => void>();
  const release = (): void => {
    const nextTurn = waiting.take();
    // A turn is handed straight to the next in line, so the number of running requests stays the same.
    if (nextTurn) nextTurn();
    else running--;
  };
  const takeTurn = async (exchange: Exchange): Promise<void> => {
    if (running < max) {
      running++;
      return;
    }
    if (waiting.size >= maxWaiting) throw refuse();
    exchange.keepOpen();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // At once, so that no turn is handed to who has given up.
    const giveUp = (): void => {
      waiting.remove(resolve);
      reject(refuse());
    };
    waiting.push(subscriberNetwork(exchange.client.address), resolve);
    const timer = setTimeout(giveUp, waitMs);
    using _ = onAbort(exchange.signal(), giveUp);
    await promise.finally(() => clearTimeout(timer));
  };
  return (next) => async (exchange) => {
    if (!counts(exchange)) return next(exchange);
    await takeTurn(exchange);
    try {
      return await next(exchange);
    } finally {
      release();
    }
  };
}

/**
 * Lets the requests that have arrived be counted before one of them is processed. A search occupies the thread until it
 * is done; without this layer, requests would be served in the order of arrival, and no limit would see those behind.
 */
export const afterArrivals: Layer = (next) => async (exchange) => {
  await setImmediate();
  return next(exchange);
};

/** Answers 429 to a client with more than `max` requests at once, waiting ones included, however much room there is. */
export function limitClients(max: number, counts: ConcurrencyLimit["counts"]): Layer {
  const here = new ClientCounts();
  return (next) => async (exchange) => {
    if (!counts(exchange)) return next(exchange);
    using place = here.take(exchange.client, max);
    if (place === null)
      throw new ProblemError(429, "overloaded", `more than ${max} requests of one client at once`, {
        headers: { "retry-after": "1" },
      });
    return await next(exchange);
  };
}

/** Answers with the problem when a request takes longer than this; the abandoned work is left to itself. */
export const limitTime =
  (limitMs: number, refuse: () => ProblemError): Layer =>
  (next) =>
  (exchange) =>
    within(limitMs, next(exchange), () => {
      throw refuse();
    });

/** Refuses new work during the shutdown; probes still learn why. */
export const refuseWhileDraining =
  (isDraining: () => boolean, openPaths: readonly string[]): Layer =>
  (next) =>
  async (exchange) => {
    if (isDraining() && !openPaths.includes(exchange.path)) throw refusedAtEnd();
    return next(exchange);
  };

/** The answer to requests that come during the shutdown or are cancelled by it. */
export const refusedAtEnd = (): ProblemError =>
  new ProblemError(503, "draining", "the server is shutting down", {
    headers: { "retry-after": "5", connection: "close" },
  });

/** Counts how much of a scarce resource each client (an IPv4 address, or the network of an IPv6 address) uses. */
export class ClientCounts {
  readonly #held = new Map<string, number>();
  #total = 0;

  /** The total of all clients. */
  get total(): number {
    return this.#total;
  }

  /** Counts one more, and one less when the result is disposed of; null for a client that has `max` already. */
  take({ address }: Client, max: number): Disposable | null {
    const key = subscriberNetwork(address);
    const held = this.#held.get(key) ?? 0;
    if (held >= max) return null;
    this.#held.set(key, held + 1);
    this.#total++;
    return {
      [Symbol.dispose]: () => {
        const left = (this.#held.get(key) ?? 1) - 1;
        if (left === 0) this.#held.delete(key);
        else this.#held.set(key, left);
        this.#total--;
      },
    };
  }
}
