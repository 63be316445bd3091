import type { CrawlJobParts } from "./job.ts";
import { Politeness } from "./politeness.ts";
import { createScope } from "./scope.ts";
import { readStarts } from "./seeding.ts";
import type { CrawlPlan, PlannedPage, PreviewOptions } from "./types.ts";

/**
 * The pages that a crawl would begin with, seeds first, each once in a row of its sitemap: what a dry run
 * lists. It fetches robots.txt and sitemaps, and no page.
 * @throws Failure `cancelled`, `egress_refused`
 */
export async function* previewCrawl(
  plan: CrawlPlan,
  { authorizations, onSitemapFailure }: PreviewOptions,
  parts: CrawlJobParts,
  signal: AbortSignal,
): AsyncGenerator<PlannedPage, void> {
  const politeness = new Politeness(plan, parts);
  const scope = createScope(plan, parts.clock.now());
  for await (const news of readStarts({ ...parts, plan, scope, politeness, authorizations }, signal)) {
    if (news.kind === "failed") onSitemapFailure(news.failure);
    if (news.kind !== "entries") continue;
    for (const { url, source, refusal } of news.entries) {
      const isClosed = refusal === null && !politeness.allows(await politeness.rulesFor(url, signal), url);
      yield { url, source, refusal: isClosed ? "robots" : refusal };
    }
  }
}
