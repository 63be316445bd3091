// What tests and benches use of this room besides its door; nothing of the product does.
export type { ClaimedPage, Frontier, FrontierEntry, Settlement } from "./frontier/frontier.ts";
export { openSqliteFrontier } from "./frontier/open.ts";
export type { ManifestEntry } from "./manifest-entry.ts";
export { createFileSink } from "./output.ts";
export { EchoedPages, withoutSession } from "./sessions.ts";
export { decodeStream } from "./sitemap/decode.ts";
export { parseLastModified } from "./sitemap/elements.ts";
export { readRecords, readSitemaps } from "./sitemap/read-sitemaps.ts";
export { sitemapsOfRobots } from "./sitemap/source.ts";
export { createTextListReader } from "./sitemap/text-list.ts";
export type { SitemapEvent, SitemapLimits } from "./sitemap/types.ts";
export { createXmlReader } from "./sitemap/xml.ts";
export { isTrap } from "./traps.ts";
export type { CrawlRequest } from "./types.ts";
export { withRobotsHeader } from "./verdict.ts";
