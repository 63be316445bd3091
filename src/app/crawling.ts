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
  type MapOptions,
  type MappedPage,
  mapSite,
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
  /** The log that reports a wait for the shared database; by default the program's log. */
  readonly waits?: Log;
  /** Ends the first wait for a database that cannot be reached. */
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

/** The crawls of one session, which share what they have read of robots.txt. */
export interface SessionCrawls {
  /** Throws what `runCrawlJob` throws. */
  crawl(
    plan: CrawlPlan,
    options: CrawlJobOptions,
    signal: AbortSignal,
    adapt?: AdaptCrawl,
  ): AsyncGenerator<CrawlEvent, void>;
  /** Lists the pages of a dry run; see `previewCrawl`. */
  previewCrawl(
    plan: CrawlPlan,
    options: PreviewOptions,
    signal: AbortSignal,
  ): AsyncGenerator<PlannedPage, void>;
  /** Lists the addresses of a site; see `mapSite`. */
  mapSite(plan: CrawlPlan, options: MapOptions, signal: AbortSignal): AsyncGenerator<MappedPage, void>;
}

/** Resources that all crawls of a program share. This module is loaded with the first crawl, not for single pages. */
export class Crawling implements AsyncDisposable {
  readonly database: LazyDatabase;
  readonly #options: CrawlingOptions;
  /** Two crawls together are as polite to a host as one. */
  readonly #slots: HostSlots;

  constructor(options: CrawlingOptions) {
    this.#options = options;
    this.#slots = options.hostSlots ?? createHostSlots(systemClock);
    const { settings, log, waits = log, metrics, signal } = options;
    this.database = createLazyDatabase({ settings, log: waits, metrics, signal });
  }

  openSession({ extractor, network, open, scope }: CrawlSession): SessionCrawls {
    const { settings, shell, metrics } = this.#options;
    const { http, fetchers, limits, userAgent, log } = open;
    const parts = {
      fetchers,
      pictureSource: { http, maxBytes: limits.pictureBytes },
      extractor,
      // Each worker has a page and the next one; fetching more only takes memory.
      extractionBacklog: 2 * extractor.workers,
      collection: GARBAGE_COLLECTION[shell],
      slots: this.#slots,
      robots: createRobotsCache({ fetcher: http, ...DEFAULT_ROBOTS_TIMES }),
      readSitemaps: createSitemapReader({ fetcher: http, limits: DEFAULT_SITEMAP_LIMITS }),
      userAgent,
      tries: limits.tries,
      clock: systemClock,
      log,
      metrics,
      hasDiagnostics: settings.logDiagnostics,
      network: networkEcho(network, { settings: shell === "cli" ? settings : null, limits, userAgent }),
      openShared: null,
    };
    let sharedRobots: RobotsCache | null = null;
    /** Knowledge about hosts, shared by the crawls of all processes of a database. */
    const shared = async (): Promise<Pick<CrawlJobParts, "openShared" | "slots" | "paces" | "robots">> => {
      const { slots, paces, robots } = await this.database.hosts();
      const store = robots(scope);
      sharedRobots ??= createRobotsCache({ fetcher: http, ...DEFAULT_ROBOTS_TIMES, store });
      const db = await this.database.open();
      const { openPostgresFrontier } = await import("../scale/index.ts");
      const openShared: CrawlJobParts["openShared"] = (frontier) => openPostgresFrontier({ ...frontier, db });
      return { openShared, slots, paces, robots: sharedRobots };
    };
    return {
      async *crawl(plan, options, signal, adapt = (same) => same) {
        const all = { ...parts, ...(options.shared && (await shared())) };
        yield* runCrawlJob(plan, options, adapt(all, http), signal);
      },
      previewCrawl: (plan, options, signal) => previewCrawl(plan, options, parts, signal),
      mapSite: (plan, options, signal) => mapSite(plan, options, parts, signal),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.database[Symbol.asyncDispose]();
  }
}
