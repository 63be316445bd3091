import { onAbort } from "../base/abort.ts";
import { Failure } from "../base/failure.ts";
import type { LogFields } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { RobotsCache } from "../fetching/index.ts";
import type { PageUrl } from "../urls/index.ts";
import type { ClaimedPage, Claims } from "./frontier/frontier.ts";
import type { HostSlots } from "./host-slots.ts";
import { Politeness } from "./politeness.ts";
import { createScope } from "./scope.ts";
import { seed } from "./seeding.ts";
import type { CrawlNotice, CrawlPlan, CrawlProgress, PageOutcome, ReadSitemaps } from "./types.ts";
import type { Verdict, VisitParts } from "./verdict.ts";
import { tryPage } from "./visit.ts";

/** The parts that a crawl works with. */
export type CrawlDeps = Pick<
  VisitParts,
  "frontier" | "sink" | "fetchers" | "extractor" | "tries" | "authorizations" | "clock" | "log" | "fallback"
> & {
  /** The slots are shared by every crawl of the program, so that two crawls together are as polite as one. */
  readonly slots: HostSlots;
  readonly robots: RobotsCache;
  /** The user agent as it is sent; robots.txt is read for its product token. */
  readonly userAgent: string;
  readonly readSitemaps: ReadSitemaps;
  /** The number of pages that may wait for a worker besides those being fetched, at least 1. */
  readonly extractionBacklog: number;
  /**
   * The heap is collected each time this many bytes of pages have arrived. The texts of pages are large and
   * short-lived, and the engine collects them late, by the machine's memory. A forced collection pauses the process
   * that crawls; otherwise the engine's own threads do most of the work, later, and free less.
   */
  readonly collection: { readonly everyBytes: number; readonly isAtOnce: boolean };
  readonly metrics: Metrics;
  /** Adds the request, the fetcher and timings to the log lines of each page. */
  readonly hasDiagnostics: boolean;
};

/** The number of outcomes that are reported before the loop looks for other work. */
const OUTCOMES_AT_ONCE = 256;

/** The news of a crawl: outcomes, each once, and notices. */
export type CrawlNews =
  | { readonly kind: "page"; readonly outcome: PageOutcome }
  | { readonly kind: "notice"; readonly notice: CrawlNotice };

/**
 * One running crawl. `news` crawls until nothing is left: breadth first by depth, each host in its turn, with
 * extraction on the workers while fetches continue. A page that fails is data. Leaving the loop stops the crawl, and
 * the frontier remembers its state. The caller calls `finish` and closes the frontier.
 */
export class CrawlRun {
  readonly #plan: CrawlPlan;
  readonly #deps: CrawlDeps;
  readonly #signal: AbortSignal;
  readonly #parts: VisitParts;
  // This aborts everything under way: on the caller's signal, a fatal failure, or the end of the loop.
  readonly #stop = new AbortController();
  readonly #underway = new Map<number, Promise<void>>();
  readonly #notices: CrawlNotice[] = [];
  // The diagnostics of pages that are not reported yet; empty unless they are wanted.
  readonly #diagnostics = new Map<PageUrl, LogFields>();
  #fetching = 0;
  #bytes = 0;
  #collectedAt = 0;
  #fatal: unknown = null;
  #wake = Promise.withResolvers<void>();

  constructor(plan: CrawlPlan, deps: CrawlDeps, signal: AbortSignal) {
    this.#plan = plan;
    this.#deps = deps;
    this.#signal = signal;
    this.#parts = {
      ...deps,
      plan,
      politeness: new Politeness(plan, deps),
      scope: createScope(plan, Date.parse(deps.frontier.crawl.startedAt)),
      onNotice: (notice) => this.#notice(notice),
      onBytes: (bytes) => {
        this.#bytes += bytes;
        if (this.#bytes - this.#collectedAt < deps.collection.everyBytes) return;
        this.#collectedAt = this.#bytes;
        Bun.gc(deps.collection.isAtOnce);
      },
    };
  }

  async progress(): Promise<CrawlProgress> {
    const counts = await this.#deps.frontier.counts();
    const { successful, failed, skipped, fetched, queued, underway: inFlight, untried } = counts;
    const progress = successful + failed + skipped;
    const left = Math.max(0, this.#plan.maxPages - fetched - untried);
    const total = progress + inFlight + Math.min(queued, left);
    return { progress, total, successful, failed, skipped, inFlight, queued, fetched, bytes: this.#bytes };
  }

  /** Queues what an earlier run of the program left out; from then on `progress` includes it. */
  async takeUp(): Promise<void> {
    const { frontier } = this.#deps;
    if (frontier.crawl.mode === "resumed") await frontier.requeueLeft(this.#plan.maxDepth);
  }

  /**
   * Crawls, and yields the outcomes in the order in which they were recorded, including those of refused seeds and of
   * leftovers.
   * @throws Failure when it cannot go on: `cancelled` by the signal, `unwritable_output` (sink or frontier),
   *   `invalid_usage` where every seed is refused, and a sitemap's where there is nothing else
   */
  async *news(): AsyncGenerator<CrawlNews, void> {
    using _ = onAbort(this.#signal, () => this.#stop.abort());
    try {
      yield* this.#begin();
      yield* this.#goOn();
      if (await this.#askForUnmet()) yield* this.#goOn();
      await this.#deps.frontier.dropQueued();
      yield* this.#told();
    } finally {
      this.#stop.abort();
      await Promise.all(this.#underway.values());
    }
  }

  async *#begin(): AsyncGenerator<CrawlNews, void> {
    const { frontier } = this.#deps;
    for (const origin of await frontier.origins()) this.#parts.scope.addOrigin(origin);
    if (frontier.state().isSeeded) return;
    const parts = { ...this.#deps, ...this.#parts };
    const hooks = { signal: this.#stop.signal, onNotice: this.#parts.onNotice };
    for await (const _ of seed(frontier, parts, hooks)) yield* this.#told();
    yield* this.#told();
  }

  async *#goOn(): AsyncGenerator<CrawlNews, void> {
    for (;;) {
      this.#wake = Promise.withResolvers<void>();
      yield* this.#told();
      if (this.#fatal !== null) throw this.#fatal;
      if (this.#signal.aborted) throw new Failure("cancelled", "the crawl was called off");
      const { waitMs, isOver } = await this.#claim();
      if (isOver && this.#underway.size === 0) return;
      await this.#wait(waitMs);
    }
  }

  /** Asks again for stored pages that no link leads to any more, because they may be gone. */
  async #askForUnmet(): Promise<boolean> {
    const { frontier, sink } = this.#deps;
    const { maxDepth, maxPages } = this.#plan;
    const { fetched, queued } = await frontier.counts();
    // When pages are left over, they may link to the unmet ones.
    if (!sink.retire || queued > 0 || fetched >= maxPages) return false;
    return (await frontier.queueUnmet({ maxDepth, count: maxPages - fetched })) > 0;
  }

  /** Yields what was recorded and noticed since the last call. */
  async *#told(): AsyncGenerator<CrawlNews, void> {
    for (const notice of this.#notices.splice(0)) yield { kind: "notice", notice };
    for (;;) {
      const outcomes = await this.#deps.frontier.takeRecorded(OUTCOMES_AT_ONCE);
      if (outcomes.length === 0) return;
      for (const { outcome, isLogged } of outcomes) {
        if (!isLogged) this.#report(outcome);
        yield { kind: "page", outcome };
      }
    }
  }

  /** Starts as many pages as there is room for. */
  async #claim(): Promise<Omit<Claims, "pages" | "origins">> {
    const { frontier, extractionBacklog } = this.#deps;
    const { concurrency, hostDelayMs } = this.#plan;
    const count = Math.min(
      concurrency - this.#fetching,
      concurrency + extractionBacklog - this.#underway.size,
    );
    if (count <= 0) return { waitMs: null, isOver: false };
    const { pages, waitMs, isOver, origins } = await frontier.claim({
      count,
      isHostExclusive: hostDelayMs > 0,
    });
    for (const origin of origins) this.#parts.scope.addOrigin(origin);
    for (const page of pages) this.#start(page);
    return { waitMs, isOver };
  }

  #start(page: ClaimedPage): void {
    this.#fetching++;
    const work = this.#work(page).catch((error: unknown) => {
      this.#fatal ??= error;
      this.#stop.abort();
    });
    const done = work.then(() => {
      this.#underway.delete(page.id);
      this.#wake.resolve();
    });
    this.#underway.set(page.id, done);
  }

  async #work(page: ClaimedPage): Promise<void> {
    const { frontier } = this.#deps;
    let hasFetched = false;
    const onFetched = async (): Promise<void> => {
      if (hasFetched) return;
      hasFetched = true;
      this.#fetching--;
      await this.#freeHost(page);
      this.#wake.resolve();
    };
    let verdict: Verdict;
    try {
      let freed: Promise<void> = Promise.resolve();
      verdict = await tryPage(page, this.#parts, {
        signal: this.#stop.signal,
        onFetched: () => {
          freed = onFetched();
          freed.catch(() => {}); // awaited below; until then it must not count as unhandled
        },
        ...(this.#deps.hasDiagnostics && {
          onDiagnosed: (fields: LogFields) => void this.#diagnostics.set(page.url, fields),
        }),
      });
      await freed;
    } catch (error) {
      if (!this.#stop.signal.aborted || !(error instanceof Failure && error.code === "cancelled"))
        throw error;
      verdict = { kind: "retry", next: { waitMs: 0, tries: page.tries, spentMs: page.spentMs } };
    }
    if (verdict.kind === "retry") await frontier.retry(page, verdict.next);
    else await frontier.settle(verdict.settlement);
    await onFetched();
  }

  /** Records when the host's next page may be claimed, unless it may be claimed at once. */
  async #freeHost(page: ClaimedPage): Promise<void> {
    const restMs = await this.#parts.politeness.restMs(page.host);
    if (this.#plan.hostDelayMs > 0 || restMs > 0) await this.#deps.frontier.freeHost(page, restMs);
  }

  /** Waits for news of this process's pages, this long at most; null waits only for them. */
  async #wait(ms: number | null): Promise<void> {
    const { promise, resolve } = this.#wake;
    const timer = ms === null ? null : setTimeout(resolve, Math.min(ms, MAX_WAIT_MS));
    using _ = onAbort(this.#stop.signal, resolve);
    await promise;
    if (timer !== null) clearTimeout(timer);
  }

  #notice(notice: CrawlNotice): void {
    this.#notices.push(notice);
    this.#wake.resolve();
  }

  #report({ url, status, httpStatus, depth, wordCount, reason, error }: PageOutcome): void {
    const { log, metrics } = this.#deps;
    metrics.count(`crawled_pages.${status}`);
    if (error !== null) metrics.count(`failures.${error.code}`);
    const diagnostics = this.#diagnostics.get(url);
    this.#diagnostics.delete(url);
    const fields = { url, outcome: status, status: httpStatus, depth, word_count: wordCount, ...diagnostics };
    if (status === "failed")
      log.warning("page failed", { ...fields, code: error?.code, reason: error?.message });
    else
      log.info(
        status === "skipped" ? "page skipped" : "page crawled",
        reason ? { ...fields, reason } : fields,
      );
  }
}

/** A host's pause may last longer; checking again costs nothing. */
const MAX_WAIT_MS = 60_000;
