import { onAbort } from "../base/abort.ts";
import { Failure } from "../base/failure.ts";
import type { LogFields } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { RobotsCache } from "../fetching/index.ts";
import type { PageUrl } from "../urls/index.ts";
import type { ClaimedPage, Claims, FrontierCounts, Settlement } from "./frontier/frontier.ts";
import type { HostPaces } from "./host-paces.ts";
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
  /** See `PolitenessParts`. */
  readonly paces?: HostPaces | undefined;
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
  readonly keepTold?: (() => Promise<void>) | undefined;
};

/** The number of outcomes that are reported before the loop looks for other work. */
const OUTCOMES_AT_ONCE = 256;
/** How often a process looks again whether others have seeded or ended their crawl, in ms; it is also woken. */
const LOOK_MS = 500;
/** How often the outcomes of several processes are put in order, and their counts read, in ms. */
const GATHER_MS = 500;

/** The news of a crawl: outcomes, each once, and notices. */
export type CrawlNews =
  | {
      readonly kind: "page";
      readonly outcome: PageOutcome;
      /** Whether this process has recorded it. */
      readonly isOwn: boolean;
    }
  | { readonly kind: "notice"; readonly notice: CrawlNotice };

type Underway = { readonly page: ClaimedPage; done: Promise<void> };

/**
 * One running crawl, or this process's part of one that several processes share. `news` crawls until nothing is left:
 * breadth first by depth, each host in its turn, with extraction on the workers while fetches continue. A page that
 * fails is data. Leaving the loop hands back what is under way, and the frontier remembers the state. The caller calls
 * `finish` and closes the frontier.
 */
export class CrawlRun {
  readonly #plan: CrawlPlan;
  readonly #deps: CrawlDeps;
  readonly #signal: AbortSignal;
  readonly #parts: VisitParts;
  // This aborts everything under way: on the caller's signal, a fatal failure, or the end of the loop.
  #stop = new AbortController();
  // This aborts what is under way when the claims are lost; then another takes its place.
  #claims = new AbortController();
  readonly #underway = new Set<Underway>();
  readonly #news: CrawlNews[] = [];
  // The URLs of pages settled here, or about to be, that have not been told yet.
  readonly #own = new Set<PageUrl>();
  // The diagnostics of pages that are not reported yet; empty unless they are wanted.
  readonly #diagnostics = new Map<PageUrl, LogFields>();
  #isTakenUp = false;
  #hasBegun = false;
  #fetching = 0;
  #bytes = 0;
  #collectedAt = 0;
  #toldAt = Number.NEGATIVE_INFINITY;
  /** The counts that belong to the outcomes told last. */
  #counted: FrontierCounts | null = null;
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

  /** What `progress` returned last; null before its first call. */
  lastProgress: CrawlProgress | null = null;

  /** The progress of the whole crawl. Several processes' is as of the outcomes told last, unless it is the last. */
  async progress({ isLast = false } = {}): Promise<CrawlProgress> {
    const counts = await this.#counts(isLast);
    const { successful, failed, skipped, fetched, queued, underway: inFlight, untried } = counts;
    const progress = successful + failed + skipped;
    const left = Math.max(0, this.#plan.maxPages - fetched - untried);
    const total = progress + inFlight + Math.min(queued, left);
    const bytes = this.#bytes;
    this.lastProgress = { progress, total, successful, failed, skipped, inFlight, queued, fetched, bytes };
    return this.lastProgress;
  }

  async #counts(isLast: boolean): Promise<FrontierCounts> {
    const { frontier } = this.#deps;
    if (!frontier.isShared) return frontier.counts();
    if (isLast) this.#counted = null;
    this.#counted ??= await frontier.counts();
    return this.#counted;
  }

  /** Queues what an earlier run of the program left out; from then on `progress` includes it. The leader calls it. */
  async takeUp(): Promise<void> {
    if (this.#isTakenUp) return;
    const { frontier } = this.#deps;
    if (frontier.crawl.mode === "resumed") await frontier.requeueLeft(this.#plan.maxDepth);
    this.#isTakenUp = true;
  }

  /**
   * Crawls until nothing is left or another process has finished the crawl, and yields outcomes: the leader all of
   * them, in the order in which they were recorded, including those of refused seeds and of leftovers; another process
   * its own. It may be called again when this process has lost the lead before it could finish.
   * @throws Failure when it cannot go on: `cancelled` by the signal, `unwritable_output` (sink or frontier),
   *   `invalid_usage` where every seed is refused, and a sitemap's where there is nothing else; also what the leader
   *   stopped the crawl for
   */
  async *news(): AsyncGenerator<CrawlNews, void> {
    this.#stop = new AbortController();
    this.#claims = new AbortController();
    using _ = onAbort(this.#stop.signal, () => this.#claims.abort());
    using _signal = onAbort(this.#signal, () => this.#stop.abort());
    this.#deps.frontier.watch(() => this.#look());
    try {
      for (const origin of await this.#deps.frontier.origins()) this.#parts.scope.addOrigin(origin);
      yield* this.#goOn();
    } finally {
      this.#stop.abort();
      await Promise.all([...this.#underway].map(({ done }) => done));
    }
  }

  async *#goOn(): AsyncGenerator<CrawlNews, void> {
    const { frontier } = this.#deps;
    for (;;) {
      this.#wake = Promise.withResolvers<void>();
      yield* this.#told();
      if (this.#fatal !== null) throw this.#fatal;
      if (this.#signal.aborted) throw new Failure("cancelled", "the crawl was called off");
      const { leads, isSeeded, end } = frontier.state();
      if (end === "finished") {
        // The database may have the last results of this process, and know the end, before this process has the answer.
        await Promise.all([...this.#underway].map(({ done }) => done));
        yield* this.#news.splice(0);
        return;
      }
      if (end !== null) throw Failure.of(end);
      if (leads && !this.#hasBegun) yield* this.#begin();
      else if (!isSeeded) await this.#wait(LOOK_MS);
      else if (await this.#crawlOn()) {
        if (!leads) await this.#wait(LOOK_MS);
        else if (!(await this.#askForUnmet())) break;
      }
    }
    await frontier.dropQueued();
    yield* this.#told({ isLast: true });
  }

  /** Seeds the crawl as its leader. When an earlier leader was lost meanwhile, seeding again changes nothing. */
  async *#begin(): AsyncGenerator<CrawlNews, void> {
    const { frontier, log } = this.#deps;
    if (frontier.isShared) log.info("leads the crawl");
    await this.takeUp();
    if (!frontier.state().isSeeded) {
      const parts = { ...this.#deps, ...this.#parts };
      const hooks = { signal: this.#stop.signal, onNotice: this.#parts.onNotice };
      try {
        for await (const _ of seed(frontier, parts, hooks)) {
          yield* this.#told();
          if (!frontier.state().leads) return;
        }
      } catch (error) {
        // The others would fail in the same way.
        if (error instanceof Failure && !this.#stop.signal.aborted) await frontier.stop(error.toRecord());
        throw error;
      }
      yield* this.#told();
    }
    this.#hasBegun = true;
  }

  /** @returns whether nothing is left in any process; before that it waits until there may be more */
  async #crawlOn(): Promise<boolean> {
    const { waitMs, isOver } = await this.#claim();
    if (isOver && this.#underway.size === 0) return true;
    // What others recorded is told also while the pages of this process take long.
    await this.#wait(
      this.#deps.frontier.isShared && this.#hasBegun ? Math.min(waitMs ?? GATHER_MS, GATHER_MS) : waitMs,
    );
    return false;
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
  async *#told({ isLast = false } = {}): AsyncGenerator<CrawlNews, void> {
    yield* this.#news.splice(0);
    const { frontier } = this.#deps;
    if (!frontier.state().leads) return;
    const now = performance.now();
    if (frontier.isShared && !isLast && now - this.#toldAt < GATHER_MS) return;
    this.#toldAt = now;
    for (;;) {
      await this.#deps.keepTold?.(); // the next call counts those before as told
      const outcomes = await frontier.takeRecorded(OUTCOMES_AT_ONCE);
      if (outcomes.length === 0) return;
      this.#counted = null;
      for (const { outcome, isLogged } of outcomes) {
        if (!isLogged) this.#report(outcome);
        yield { kind: "page", outcome, isOwn: this.#own.delete(outcome.url) || !isLogged };
      }
    }
  }

  /** Reacts to what other processes, or the loss of this one's claims, have changed. */
  #look(): void {
    const { frontier, log, metrics } = this.#deps;
    const lost = [...this.#underway].filter(({ page }) => !frontier.holds(page)).length;
    if (lost > 0) {
      log.warning("claims lost", { pages: lost });
      metrics.count("crawl_claims_lost", {}, lost);
      this.#claims.abort();
      this.#claims = new AbortController();
    }
    if (!frontier.state().leads) this.#hasBegun = false;
    if (frontier.state().end !== null) this.#stop.abort();
    this.#wake.resolve();
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
    if (pages.length > 0) this.#deps.metrics.count("crawl_claims", {}, pages.length);
    for (const page of pages) this.#start(page);
    return { waitMs, isOver };
  }

  #start(page: ClaimedPage): void {
    this.#fetching++;
    const underway: Underway = { page, done: Promise.resolve() };
    const work = this.#work(page, this.#claims.signal).catch((error: unknown) => {
      this.#fatal ??= error;
      this.#stop.abort();
    });
    underway.done = work.then(() => {
      this.#underway.delete(underway);
      this.#wake.resolve();
    });
    this.#underway.add(underway);
  }

  async #work(page: ClaimedPage, signal: AbortSignal): Promise<void> {
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
        signal,
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
      const isLost = signal.aborted || !frontier.holds(page);
      if (!isLost || !(error instanceof Failure && error.code === "cancelled")) throw error;
      verdict = { kind: "retry", next: { ...page, waitMs: 0, isAsked: true } };
    }
    if (verdict.kind === "retry") await frontier.retry(page, verdict.next);
    else await this.#settle(verdict.settlement);
    await onFetched();
  }

  async #settle(settlement: Settlement): Promise<void> {
    const { frontier, sink, log, metrics } = this.#deps;
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
    if (!frontier.isShared) return;
    const recorded = { ...outcome, url, depth, parent };
    this.#report(recorded);
    if (!frontier.state().leads && this.#own.delete(url))
      this.#news.push({ kind: "page", outcome: recorded, isOwn: true });
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
    this.#news.push({ kind: "notice", notice });
    this.#wake.resolve();
  }

  #report({ url, status, httpStatus, depth, wordCount, reason, error }: PageOutcome): void {
    const { log, metrics } = this.#deps;
    metrics.count("crawl_pages", { outcome: status });
    if (error !== null) metrics.count("failures", { code: error.code });
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
