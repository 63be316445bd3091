import { afterAll } from "bun:test";
import type { Frontier } from "../../src/crawler/testing.ts";
import { crawlPlan } from "../support/crawling.ts";
import { testDatabase } from "../support/postgres.ts";
import { openShared } from "../support/shared-frontier.ts";
import { describeFrontier, type FrontierPlace } from "./frontier.contract.ts";
import { describeInterleavings } from "./frontier-interleavings.contract.ts";

const database = await testDatabase();
const db = await database.open();
afterAll(() => database[Symbol.asyncDispose]());

const workersNow = async (): Promise<readonly number[]> =>
  (await db.query<{ id: number }>("SELECT id FROM crawl_worker")).map(({ id }) => id);

/** @param jobIds the jobs that open the place; without a job, a finished crawl is not repeated */
const makePlace = async (jobId: () => string | null): Promise<FrontierPlace> => {
  const place = `file:///${crypto.randomUUID()}`;
  const workers = new Map<Frontier, number | undefined>();
  return {
    async open(limits) {
      const before = await workersNow();
      const plan = crawlPlan({ seeds: ["https://h.test/"], ...limits });
      const frontier = await openShared(database, { db, place, plan, jobId: jobId() });
      const now = await workersNow();
      workers.set(
        frontier,
        now.find((id) => !before.includes(id)),
      );
      return frontier;
    },
    async kill(frontier) {
      await db.query("SELECT crawl_bury(crawl, id, true) FROM crawl_worker WHERE id = $1", [
        workers.get(frontier) ?? 0,
      ]);
      await frontier[Symbol.asyncDispose]();
    },
    async pass(ms) {
      const past = `- ${ms} * interval '1 ms'`;
      await db.script(
        `UPDATE crawl_turn SET next_at = next_at ${past}; UPDATE crawl_wait SET ready_at = ready_at ${past}`,
      );
    },
    [Symbol.asyncDispose]: async () => {},
  };
};

describeFrontier("PostgreSQL", () => makePlace(() => crypto.randomUUID()));
describeInterleavings("PostgreSQL", () => makePlace(() => null), { workers: 3, runs: 15 });
