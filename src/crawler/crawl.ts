import { createErrorPages, MarkdownAlternates, RenderingHistory } from "../articles/index.ts";
import { onAbort } from "../base/abort.ts";
import { yieldToEventLoop } from "../base/event-loop.ts";
import { Failure } from "../base/failure.ts";
import type { LogFields } from "../base/log.ts";
import type { PageUrl } from "../urls/index.ts";
import type { FrontierCounts } from "./frontier/frontier.ts";
import type { CrawlPlan } from "./plan.ts";
import { Politeness, type PolitenessParts } from "./politeness.ts";
import { createScope } from "./scope.ts";
import { seed } from "./seeding.ts";
import type { CrawlEvent, CrawlNotice, CrawlProgress, PageOutcome, ReadSitemaps } from "./types.ts";
import { PagesUnderway } from "./underway.ts";
import type { VisitParts } from "./visit.ts";

/** The parts that a crawl works with. */
export type CrawlDeps = Pick<
  VisitParts,
  | "frontier"
  | "sink"
  | "pictures"
  | "fetchers"
  | "extractor"
  | "tries"
  | "authorizations"
  | "clock"
  | "log"
  | "metrics"
  | "fallback"
  | "takeEach"
  | "trustsNotModified"
> &
  Pick<PolitenessParts, "slots" | "paces" | "robots" | "userAgent"> & {
    readonly readSitemaps: ReadSitemaps;
    /** The number of pages that may wait for a worker besides those being fetched, at least 1. */
    readonly extractionBacklog: number;
    /**
     * The heap is collected each time this many bytes of pages have arrived. The texts of pages are large and
     * short-lived, and the engine collects them late, by the machine's memory. A forced collection pauses the process
     * that crawls; otherwise the engine's own threads do most of the work, later, and free less.
     */
    readonly collection: { readonly everyBytes: number; readonly isAtOnce: boolean };
    /** Adds the request, the fetcher and timings to the log lines of each page. */
    readonly hasDiagnostics: boolean;
    readonly keepTold?: (() => Promise<void>) | undefined;
    /** Leaves what an earlier run has left out. */
    readonly retriesFailed?: boolean;
  };

/** The number of outcomes that are reported before the loop looks for other work. */
const OUTCOMES_AT_ONCE = 256;
/** How often a process looks again whether others have seeded or ended their crawl, in ms; it is also woken. */
const LOOK_MS = 500;
/** How often the outcomes of several processes are put in order, and their counts read, in ms. */
const GATHER_MS = 500;

/** The news of a crawl: outcomes, each once, and notices. */
type CrawlNews =
  | Omit<Extract<CrawlEvent, { kind: "page" }>, "progress">
  | Extract<CrawlEvent, { kind: "notice" }>;

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
  readonly #underway: PagesUnderway;
  // This aborts everything under way: on the caller's signal, a fatal failure, or the end of the loop.
  #stop = new AbortController();
  readonly #news: CrawlNews[] = [];
  // The diagnostics of pages that are not reported yet; empty unless they are wanted.
  readonly #diagnostics = new Map<PageUrl, LogFields>();
  #isTakenUp = false;
  #hasBegun = false;
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
      politeness: new Politeness(plan, { ...deps, onNotice: (notice) => this.#notice(notice) }),
      errorPages: createErrorPages(),
      markdownAlternates: new MarkdownAlternates(),
      renderingHistory: new RenderingHistory(),
      scope: createScope(plan),
      onNotice: (notice) => this.#notice(notice),
      onBytes: (bytes) => {
        this.#bytes += bytes;
        if (this.#bytes - this.#collectedAt < deps.collection.everyBytes) return;
        this.#collectedAt = this.#bytes;
        Bun.gc(deps.collection.isAtOnce);
      },
    };
    this.#underway = new PagesUnderway(this.#parts, {
      extractionBacklog: deps.extractionBacklog,
      onSettled: (outcome) => this.#noteSettled(outcome),
      onDiagnosed: deps.hasDiagnostics ? (url, fields) => void this.#diagnostics.set(url, fields) : null,
      onFatal: (error) => {
        this.#fatal ??= error;
        this.#stop.abort();
      },
      onChange: () => this.#wake.resolve(),
    });
  }

  /** The last result of `progress`; null before its first call. */
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
    const { frontier, retriesFailed = false } = this.#deps;
    if (frontier.crawl.mode === "resumed" && !retriesFailed) await frontier.requeueLeft(this.#plan.maxDepth);
    this.#isTakenUp = true;
  }

  /**
   * Crawls until nothing is left or another process has finished the crawl, and yields outcomes: the leader yields all
   * outcomes in the order of their recording, including refused seeds and leftovers; another process yields its own. It
   * may be called again if this process lost the lead before it could finish.
   * @throws Failure when it cannot continue: `cancelled` by the signal, `unwritable_output` (sink or frontier),
   *   `invalid_usage` if every seed is refused, and a sitemap's failure if there is nothing else to crawl; also the
   *   failure with which the leader stopped the crawl
   */
  async *news(): AsyncGenerator<CrawlNews, void> {
    this.#stop = new AbortController();
    using _ = this.#underway.until(this.#stop.signal);
    using _signal = onAbort(this.#signal, () => this.#stop.abort());
    this.#deps.frontier.watch(() => this.#look());
    try {
      for (const origin of await this.#deps.frontier.origins()) this.#parts.scope.addOrigin(origin);
      yield* this.#goOn();
    } finally {
      this.#stop.abort();
      await this.#underway.ended();
    }
  }

  async *#goOn(): AsyncGenerator<CrawlNews, void> {
    const { frontier } = this.#deps;
    for (;;) {
      this.#wake = Promise.withResolvers<void>();
      yield* this.#told();
      if (this.#fatal !== null) throw this.#fatal;
      if (this.#signal.aborted) throw new Failure("cancelled", "the crawl was cancelled");
      const { leads, isSeeded, end } = frontier.state();
      if (end === "finished") {
        // The database may have the last results of this process, and know the end, before this process has the answer.
        await this.#underway.ended();
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
    const { waitMs, isOver } = await this.#underway.claim();
    if (isOver && this.#underway.size === 0) return true;
    // Outcomes of other processes are reported even while the pages of this one take long.
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
        yield { kind: "page", outcome, isOwn: this.#underway.takeOwn(outcome.url) || !isLogged };
      }
    }
  }

  /** Reacts to what other processes, or the loss of this one's claims, have changed. */
  #look(): void {
    const { frontier } = this.#deps;
    this.#underway.dropLost();
    if (!frontier.state().leads) this.#hasBegun = false;
    if (frontier.state().end !== null) this.#stop.abort();
    this.#wake.resolve();
  }

  /** Waits for news of this process's pages, this long at most; null waits only for them. */
  async #wait(ms: number | null): Promise<void> {
    const { promise, resolve } = this.#wake;
    const timer = ms === null ? null : setTimeout(resolve, Math.min(ms, MAX_WAIT_MS));
    using _ = onAbort(this.#stop.signal, resolve);
    await promise;
    if (timer !== null) clearTimeout(timer);
    // Pages that end at the same moment are reported, and replaced, by one transaction.
    await yieldToEventLoop();
  }

  /** Takes up what this process has recorded of a shared crawl; the leader tells it with what the others have. */
  #noteSettled(outcome: PageOutcome): void {
    this.#report(outcome);
    if (!this.#deps.frontier.state().leads && this.#underway.takeOwn(outcome.url))
      this.#news.push({ kind: "page", outcome, isOwn: true });
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
