import { expect, test } from "bun:test";
import { crawlPlan } from "../../support/crawling.ts";
import { all } from "../../support/frontier-steps.ts";
import { startPostgres, testDatabase } from "../../support/postgres.ts";
import { openShared } from "../../support/shared-frontier.ts";
import { untilTrue } from "../../support/until.ts";

const WORKER = new URL("../../support/frontier-worker-entry.ts", import.meta.url).pathname;
const PAGES = 1500;
const MAX_PAGES = 1400;
const DEAD_MS = 1500;

test("a crawl of three processes survives a kill, a freeze and a database that stops at once", async () => {
  await using server = await startPostgres();
  await using database = await testDatabase(server);
  const db = await database.open();
  const start = () =>
    Bun.spawn(
      [process.execPath, WORKER, database.url, database.schema, ...[PAGES, MAX_PAGES, DEAD_MS].map(String)],
      { stdout: "pipe", stderr: "inherit" },
    );
  const settled = async (): Promise<number> =>
    (await db.query<{ count: number }>("SELECT count(*) AS count FROM crawl_outcome"))[0]?.count ?? 0;
  const [killed, frozen, steady] = [start(), start(), start()];
  const lines = [frozen, steady].map((child) => new Response(child.stdout).text());
  await untilTrue(async () => (await settled()) > 150);
  frozen.kill("SIGSTOP");
  await untilTrue(async () => (await settled()) > 300);
  killed.kill("SIGKILL");
  await untilTrue(async () => (await settled()) > 450);
  await server.stop("immediate");
  await server.start();
  await untilTrue(async () => (await settled()) > 600);
  const workers = async () => (await db.query("SELECT FROM crawl_worker")).length;
  await untilTrue(async () => (await workers()) === 1);
  frozen.kill("SIGCONT");
  expect(await Promise.all([frozen.exited, steady.exited])).toEqual([0, 0]);

  const plan = crawlPlan({ seeds: ["https://h.test/"], maxPages: MAX_PAGES, maxDepth: 100 });
  await using frontier = await openShared(database, { db, place: "file:///faults", plan });
  expect(frontier.state().end).toBe("finished");
  const outcomes = await all(frontier);
  expect(new Set(outcomes.map((outcome) => outcome.url)).size).toBe(outcomes.length);
  expect(outcomes).toHaveLength(MAX_PAGES);
  expect(await frontier.counts()).toEqual({
    successful: MAX_PAGES,
    failed: 0,
    skipped: 0,
    fetched: MAX_PAGES,
    queued: 0,
    underway: 0,
    untried: 0,
  });
  expect((await frontier.tallies()).skippedLinks.max_pages).toBeGreaterThan(0);
  const [budget] = await db.query<{ reserved: number }>("SELECT reserved FROM crawl");
  expect(budget?.reserved).toBe(MAX_PAGES);
  // What processes were told is what the database holds: no page was settled for two of them.
  const told = (await Promise.all(lines)).flatMap((text) =>
    text.split("\n").filter((line) => line.startsWith("settled")),
  );
  expect(new Set(told).size).toBe(told.length);
});
