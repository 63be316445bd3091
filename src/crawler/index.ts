export { createHostSlots, type HostSlots } from "./host-slots.ts";
export { type CrawlJobParts, previewCrawl, runCrawlJob } from "./job.ts";
export { type ManifestEntry, manifestEntry } from "./manifest-entry.ts";
export { warningOf } from "./notices.ts";
export { isInStateDirectory, STATE_DIRECTORY } from "./output.ts";
export { CRAWL_RANGES, createCrawlPlan } from "./plan.ts";
export { openJobQueue } from "./queue/queue.ts";
export { type ClaimedJob, JOB_STATES, type JobEvent, type JobQueue, type JobRecord } from "./queue/types.ts";
export { createSharedHostSlots } from "./shared-host-slots.ts";
export { createSitemapReader } from "./sitemap/read-sitemaps.ts";
export { parseSitemapSource } from "./sitemap/source.ts";
export { DEFAULT_SITEMAP_LIMITS } from "./sitemap/types.ts";
export { contentHashOf } from "./store-article.ts";
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
  SkipReason,
} from "./types.ts";
