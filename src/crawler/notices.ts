import type { FailureRecord } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import type { CrawlNotice } from "./types.ts";

const LOW_DISK = "Less than 100 MB are free in the output directory";

/**
 * Returns the sentence that a crawl's manifest and job keep of a notice; null for a notice that is outdated as soon
 * as it was given.
 */
export function warningOf(notice: CrawlNotice): string | null {
  if (notice.kind === "low_disk") return LOW_DISK;
  return notice.kind === "sitemap_failed" ? sitemapWarning(notice) : null;
}

export const sitemapWarning = ({
  sitemap,
  failure,
}: {
  readonly sitemap: string;
  readonly failure: FailureRecord;
}): string => `The sitemap ${sitemap} could not be read: ${failure.message}`;

export function logNotice(notice: CrawlNotice, log: Log): void {
  const { kind } = notice;
  if (kind === "low_disk") {
    log.warning("low disk", { directory: notice.directory, free_bytes: notice.freeBytes });
  } else if (kind === "robots_ignored") {
    log.warning("robots.txt ignored");
  } else if (kind === "sitemap_failed") {
    const { code, message } = notice.failure;
    log.warning("sitemap failed", { url: notice.sitemap, code, reason: message });
  } else if (kind === "sitemap_read") {
    log.info("sitemap read", { url: notice.sitemap, pages: notice.pageCount });
  } else {
    log.info("host paused", { host: notice.host, until: new Date(notice.untilMs).toISOString() });
  }
}
