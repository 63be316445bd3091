export type {
  ClaimedPage,
  ClaimOptions,
  Claims,
  CrawlRecord,
  CrawlState,
  Frontier,
  FrontierCounts,
  FrontierEntry,
  FrontierTallies,
  NextTry,
  RecordedOutcome,
  Settlement,
} from "./frontier/frontier.ts";
export { packLinks, type StoredRow, toKnownPage, unpackLinks } from "./frontier/memory.ts";
export {
  asksAnew,
  comparePlans,
  FRONTIER_FILE,
  nextCrawl,
  otherScope,
  type PlanChanges,
  planDifferences,
  planText,
  removeFrontier,
  type SharedFrontierOptions,
} from "./frontier/open.ts";
export { type OutcomeRow, type TallyRow, toPageOutcome, toTallies } from "./frontier/outcomes.ts";
export {
  countedBy,
  isCounted,
  judge,
  keptLinks,
  makesRoom,
  memoryOf,
  type NamedPage,
  waitsFor,
  wasTransient,
} from "./frontier/rules.ts";
export { SOURCES, STATUSES } from "./frontier/schema.ts";
export {
  createHostSlots,
  createSharedHostSlots,
  type HostSlots,
  type HostTurn,
  sentAt,
} from "./host-slots.ts";
export { type CrawlJobParts, previewCrawl, runCrawlJob } from "./job.ts";
export { lastCrawl, MANIFEST_START, type ManifestEntry, manifestEntry, warningOf } from "./manifest.ts";
export { mapSite } from "./map.ts";
export { isInStateDirectory, STATE_DIRECTORY } from "./output.ts";
export { type CrawlPlan, createCrawlPlan, LAST } from "./plan.ts";
export { type HostPace, type HostPaces, type HostRefusal, paceAfterRefusal } from "./politeness.ts";
export { findFinishedJobs } from "./queue/finished.ts";
export {
  type ClaimedJob,
  JOB_STATES,
  type JobEnd,
  type JobEvent,
  type JobQueue,
  type JobQueueLimits,
  type JobRecord,
  type JobReport,
  MAX_FINISHED,
  PRESENCE_MS,
  type StoredEvent,
} from "./queue/jobs.ts";
export { type QueueEngine, type QueueWords, SqlJobQueue } from "./queue/queue.ts";
export { openSqliteJobQueue } from "./queue/sqlite.ts";
export { DEFAULT_SITEMAP_LIMITS, parseSitemapSource, sitemapsOfRobots } from "./sitemap/open.ts";
export { createSitemapReader } from "./sitemap/read-sitemaps.ts";
export type {
  CrawlEvent,
  CrawledPage,
  CrawlJobOptions,
  CrawlNotice,
  CrawlOutput,
  CrawlProgress,
  CrawlSummary,
  FallbackExtractor,
  MapOptions,
  MappedPage,
  OutputOptions,
  OutputPlace,
  PageOutcome,
  PageSink,
  PauseReason,
  PlannedPage,
  PreviewOptions,
  ReadSitemaps,
} from "./types.ts";
export { contentHashOf, outcomeOf, storedPage } from "./visit.ts";
