import { keepNewest } from "../base/bounded-map.ts";
import { Failure } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import {
  backOffDelayMs,
  type Clock,
  crawlDelayMs,
  groupName,
  isAllowed,
  type RobotsCache,
  type RobotsRules,
} from "../fetching/index.ts";
import { hostOf, originOf, type PageUrl, parsePageUrl } from "../urls/index.ts";
import type { ClaimedPage } from "./frontier/frontier.ts";
import { MAX_PAUSE_MS } from "./frontier/schema.ts";
import type { HostSlots, HostTurn } from "./host-slots.ts";
import type { CrawlPlan } from "./plan.ts";
import type { Scope } from "./scope.ts";
import type { CrawlNotice, SkipReason } from "./types.ts";

export type PolitenessParts = {
  /** The slots are shared by every crawl of the program, so that two crawls together are as polite as one. */
  readonly slots: HostSlots;
  /** The paces that several processes share; by default this crawl learns its own. */
  readonly paces?: HostPaces | undefined;
  readonly robots: RobotsCache;
  /** The user agent as it is sent; robots.txt is read for its product token. */
  readonly userAgent: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly onNotice?: ((notice: CrawlNotice) => void) | undefined;
};

/** After this time a person wonders why nothing happens. */
export const LONG_WAIT_MS = 10_000;

/** The maximum number of hosts whose Crawl-delay or pace is kept; the oldest is dropped first. */
const MAX_HOSTS = 10_000;
const MAX_ADAPTIVE_DELAY_MS = 60_000;
/** A robots.txt that fails twice closes its site for ten minutes. */
const ROBOTS_TRIES = 2;

/** The politeness of a crawl: when a request may go out, and what robots.txt allows. */
export class Politeness {
  readonly #plan: CrawlPlan;
  readonly #parts: PolitenessParts;
  readonly paces: HostPaces;
  /** The delays that robots.txt files ask for, by host, in ms. */
  readonly #robotsDelays = new Map<string, number>();
  /** The hosts whose group of robots.txt, or whose long wait, was told. */
  readonly #told = new Set<string>();

  constructor(plan: CrawlPlan, parts: PolitenessParts) {
    this.#plan = plan;
    this.#parts = parts;
    this.paces = parts.paces ?? createHostPaces(parts.slots, parts.clock);
  }

  /**
   * Tells whether robots.txt allows the URL; a plan that ignores it allows everything. An unknown file is fetched
   * first, in the host's turn.
   * @throws Failure `egress_refused`, `cancelled`
   */
  async rulesFor(url: PageUrl, signal: AbortSignal): Promise<RobotsRules | null> {
    if (!this.#plan.obeysRobots) return null;
    const { robots, userAgent } = this.#parts;
    // The turn lasts until the file is here, as that of a page does.
    let turn: HostTurn | null = null;
    let isOver = false;
    const beforeRequest = async ({ host }: URL, asking: AbortSignal): Promise<void> => {
      turn?.release();
      turn = await this.takeTurn(host, asking);
      // This page was cancelled; other pages may still wait for the file.
      if (isOver) turn.release();
    };
    const rules = await robots.rulesFor(url, { signal, tries: ROBOTS_TRIES, beforeRequest }).finally(() => {
      isOver = true;
      turn?.release();
    });
    const robotsDelayMs = crawlDelayMs(rules, userAgent) ?? 0;
    const host = hostOf(url);
    if (robotsDelayMs > 0) keepNewest(this.#robotsDelays, host, robotsDelayMs, MAX_HOSTS);
    const group = groupName(rules, userAgent);
    if (this.#isNews(`group ${host}`))
      this.#parts.log.info("robots.txt read", { host, group: group ?? "none" });
    return rules;
  }

  allows(rules: RobotsRules | null, url: PageUrl): boolean {
    return rules === null || isAllowed(rules, this.#parts.userAgent, url);
  }

  /** Decides the delay between two requests to the host, in ms, which `HostSlots.take` enforces. */
  delayMs(host: string): number {
    return Math.max(
      this.#plan.hostDelayMs,
      this.#robotsDelays.get(host) ?? 0,
      // The adaptive delay also counts from the end of an answer (see `noteAnswer`); any delay limits the host to one
      // request at a time.
      this.#plan.hasAdaptiveDelay ? this.paces.of(host).adaptiveDelayMs : 0,
    );
  }

  /** Returns how long the host rests, in ms (see `HostSlots.restMs`), and tells once a host why that is long. */
  async restMs(host: string): Promise<number> {
    const delayMs = this.delayMs(host);
    const restMs = await this.#parts.slots.restMs(host, delayMs);
    if (restMs < LONG_WAIT_MS || !this.#isNews(`wait ${host}`)) return restMs;
    const isRobots = (this.#robotsDelays.get(host) ?? 0) === delayMs;
    const reason = delayMs < LONG_WAIT_MS ? "errors" : isRobots ? "crawl_delay" : "rate_limit";
    this.#parts.onNotice?.({ kind: "host_paused", host, untilMs: Date.now() + restMs, reason });
    return restMs;
  }

  async takeTurn(host: string, signal: AbortSignal): Promise<HostTurn> {
    const delayMs = this.delayMs(host);
    if (delayMs >= LONG_WAIT_MS) await this.restMs(host);
    return await this.#parts.slots.take(host, { delayMs, signal });
  }

  #isNews(what: string): boolean {
    if (this.#told.has(what)) return false;
    if (this.#told.size >= MAX_HOSTS) this.#told.clear();
    this.#told.add(what);
    return true;
  }

  /** Takes a turn, or returns how long the host rests, in ms, when that is more than a page should wait for. */
  takeTurnSoon(host: string, signal: AbortSignal): Promise<HostTurn | number> {
    const { slots } = this.#parts;
    return slots.takeSoon(host, { delayMs: this.delayMs(host), patienceMs: PATIENCE_MS, signal });
  }

  /** Delays a request for something other than a page, such as a sitemap; its turn lasts until the answer begins. */
  readonly beforeRequest = async (url: URL, signal: AbortSignal): Promise<() => void> => {
    const turn = await this.takeTurn(url.host, signal);
    return () => turn.release();
  };

  /**
   * Pauses a host that answered 429 or 503; see `HostPaces.noteRefusal`.
   * @param answer.askedAt when the request went out, as `performance.now()`
   */
  pauseHost(
    host: string,
    answer: { readonly askedAt: number; readonly retryAfterMs: number | null },
    signal: AbortSignal,
  ): Promise<number> {
    const askedMsAgo = performance.now() - answer.askedAt;
    const leastMs = Math.max(this.delayMs(host), MIN_PAUSE_MS);
    return this.paces.noteRefusal(host, { askedMsAgo, retryAfterMs: answer.retryAfterMs, leastMs }, signal);
  }

  /**
   * Notes that the host has just answered, and how long it took. With an adaptive plan it rests for the resulting
   * delay from now on. Call it before the host's turn is released, so that the next in line sees the delay.
   */
  async noteAnswer(
    host: string,
    { latencyMs, isGood }: { readonly latencyMs: number; readonly isGood: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const { adaptiveDelayMs } = this.paces.of(host);
    const notes = isGood ? [this.paces.noteSuccess(host, signal)] : [];
    if (this.#plan.hasAdaptiveDelay) {
      // This is Scrapy's AutoThrottle for one request at a time: the delay moves half way to the latency, and an
      // error, which is often faster than a page, never shortens it.
      const next = (adaptiveDelayMs + Math.min(latencyMs, MAX_ADAPTIVE_DELAY_MS)) / 2;
      notes.push(this.paces.adapt(host, isGood ? next : Math.max(next, adaptiveDelayMs), signal));
    }
    await Promise.all(notes);
  }
}

/** A host that names no time gets at least this pause; otherwise the crawl would retry at full speed. */
const MIN_PAUSE_MS = 250;

/** A page that would wait longer for its host's turn is put back, so that pages of other hosts can go. */
export const PATIENCE_MS = 100;

type GateParts = {
  readonly politeness: Politeness;
  readonly scope: Scope;
};

/** Checks each request for one page: waits for the host's turn, and stops redirects that leave the crawl. */
export class PageGate {
  /** The reason why a redirect was not followed; null while none was refused. */
  refusal: { readonly reason: SkipReason; readonly target: PageUrl } | null = null;
  /** How long the host rests, in ms, because of which the page was not requested; 0 otherwise. */
  restMs = 0;
  /** The time spent waiting for turns, in ms. */
  waitedMs = 0;
  /** The time when the last request went out, as `performance.now()`. */
  askedAt = 0;
  requests = 0;
  #turn: HostTurn | null = null;
  readonly #page: ClaimedPage;
  readonly #parts: GateParts;

  constructor(page: ClaimedPage, parts: GateParts) {
    this.#page = page;
    this.#parts = parts;
  }

  /** Implements `FetchOptions.beforeRequest`. */
  readonly beforeRequest = async (url: URL, signal: AbortSignal): Promise<void> => {
    // The previous hop has been answered; keeping its host while waiting for another one could deadlock.
    this.release();
    const target = parsePageUrl(url.href);
    if (target !== null && target !== this.#page.url) await this.#checkTarget(target, signal);
    const startedAt = performance.now();
    this.#turn = await this.#takeTurn(url.host, signal);
    this.waitedMs += performance.now() - startedAt;
    this.askedAt = performance.now();
    this.requests++;
  };

  /** Ends the turn: the answer is here, so the next request to the host may go. */
  release(): void {
    this.#turn?.release();
    this.#turn = null;
  }

  async #takeTurn(host: string, signal: AbortSignal): Promise<HostTurn> {
    const { politeness } = this.#parts;
    // A page that is already under way is finished, however long that takes.
    if (this.requests > 0) return await politeness.takeTurn(host, signal);
    const turn = await politeness.takeTurnSoon(host, signal);
    if (typeof turn !== "number") return turn;
    this.restMs = turn;
    throw new Failure("cancelled", `${host} rests for ${Math.ceil(turn)} ms`);
  }

  async #checkTarget(target: PageUrl, signal: AbortSignal): Promise<void> {
    const { politeness, scope } = this.#parts;
    const { source } = this.#page;
    // A seed may redirect to another origin (http to https, a host to its www), which then is the site.
    if (source === "seed") scope.addOrigin(originOf(target));
    if (!scope.admitsTarget(target, source)) this.#refuse("out_of_scope", target);
    const rules = await politeness.rulesFor(target, signal);
    if (rules?.failure) throw Failure.of(rules.failure);
    if (!politeness.allows(rules, target)) this.#refuse("robots", target);
  }

  #refuse(reason: SkipReason, target: PageUrl): never {
    this.refusal = { reason, target };
    throw new Failure(
      "cancelled",
      `${this.#page.url} redirects to ${originOf(target)}, where the crawl may not go`,
    );
  }
}

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
    const pace = paces.get(host) ?? { adaptiveDelayMs: 0, pauses: 0, pausedAt: 0, closedUntil: 0 };
    keepNewest(paces, host, pace, MAX_HOSTS);
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
