import { Failure } from "../failure.ts";
import type { CrawlJobParts } from "./job.ts";
import { Politeness } from "./politeness.ts";
import { createScope } from "./scope.ts";
import { readStarts } from "./seeding.ts";
import type { CrawlJobOptions, CrawlPlan, PlannedPage } from "./types.ts";

/**
 * The pages that a crawl would begin with, seeds first, each once in a row of its sitemap: what a dry run
 * lists. It fetches robots.txt and sitemaps, and no page.
 * @throws Failure `cancelled`; that of a sitemap which cannot be read
 */
export async function* previewCrawl(
  plan: CrawlPlan,
  { authorizations }: Pick<CrawlJobOptions, "authorizations">,
  parts: CrawlJobParts,
  signal: AbortSignal,
): AsyncGenerator<PlannedPage, void> {
  const politeness = new Politeness(plan, parts);
  const scope = createScope(plan, parts.clock.now());
  for await (const news of readStarts({ ...parts, plan, scope, politeness, authorizations }, signal)) {
    if (news.kind === "failed") throw new Failure(news.failure.code, news.failure.message);
    if (news.kind !== "entries") continue;
    for (const { url, source, refusal } of news.entries) {
      const isClosed = refusal === null && !politeness.allows(await politeness.rulesFor(url, signal), url);
      yield { url, source, refusal: isClosed ? "robots" : refusal };
    }
  }
}
