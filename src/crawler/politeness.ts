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

/** What one host has taught the crawl. */
type HostPace = {
  /** What robots.txt asks for, at least. */
  robotsDelayMs: number;
  /** What its slowness asks for, where the plan adapts. */
  adaptiveDelayMs: number;
  /** Pauses in a row without a good answer between them. */
  pauses: number;
  /** When the last pause began. */
  pausedAt: number;
  /** Until when none of its pages is asked for, because it asks for more patience than there is. */
  closedUntil: number;
};

/** Hosts whose pace is kept; the one learned longest ago goes first. */
const MAX_HOSTS = 10_000;
const MAX_ADAPTIVE_DELAY_MS = 60_000;
/** Nobody waits longer for a host that asks for it: its pages fail instead, without another request. */
const MAX_PAUSE_MS = 60 * 60 * 1000;
/** A host that refuses this often in a row, with pauses of up to a minute between, is closed as well. */
const MAX_PAUSES = 10;
/** Two tries: a robots.txt that fails twice closes its site for ten minutes. */
const ROBOTS_TRIES = 2;

/** How a crawl treats hosts: when a request may go out, and what robots.txt allows. */
export class Politeness {
  readonly #plan: CrawlPlan;
  readonly #parts: PolitenessParts;
  readonly #hosts = new Map<string, HostPace>();

  constructor(plan: CrawlPlan, parts: PolitenessParts) {
    this.#plan = plan;
    this.#parts = parts;
  }

  /**
   * Whether robots.txt allows the URL; a plan that ignores it is allowed everything. Fetches the file first
   * where it is not at hand, in the host's turn.
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

  /** Between two requests to the host, in ms. */
  delayMs(host: string): number {
    const pace = this.#hosts.get(host);
    return Math.max(
      this.#plan.hostDelayMs,
      pace?.robotsDelayMs ?? 0,
      // The rest itself counts from the end of an answer (see `noteAnswer`); a delay has one request out at a time.
      pace?.adaptiveDelayMs ?? 0,
    );
  }

  /** The earliest time of the next request to the host, in ms since 1970. */
  readyAt(host: string): number {
    return this.#parts.slots.readyAt(host, this.delayMs(host));
  }

  takeTurn(host: string, signal: AbortSignal): Promise<HostTurn> {
    return this.#parts.slots.take(host, { delayMs: this.delayMs(host), signal });
  }

  /** Spaces a request that is no page: robots.txt, sitemaps. */
  readonly beforeRequest = async (url: URL, signal: AbortSignal): Promise<void> => {
    const turn = await this.takeTurn(url.host, signal);
    turn.release();
  };

  /**
   * The host answered 429 or 503: nobody asks it again before the time that it names or, without one, before
   * a back-off that doubles from pause to pause.
   * @param askedAt when the request went out, in ms since 1970
   * @returns until when, in ms since 1970
   */
  pauseHost(
    host: string,
    answer: { readonly askedAt: number; readonly retryAfterMs: number | null },
  ): number {
    const { clock, slots } = this.#parts;
    const pace = this.#pace(host);
    const now = clock.now();
    // Requests that were out when the pause began report the same event, so they do not double the back-off.
    if (answer.askedAt > pace.pausedAt || pace.pauses === 0) {
      pace.pauses++;
      pace.pausedAt = now;
    }
    const { retryAfterMs } = answer;
    if (pace.pauses > MAX_PAUSES) pace.closedUntil = now + MAX_PAUSE_MS;
    if (retryAfterMs !== null && retryAfterMs > MAX_PAUSE_MS) pace.closedUntil = now + retryAfterMs;
    const least = Math.max(this.delayMs(host), MIN_PAUSE_MS);
    const waitMs = retryAfterMs ?? backOffDelayMs(pace.pauses + 1, clock.random);
    const until = now + Math.max(waitMs, least);
    // The pages of a closed host are to fail now, and not when the pause is over.
    if (this.closedUntil(host) === null) slots.pause(host, until);
    return Math.max(until, slots.readyAt(host, 0));
  }

  /** Until when no page of the host is to be asked for, in ms since 1970; null while it is open. */
  closedUntil(host: string): number | null {
    const until = this.#hosts.get(host)?.closedUntil ?? 0;
    return until > this.#parts.clock.now() ? until : null;
  }

  /**
   * The host has answered, just now and in this time. With an adaptive plan it rests as long from now on. To be told
   * before the host's turn is released, so that whoever waits for it sees the rest.
   */
  noteAnswer(host: string, answer: { readonly latencyMs: number; readonly isGood: boolean }): void {
    const pace = this.#hosts.get(host);
    if (answer.isGood && pace) pace.pauses = 0;
    if (!this.#plan.hasAdaptiveDelay) return;
    const adaptive = this.#pace(host);
    // As Scrapy's AutoThrottle with one request at a time: half way to the latency, and an error, which is
    // often quicker than a page, never shortens the delay.
    const next = (adaptive.adaptiveDelayMs + Math.min(answer.latencyMs, MAX_ADAPTIVE_DELAY_MS)) / 2;
    if (answer.isGood || next > adaptive.adaptiveDelayMs) adaptive.adaptiveDelayMs = next;
    this.#parts.slots.pause(host, this.#parts.clock.now() + adaptive.adaptiveDelayMs);
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

/** A host that asks for no time gets some, or the crawl would run against it at full speed. */
const MIN_PAUSE_MS = 250;

type GateParts = {
  readonly politeness: Politeness;
  readonly scope: Scope;
  readonly clock: Pick<Clock, "now">;
};

/** Stands before each request for one page: keeps the host's times, and stops redirects that leave the crawl. */
export class PageGate {
  /** Why a redirect was not followed, null while none was refused. */
  refusal: { readonly reason: SkipReason; readonly target: PageUrl } | null = null;
  /** Spent on waiting for turns, in ms. */
  waitedMs = 0;
  /** When the last request went out, in ms since 1970. */
  askedAt = 0;
  requests = 0;
  #turn: HostTurn | null = null;
  readonly #page: ClaimedPage;
  readonly #parts: GateParts;

  constructor(page: ClaimedPage, parts: GateParts) {
    this.#page = page;
    this.#parts = parts;
  }

  /** As `FetchOptions.beforeRequest`. */
  readonly beforeRequest = async (url: URL, signal: AbortSignal): Promise<void> => {
    // The hop before is answered; holding its host while waiting for another one could block both.
    this.release();
    const target = parsePageUrl(url.href);
    if (target !== null && target !== this.#page.url) await this.#checkTarget(target, signal);
    const startedAt = performance.now();
    this.#turn = await this.#parts.politeness.takeTurn(url.host, signal);
    this.waitedMs += performance.now() - startedAt;
    this.askedAt = this.#parts.clock.now();
    this.requests++;
  };

  /** The answer is here: the next request to the host may go. */
  release(): void {
    this.#turn?.release();
    this.#turn = null;
  }

  async #checkTarget(target: PageUrl, signal: AbortSignal): Promise<void> {
    const { politeness, scope } = this.#parts;
    const { source } = this.#page;
    // A seed may redirect to another origin (http to https, a host to its www): that is the site then.
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
