import { setImmediate } from "node:timers/promises";
import { FairQueue } from "../../base/fair-queue.ts";
import { subscriberNetwork } from "../../fetching/index.ts";
import { ClientCounts } from "./client-counts.ts";
import type { Exchange, Layer } from "./exchange.ts";
import { ProblemError, type RequestProblem } from "./problem.ts";

export type ConcurrencyLimit = {
  /** Requests that are worked on at once. */
  readonly max: number;
  /** How long further ones wait for their turn, in ms; 0: not at all. */
  readonly waitMs: number;
  /** How many may wait. */
  readonly maxWaiting: number;
  /** What those are told that do not get a turn. */
  readonly problem: RequestProblem;
  /** Which requests count; all others are answered whatever the load. */
  readonly counts: (exchange: Exchange) => boolean;
};

/** Bounds how many requests are worked on at once; turns go round among the clients that wait. */
export function limitConcurrency(limit: ConcurrencyLimit): Layer {
  let running = 0;
  const waiting = new FairQueue<() => void>();
  const release = (): void => {
    const nextTurn = waiting.take();
    // A turn is handed on, so the number of those running stays.
    if (nextTurn) nextTurn();
    else running--;
  };
  const takeTurn = async (exchange: Exchange): Promise<void> => {
    if (running < limit.max) {
      running++;
      return;
    }
    if (limit.waitMs === 0 || waiting.size >= limit.maxWaiting) throw new ProblemError(limit.problem);
    exchange.keepOpen();
    await turnWithin(waiting, limit, exchange);
  };
  return (next) => async (exchange) => {
    if (!limit.counts(exchange)) return next(exchange);
    await takeTurn(exchange);
    try {
      return await next(exchange);
    } finally {
      release();
    }
  };
}

function turnWithin(
  waiting: FairQueue<() => void>,
  limit: ConcurrencyLimit,
  exchange: Exchange,
): Promise<void> {
  const signal = exchange.signal();
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      waiting.remove(begin);
      stop();
      reject(new ProblemError(limit.problem));
    };
    const timer = setTimeout(giveUp, limit.waitMs);
    const stop = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", giveUp);
    };
    const begin = (): void => {
      stop();
      resolve();
    };
    waiting.push(subscriberNetwork(exchange.client.address), begin);
    signal.addEventListener("abort", giveUp, { once: true });
  });
}

/**
 * Lets the requests that have arrived be counted before one of them is worked on. A search takes the thread until it
 * is done; without this layer, requests would be served in the order of arrival, and no limit would see those behind.
 */
export const afterArrivals: Layer = (next) => async (exchange) => {
  await setImmediate();
  return next(exchange);
};

export type ClientLimit = {
  /** Requests of one client that are here at once, those that wait for their turn included. */
  readonly max: number;
  /** Which requests count. */
  readonly counts: (exchange: Exchange) => boolean;
};

/** Answers 429 to a client that asks for more at once than one may, whatever room there is for others. */
export function limitClients({ max, counts }: ClientLimit): Layer {
  const here = new ClientCounts();
  return (next) => async (exchange) => {
    if (!counts(exchange)) return next(exchange);
    if (here.of(exchange.client) >= max)
      throw new ProblemError({
        status: 429,
        code: "overloaded",
        detail: `more than ${max} requests of one client at once`,
        headers: { "retry-after": "1" },
      });
    using _ = here.take(exchange.client);
    return await next(exchange);
  };
}

/** Answers with the problem what is not answered in so many ms; whatever it was at is left to itself. */
export const limitTime =
  (limitMs: number, problem: RequestProblem): Layer =>
  (next) =>
  async (exchange) => {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new ProblemError(problem)), limitMs);
    try {
      return await Promise.race([next(exchange), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  };

/** Says no to new work while the server is ending; probes still learn why. */
export const refuseWhileDraining =
  (isDraining: () => boolean, openPaths: readonly string[]): Layer =>
  (next) =>
  async (exchange) => {
    if (isDraining() && !openPaths.includes(exchange.path)) throw new ProblemError(drainingProblem);
    return next(exchange);
  };

/** What is said to requests that come while the server ends, or that are called off by its end. */
export const drainingProblem: RequestProblem = {
  status: 503,
  code: "draining",
  detail: "the server is shutting down",
  headers: { "retry-after": "5", connection: "close" },
};
