export type {
  ClaimedPage,
  ClaimOptions,
  Claims,
  CrawlRecord,
  Frontier,
  FrontierCounts,
  FrontierEntry,
  FrontierTallies,
  KnownPage,
  NextTry,
  Settlement,
} from "./frontier/frontier.ts";
export { openSqliteFrontier } from "./frontier/open.ts";
export type { OpenFrontierOptions } from "./frontier/take-up.ts";
export { createHostSlots, type HostSlots, type HostTurn } from "./host-slots.ts";
export { type CrawlJobParts, runCrawlJob } from "./job.ts";
export { type ManifestEntry, manifestEntry } from "./manifest-entry.ts";
export { warningOf } from "./notices.ts";
export { createFileSink, isInStateDirectory, STATE_DIRECTORY } from "./output.ts";
export { CRAWL_RANGES, createCrawlPlan } from "./plan.ts";
export { previewCrawl } from "./preview.ts";
export { type JobQueueOptions, openJobQueue } from "./queue/queue.ts";
export {
  type ClaimedJob,
  JOB_STATES,
  type JobCounts,
  type JobEnd,
  type JobEvent,
  type JobQueue,
  type JobRecord,
  type JobReport,
  type JobState,
  type NewJob,
  type StoredEvent,
} from "./queue/types.ts";
export { createSharedHostSlots, type SharedHostSlotsOptions } from "./shared-host-slots.ts";
export { createSitemapReader } from "./sitemap/read-sitemaps.ts";
export { parseSitemapSource } from "./sitemap/source.ts";
export { DEFAULT_SITEMAP_LIMITS } from "./sitemap/types.ts";
export { contentHashOf } from "./store-article.ts";
export type {
  ChangesOutput,
  CrawlEvent,
  CrawledPage,
  CrawlJobOptions,
  CrawlNotice,
  CrawlOutput,
  CrawlPlan,
  CrawlProgress,
  CrawlRequest,
  CrawlSummary,
  FallbackExtractor,
  LinkRefusal,
  PageChange,
  PageOutcome,
  PageSink,
  PlannedPage,
  PreviewOptions,
  ReadSitemaps,
  SitemapNews,
  SitemapUrl,
  SkipReason,
} from "./types.ts";
