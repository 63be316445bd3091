export { previewCrawl, runCrawlJob } from "./job.ts";
export { type ManifestEntry, manifestEntry } from "./manifest-entry.ts";
export { CRAWL_RANGES, createCrawlPlan } from "./plan.ts";
export type {
  CrawlEvent,
  CrawledPage,
  CrawlJobOptions,
  CrawlNotice,
  CrawlOutput,
  CrawlPlan,
  CrawlProgress,
  CrawlRequest,
  CrawlSummary,
  LinkRefusal,
  PageOutcome,
  PageSink,
  PlannedPage,
  ReadSitemaps,
  SitemapNews,
  SitemapUrl,
  SkipReason,
} from "./types.ts";
