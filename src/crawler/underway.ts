import { onAbort } from "../base/abort.ts";
import { Failure } from "../base/failure.ts";
import type { LogFields } from "../base/log.ts";
import type { PageUrl } from "../urls/index.ts";
import type { ClaimedPage, Claims, Settlement } from "./frontier/frontier.ts";
import type { PageOutcome } from "./types.ts";
import { tryPage, type Verdict, type VisitParts } from "./visit.ts";

type UnderwayOptions = {
  /** See `CrawlDeps`. */
  readonly extractionBacklog: number;
  /** Told of each outcome that this process has recorded of a shared crawl. */
  readonly onSettled: (outcome: PageOutcome) => void;
  /** Told what the log is to say of a page; null where diagnostics are not wanted. */
  readonly onDiagnosed: ((url: PageUrl, fields: LogFields) => void) | null;
  /** Called when the sink or the frontier has failed and the crawl cannot continue. */
  readonly onFatal: (error: unknown) => void;
  /** There may be room for another page. */
  readonly onChange: () => void;
};

/**
 * How long pages that are being stored may take once everything is to end, in ms. An upload that is broken off may
 * leave a page in the store that has no outcome.
 */
const STORING_MS = 500;

type Underway = { readonly page: ClaimedPage; done: Promise<void> };

/** The pages that this process has under way: claims them, tries them, and records what becomes of each. */
export class PagesUnderway {
  readonly #parts: VisitParts;
  readonly #options: UnderwayOptions;
  readonly #pages = new Set<Underway>();
  // The URLs of pages settled here, or about to be, that have not been told yet.
  readonly #own = new Set<PageUrl>();
  // These abort what is under way at the end, or when the claims are lost; then others take their places.
  #trying = new AbortController();
  #storing = new AbortController();
  #fetching = 0;

  constructor(parts: VisitParts, options: UnderwayOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  get size(): number {
    return this.#pages.size;
  }

  /** Lets pages begin, until the signal ends all of them; to be disposed of when they have ended. */
  until(stop: AbortSignal): Disposable {
    this.#trying = new AbortController();
    this.#storing = new AbortController();
    const stack = new DisposableStack();
    const end = (): void => {
      this.#trying.abort();
      const timer = setTimeout(() => this.#storing.abort(), STORING_MS);
      stack.defer(() => clearTimeout(timer));
    };
    stack.use(onAbort(stop, end));
    return stack;
  }

  /** Waits for all visits that are under way now. */
  async ended(): Promise<void> {
    await Promise.all([...this.#pages].map(({ done }) => done));
  }

  /** Tells, once, whether this process has settled the page, or is about to hear that it has. */
  takeOwn(url: PageUrl): boolean {
    return this.#own.delete(url);
  }

  /** Starts as many pages as there is room for. */
  async claim(): Promise<Omit<Claims, "pages" | "origins">> {
    const { frontier, metrics, plan, scope } = this.#parts;
    const { concurrency, hostDelayMs } = plan;
    const count = Math.min(
      concurrency - this.#fetching,
      // A page that waits for a comparison costs no work.
      concurrency + this.#options.extractionBacklog + this.#parts.renderingHistory.waiting - this.size,
    );
    if (count <= 0) return { waitMs: null, isOver: false };
    const { pages, waitMs, isOver, origins } = await frontier.claim({
      count,
      isHostExclusive: hostDelayMs > 0,
    });
    for (const origin of origins) scope.addOrigin(origin);
    if (pages.length > 0) metrics.count("crawl_claims", {}, pages.length);
    for (const page of pages) this.#start(page);
    return { waitMs, isOver };
  }

  /** Breaks off the pages that are other processes' by now. */
  dropLost(): void {
    const { frontier, log, metrics } = this.#parts;
    const lost = [...this.#pages].filter(({ page }) => !frontier.holds(page)).length;
    if (lost === 0) return;
    log.warning("claims lost", { pages: lost });
    metrics.count("crawl_claims_lost", {}, lost);
    this.#trying.abort();
    this.#storing.abort();
    this.#trying = new AbortController();
    this.#storing = new AbortController();
  }

  #start(page: ClaimedPage): void {
    this.#fetching++;
    const underway: Underway = { page, done: Promise.resolve() };
    const work = this.#work(page, this.#trying.signal, this.#storing.signal).catch(this.#options.onFatal);
    underway.done = work.then(() => {
      this.#pages.delete(underway);
      this.#options.onChange();
    });
    this.#pages.add(underway);
  }

  async #work(page: ClaimedPage, signal: AbortSignal, storing: AbortSignal): Promise<void> {
    const { frontier } = this.#parts;
    const { onChange, onDiagnosed } = this.#options;
    let hasFetched = false;
    const onFetched = async (): Promise<void> => {
      if (hasFetched) return;
      hasFetched = true;
      this.#fetching--;
      await this.#freeHost(page);
      onChange();
    };
    let verdict: Verdict;
    try {
      let freed: Promise<void> = Promise.resolve();
      verdict = await tryPage(page, this.#parts, {
        signal,
        storing,
        onFetched: () => {
          freed = onFetched();
          freed.catch(() => {}); // awaited below; until then it must not count as unhandled
        },
        ...(onDiagnosed && { onDiagnosed: (fields: LogFields) => onDiagnosed(page.url, fields) }),
      });
      await freed;
    } catch (error) {
      const isLost = signal.aborted || !frontier.holds(page);
      if (!isLost || !(error instanceof Failure && error.code === "cancelled")) throw error;
      verdict = { kind: "retry", next: { ...page, waitMs: 0, isAsked: true } };
    }
    if (verdict.kind === "retry") await frontier.retry(page, verdict.next);
    else await this.#settle(verdict.settlement);
    await onFetched();
  }

  async #settle(settlement: Settlement): Promise<void> {
    const { frontier, sink, log, metrics } = this.#parts;
    const { page, outcome } = settlement;
    const { url, depth, parent } = page;
    // Before the answer is here, this process may read the outcome back as the leader.
    if (frontier.isShared) this.#own.add(url);
    if (!(await frontier.settle(settlement))) {
      this.#own.delete(url);
      log.warning("settle refused", { url });
      metrics.count("crawl_settles_refused", {});
      return;
    }
    metrics.count("crawl_settles", {});
    // Nobody else has the page now, so what is removed is what the process stored that had lost it.
    if (page.isTakenOver && page.known === null && outcome.status !== "success") await sink.remove?.(url);
    if (frontier.isShared) this.#options.onSettled({ ...outcome, url, depth, parent });
  }

  /** Records when the host's next page may be claimed, unless it may be claimed at once. */
  async #freeHost(page: ClaimedPage): Promise<void> {
    const { frontier, plan, politeness } = this.#parts;
    const restMs = await politeness.restMs(page.host);
    if (plan.hostDelayMs > 0 || restMs > 0) await frontier.freeHost(page, restMs);
  }
}
