/** What a simulation is made of: random numbers by a seed, and events in the order of their times. */

export type Random = {
  /** 0 ≤ x < 1 */
  next(): number;
  below(count: number): number;
  exponential(mean: number): number;
  /** @param sigma the standard deviation of the logarithm */
  logNormal(median: number, sigma: number): number;
};

/** The same numbers for the same seed (Mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    below: (count) => Math.floor(next() * count),
    exponential: (mean) => -Math.log(1 - next()) * mean,
    logNormal: (median, sigma) =>
      median * Math.exp(sigma * Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())),
  };
}

/** Numbers by time, the earliest first; equal times in an order that depends only on what was added. */
export class TimeHeap {
  readonly #times: number[] = [];
  readonly #values: number[] = [];

  nextAt(): number {
    return this.#times[0] ?? Number.POSITIVE_INFINITY;
  }

  add(time: number, value: number): void {
    let place = this.#times.length;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (this.#times[above]! <= time) break;
      this.#times[place] = this.#times[above]!;
      this.#values[place] = this.#values[above]!;
      place = above;
    }
    this.#times[place] = time;
    this.#values[place] = value;
  }

  /** Takes the earliest; there has to be one. */
  take(): number {
    const first = this.#values[0]!;
    const time = this.#times.pop()!;
    const value = this.#values.pop()!;
    const count = this.#times.length;
    if (count === 0) return first;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= count) break;
      if (below + 1 < count && this.#times[below + 1]! < this.#times[below]!) below++;
      if (this.#times[below]! >= time) break;
      this.#times[place] = this.#times[below]!;
      this.#values[place] = this.#values[below]!;
      place = below;
    }
    this.#times[place] = time;
    this.#values[place] = value;
    return first;
  }
}

export type AgendaEvent = {
  readonly at: number;
  readonly kind: number;
  readonly worker: number;
  /** The life of the worker, or the fence of the page. */
  readonly life: number;
  readonly page: number;
};

/** The events to come. */
export class Agenda {
  readonly #heap = new TimeHeap();
  readonly #events: AgendaEvent[] = [];
  readonly #free: number[] = [];

  nextAt(): number {
    return this.#heap.nextAt();
  }

  add(at: number, kind: number, worker: number, life: number, page: number): void {
    const slot = this.#free.pop() ?? this.#events.length;
    this.#events[slot] = { at, kind, worker, life, page };
    this.#heap.add(at, slot);
  }

  take(): AgendaEvent {
    const slot = this.#heap.take();
    this.#free.push(slot);
    return this.#events[slot]!;
  }
}
