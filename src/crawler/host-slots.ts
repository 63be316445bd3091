import { orAborted } from "../base/abort.ts";
import { Failure } from "../base/failure.ts";
import type { Clock } from "../fetching/index.ts";

/** A host's turn: one request may go out. */
export type HostTurn = {
  /** The answer is here, or will not come; the next one may go. */
  release(): void;
};

export type TurnOptions = {
  /** Since the start of the last request to the host, in ms; above 0 only one request is out at a time. */
  readonly delayMs: number;
  readonly signal: AbortSignal;
};

/** One slot for each host, shared by everything that sends requests: crawls, robots.txt, sitemaps. */
export interface HostSlots {
  /**
   * Waits for the host's turn, first come first served.
   * @throws Failure `cancelled` when the signal aborts
   */
  take(host: string, options: TurnOptions): Promise<HostTurn>;
  /** Lets no request out to the host before then, in ms since 1970; an earlier time changes nothing. */
  pause(host: string, until: number): void;
  /** The earliest time of another request, in ms since 1970, as far as is known now. */
  readyAt(host: string, delayMs: number): number;
}

type Slot = {
  lastStart: number;
  lastDelayMs: number;
  pausedUntil: number;
  /** Resolves when nobody who came before waits or has a request out. */
  tail: Promise<void>;
  inLine: number;
};

/** Hosts are forgotten when there are more and their last delay is over. */
const MAX_IDLE_HOSTS = 10_000;

/** Slots in this process's memory. */
export function createHostSlots(clock: Pick<Clock, "now" | "sleep">): HostSlots {
  const slots = new Map<string, Slot>();
  const slotOf = (host: string): Slot => {
    let slot = slots.get(host);
    if (!slot) {
      if (slots.size >= MAX_IDLE_HOSTS) forgetIdle(slots, clock.now());
      slot = { lastStart: 0, lastDelayMs: 0, pausedUntil: 0, tail: Promise.resolve(), inLine: 0 };
      slots.set(host, slot);
    }
    return slot;
  };
  const readyAt = (slot: Slot, delayMs: number): number =>
    Math.max(slot.pausedUntil, slot.lastStart === 0 ? 0 : slot.lastStart + delayMs);

  /** Waits until the time is come, again where a pause is put in between. */
  const waitUntilReady = async (slot: Slot, { delayMs, signal }: TurnOptions): Promise<void> => {
    for (let wait = readyAt(slot, delayMs) - clock.now(); wait > 0; ) {
      await clock.sleep(Math.min(wait, MAX_TIMER_MS), signal);
      wait = readyAt(slot, delayMs) - clock.now();
    }
  };

  return {
    async take(host, options) {
      const slot = slotOf(host);
      slot.inLine++;
      const { promise, resolve } = Promise.withResolvers<void>();
      const leave = once(() => {
        slot.inLine--;
        resolve();
      });
      try {
        if (options.delayMs > 0) {
          const before = slot.tail;
          slot.tail = Promise.all([before, promise]).then(() => {});
          await orAborted(before, options.signal, calledOff);
        }
        await waitUntilReady(slot, options);
        if (options.signal.aborted) throw calledOff();
      } catch (error) {
        leave();
        throw error;
      }
      slot.lastStart = clock.now();
      slot.lastDelayMs = options.delayMs;
      return { release: leave };
    },
    pause(host, until) {
      const slot = slotOf(host);
      slot.pausedUntil = Math.max(slot.pausedUntil, until);
    },
    readyAt: (host, delayMs) => {
      const slot = slots.get(host);
      return slot ? readyAt(slot, delayMs) : 0;
    },
  };
}

/** Longer timers overflow and fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function once(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    action();
  };
}

const calledOff = (): Failure => new Failure("cancelled", "waiting for a host's turn was called off");

function forgetIdle(slots: Map<string, Slot>, now: number): void {
  for (const [host, slot] of slots) {
    const isOver = slot.lastStart + slot.lastDelayMs <= now && slot.pausedUntil <= now;
    if (slot.inLine === 0 && isOver) slots.delete(host);
  }
}
