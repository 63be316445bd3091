import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { DEFAULT_NETWORK } from "../../../src/app/index.ts";
import type { CrawlEvent, CrawlPlan, HostSlots } from "../../../src/crawler/index.ts";
import { createRobotsCache, DEFAULT_ROBOTS_TIMES, systemClock } from "../../../src/fetching/index.ts";
import { openSharedHosts } from "../../../src/scale/hosts.ts";
import { html, page, redirect, serveCrawlSite } from "../../support/crawl-site.ts";
import { crawlPlan, openTestApp } from "../../support/crawling.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { testDatabase } from "../../support/postgres.ts";

const app = forAllTests(openTestApp());
const database = await testDatabase();
afterAll(() => database[Symbol.asyncDispose]());

/** Calls back with each turn that is taken. */
const watched = (slots: HostSlots, onTurn: () => void): HostSlots => ({
  pause: (host, ms) => slots.pause(host, ms),
  restMs: (host, delayMs) => slots.restMs(host, delayMs),
  async take(host, options) {
    const turn = await slots.take(host, options);
    onTurn();
    return turn;
  },
  async takeSoon(host, options) {
    const turn = await slots.takeSoon(host, options);
    if (typeof turn !== "number") onTurn();
    return turn;
  },
});

/** Crawls into a place of its own, as one more process that shares nothing with others but what is known of hosts. */
async function crawlBeside(
  plan: CrawlPlan,
  { onTurn, onEvent }: { readonly onTurn: () => void; readonly onEvent?: (event: CrawlEvent) => void },
): Promise<void> {
  const path = await mkdtemp(join(tmpdir(), "crawl-"));
  await using hosts = openSharedHosts(await database.open({ connections: 2 }), systemClock);
  await using session = app.openSession(DEFAULT_NETWORK);
  const options = {
    output: { kind: "directory", path },
    jobId: null,
    isFresh: false,
    authorizations: new Map(),
  } as const;
  const { signal } = new AbortController();
  const events = session.crawl(plan, options, signal, (parts, fetcher) => ({
    ...parts,
    slots: watched(hosts.slots, onTurn),
    paces: hosts.paces,
    robots: createRobotsCache({ fetcher, ...DEFAULT_ROBOTS_TIMES, store: hosts.robots("test") }),
  }));
  for await (const event of events) onEvent?.(event);
  await rm(path, { recursive: true });
}

test("crawls of three processes send as one would: each request in a turn, robots.txt and redirects too", async () => {
  const delays = fc.array(fc.integer({ min: 50, max: 100 }), { minLength: 3, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(delays, fc.integer({ min: 0, max: 40 }), async (delaysMs, answerMs) => {
      const slow = async (body: string): Promise<Response> => {
        await Bun.sleep(answerMs);
        return html(body);
      };
      await using site = serveCrawlSite({
        "/": () => slow(page("Home", ["/moved", "/1"])),
        "/moved": () => redirect("/target"),
        "/target": () => slow(page("Target")),
        "/1": () => slow(page("One")),
      });
      const starts: number[] = [];
      await Promise.all(
        delaysMs.map((hostDelayMs) =>
          crawlBeside(crawlPlan({ seeds: [`${site.origin}/`], hostDelayMs, concurrency: 4 }), {
            onTurn: () => void starts.push(performance.now()),
          }),
        ),
      );
      const paths = site.visits.map(({ path }) => path);
      expect(paths.filter((path) => path === "/robots.txt")).toHaveLength(1);
      expect(paths).toHaveLength(1 + 3 * 4);
      expect(starts).toHaveLength(paths.length);
      expect(site.peak()).toBe(1);
      const gaps = starts.slice(1).map((at, index) => at - starts[index]!);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(Math.min(...delaysMs) - 1);
    }),
    { numRuns: 3 },
  );
});

/** Notes each turn that is granted while its host is paused; when a process hears of its turn, the pause may have begun. */
const NOTE_PAUSED_TURNS = `
CREATE TABLE test_paused_turn (host text);
CREATE FUNCTION note_paused_turn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO test_paused_turn VALUES (NEW.host); RETURN NULL; END $$;
CREATE TRIGGER note_paused_turn AFTER UPDATE OF last_start ON host_pace FOR EACH ROW
  WHEN (NEW.holder IS NOT NULL AND NEW.holder IS DISTINCT FROM OLD.holder AND NEW.paused_until > NEW.last_start)
  EXECUTE FUNCTION note_paused_turn();
`;

test("a Retry-After that one process meets holds the others", async () => {
  let refusals = 0;
  await using site = serveCrawlSite({
    "/": page("Home", ["/a", "/b", "/c", "/d", "/e"]),
    "/b": () =>
      refusals++ === 0 ? html("", { status: 429, headers: { "retry-after": "2" } }) : html(page("Page b")),
    ...Object.fromEntries(["a", "c", "d", "e"].map((name) => [`/${name}`, page(`Page ${name}`)])),
  });
  await using notes = await database.open({ connections: 2 });
  await notes.script(NOTE_PAUSED_TURNS);
  const starts: number[] = [];
  const pauses: { readonly from: number; readonly until: number }[] = [];
  await Promise.all(
    [1, 2, 3].map(() =>
      crawlBeside(crawlPlan({ seeds: [`${site.origin}/`], hostDelayMs: 20 }), {
        onTurn: () => void starts.push(performance.now()),
        onEvent(event) {
          if (event.kind !== "notice" || event.notice.kind !== "host_paused") return;
          pauses.push({ from: performance.now(), until: event.notice.untilMs - performance.timeOrigin });
        },
      }),
    ),
  );
  expect(site.visits).toHaveLength(1 + 3 * 6 + 1);
  expect(pauses).toHaveLength(1);
  const [{ from, until } = { from: 0, until: 0 }] = pauses;
  expect(until - from).toBeGreaterThan(1000);
  expect(await notes.query("SELECT * FROM test_paused_turn")).toEqual([]);
  expect(starts.some((at) => at >= until - 2)).toBe(true);
});
