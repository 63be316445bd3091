import { afterAll, describe, expect, test } from "bun:test";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Failure } from "../../../src/base/failure.ts";
import { silentLog } from "../../../src/base/silent-log.ts";
import type { PageSink } from "../../../src/crawler/index.ts";
import { crawlPage, serveNumberedSite } from "../../support/numbered-site.ts";
import { startPostgres, type TestDatabase, testDatabase } from "../../support/postgres.ts";
import { openSharedPlace, pagesOf, planOf } from "../../support/shared-crawl.ts";
import { failureOf } from "../../support/test-fetcher.ts";
import { until, untilTrue } from "../../support/until.ts";

const database = await testDatabase();
const db = await database.open();
afterAll(() => database[Symbol.asyncDispose]());

const workerIds = async (place: string): Promise<number[]> => {
  const sql = "SELECT w.id FROM crawl_worker w JOIN crawl c ON c.id = w.crawl WHERE c.place = $1";
  return (await db.query<{ id: number }>(sql, [place])).map(({ id }) => id);
};

/** Gives the pages of a worker to others, as when nobody has heard of it for long. */
const bury = (id: number): Promise<void> =>
  untilTrue(async () => {
    const sql = "SELECT crawl_bury(crawl, id, true) AS is_buried FROM crawl_worker WHERE id = $1";
    const [row] = await db.query<{ is_buried: boolean }>(sql, [id]);
    return row?.is_buried === true; // not while the worker's own statement is under way
  });

const sharedPlace = (of: TestDatabase = database) => openSharedPlace(of);

describe("a crawl that several processes share", () => {
  test("asks for each page once, and all tell the same end", async () => {
    await using site = serveNumberedSite({ pages: 60, answerMs: 5 });
    await using place = await sharedPlace();
    const workers = [1, 2, 3].map(() => place.work(planOf(site.origin)));
    const summaries = await Promise.all(workers.map(({ ended }) => ended));
    expect(site.visits.length).toBe(60);
    const [first] = summaries;
    for (const { state, progress, failures, skips, changes, jobId, manifestPath } of summaries) {
      expect([state, progress.successful, progress.progress]).toEqual(["completed", 60, 60]);
      expect({ failures, skips, changes, jobId, manifestPath }).toEqual({
        failures: {},
        skips: {},
        changes: { new: 60 },
        jobId: first?.jobId ?? "",
        manifestPath: join(place.path, "manifest.json"),
      });
    }
    const { results, total_pages } = await place.readManifest();
    expect([total_pages, new Set(results.map(({ url }) => url)).size, place.pages.size]).toEqual([
      60, 60, 60,
    ]);
    const own = workers.flatMap((worker) => pagesOf(worker, true));
    expect(own.toSorted()).toEqual(results.map(({ url }) => url).toSorted());
    const leaders = workers.filter(
      (worker) => pagesOf(worker, true).length + pagesOf(worker, false).length === 60,
    );
    expect(leaders).toHaveLength(1);
  });

  test("fetches exactly as many pages as it may", async () => {
    await using site = serveNumberedSite({ pages: 60, answerMs: 5 });
    await using place = await sharedPlace();
    const workers = [1, 2, 3].map(() => place.work(planOf(site.origin, { maxPages: 17 })));
    for (const { ended } of workers) {
      const { state, progress, skippedLinks } = await ended;
      expect([state, progress.fetched, progress.successful]).toEqual(["completed", 17, 17]);
      expect(skippedLinks.max_pages ?? 0).toBeGreaterThan(0);
    }
    expect([site.visits.length, place.pages.size]).toEqual([17, 17]);
    const { total_pages, skipped_links } = await place.readManifest();
    expect([total_pages, (skipped_links.max_pages ?? 0) > 0]).toEqual([17, true]);
  });

  test.each([
    ["the leader", 0],
    ["a helper", 1],
  ])("goes on when %s leaves, whose pages go back at once", async (_, which) => {
    const gate = Promise.withResolvers<void>();
    await using site = serveNumberedSite({
      pages: 60,
      until: (_path, earlier) => (earlier >= 11 ? gate.promise : undefined),
    });
    await using place = await sharedPlace();
    const workers = [place.work(planOf(site.origin))];
    await untilTrue(() => site.visits.length > 0);
    workers.push(place.work(planOf(site.origin)));
    await until(
      () => site.open,
      (open) => open === 8,
    );
    const [leaving, staying] = which === 0 ? workers : workers.toReversed();
    leaving?.leave();
    const left = await leaving?.ended;
    expect([left?.state, left?.error?.code, left?.manifestPath]).toEqual(["cancelled", "cancelled", null]);
    expect(left?.progress.progress).toBeLessThan(60);
    gate.resolve();
    const end = await staying?.ended;
    expect([end?.state, end?.progress.successful]).toEqual(["completed", 60]);
    const { status, results } = await place.readManifest();
    expect([status, results.length, place.pages.size]).toEqual(["completed", 60, 60]);
    // What was under way at the leave is asked for once more.
    expect(site.visits.length).toBeLessThanOrEqual(60 + 4);
  });

  test("is taken up again when all have left, and crawls nothing twice", async () => {
    await using site = serveNumberedSite({ pages: 40, answerMs: 20 });
    await using place = await sharedPlace();
    const workers = [place.work(planOf(site.origin)), place.work(planOf(site.origin))];
    await untilTrue(() => site.visits.length > 8);
    for (const worker of workers) worker.leave();
    for (const { ended } of workers) expect((await ended).state).toBe("cancelled");
    expect(await Bun.file(join(place.path, "manifest.json")).exists()).toBe(false);
    const again = place.work(planOf(site.origin));
    const { state, progress, jobId } = await again.ended;
    expect([state, progress.successful]).toEqual(["completed", 40]);
    expect(again.events[0]).toMatchObject({ kind: "started", mode: "resumed", jobId });
    // Two processes may leave what was under way with them: four fetches each, and what waits for an extraction worker.
    const underWay = 2 * (4 + 2 * Math.max(1, availableParallelism() - 1));
    expect(site.visits.length).toBeLessThanOrEqual(40 + underWay);
  });

  test("ends for all when the leader's caller cancels it, and says so in the manifest", async () => {
    // One level holds all the pages: a page that is held would keep the next level from beginning.
    await using site = serveNumberedSite({ pages: 400, fanOut: 400, answerMs: 20 });
    await using place = await sharedPlace();
    let isEnding = false;
    const held = new Map<string, { readonly url: string; readonly store: () => void }>();
    /** A store that takes its time for one page at the end, and leaves out what is broken off. */
    const sinkOf = (worker: string): Partial<PageSink> => ({
      async put(page, signal) {
        const { url } = page.page;
        if (isEnding && !held.has(worker)) {
          const { promise, resolve: store } = Promise.withResolvers<void>();
          held.set(worker, { url, store });
          await promise;
        }
        if (signal.aborted) throw new Failure("cancelled", "broken off");
        place.pages.set(url, page);
        return null;
      },
    });
    const leader = place.work(planOf(site.origin), { sink: sinkOf("leader") });
    await untilTrue(() => site.visits.length > 0);
    const helper = place.work(planOf(site.origin), { canLead: false, sink: sinkOf("helper") });
    await untilTrue(() => pagesOf(helper, true).length > 0);
    isEnding = true;
    // What is being stored in that moment is stored, and accounted for.
    await untilTrue(() => held.size === 2);
    for (const [worker, end] of [
      [helper, helper.leave],
      [leader, leader.cancel],
    ] as const) {
      end();
      held.get(worker === leader ? "leader" : "helper")?.store();
      expect((await worker.ended).state).toBe("cancelled");
    }
    expect((await leader.ended).manifestPath).not.toBeNull();
    expect((await helper.ended).manifestPath).toBeNull();
    const { status, error, successful, results } = await place.readManifest();
    expect([status, error?.code]).toEqual(["cancelled", "cancelled"]);
    expect([...place.pages.keys()].toSorted()).toEqual(results.map(({ url }): string => url).toSorted());
    expect([successful, results.length]).toEqual([place.pages.size, place.pages.size]);
    for (const { url } of held.values()) expect(place.pages.has(url)).toBe(true);
  });

  test("is finished by the others when one cannot store its pages", async () => {
    await using site = serveNumberedSite({ pages: 40, answerMs: 10 });
    await using place = await sharedPlace();
    const full = place.work(planOf(site.origin), {
      sink: { put: () => Promise.reject(new Failure("unwritable_output", "the disk is full")) },
    });
    await untilTrue(() => site.visits.length > 0);
    const well = place.work(planOf(site.origin));
    const failed = await full.ended;
    expect([failed.state, failed.error?.message, failed.manifestPath]).toEqual([
      "failed",
      "the disk is full",
      null,
    ]);
    const { state, progress } = await well.ended;
    expect([state, progress.successful, place.pages.size]).toEqual(["completed", 40, 40]);
  });

  test("refuses a process with another plan while it runs, and names what differs", async () => {
    await using site = serveNumberedSite({ pages: 40, answerMs: 20 });
    await using place = await sharedPlace();
    const first = place.work(planOf(site.origin));
    await untilTrue(() => site.visits.length > 0);
    const other = await failureOf(place.work(planOf(site.origin, { maxPages: 7, maxDepth: 2 })).ended);
    expect(other?.code).toBe("crawl_conflict");
    expect(other?.message).toContain("pages");
    expect(other?.message).toContain("depth");
    expect((await first.ended).state).toBe("completed");
  });

  test("is over when it has finished, and is repeated under another job", async () => {
    await using site = serveNumberedSite({ pages: 5 });
    await using place = await sharedPlace();
    const plan = planOf(site.origin);
    const first = await place.work(plan).ended;
    const late = place.work(plan);
    const { state, progress, jobId, manifestPath } = await late.ended;
    expect([state, progress.successful, jobId, manifestPath]).toEqual([
      "completed",
      5,
      first.jobId,
      first.manifestPath,
    ]);
    expect(late.events.map(({ kind }) => kind)).not.toContain("page");
    expect(site.visits.length).toBe(5);
    const repeated = await place.work(plan, { job: { jobId: "monday" } }).ended;
    expect([repeated.jobId, repeated.changes]).toEqual(["monday", { unchanged: 5 }]);
    expect(site.visits.length).toBe(10);
    expect((await place.readManifest()).job_id).toBe("monday");
  });

  test("seeds once more when its leader was lost while it read sitemaps", async () => {
    const reading = Promise.withResolvers<void>();
    let asked = 0;
    await using site = serveNumberedSite({
      pages: 8,
      answers: {
        "/sitemap.txt": { body: "{origin}/p/1\n{origin}/p/2\n", headers: { "content-type": "text/plain" } },
      },
      until: (path) => (path === "/sitemap.txt" && asked++ === 0 ? reading.promise : undefined),
    });
    await using place = await sharedPlace();
    const plan = planOf(site.origin, { sitemaps: [`${site.origin}/sitemap.txt`] });
    const first = place.work(plan);
    await untilTrue(() => asked === 1);
    const second = place.work(plan);
    first.leave();
    expect((await first.ended).state).toBe("cancelled");
    const { state, progress } = await second.ended;
    reading.resolve();
    expect([state, progress.successful, asked]).toEqual(["completed", 8, 2]);
    expect((await place.readManifest()).results).toHaveLength(8);
  });

  test("fails for all in the same way when there is nothing to crawl", async () => {
    await using site = serveNumberedSite({ pages: 3 });
    await using place = await sharedPlace();
    const plan = planOf(site.origin, { denyPrefixes: [`${site.origin}/`] });
    const summaries = await Promise.all([1, 2].map(() => place.work(plan).ended));
    for (const { state, error } of summaries) {
      expect([state, error?.code]).toEqual(["failed", "invalid_usage"]);
      expect(error?.message).toContain("none of the 1 seeds");
    }
  });

  test("follows links to the site that a seed redirected to, whoever found that out", async () => {
    await using other = serveNumberedSite({ pages: 30, answerMs: 10 });
    await using site = serveNumberedSite({
      pages: 3,
      answers: { "/": { status: 301, headers: { location: `${other.origin}/` } } },
    });
    await using place = await sharedPlace();
    const workers = [1, 2, 3].map(() => place.work(planOf(site.origin, { concurrency: 1 })));
    for (const { ended } of workers) expect((await ended).progress.successful).toBe(30);
    expect((await place.readManifest()).results.length).toBe(30);
  });

  test("asks once for stored pages that it did not meet again", async () => {
    let isGone = false;
    await using site = serveNumberedSite({
      pages: 3,
      answers: {
        get "/"() {
          return { body: crawlPage("Home", isGone ? ["/p/1"] : ["/p/1", "/p/2"]) };
        },
        get "/p/2"() {
          return isGone ? { status: 410, body: "gone" } : { body: crawlPage("Two") };
        },
      },
    });
    await using place = await sharedPlace();
    const plan = planOf(site.origin);
    expect((await place.work(plan).ended).progress.successful).toBe(3);
    isGone = true;
    const workers = [1, 2].map(() => place.work(plan, { job: { jobId: "again" } }));
    for (const { ended } of workers)
      expect((await ended).changes).toEqual({ unchanged: 1, changed: 1, gone: 1 });
    expect(site.count("/p/2")).toBe(2);
  });

  test("accounts once for a page whose process lost it after it had stored it", async () => {
    let isGone = false;
    await using site = serveNumberedSite({
      pages: 11,
      answers: {
        get "/p/1"() {
          return isGone ? { status: 404, body: "gone" } : { body: crawlPage("One") };
        },
      },
    });
    await using place = await sharedPlace();
    const lost = `${site.origin}/p/1`;
    const storing = Promise.withResolvers<void>();
    const lines: string[] = [];
    const slow = place.work(planOf(site.origin), {
      sink: {
        async put(page) {
          place.pages.set(page.page.url, page);
          if (page.page.url === lost) await storing.promise;
          return null;
        },
      },
      log: { ...silentLog, warning: (message, fields) => void lines.push(`${message} ${fields?.url}`) },
    });
    await untilTrue(() => place.pages.has(lost));
    const [first = 0] = await workerIds(place.path);
    const other = place.work(planOf(site.origin));
    await untilTrue(async () => (await workerIds(place.path)).length === 2);
    isGone = true;
    // As if the first process had been frozen.
    await bury(first);
    await untilTrue(() => site.count("/p/1") === 2 && !place.pages.has(lost));
    storing.resolve();
    for (const { ended } of [slow, other]) {
      const { progress, state } = await ended;
      expect([state, progress.successful, progress.failed]).toEqual(["completed", 10, 1]);
    }
    expect(lines).toContain(`settle refused ${lost}`);
    expect(place.pages.size).toBe(10);
    expect((await place.readManifest()).results).toHaveLength(11);
  });

  test("does not store a page that it has lost", async () => {
    const gate = Promise.withResolvers<void>();
    await using site = serveNumberedSite({
      pages: 11,
      until: (path, earlier) => (path === "/p/1" && earlier < 11 ? gate.promise : undefined),
    });
    await using place = await sharedPlace();
    const stored: string[] = [];
    const put: PageSink["put"] = async (page) => {
      stored.push(page.page.url);
      place.pages.set(page.page.url, page);
      return null;
    };
    const worker = place.work(planOf(site.origin), { sink: { put } });
    await untilTrue(() => pagesOf(worker, false).length + pagesOf(worker, true).length === 10);
    await bury((await workerIds(place.path))[0] ?? 0);
    // It finds out with its next heartbeat, gives the page up and claims it anew.
    await untilTrue(() => site.open === 2);
    gate.resolve();
    expect((await worker.ended).progress.successful).toBe(11);
    expect(stored.toSorted()).toEqual([...new Set(stored)].toSorted());
  });

  test("can be left while the database cannot be reached, and goes on from there when it is back", async () => {
    await using server = await startPostgres();
    const own = await testDatabase(server);
    await using site = serveNumberedSite({ pages: 40, answerMs: 20 });
    await using place = await sharedPlace(own);
    const worker = place.work(planOf(site.origin));
    await untilTrue(() => site.visits.length > 8);
    await server.stop("immediate");
    worker.leave();
    const { state, warnings, manifestPath } = await worker.ended;
    expect([state, manifestPath]).toEqual(["cancelled", null]);
    expect(warnings).toEqual(["The database cannot be reached, so the counts may be outdated"]);
    await server.start();
    const { state: end, progress } = await place.work(planOf(site.origin)).ended;
    expect([end, progress.successful, place.pages.size]).toEqual(["completed", 40, 40]);
  });
});
