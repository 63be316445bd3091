import { afterAll, describe, expect, test } from "bun:test";
import { Failure } from "../../../src/base/failure.ts";
import type { Frontier } from "../../../src/crawler/frontier/frontier.ts";
import type { PostgresFrontierOptions } from "../../../src/scale/frontier/open.ts";
import { openPostgresJobQueue } from "../../../src/scale/job-queue.ts";
import type { Parameter, Postgres } from "../../../src/scale/postgres/postgres.ts";
import { describeInterleavings } from "../../contract/frontier-interleavings.contract.ts";
import { crawlPlan } from "../../support/crawling.ts";
import { all, claim, claimOne, seed, settle, told, url } from "../../support/frontier-steps.ts";
import { testDatabase } from "../../support/postgres.ts";
import { openShared, sharedPlace } from "../../support/shared-frontier.ts";
import { failureOf } from "../../support/test-fetcher.ts";
import { untilTrue as until } from "../../support/until.ts";

const database = await testDatabase();
const db = await database.open();
afterAll(() => database[Symbol.asyncDispose]());

const newPlace = (): string => `file:///${crypto.randomUUID()}`;
const open = (place: string, options: Partial<PostgresFrontierOptions> = {}): Promise<Frontier> =>
  openShared(database, { db, place, ...options });

/** A database that loses each first answer, so that each statement runs twice. */
const forgetful = (real: Postgres): Postgres => ({
  ...real,
  patient: (patience) => forgetful(real.patient(patience)),
  async query<Row>(sql: string, parameters?: readonly Parameter[]) {
    await real.query(sql, parameters);
    return real.query<Row>(sql, parameters);
  },
  async run(sql, parameters) {
    await real.run(sql, parameters);
    return real.run(sql, parameters);
  },
  async transaction(work) {
    await real.transaction(work);
    return real.transaction(work);
  },
});

describeInterleavings(
  "PostgreSQL whose statements all run twice",
  async () => sharedPlace(database, { db, change: forgetful, jobId: () => null }),
  { workers: 2, runs: 15 },
);

test("a database that loses answers queues all unmet pages, and says so", async () => {
  const place = newPlace();
  const first = await open(place, { jobId: "one" });
  await first.add([seed("/a"), seed("/b")]);
  for (const page of await claim(first)) await settle(first, page, {});
  await first.finish();
  await first[Symbol.asyncDispose]();
  await using again = await open(place, { jobId: "two", db: forgetful(db) });
  expect(await again.queueUnmet({ maxDepth: 9, count: 9 })).toBe(2);
  expect(await again.counts()).toMatchObject({ queued: 2 });
  await again.dropQueued();
  await again.requeueLeft(9);
  expect(await again.counts()).toMatchObject({ queued: 2, skipped: 0 });
});

describe("processes that open one place", () => {
  test("at the same time are one crawl with one leader", async () => {
    const place = newPlace();
    const frontiers = await Promise.all(Array.from({ length: 6 }, () => open(place)));
    const crawls = new Set(frontiers.map(({ crawl }) => `${crawl.jobId} ${crawl.mode} ${crawl.startedAt}`));
    expect(crawls.size).toBe(1);
    expect(frontiers[0]?.crawl.mode).toBe("new");
    expect(frontiers.filter((frontier) => frontier.state().leads)).toHaveLength(1);
    for (const frontier of frontiers) await frontier[Symbol.asyncDispose]();
  });

  test("learn from the leader that the crawl is seeded, finished or stopped; the lead passes on", async () => {
    const place = newPlace();
    const first = await open(place);
    await using second = await open(place);
    expect([first.state().leads, second.state().leads]).toEqual([true, false]);
    expect(await second.add([seed("/")])).toBe(0);
    await first.add([seed("/")]);
    await first.finishSeeding();
    await until(() => second.state().isSeeded);
    await first[Symbol.asyncDispose]();
    await until(() => second.state().leads);
    await second.stop({ code: "cancelled", message: "enough\0" });
    await using third = await open(place);
    expect(third.state().end).toEqual({ code: "cancelled", message: "enough\ufffd" });
  });

  test("need the same plan and the same job while they are at work", async () => {
    const place = newPlace();
    await using _first = await open(place, { jobId: "one" });
    const plan = crawlPlan({ seeds: ["https://h.test/"], maxPages: 7, maxDepth: 3 });
    const other = await failureOf(open(place, { plan }));
    expect(other?.code).toBe("crawl_conflict");
    expect(other?.message).toContain("maximum of pages, maximum depth");
    expect((await failureOf(open(place, { jobId: "two" })))?.code).toBe("crawl_conflict");
    await using again = await open(place, { jobId: "one", isFresh: true });
    expect(again.crawl.jobId).toBe("one");
  });

  test("do not keep the next job from a crawl that was stopped", async () => {
    const place = newPlace();
    await using first = await open(place, { jobId: "one" });
    await first.add([seed("/a")]);
    await first.stop({ code: "cancelled", message: "enough" });
    await using next = await open(place, { jobId: "two" });
    expect([next.crawl.mode, next.crawl.jobId, next.state().end]).toEqual(["resumed", "two", null]);
    await until(() => next.state().leads);
    expect(await claim(next)).toHaveLength(1);
    expect(first.state().end).toMatchObject({ code: "cancelled" });
  });

  test("do nothing where they may only help and nobody is at work", async () => {
    const place = newPlace();
    await using helper = await open(place, { canLead: false });
    expect(helper.state().end).toMatchObject({ code: "cancelled" });
    expect(await helper.claim({ count: 1, isHostExclusive: false })).toMatchObject({ isOver: true });
    await using leader = await open(place);
    await using second = await open(place, { canLead: false });
    expect([leader.state().leads, second.state().leads, second.state().end]).toEqual([true, false, null]);
  });

  test("find a finished crawl finished, unless another job or a larger limit goes on", async () => {
    const place = newPlace();
    const plan = crawlPlan({ seeds: ["https://h.test/"], maxPages: 1 });
    const first = await open(place, { plan, jobId: "one" });
    await first.add([seed("/a"), seed("/b")]);
    await settle(first, await claimOne(first), {});
    await first.dropQueued();
    await first.finish();
    await first[Symbol.asyncDispose]();
    for (const jobId of [null, "one"]) {
      await using again = await open(place, { plan, jobId });
      expect(again.state().end).toBe("finished");
      expect(await all(again)).toHaveLength(2);
    }
    const more = await open(place, { plan: { ...plan, maxPages: 2 } });
    expect([more.crawl.mode, more.state().end]).toEqual(["resumed", null]);
    await more.requeueLeft(10);
    expect(await claim(more)).toHaveLength(1);
    await more.finish();
    await more[Symbol.asyncDispose]();
    await using other = await open(place, { plan: { ...plan, maxPages: 2 }, jobId: "two" });
    expect([other.crawl.mode, other.crawl.jobId]).toEqual(["repeated", "two"]);
    await using _fresh = await open(newPlace(), { isFresh: true });
  });

  test("begin anew where the last crawl is to be forgotten, and what it held is deleted", async () => {
    const place = newPlace();
    const first = await open(place);
    await first.add([seed("/a")]);
    await settle(first, await claimOne(first), {});
    await first[Symbol.asyncDispose]();
    await using fresh = await open(place, { isFresh: true });
    expect([fresh.crawl.mode, await all(fresh)]).toEqual(["new", []]);
    const forgotten = () => db.query("SELECT FROM crawl WHERE place IS NULL");
    await until(async () => (await forgotten()).length === 0);
    const pages = await db.query(
      "SELECT FROM crawl_page p WHERE NOT EXISTS (SELECT FROM crawl c WHERE c.id = p.crawl)",
    );
    expect(pages).toEqual([]);
  });

  test("hear of origins that others have added, and of where seeds redirect to", async () => {
    const place = newPlace();
    await using first = await open(place);
    await using second = await open(place);
    await first.add([seed("/"), { ...seed("/", "out.test"), refusal: "out_of_scope" }]);
    const page = await claimOne(first);
    expect((await second.claim({ count: 1, isHostExclusive: false })).origins).toEqual(["https://h.test"]);
    await settle(first, page, { outcome: { finalUrl: url("/", "www.h.test") } });
    expect((await second.claim({ count: 1, isHostExclusive: false })).origins).toEqual([
      "https://www.h.test",
    ]);
    expect((await second.claim({ count: 1, isHostExclusive: false })).origins).toEqual([]);
    expect([...(await second.origins())].sort()).toEqual(["https://h.test", "https://www.h.test"]);
  });
});

test("counts what waits in the crawls that processes work on", async () => {
  await using alone = await testDatabase();
  const own = await alone.open();
  const queue = openPostgresJobQueue({ database: own, maxQueued: 1, maxRunning: 1, leaseMs: 1000 });
  expect(await queue.waiting?.()).toEqual({ pages: 0, hosts: 0 });
  const frontier = await open(newPlace(), { db: own });
  await frontier.add([seed("/a"), seed("/b"), seed("/a", "other.test")]);
  expect(await queue.waiting?.()).toEqual({ pages: 3, hosts: 2 });
  await claimOne(frontier);
  expect((await queue.waiting?.())?.pages).toBe(2);
  await frontier[Symbol.asyncDispose]();
  expect(await queue.waiting?.()).toEqual({ pages: 0, hosts: 0 });
});

describe("a leader", () => {
  test("is followed by one that tells the rest, and again what the last had only taken", async () => {
    const place = newPlace();
    const first = await open(place);
    await using second = await open(place);
    await first.add(["/a", "/b", "/c", "/d"].map((path) => seed(path)));
    const pages = await claim(first, { count: 4 });
    for (const page of pages.slice(0, 2)) await settle(first, page, {});
    const paths = (outcomes: readonly { url: string }[]) => outcomes.map((one) => new URL(one.url).pathname);
    expect(paths((await first.takeRecorded(1)).map(({ outcome }) => outcome))).toEqual(["/a"]);
    expect(paths((await first.takeRecorded(9)).map(({ outcome }) => outcome))).toEqual(["/b"]);
    await settle(first, pages[2], {});
    await first[Symbol.asyncDispose]();
    await until(() => second.state().leads);
    await settle(second, await claimOne(second), {});
    expect(paths(await told(second))).toEqual(["/b", "/c", "/d"]);
    expect(await told(second)).toEqual([]);
  });
});

test("workers that died when their crawl was over are ended by whoever opens a frontier next", async () => {
  await using alone = await testDatabase();
  const own = await alone.open();
  const workers = async (): Promise<number> => (await own.query("SELECT FROM crawl_worker")).length;
  const [place, other] = [newPlace(), newPlace()];
  await using leader = await openShared(alone, { db: own, place });
  await using _ = await openShared(alone, { db: own, place, pace: { beatMs: 60_000 } });
  await leader.add([seed("/a")]);
  await settle(leader, await claimOne(leader), {});
  await leader.finish();
  await leader[Symbol.asyncDispose]();
  expect(await workers()).toBe(1);
  await own.query("UPDATE crawl_worker SET seen_at = seen_at - interval '2 min'");
  await using _next = await openShared(alone, { db: own, place: other });
  await until(async () => (await workers()) === 1);
});

describe("a worker that is not heard of in time", () => {
  const pace = { beatMs: 20, deadMs: 400, idleMs: 0 };

  test("loses its pages to others, is told so, and goes on under another number", async () => {
    const place = newPlace();
    const before = new Set(
      (await db.query<{ id: number }>("SELECT id FROM crawl_worker")).map(({ id }) => id),
    );
    await using slow = await open(place, { pace: { ...pace, beatMs: 60_000 } });
    const [mine] = await db.query<{ id: number }>(
      "SELECT id FROM crawl_worker WHERE id <> ALL ($1::bigint[])",
      [[...before]],
    );
    await slow.add([seed("/a"), seed("/b")]);
    const page = await claimOne(slow, { isHostExclusive: true });
    await db.query("UPDATE crawl_worker SET seen_at = '-infinity' WHERE id = $1", [mine?.id ?? 0]);
    await using quick = await open(place, { pace });
    const again = await claimOne(quick, { isHostExclusive: true });
    expect([again.url, again.isTakenOver, again.tries]).toEqual([page.url, true, 0]);
    expect(await settle(slow, page, { links: ["/late"] })).toBe(false);
    expect(await settle(quick, again, {})).toBe(true);
    await quick.freeHost(again, 0);
    expect(await quick.counts()).toMatchObject({ successful: 1, fetched: 1, queued: 1 });
    expect(await slow.identify(page, [url("/c")])).toBe(false);
    await until(() => quick.state().leads);
  });

  test("goes on beside the process that has resumed the crawl, unless that has begun anew", async () => {
    for (const isFresh of [false, true]) {
      const place = newPlace();
      await using silent = await open(place, { pace: { ...pace, beatMs: 300 } });
      await silent.add([seed("/a")]);
      let losses = 0;
      silent.watch(() => {
        losses += silent.state().leads ? 0 : 1;
      });
      await db.query(
        "UPDATE crawl_worker w SET seen_at = '-infinity' FROM crawl c WHERE c.place = $1 AND w.crawl = c.id",
        [place],
      );
      const next = await open(place, { isFresh });
      expect(next.crawl.mode).toBe(isFresh ? "new" : "resumed");
      await next[Symbol.asyncDispose]();
      await until(() => losses > 0 && (silent.state().leads || silent.state().end !== null));
      expect(silent.state().end === null).toBe(!isFresh);
    }
  });

  test("claims again after its loss", async () => {
    const place = newPlace();
    let losses = 0;
    await using frontier = await open(place, { pace });
    await frontier.add([seed("/a")]);
    const page = await claimOne(frontier);
    frontier.watch(() => {
      losses++;
    });
    await db.query("SELECT crawl_bury(crawl, worker, true) FROM crawl_claim WHERE page = $1", [page.id]);
    await until(() => losses > 0 && !frontier.holds(page));
    await until(() => frontier.state().leads);
    expect((await claimOne(frontier)).url).toBe(page.url);
  });
});

describe("texts and sizes", () => {
  test("takes texts that PostgreSQL refuses, without what it refuses", async () => {
    await using frontier = await open(newPlace());
    await frontier.add([seed("/a"), seed("/b")]);
    const [a, b] = await claim(frontier);
    const outcome = {
      title: "a\0b\ud800",
      warnings: ["\0", "\udc00x", '\\u0000"'],
      filePath: "a\0.md",
    } as const;
    const validators = { etag: '"\0"', lastModified: null };
    expect(await settle(frontier, a, { outcome, validators, links: ["/c"] })).toBe(true);
    const error = { code: "http_status", message: "\0\ud800" } as const;
    expect(await settle(frontier, b, { outcome: { status: "failed", error } })).toBe(true);
    await frontier.addWarning("w\0\ud800");
    expect(await frontier.warnings()).toEqual(["w\ufffd\ufffd"]);
    const [first, second] = await all(frontier);
    expect(first).toMatchObject({ title: "a\ufffdb\ufffd", warnings: ["\ufffd", "\ufffdx", '\\u0000"'] });
    expect(second?.error).toEqual({ code: "http_status", message: "\ufffd\ufffd" });
  });

  test("takes no links, ten thousand on as many hosts, and the longest URL", async () => {
    await using frontier = await open(newPlace());
    await frontier.add([seed("/"), seed("/none")]);
    const [home, none] = await claim(frontier);
    await settle(frontier, none, {});
    if (!home) throw new Error("no page");
    const long = url(`/${"x".repeat(8000)}`);
    const links = Array.from({ length: 10_000 }, (_, number) => url("/", `host-${number}.test`));
    expect(await settle(frontier, home, { urls: [...links, long, ...links.slice(0, 10)] })).toBe(true);
    expect(await frontier.counts()).toMatchObject({ queued: 10_001, successful: 2 });
    const pages = await claim(frontier, { count: 16, isHostExclusive: true });
    expect(new Set(pages.map(({ host }) => host)).size).toBe(16);
    await frontier.dropQueued();
    expect((await frontier.tallies()).skippedLinks).toEqual({ max_pages: 10_001 - 16 });
  });

  test("holds many URLs of one host, and hands them out in their order", async () => {
    await using frontier = await open(newPlace());
    const many = Array.from({ length: 20_000 }, (_, number) => seed(`/${number}`));
    expect(await frontier.add(many)).toBe(20_000);
    expect(await frontier.add(many)).toBe(0);
    for (let from = 0; from < 200; from += 16)
      expect((await claim(frontier, { count: 16 })).map((page) => page.url)).toEqual(
        many.slice(from, from + 16).map((entry) => entry.url),
      );
  });
});

test("holds a page until its result is recorded", async () => {
  await using frontier = await open(newPlace());
  await frontier.add([seed("/a")]);
  const page = await claimOne(frontier);
  const settling = settle(frontier, page, {});
  expect(frontier.holds(page)).toBe(true);
  expect(await settle(frontier, page, {})).toBe(false);
  expect(await settling).toBe(true);
  expect(frontier.holds(page)).toBe(false);
});

test("ends when its database is closed under it", async () => {
  const own = await database.open();
  const frontier = await open(newPlace(), { db: own });
  await own[Symbol.asyncDispose]();
  await until(() => frontier.state().end !== null);
  expect(frontier.state()).toMatchObject({ leads: false, end: { code: expect.any(String) } });
  await frontier[Symbol.asyncDispose]();
});

test("is not asked any more once it is closed", async () => {
  const frontier = await open(newPlace());
  await frontier[Symbol.asyncDispose]();
  expect(await failureOf(frontier.addWarning("late"))).toBeInstanceOf(Failure);
});
