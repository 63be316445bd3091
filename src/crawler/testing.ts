// What tests and benches use of this room besides its door; nothing of the product does.
export type { ClaimedPage, Frontier, FrontierEntry, Settlement } from "./frontier/frontier.ts";
export { openSqliteFrontier } from "./frontier/open.ts";
export { openPostgresFrontier, type PostgresFrontierOptions } from "./frontier/postgres.ts";
export { createHostPaces, type HostPaces } from "./host-paces.ts";
export type { ManifestEntry } from "./manifest.ts";
export { createFileSink } from "./output.ts";
export { EVENT_AGE_MS, type JobQueueLimits, MAX_EVENTS, MIN_EVENTS } from "./queue/jobs.ts";
export { EchoedPages, isTrap, withoutSession } from "./scope.ts";
export { decodeStream, type SitemapLimits, sitemapsOfRobots } from "./sitemap/open.ts";
export { createTextListReader, readRecords, readSitemaps } from "./sitemap/read-sitemaps.ts";
export { createXmlReader, parseLastModified } from "./sitemap/xml.ts";
export type { CrawlRequest, SitemapNews } from "./types.ts";
export { withRobotsHeader } from "./verdict.ts";
