import type { Frontier } from "../../src/crawler/frontier/frontier.ts";
import { openPostgresFrontier, type PostgresFrontierOptions } from "../../src/scale/frontier/open.ts";
import type { Postgres } from "../../src/scale/postgres/postgres.ts";
import { crawlPlan } from "./crawling.ts";
import type { FrontierPlace } from "./frontier-steps.ts";
import type { TestDatabase } from "./postgres.ts";
import { untilTrue } from "./until.ts";

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
    pace: { beatMs: 50, deadMs: 15_000, idleMs: 0, leaveMs: 50, ...options.pace },
  });
}

type Place = {
  readonly db: Postgres;
  /** How the frontiers of the place see the database. */
  readonly change: (db: Postgres) => Postgres;
  readonly jobId: () => string | null;
};

/** A place for frontiers of several processes, which can die. */
export function sharedPlace(database: TestDatabase, { db, change, jobId }: Place): FrontierPlace {
  const place = `file:///${crypto.randomUUID()}`;
  const workers = new Map<Frontier, number | undefined>();
  const workersNow = async (): Promise<readonly number[]> =>
    (await db.query<{ id: number }>("SELECT id FROM crawl_worker")).map(({ id }) => id);
  return {
    async open(limits) {
      const before = await workersNow();
      const plan = crawlPlan({ seeds: ["https://h.test/"], ...limits });
      const frontier = await openShared(database, { db: change(db), place, plan, jobId: jobId() });
      const now = await workersNow();
      workers.set(
        frontier,
        now.find((id) => !before.includes(id)),
      );
      return frontier;
    },
    async kill(frontier) {
      // Lost workers with a statement under way, such as a beat, are left alone until the next look.
      await untilTrue(async () => {
        const left = "SELECT FROM crawl_worker WHERE id = $1 AND NOT crawl_bury(crawl, id, true)";
        return (await db.query(left, [workers.get(frontier) ?? 0])).length === 0;
      });
      await frontier[Symbol.asyncDispose]();
    },
    async lost() {
      const rows = await db.query<{ url: string }>(
        `SELECT p.url FROM crawl c JOIN crawl_page p ON p.crawl = c.id WHERE c.place = $1 AND p.id IN (
          SELECT page FROM crawl_wait WHERE crawl = c.id AND is_lost AND tries = 0
          UNION ALL SELECT page FROM crawl_claim WHERE crawl = c.id AND is_lost AND tries = 0)`,
        [place],
      );
      return rows.map(({ url }) => url);
    },
    async pass(ms) {
      const past = `- ${ms} * interval '1 ms'`;
      await db.script(
        `UPDATE crawl_turn SET next_at = next_at ${past}; UPDATE crawl_wait SET ready_at = ready_at ${past}`,
      );
    },
    [Symbol.asyncDispose]: async () => {},
  };
}
