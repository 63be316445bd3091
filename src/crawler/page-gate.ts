import { Failure } from "../base/failure.ts";
import type { Clock } from "../fetching/index.ts";
import { originOf, type PageUrl, parsePageUrl } from "../urls/index.ts";
import type { ClaimedPage } from "./frontier/frontier.ts";
import type { HostTurn } from "./host-slots.ts";
import type { Politeness } from "./politeness.ts";
import type { Scope } from "./scope.ts";
import type { SkipReason } from "./types.ts";

export type GateParts = {
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
