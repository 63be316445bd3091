import { backOffDelayMs, type Clock } from "../fetching/index.ts";
import type { HostSlots } from "./host-slots.ts";

/** How often a host wants to be asked, learned from its answers. */
export type HostPace = {
  /** The delay derived from the host's response times, in ms. */
  readonly adaptiveDelayMs: number;
  /** The number of consecutive pauses without a successful answer in between. */
  readonly pauses: number;
  /** For how long no page of the host is requested, in ms, because it asks for too long a pause; 0 while it is open. */
  readonly closedMs: number;
};

/** An answer 429 or 503. */
export type HostRefusal = {
  /** The time since the request went out, in ms. */
  readonly askedMsAgo: number;
  /** The pause that the host names, in ms; null when it names none. */
  readonly retryAfterMs: number | null;
  /** The least pause, in ms. */
  readonly leastMs: number;
};

/** The paces of hosts, as one crawl or all processes have learned them. Answers also pause the host's slot. */
export interface HostPaces {
  /**
   * Learns what other processes know, unless that was done just now.
   * @throws Failure `cancelled` when the signal aborts
   */
  learn(signal: AbortSignal): Promise<void>;
  /** Returns what is known of the host here. */
  of(host: string): HostPace;
  /**
   * Pauses a host that has refused a request, or closes it when the pause would be too long.
   * @returns how long nothing should be requested, in ms
   * @throws Failure `cancelled` when the signal aborts
   */
  noteRefusal(host: string, refusal: HostRefusal, signal: AbortSignal): Promise<number>;
  /** Notes that the host has answered a request well, so that its next pause is short again. */
  noteSuccess(host: string, signal: AbortSignal): Promise<void>;
  /** Sets the adaptive delay and lets the host rest that long; turns released after the call see it. */
  adapt(host: string, delayMs: number, signal: AbortSignal): Promise<void>;
}

/** The maximum number of hosts whose pace is kept; the oldest is dropped first. */
const MAX_HOSTS = 10_000;
/** No crawl waits longer for a host; its pages fail instead, without another request. */
const MAX_PAUSE_MS = 60 * 60 * 1000;
/** A host that refuses this often in a row, with pauses of up to a minute in between, is closed as well. */
const MAX_PAUSES = 10;

/** State of a host when it refuses a request; times are in ms. */
type PaceBefore = Pick<HostPace, "pauses" | "closedMs"> & { readonly pausedMsAgo: number };

/**
 * Says how a host is left alone after a refusal: until the time that it names or, without one, for a back-off that
 * doubles from pause to pause.
 * @param random returns numbers in [0, 1)
 * @returns `closedMs` is 0 for a host that is only paused; `isNew` says whether a pause has begun
 */
export function paceAfterRefusal(
  { pauses: before, closedMs, pausedMsAgo }: PaceBefore,
  { askedMsAgo, retryAfterMs, leastMs }: HostRefusal,
  random: () => number,
): { readonly pauses: number; readonly isNew: boolean; readonly closedMs: number; readonly pauseMs: number } {
  // Requests that were under way when the pause began report the same event, so they do not double the back-off.
  const isNew = askedMsAgo < pausedMsAgo || before === 0;
  const pauses = isNew ? before + 1 : before;
  const named = retryAfterMs !== null && retryAfterMs > MAX_PAUSE_MS ? retryAfterMs : 0;
  return {
    pauses,
    isNew,
    closedMs: Math.max(closedMs, named, pauses > MAX_PAUSES ? MAX_PAUSE_MS : 0),
    pauseMs: Math.max(retryAfterMs ?? backOffDelayMs(pauses + 1, random), leastMs),
  };
}

type KeptPace = { adaptiveDelayMs: number; pauses: number; pausedAt: number; closedUntil: number };

/** Creates paces in this process's memory. */
export function createHostPaces(slots: HostSlots, clock: Pick<Clock, "now" | "random">): HostPaces {
  const paces = new Map<string, KeptPace>();
  const keep = (host: string): KeptPace => {
    let pace = paces.get(host);
    if (!pace) {
      pace = { adaptiveDelayMs: 0, pauses: 0, pausedAt: 0, closedUntil: 0 };
      const oldest = paces.size >= MAX_HOSTS ? paces.keys().next() : undefined;
      if (oldest && !oldest.done) paces.delete(oldest.value);
      paces.set(host, pace);
    }
    return pace;
  };
  const paceOf = (host: string): HostPace => {
    const { adaptiveDelayMs = 0, pauses = 0, closedUntil = 0 } = paces.get(host) ?? {};
    return { adaptiveDelayMs, pauses, closedMs: Math.max(0, closedUntil - clock.now()) };
  };
  return {
    learn: async () => {},
    of: paceOf,
    async noteRefusal(host, refusal) {
      const pace = keep(host);
      const now = clock.now();
      const before = { ...paceOf(host), pausedMsAgo: now - pace.pausedAt };
      const { pauses, isNew, closedMs, pauseMs } = paceAfterRefusal(before, refusal, clock.random);
      pace.pauses = pauses;
      if (isNew) pace.pausedAt = now;
      pace.closedUntil = now + closedMs;
      // The pages of a closed host fail now, not after the pause.
      const restMs = await (closedMs === 0 ? slots.pause(host, pauseMs) : slots.restMs(host, 0));
      return Math.max(pauseMs, restMs);
    },
    async noteSuccess(host) {
      const pace = paces.get(host);
      if (pace) pace.pauses = 0;
    },
    async adapt(host, delayMs) {
      keep(host).adaptiveDelayMs = delayMs;
      await slots.pause(host, delayMs);
    },
  };
}
