import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  auditedManifest,
  type Cluster,
  joinedCrawl,
  type ManifestJson,
  type Running,
  start,
  startCluster,
} from "../support/scale/crawl.ts";
import { type ManyHosts, repeatedVisits, serveManyHosts } from "../support/scale/site.ts";
import { expectGaps, recordTurns } from "../support/scale/turns.ts";
import { untilTrue } from "../support/until.ts";

const DELAY_MS = 200;
const CONCURRENCY = 8;

let cluster: Cluster;
let site: ManyHosts;
beforeAll(async () => {
  cluster = await startCluster();
  await recordTurns(cluster.database.url);
  site = await serveManyHosts({ hosts: 16, pagesPerHost: 200, answerMs: 100, missing: 50, bytes: 600 });
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

const workers: Running[] = [];
afterAll(() => Promise.all(workers.map((worker) => worker[Symbol.asyncDispose]())));

/** Starts a process of the crawl. */
function join(words: readonly string[]): Running {
  const worker = start(words, cluster.env);
  workers.push(worker);
  return worker;
}

/** Waits until the site has seen so many requests since the first of this test. */
const seen = (count: number): Promise<void> => untilTrue(async () => (await site.count()) >= count);

/** Waits for the end of the processes that still run; each has to end well. */
async function end(running: readonly Running[]): Promise<void> {
  for (const worker of running)
    expect({ code: await worker.exited, said: worker.stderr().slice(-2000) }).toMatchObject({ code: 0 });
}

/** Every page of the site has its own outcome, as it answers. */
function expectWhole(manifest: ManifestJson): void {
  expect(manifest.results.map(({ url }) => url).sort()).toEqual([...site.urls].sort());
  expect(manifest).toMatchObject({ status: "completed", skipped: 0 });
}

test("one is killed, one frozen for 20 s, and the database stopped at once: each URL has one outcome", async () => {
  const before = await site.count();
  const words = joinedCrawl(site, {
    place: `${cluster.bucket.url}/faults`,
    maxPages: 100_000,
    delayMs: DELAY_MS,
    concurrency: CONCURRENCY,
  });
  const [first, second, third] = [join(words), join(words), join(words)];
  await seen(before + 400);
  first.signal("SIGKILL");
  await seen(before + 800);
  second.signal("SIGSTOP");
  await Bun.sleep(20_000);
  second.signal("SIGCONT");
  await seen((await site.count()) + 300);
  await cluster.database.stop("immediate");
  await Bun.sleep(3000);
  await cluster.database.start();
  await end([second, third]);

  expectWhole(await auditedManifest(cluster.bucket, "faults"));
  const visits = (await site.visits()).slice(before);
  await expectGaps(cluster.database.url, visits, { delayMs: DELAY_MS, maxStrays: CONCURRENCY });
  // What the frozen one had under way went to another, and its own outcomes of it did not count.
  expect(second.stderr()).toMatch(/claims lost|settle refused/);
  // What the killed and the frozen one had under way, and what was settled while the database was away.
  expect(repeatedVisits(visits)).toBeLessThanOrEqual(4 * CONCURRENCY);
}, 600_000);

test("a limit of pages is met to the page, whoever dies", async () => {
  const before = await site.count();
  const maxPages = 900;
  const words = joinedCrawl(site, {
    place: `${cluster.bucket.url}/limit`,
    maxPages,
    delayMs: 50,
    concurrency: CONCURRENCY,
  });
  const [first, second, third] = [join(words), join(words), join(words)];
  await seen(before + 300);
  second.signal("SIGKILL");
  await end([first, third]);

  const manifest = await auditedManifest(cluster.bucket, "limit");
  expect(manifest.successful + manifest.failed).toBe(maxPages);
  const pages = (await site.visits()).slice(before).filter(({ path }) => path !== "/robots.txt");
  // What the killed one had under way is asked for again, and no other page in its place.
  expect(new Set(pages.map(({ host, path }) => host + path)).size).toBe(maxPages);
}, 600_000);

test("the bucket is away for 20 s: nothing is lost, and nothing counts that is not stored", async () => {
  const before = await site.count();
  const words = joinedCrawl(site, {
    place: `${cluster.bucket.url}/away`,
    maxPages: 1500,
    delayMs: 50,
    concurrency: CONCURRENCY,
  });
  const both = [join(words), join(words)];
  await seen(before + 300);
  // First nobody answers, then nobody listens.
  cluster.bucket.signal("SIGSTOP");
  await Bun.sleep(10_000);
  await cluster.bucket.kill();
  await Bun.sleep(10_000);
  await cluster.bucket.start();
  await end(both);

  const manifest = await auditedManifest(cluster.bucket, "away");
  expect(manifest.successful + manifest.failed).toBe(1500);
}, 600_000);

test("all processes are replaced one after another: nothing is lost, and nothing is fetched twice but what was under way", async () => {
  const before = await site.count();
  const words = joinedCrawl(site, {
    place: `${cluster.bucket.url}/rolling`,
    maxPages: 100_000,
    delayMs: 50,
    concurrency: CONCURRENCY,
  });
  let running = [join(words), join(words), join(words)];
  const old = running;
  for (const [place, leaving] of old.entries()) {
    await seen(before + 500 * (place + 1));
    leaving.signal("SIGTERM");
    running = [...running.filter((worker) => worker !== leaving), join(words)];
    // As a command that was interrupted ends.
    expect([130, 143]).toContain((await leaving.exited) ?? 0);
  }
  await end(running);

  expectWhole(await auditedManifest(cluster.bucket, "rolling"));
  const visits = (await site.visits()).slice(before);
  expect(repeatedVisits(visits)).toBeLessThanOrEqual(old.length * CONCURRENCY);
}, 600_000);
