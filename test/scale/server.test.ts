import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  type ExtractorProcess,
  isOver,
  startExtractor,
  submitJob,
  untilJob,
} from "../support/extractor-server.ts";
import { auditedManifest, type Cluster, startCluster } from "../support/scale/crawl.ts";
import { eventsOf, type JobEvent, toldPages } from "../support/scale/events.ts";
import { type ManyHosts, serveManyHosts } from "../support/scale/site.ts";
import { expectGaps, recordTurns } from "../support/scale/turns.ts";
import { untilTrue } from "../support/until.ts";

const DELAY_SECONDS = 0.1;

let cluster: Cluster;
let site: ManyHosts;
let apis: readonly [ExtractorProcess, ExtractorProcess];
let workers: ExtractorProcess[];

const serve = (role: "api" | "worker"): Promise<ExtractorProcess> =>
  startExtractor({
    words: ["--role", role],
    env: { ...cluster.env, ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: String(DELAY_SECONDS) },
  });

beforeAll(async () => {
  cluster = await startCluster();
  await recordTurns(cluster.database.url);
  site = await serveManyHosts({ hosts: 12, pagesPerHost: 100, answerMs: 50, missing: 50, bytes: 600 });
  apis = await Promise.all([serve("api"), serve("api")]);
  workers = await Promise.all([serve("worker"), serve("worker"), serve("worker")]);
});
afterAll(async () => {
  for (const process of [...workers, ...apis]) await process[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

const request = (place: string) => ({
  output_dir: place,
  seeds: [`${site.origin}/`],
  allow_prefixes: site.origins.map((origin) => `${origin}/`),
  max_pages: 100_000,
  max_depth: 100,
  concurrency: 8,
});

test("events are taken up on another process without a gap or a repetition, while workers come and go", async () => {
  const before = await site.count();
  const id = await submitJob(apis[0], request("events"));
  const events: JobEvent[] = [];
  // Each reader leaves after some events, and the next one asks the other process.
  for (let reader = 0; events.at(-1)?.kind !== "end"; reader++) {
    let left = 150;
    for await (const event of eventsOf(apis[reader % 2 === 0 ? 0 : 1], id, events.at(-1)?.id ?? null)) {
      events.push(event);
      if (--left === 0) break;
    }
    if (reader === 1) workers[0]?.signal("SIGKILL");
    if (reader === 2) workers[1]?.signal("SIGTERM");
    if (reader === 3) workers.push(await serve("worker"));
  }

  expect(await workers[1]?.exited).toBe(0);
  expect(toldPages(events).sort()).toEqual([...site.urls].sort());
  for (const api of apis)
    expect(await untilJob(api, id, isOver)).toMatchObject({ status: "completed", total: site.urls.length });
  const manifest = await auditedManifest(cluster.bucket, "all/events");
  expect(manifest.results.length).toBe(site.urls.length);
  expect(await (await apis[1].get(`/crawl/${id}/manifest`)).json()).toEqual(manifest);
  const delayMs = DELAY_SECONDS * 1000;
  await expectGaps(cluster.database.url, (await site.visits()).slice(before), { delayMs });
}, 600_000);

test("a job that is cancelled anywhere ends everywhere within 2 s", async () => {
  const before = await site.count();
  const id = await submitJob(apis[0], request("cancelled"));
  await untilTrue(async () => (await site.count()) > before + 200);
  const askedAt = performance.now();
  const answer = await apis[1].get(`/crawl/${id}`, { method: "DELETE" });
  expect([200, 202]).toContain(answer.status);
  const job = await untilJob(apis[0], id, isOver);
  const tookMs = performance.now() - askedAt;
  expect(job.status).toBe("failed");
  expect(tookMs).toBeLessThan(2000);
  const { status, results } = await auditedManifest(cluster.bucket, "all/cancelled");
  expect([status, results.length]).toEqual(["cancelled", job.progress]);
  // A helper that had not heard of it would go on asking.
  const count = await site.count();
  await Bun.sleep(3000);
  expect(await site.count()).toBe(count);
}, 600_000);
