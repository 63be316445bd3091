import { Failure } from "../base/failure.ts";
import {
  backOffDelayMs,
  type Clock,
  crawlDelayMs,
  isAllowed,
  type RobotsCache,
  type RobotsRules,
} from "../fetching/index.ts";
import { hostOf, originOf, type PageUrl, parsePageUrl } from "../urls/index.ts";
import type { ClaimedPage } from "./frontier/frontier.ts";
import type { HostSlots, HostTurn } from "./host-slots.ts";
import type { Scope } from "./scope.ts";
import type { CrawlPlan, SkipReason } from "./types.ts";

export type PolitenessParts = {
  readonly slots: HostSlots;
  readonly robots: RobotsCache;
  readonly userAgent: string;
  readonly clock: Clock;
};

/** What the crawl has learned about one host. */
type HostPace = {
  /** The least delay that robots.txt asks for. */
  robotsDelayMs: number;
  /** The delay derived from the host's response times, when the plan adapts. */
  adaptiveDelayMs: number;
  /** The number of consecutive pauses without a successful answer in between. */
  pauses: number;
  /** The time when the last pause began. */
  pausedAt: number;
  /** No page of the host is requested until this time, because the host asks for too long a pause. */
  closedUntil: number;
};

/** The maximum number of hosts whose pace is kept; the oldest is dropped first. */
const MAX_HOSTS = 10_000;
const MAX_ADAPTIVE_DELAY_MS = 60_000;
/** The crawl does not wait longer for a host; its pages fail instead, without another request. */
const MAX_PAUSE_MS = 60 * 60 * 1000;
/** A host that refuses this often in a row, with pauses of up to a minute in between, is closed as well. */
const MAX_PAUSES = 10;
/** A robots.txt that fails twice closes its site for ten minutes. */
const ROBOTS_TRIES = 2;

/** The politeness of a crawl: when a request may go out, and what robots.txt allows. */
export class Politeness {
  readonly #plan: CrawlPlan;
  readonly #parts: PolitenessParts;
  readonly #hosts = new Map<string, HostPace>();

  constructor(plan: CrawlPlan, parts: PolitenessParts) {
    this.#plan = plan;
    this.#parts = parts;
  }

  /**
   * Tells whether robots.txt allows the URL; a plan that ignores it allows everything. An unknown file is fetched
   * first, in the host's turn.
   * @throws Failure `egress_refused`, `cancelled`
   */
  async rulesFor(url: PageUrl, signal: AbortSignal): Promise<RobotsRules | null> {
    if (!this.#plan.obeysRobots) return null;
    const { robots, userAgent } = this.#parts;
    const rules = await robots.rulesFor(url, {
      signal,
      tries: ROBOTS_TRIES,
      beforeRequest: this.beforeRequest,
    });
    const robotsDelayMs = crawlDelayMs(rules, userAgent) ?? 0;
    if (robotsDelayMs > 0) this.#pace(hostOf(url)).robotsDelayMs = robotsDelayMs;
    return rules;
  }

  allows(rules: RobotsRules | null, url: PageUrl): boolean {
    return rules === null || isAllowed(rules, this.#parts.userAgent, url);
  }

  /** Returns the delay between two requests to the host, in ms. */
  delayMs(host: string): number {
    const pace = this.#hosts.get(host);
    return Math.max(
      this.#plan.hostDelayMs,
      pace?.robotsDelayMs ?? 0,
      // The adaptive delay also counts from the end of an answer (see `noteAnswer`); any delay limits the host to one
      // request at a time.
      pace?.adaptiveDelayMs ?? 0,
    );
  }

  /** Returns how long the host rests before its next request, in ms; see `HostSlots.restMs`. */
  restMs(host: string): Promise<number> {
    return this.#parts.slots.restMs(host, this.delayMs(host));
  }

  takeTurn(host: string, signal: AbortSignal): Promise<HostTurn> {
    return this.#parts.slots.take(host, { delayMs: this.delayMs(host), signal });
  }

  /** Takes a turn, or returns how long the host rests, in ms, when that is more than a page should wait for. */
  takeTurnSoon(host: string, signal: AbortSignal): Promise<HostTurn | number> {
    const { slots } = this.#parts;
    return slots.takeSoon(host, { delayMs: this.delayMs(host), patienceMs: PATIENCE_MS, signal });
  }

  /** Delays a request for something other than a page: robots.txt, sitemaps. */
  readonly beforeRequest = async (url: URL, signal: AbortSignal): Promise<void> => {
    const turn = await this.takeTurn(url.host, signal);
    turn.release();
  };

  /**
   * Pauses a host that answered 429 or 503, until the time that it names or, without one, for a back-off that doubles
   * from pause to pause.
   * @param askedAt when the request went out, in ms since 1970
   * @returns how long nothing should be requested, in ms
   */
  async pauseHost(
    host: string,
    answer: { readonly askedAt: number; readonly retryAfterMs: number | null },
  ): Promise<number> {
    const { clock, slots } = this.#parts;
    const pace = this.#pace(host);
    const now = clock.now();
    // Requests that were under way when the pause began report the same event, so they do not double the back-off.
    if (answer.askedAt > pace.pausedAt || pace.pauses === 0) {
      pace.pauses++;
      pace.pausedAt = now;
    }
    const { retryAfterMs } = answer;
    if (pace.pauses > MAX_PAUSES) pace.closedUntil = now + MAX_PAUSE_MS;
    if (retryAfterMs !== null && retryAfterMs > MAX_PAUSE_MS) pace.closedUntil = now + retryAfterMs;
    const least = Math.max(this.delayMs(host), MIN_PAUSE_MS);
    const waitMs = retryAfterMs ?? backOffDelayMs(pace.pauses + 1, clock.random);
    const pauseMs = Math.max(waitMs, least);
    // The pages of a closed host fail now, not after the pause.
    const isOpen = this.closedUntil(host) === null;
    const restMs = await (isOpen ? slots.pause(host, pauseMs) : slots.restMs(host, 0));
    return Math.max(pauseMs, restMs);
  }

  /**
   * Returns the time until which no page of the host is requested, in ms since 1970; null while it is open.
   */
  closedUntil(host: string): number | null {
    const until = this.#hosts.get(host)?.closedUntil ?? 0;
    return until > this.#parts.clock.now() ? until : null;
  }

  /**
   * Notes that the host has just answered, and how long it took. With an adaptive plan it rests for the resulting
   * delay from now on. Call it before the host's turn is released, so that the next in line sees the delay.
   */
  async noteAnswer(
    host: string,
    answer: { readonly latencyMs: number; readonly isGood: boolean },
  ): Promise<void> {
    const pace = this.#hosts.get(host);
    if (answer.isGood && pace) pace.pauses = 0;
    if (!this.#plan.hasAdaptiveDelay) return;
    const adaptive = this.#pace(host);
    // This is Scrapy's AutoThrottle for one request at a time: the delay moves half way to the latency, and an error,
    // which is often faster than a page, never shortens it.
    const next = (adaptive.adaptiveDelayMs + Math.min(answer.latencyMs, MAX_ADAPTIVE_DELAY_MS)) / 2;
    if (answer.isGood || next > adaptive.adaptiveDelayMs) adaptive.adaptiveDelayMs = next;
    await this.#parts.slots.pause(host, adaptive.adaptiveDelayMs);
  }

  #pace(host: string): HostPace {
    let pace = this.#hosts.get(host);
    if (!pace) {
      pace = { robotsDelayMs: 0, adaptiveDelayMs: 0, pauses: 0, pausedAt: 0, closedUntil: 0 };
      const oldest = this.#hosts.size >= MAX_HOSTS ? this.#hosts.keys().next() : undefined;
      if (oldest && !oldest.done) this.#hosts.delete(oldest.value);
      this.#hosts.set(host, pace);
    }
    return pace;
  }
}

/** A host that names no time gets at least this pause; otherwise the crawl would retry at full speed. */
const MIN_PAUSE_MS = 250;

/** A page that would wait longer for its host's turn is put back, so that pages of other hosts can go. */
export const PATIENCE_MS = 100;

type GateParts = {
  readonly politeness: Politeness;
  readonly scope: Scope;
  readonly clock: Pick<Clock, "now">;
};

/**
 * Checks each request for one page: it waits for the host's turn, and stops redirects that leave the crawl.
 */
export class PageGate {
  /** The reason why a redirect was not followed; null while none was refused. */
  refusal: { readonly reason: SkipReason; readonly target: PageUrl } | null = null;
  /** How long the host rests, in ms, because of which the page was not requested; 0 otherwise. */
  restMs = 0;
  /** The time spent waiting for turns, in ms. */
  waitedMs = 0;
  /** The time when the last request went out, in ms since 1970. */
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
    this.askedAt = this.#parts.clock.now();
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
