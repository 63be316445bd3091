import { afterAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_NETWORK, openApp } from "../../../src/app/index.ts";
import { Failure } from "../../../src/base/failure.ts";
import type { Log } from "../../../src/base/log.ts";
import { silentLog } from "../../../src/base/silent-log.ts";
import type {
  CrawlEvent,
  CrawledPage,
  CrawlJobOptions,
  CrawlPlan,
  CrawlSummary,
  PageSink,
} from "../../../src/crawler/index.ts";
import { crawlPlan, type ManifestFile } from "../../support/crawling.ts";
import { crawlPage, serveNumberedSite } from "../../support/numbered-site.ts";
import { testDatabase } from "../../support/postgres.ts";
import { testProgram } from "../../support/program.ts";
import { failureOf } from "../../support/test-fetcher.ts";
import { until, untilTrue } from "../../support/until.ts";

const database = await testDatabase();
afterAll(() => database[Symbol.asyncDispose]());

type Worker = {
  readonly events: readonly CrawlEvent[];
  readonly ended: Promise<CrawlSummary>;
  /** As SIGTERM does at the terminal. */
  leave(): void;
  /** As a server does when somebody cancels the job. */
  cancel(): void;
};

type WorkerOptions = {
  readonly canLead?: boolean;
  readonly sink?: Partial<PageSink>;
  readonly log?: Log;
  readonly job?: Partial<CrawlJobOptions>;
};

/** A place into which several workers crawl, each with its own connections, as processes would. */
async function sharedPlace() {
  const path = await mkdtemp(join(tmpdir(), "shared-crawl-"));
  const pages = new Map<string, CrawledPage>();
  const manifestPath = join(path, "manifest.json");
  const running: Promise<unknown>[] = [];
  const sink: PageSink = {
    put: async (page) => {
      pages.set(page.page.url, page);
      return null;
    },
    has: async (url) => pages.has(url),
    retire: async () => null,
    remove: async (url) => void pages.delete(url),
  };
  return {
    path,
    pages,
    readManifest: (): Promise<ManifestFile> => Bun.file(manifestPath).json(),
    work(plan: CrawlPlan, options: WorkerOptions = {}): Worker {
      const leave = new AbortController();
      const cancel = new AbortController();
      const events: CrawlEvent[] = [];
      const run = async (): Promise<CrawlSummary> => {
        await using app = openApp(
          testProgram({
            ARTICLE_EXTRACTOR_DATABASE_URL: database.url,
            ARTICLE_EXTRACTOR_DATABASE_SCHEMA: database.schema,
          }),
          { caller: { kind: "cli" }, shell: "cli", log: options.log ?? silentLog, machine: null },
        );
        await using session = app.openSession(DEFAULT_NETWORK);
        const job: CrawlJobOptions = {
          output: { kind: "sink", sink: { ...sink, ...options.sink }, stateDirectory: path, manifestPath },
          jobId: null,
          isFresh: false,
          authorizations: new Map(),
          shared: { canLead: options.canLead ?? true, leave: leave.signal },
          ...options.job,
        };
        for await (const event of session.crawl(plan, job, cancel.signal)) {
          events.push(event);
          if (event.kind === "finished") return event.summary;
        }
        throw new Error("the crawl did not tell that it finished");
      };
      const ended = run();
      running.push(ended.catch(() => {}));
      return { events, ended, leave: () => leave.abort(), cancel: () => cancel.abort() };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(running);
      await rm(path, { recursive: true });
    },
  };
}

const planOf = (origin: string, changes: Partial<CrawlPlan> = {}): CrawlPlan =>
  crawlPlan({ seeds: [`${origin}/`], concurrency: 4, obeysRobots: false, ...changes });

const pagesOf = ({ events }: Worker, isOwn: boolean): string[] =>
  events.flatMap((event) => (event.kind === "page" && event.isOwn === isOwn ? [event.outcome.url] : []));

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
  }, 60_000);

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
  }, 60_000);

  test.each([
    ["the leader", 0],
    ["a helper", 1],
  ])(
    "goes on when %s leaves, whose pages go back at once",
    async (_, which) => {
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
    },
    60_000,
  );

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
    expect(site.visits.length).toBeLessThanOrEqual(40 + 8);
  }, 60_000);

  test("ends for all when the leader's caller cancels it, and says so in the manifest", async () => {
    await using site = serveNumberedSite({ pages: 400, answerMs: 20 });
    await using place = await sharedPlace();
    const leader = place.work(planOf(site.origin));
    await untilTrue(() => site.visits.length > 0);
    const helper = place.work(planOf(site.origin), { canLead: false });
    await untilTrue(() => pagesOf(helper, true).length > 0);
    leader.cancel();
    for (const { ended } of [leader, helper]) expect((await ended).state).toBe("cancelled");
    expect((await leader.ended).manifestPath).not.toBeNull();
    expect((await helper.ended).manifestPath).toBeNull();
    const { status, error } = await place.readManifest();
    expect([status, error?.code]).toEqual(["cancelled", "cancelled"]);
  }, 60_000);

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
  }, 60_000);

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
  }, 60_000);

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
  }, 60_000);

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
  }, 60_000);

  test("fails for all in the same way when there is nothing to crawl", async () => {
    await using site = serveNumberedSite({ pages: 3 });
    await using place = await sharedPlace();
    const plan = planOf(site.origin, { denyPrefixes: [`${site.origin}/`] });
    const summaries = await Promise.all([1, 2].map(() => place.work(plan).ended));
    for (const { state, error } of summaries) {
      expect([state, error?.code]).toEqual(["failed", "invalid_usage"]);
      expect(error?.message).toContain("none of the 1 seeds");
    }
  }, 60_000);

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
  }, 60_000);

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
  }, 60_000);
});
