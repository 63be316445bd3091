import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  type ExtractorProcess,
  isOver,
  startExtractor,
  submitJob,
  untilJob,
} from "../support/extractor-server.ts";
import { auditedManifest, type Cluster, startCluster } from "../support/scale/crawl.ts";
import { gapsOf, type ManyHosts, serveManyHosts } from "../support/scale/site.ts";
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

type JobEvent = { readonly id: number; readonly kind: string; readonly data: string };

/** Yields the events that have a number, those behind `last`, until the stream ends. */
async function* eventsOf(api: ExtractorProcess, id: string, last: number | null): AsyncGenerator<JobEvent> {
  const headers: Record<string, string> = last === null ? {} : { "last-event-id": String(last) };
  const response = await api.get(`/crawl/${id}/events`, { headers });
  expect(response.status).toBe(200);
  let text = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? "";
      if (field("id") !== "") yield { id: Number(field("id")), kind: field("event"), data: field("data") };
    }
  }
}

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
  expect(events.map((event) => event.id)).toEqual(events.map((_, index) => (events[0]?.id ?? 0) + index));
  const told = events.filter(({ kind }) => kind === "page").map(({ data }) => JSON.parse(data).url as string);
  expect(told.sort()).toEqual([...site.urls].sort());
  for (const api of apis)
    expect(await untilJob(api, id, isOver)).toMatchObject({ status: "completed", total: site.urls.length });
  const manifest = await auditedManifest(cluster.bucket, "all/events");
  expect(manifest.results.length).toBe(site.urls.length);
  expect(await (await apis[1].get(`/crawl/${id}/manifest`)).json()).toEqual(manifest);
  const delayMs = DELAY_SECONDS * 1000;
  expect(gapsOf((await site.visits()).slice(before), delayMs).leastMs).toBeGreaterThanOrEqual(delayMs / 2);
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
  // A helper that had not heard of it would go on asking.
  const count = await site.count();
  await Bun.sleep(3000);
  expect(await site.count()).toBe(count);
}, 600_000);
