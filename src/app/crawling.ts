import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import {
  type CrawlEvent,
  type CrawlJobOptions,
  type CrawlJobParts,
  type CrawlPlan,
  createHostSlots,
  createSitemapReader,
  DEFAULT_SITEMAP_LIMITS,
  type HostSlots,
  type PlannedPage,
  type PreviewOptions,
  previewCrawl,
  runCrawlJob,
} from "../crawler/index.ts";
import type { Extractor } from "../extraction/index.ts";
import {
  createRobotsCache,
  DEFAULT_ROBOTS_TIMES,
  type HttpFetcher,
  type RobotsCache,
  systemClock,
} from "../fetching/index.ts";
import { GARBAGE_COLLECTION, type Settings } from "../settings/index.ts";
import { createLazyDatabase, type LazyDatabase } from "./database.ts";
import { type NetworkOptions, networkEcho, type OpenNetwork } from "./network.ts";

export type AdaptCrawl = (parts: CrawlJobParts, http: HttpFetcher) => CrawlJobParts;

export type CrawlingOptions = {
  readonly settings: Settings;
  readonly log: Log;
  /** Where a wait for the shared database is told of, by default in the log. */
  readonly waits?: Log;
  /** Ends the wait for a database that is away when it is first needed. */
  readonly signal?: AbortSignal;
  /** The shell whose extractions the metrics count. */
  readonly shell: "cli" | "server";
  /** The metrics; whoever opened them disposes of them after the app. */
  readonly metrics: Metrics;
  /** The host slots; by default those of this process alone. */
  readonly hostSlots?: HostSlots;
};

/** The session that crawls belong to. */
type CrawlSession = {
  readonly extractor: Extractor;
  readonly network: NetworkOptions;
  readonly open: OpenNetwork;
  /** Tells what this caller may reach from what others may. */
  readonly scope: string;
};

/** Resources that all crawls of a program share. This module is loaded with the first crawl, not for single pages. */
export class Crawling implements AsyncDisposable {
  readonly database: LazyDatabase;
  /** Two crawls together are as polite to a host as one. */
  readonly slots: HostSlots;
  readonly options: CrawlingOptions;

  constructor(options: CrawlingOptions) {
    this.options = options;
    this.slots = options.hostSlots ?? createHostSlots(systemClock);
    this.database = createLazyDatabase({ ...options, log: options.waits ?? options.log });
  }

  openSession(session: CrawlSession): SessionCrawls {
    return new SessionCrawls(this, session);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.database[Symbol.asyncDispose]();
  }
}

/** The crawls of one session, which share what they have read of robots.txt. */
export class SessionCrawls {
  readonly #crawling: Crawling;
  readonly #session: CrawlSession;
  readonly #parts: Omit<CrawlJobParts, "openShared">;
  #sharedRobots: RobotsCache | null = null;

  constructor(crawling: Crawling, session: CrawlSession) {
    const { settings, shell, metrics } = crawling.options;
    const { extractor, network } = session;
    const { http, fetchers, limits, userAgent, log } = session.open;
    this.#crawling = crawling;
    this.#session = session;
    this.#parts = {
      fetchers,
      extractor,
      // Each worker has a page and the next one; fetching more only takes memory.
      extractionBacklog: 2 * extractor.workers,
      collection: GARBAGE_COLLECTION[shell],
      slots: crawling.slots,
      robots: createRobotsCache({ fetcher: http, ...DEFAULT_ROBOTS_TIMES }),
      readSitemaps: createSitemapReader({ fetcher: http, limits: DEFAULT_SITEMAP_LIMITS }),
      userAgent,
      tries: limits.tries,
      clock: systemClock,
      log,
      metrics,
      hasDiagnostics: settings.logDiagnostics,
      network: networkEcho(network, { settings: shell === "cli" ? settings : null, limits, userAgent }),
    };
  }

  /** See `ArticleSession.crawl`. */
  async *run(
    plan: CrawlPlan,
    options: CrawlJobOptions,
    signal: AbortSignal,
    adapt: AdaptCrawl = (same) => same,
  ): AsyncGenerator<CrawlEvent, void> {
    const known = options.shared ? await this.#shared() : { openShared: null };
    yield* runCrawlJob(plan, options, adapt({ ...this.#parts, ...known }, this.#session.open.http), signal);
  }

  /** See `ArticleSession.previewCrawl`. */
  preview(plan: CrawlPlan, options: PreviewOptions, signal: AbortSignal): AsyncGenerator<PlannedPage, void> {
    return previewCrawl(plan, options, { ...this.#parts, openShared: null }, signal);
  }

  /** Knowledge about hosts, shared by the crawls of all processes of a database. */
  async #shared(): Promise<Pick<CrawlJobParts, "openShared" | "slots" | "paces" | "robots">> {
    const { database } = this.#crawling;
    const { slots, paces, robots } = await database.hosts();
    this.#sharedRobots ??= createRobotsCache({
      fetcher: this.#session.open.http,
      ...DEFAULT_ROBOTS_TIMES,
      store: robots(this.#session.scope),
    });
    const db = await database.open();
    const { openPostgresFrontier } = await import("../scale/index.ts");
    return {
      openShared: (frontier) => openPostgresFrontier({ ...frontier, db }),
      slots,
      paces,
      robots: this.#sharedRobots,
    };
  }
}
