import type { Log } from "../../base/log.ts";
import type { CrawlEvent, CrawlJobOptions, CrawlJobParts, CrawlPlan } from "../../crawler/index.ts";
import type { HttpFetcher } from "../../fetching/index.ts";
import type { PageStore } from "../../pages/index.ts";
import type { OnlineTenant } from "../settings.ts";
import type { RemoteExtractor } from "./fallback.ts";
import type { CrawlPoliteness } from "./plan.ts";

/** Crawls for one tenant. */
export interface TenantCrawler extends AsyncDisposable {
  crawl(
    plan: CrawlPlan,
    options: CrawlJobOptions,
    signal: AbortSignal,
    adapt: (parts: CrawlJobParts, http: HttpFetcher) => CrawlJobParts,
  ): AsyncGenerator<CrawlEvent, void>;
}

/** What all websites share for reaching them. */
export type WebAccess = {
  readonly politeness: CrawlPoliteness;
  /** Opens a crawler that may reach these hosts, and others as the egress policy decides. */
  readonly openCrawler: (
    hosts: readonly string[],
    options: { readonly acceptMarkdown: boolean },
  ) => TenantCrawler;
  readonly fallback: RemoteExtractor | null;
};

export type OnlineSourceOptions = {
  readonly access: WebAccess;
  /**
   * An absolute path; the directory holds the crawl's memory, pages that wait to be judged, and the ledger.
   */
  readonly stateDirectory: string;
  readonly log: Log;
  /** The time in milliseconds since 1970. */
  readonly now: () => number;
};

/** The objects that the steps of a sync work with. */
export type OnlineParts = {
  readonly tenant: OnlineTenant;
  readonly options: OnlineSourceOptions;
  /** The published documents. */
  readonly published: PageStore;
  readonly ledgerPath: string;
};
