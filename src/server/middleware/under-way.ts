import type { Layer } from "./exchange.ts";
import { drainingProblem } from "./limits.ts";
import { ProblemError } from "./problem.ts";

/** The requests under way. */
export type UnderWay = {
  /** Notes each request that passes, and how to cancel it. */
  readonly layer: Layer;
  readonly count: () => number;
  /** Answers all of them with 503 and aborts their work; returns how many they were. */
  readonly callOff: () => number;
};

export function trackRequests(): UnderWay {
  const running = new Set<() => void>();
  const layer: Layer = (next) => async (exchange) => {
    const cut = Promise.withResolvers<never>();
    let work: AbortController | null = null;
    let isCalledOff = false;
    const callOff = (): void => {
      cut.reject(new ProblemError(drainingProblem));
      isCalledOff = true;
      work?.abort();
    };
    const signal = (): AbortSignal => {
      work ??= new AbortController();
      if (isCalledOff) work.abort();
      return AbortSignal.any([exchange.signal(), work.signal]);
    };
    running.add(callOff);
    try {
      return await Promise.race([next({ ...exchange, signal }), cut.promise]);
    } finally {
      running.delete(callOff);
    }
  };
  return {
    layer,
    count: () => running.size,
    callOff: () => {
      const all = [...running];
      for (const callOff of all) callOff();
      return all.length;
    },
  };
}
