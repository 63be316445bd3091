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

/** Bounds how many requests are worked on at once; turns are given in the order of arrival. */
export function limitConcurrency(limit: ConcurrencyLimit): Layer {
  let running = 0;
  const waiting: (() => void)[] = [];
  const release = (): void => {
    const nextTurn = waiting.shift();
    // A turn is handed on, so the number of those running stays.
    if (nextTurn) nextTurn();
    else running--;
  };
  const takeTurn = async (exchange: Exchange): Promise<void> => {
    if (running < limit.max) {
      running++;
      return;
    }
    if (limit.waitMs === 0 || waiting.length >= limit.maxWaiting) throw new ProblemError(limit.problem);
    exchange.keepOpen();
    await turnWithin(waiting, limit, exchange.signal);
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

function turnWithin(waiting: (() => void)[], limit: ConcurrencyLimit, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      const place = waiting.indexOf(begin);
      if (place >= 0) waiting.splice(place, 1);
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
    waiting.push(begin);
    signal.addEventListener("abort", giveUp, { once: true });
  });
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
