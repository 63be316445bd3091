import { createYieldWhenDue } from "../base/event-loop.ts";
import { Failure } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import type { SyncRecord } from "./sync-book.ts";

type TestQueryOptions = { readonly countHits: (query: string) => number; readonly log: Log };

/**
 * Runs a tenant's example queries after a build. A failing query counts as one without hits, since the index
 * is complete.
 */
export async function runTestQueries(
  queries: readonly string[],
  { countHits, log }: TestQueryOptions,
): Promise<SyncRecord["testQueries"]> {
  const results: { readonly query: string; readonly hits: number }[] = [];
  const yieldWhenDue = createYieldWhenDue();
  for (const query of queries) {
    try {
      results.push({ query, hits: countHits(query) });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      log.warning("test query failed", { query, error: error.message });
      results.push({ query, hits: 0 });
    }
    await yieldWhenDue();
  }
  const without = results.filter(({ hits }) => hits === 0).map(({ query }) => query);
  if (without.length > 0) log.warning("test queries without hits", { queries: without.join(" | ") });
  return results;
}
