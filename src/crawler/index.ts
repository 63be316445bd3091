export { createHostSlots, createSharedHostSlots, type HostSlots } from "./host-slots.ts";
export { openSharedHosts, type SharedHosts } from "./host-slots-postgres.ts";
export { CRAWL_RANGES, type CrawlJobParts, createCrawlPlan, previewCrawl, runCrawlJob } from "./job.ts";
export { type ManifestEntry, manifestEntry, warningOf } from "./manifest.ts";
export { isInStateDirectory, STATE_DIRECTORY } from "./output.ts";
export {
  type ClaimedJob,
  JOB_STATES,
  type JobEvent,
  type JobQueue,
  type JobRecord,
  type JobReport,
  type StoredEvent,
} from "./queue/jobs.ts";
export { openPostgresJobQueue } from "./queue/postgres.ts";
export { openSqliteJobQueue } from "./queue/sqlite.ts";
export { DEFAULT_SITEMAP_LIMITS, parseSitemapSource, sitemapsOfRobots } from "./sitemap/open.ts";
export { createSitemapReader } from "./sitemap/read-sitemaps.ts";
export type {
  CrawlEvent,
  CrawledPage,
  CrawlJobOptions,
  CrawlNotice,
  CrawlOutput,
  CrawlPlan,
  CrawlProgress,
  CrawlSummary,
  FallbackExtractor,
  PageOutcome,
  PageSink,
  PlannedPage,
  PreviewOptions,
  ReadSitemaps,
  SitemapUrl,
} from "./types.ts";
export { contentHashOf } from "./verdict.ts";
