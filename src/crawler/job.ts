import { Failure } from "../failure.ts";
import type { CrawlEvent, CrawlJobOptions, CrawlPlan, PlannedPage } from "./types.ts";

/**
 * Runs a crawl as a job: opens what the output holds, crawls, writes the manifest. The last event is
 * `finished`, also for a crawl that was called off or could not go on; leaving the loop calls it off.
 * @throws Failure before the first event: `invalid_usage` where another plan is under way in the same
 *   place or another process crawls there; `unwritable_output`, `unreadable_input`
 */
export async function* runCrawlJob(
  _plan: CrawlPlan,
  _options: CrawlJobOptions,
  _signal: AbortSignal,
): AsyncGenerator<CrawlEvent, void> {
  yield* [];
  throw new Failure("internal", "crawls are not built yet");
}

/** The pages that a crawl would begin with, seeds first: what a dry run lists. It fetches no page. */
export async function* previewCrawl(
  _plan: CrawlPlan,
  _options: Pick<CrawlJobOptions, "authorizations">,
  _signal: AbortSignal,
): AsyncGenerator<PlannedPage, void> {
  yield* [];
  throw new Failure("internal", "crawls are not built yet");
}
