import { setImmediate } from "node:timers/promises";
import { onAbort, within } from "../../base/abort.ts";
import { FairQueue } from "../../base/fair-queue.ts";
import { subscriberNetwork } from "../../fetching/index.ts";
import { type Client, type Exchange, type Handler, inLayers, type Layer } from "./exchange.ts";
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
};

/** Gives each kind of work limits of its own, so that it waits only for its like. Work of no kind (null) has none. */
export const limitEach =
  <Kind extends string>(
    kinds: readonly Kind[],
    kindOf: (exchange: Exchange) => Kind | null,
    limits: (kind: Kind) => readonly Layer[],
  ): Layer =>
  (next) => {
    const limited = new Map<Kind | null, Handler>(kinds.map((kind) => [kind, inLayers(limits(kind), next)]));
    return (exchange) => (limited.get(kindOf(exchange)) ?? next)(exchange);
  };

/** Limits the number of requests under way; turns rotate among the waiting clients. */
export function limitConcurrency({ max, waitMs = 0, maxWaiting = 0, refuse }: ConcurrencyLimit): Layer {
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
    await takeTurn(exchange);
    try {
      return await next(exchange);
    } finally {
      release();
    }
  };
}

/**
 * Begins one request in each round of the event loop. A search occupies the thread until it is done; without this layer,
 * no limit would see the requests behind it, and neither probes nor what was answered would get through between two.
 */
export const afterArrivals: Layer = (next) => {
  let last: Promise<unknown> = Promise.resolve();
  return async (exchange) => {
    last = last.then(() => setImmediate());
    await last;
    return next(exchange);
  };
};

/** Answers 429 to a client with more than `max` requests at once, waiting ones included, however much room there is. */
export function limitClients(max: number): Layer {
  const here = new ClientCounts();
  return (next) => async (exchange) => {
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

  /**
   * Counts so much more, and so much less once the result is disposed of.
   * @param more.isFreeAlone lets any amount be taken where nothing is held
   * @returns null when the client would have more than `max`, or all clients more than `maxTotal`
   */
  take(
    { address }: Client,
    max: number,
    { amount = 1, maxTotal = Number.POSITIVE_INFINITY, isFreeAlone = false } = {},
  ): Disposable | null {
    const key = subscriberNetwork(address);
    const held = this.#held.get(key) ?? 0;
    const isOver = (now: number, most: number): boolean => now + amount > most && !(isFreeAlone && now === 0);
    if (isOver(held, max) || isOver(this.#total, maxTotal)) return null;
    this.#held.set(key, held + amount);
    this.#total += amount;
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        const left = (this.#held.get(key) ?? amount) - amount;
        if (left === 0) this.#held.delete(key);
        else this.#held.set(key, left);
        this.#total -= amount;
      },
    };
  }
}
