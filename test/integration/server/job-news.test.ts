import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  type JobEvent,
  type JobQueue,
  type JobRecord,
  openSqliteJobQueue,
} from "../../../src/crawler/index.ts";
import { type CrawlSpec, JobNews } from "../../../src/server/index.ts";
import { directoryForEachTest } from "../../support/for-all-tests.ts";
import { untilTrue } from "../../support/until.ts";

const place = directoryForEachTest();
let queue: JobQueue<CrawlSpec>;
let asked: string[];
beforeEach(async () => {
  const limits = { maxQueued: 50, maxRunning: 50, leaseMs: 600_000 };
  const real = openSqliteJobQueue<CrawlSpec>({ ...limits, directory: place(), now: Date.now });
  asked = [];
  const noting = <K extends "find" | "eventsAfter">(name: K): JobQueue<CrawlSpec>[K] =>
    ((...words: never[]) => {
      asked.push(name);
      return (real[name] as (...words: never[]) => unknown)(...words);
    }) as JobQueue<CrawlSpec>[K];
  queue = new Proxy(real, {
    get: (target, name) => {
      if (name === "find" || name === "eventsAfter") return noting(name);
      const value = target[name as keyof typeof target];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
});
afterEach(async () => {
  await queue[Symbol.asyncDispose]();
});

const NEVER = new AbortController().signal;
const event = (body: string): JobEvent => ({ kind: "page", body });

async function submit(name: string): Promise<JobRecord> {
  const job = await queue.submit({ place: name, shown: {}, spec: { plan: {} } as never });
  if (typeof job === "string") throw new Error(job);
  return job;
}

test("a thousand watchers of a job ask as much as one", async () => {
  using news = new JobNews(queue);
  const found = await submit("/a");
  const watches = Array.from({ length: 1000 }, () => news.watch(found));
  const claimed = await queue.claim();
  if (!claimed) throw new Error("nothing to claim");
  await queue.report(claimed, { after: 0, events: [event("a"), event("b")] });
  const told = await Promise.all(
    watches.map(async (watch) => {
      let last = 0;
      for (let job = watch.latest(); last < 2; job = watch.latest()) {
        for (const { number } of await watch.eventsAfter(last)) last = number;
        if (last < 2) await watch.change(job, 60_000, NEVER);
      }
      return watch.latest()?.state;
    }),
  );
  expect(new Set(told)).toEqual(new Set(["running"]));
  expect(asked.filter((name) => name === "eventsAfter")).toHaveLength(1);
  // One query a beat, however many watch; on a busy machine the answers take some beats more.
  expect(asked.filter((name) => name === "find").length).toBeLessThan(watches.length / 5);
});

test("watchers of many jobs share one query a beat, and each hears of its own job only", async () => {
  using news = new JobNews(queue);
  const jobs: JobRecord[] = [];
  for (let number = 0; number < 20; number++) jobs.push(await submit(`/${number}`));
  const watches = jobs.map((job) => news.watch(job));
  await untilTrue(() => asked.length >= 3);
  expect(asked.length).toBeLessThan(10);
  await queue.cancel(jobs[7]?.id ?? "");
  await untilTrue(() => watches[7]?.latest()?.state === "failed");
  expect(watches.filter((watch, index) => watch.latest() !== jobs[index])).toHaveLength(1);
});

test("a watch ends its wait when its time is over, its signal aborts, or the job is forgotten", async () => {
  using news = new JobNews(queue);
  const job = await submit("/a");
  using watch = news.watch(job);
  await watch.change(watch.latest(), 1, NEVER);
  const left = new AbortController();
  const waiting = watch.change(watch.latest(), 600_000, left.signal);
  left.abort();
  await waiting;
  using unknown = news.watch({ ...job, id: "forgotten" });
  await unknown.change(unknown.latest(), 600_000, NEVER);
  expect(unknown.latest()).toBeNull();
  expect(await unknown.eventsAfter(0)).toEqual([]);
});
