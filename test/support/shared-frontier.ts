import {
  type Frontier,
  openPostgresFrontier,
  type PostgresFrontierOptions,
} from "../../src/crawler/testing.ts";
import { crawlPlan } from "./crawling.ts";
import type { TestDatabase } from "./postgres.ts";

/** Opens a shared frontier whose processes never rest, as if nothing were known of the place's other processes. */
export async function openShared(
  database: TestDatabase,
  { db, ...options }: Partial<PostgresFrontierOptions> = {},
): Promise<Frontier> {
  return openPostgresFrontier({
    db: db ?? (await database.open()),
    place: "file:///crawl",
    plan: crawlPlan({ seeds: ["https://h.test/"] }),
    tries: 3,
    jobId: null,
    isFresh: false,
    freshName: "--fresh",
    canLead: true,
    ...options,
    // Tests look again at once.
    pace: { beatMs: 50, deadMs: 15_000, idleMs: 0, ...options.pace },
  });
}
