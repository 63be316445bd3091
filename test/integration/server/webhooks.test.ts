import { afterEach, beforeEach, expect, test } from "bun:test";
import type { App } from "../../../src/app/index.ts";
import { type Database, openSharedState } from "../../../src/base/database/index.ts";
import { silentLog } from "../../../src/base/silent-log.ts";
import { type JobQueue, openSqliteJobQueue } from "../../../src/crawler/index.ts";
import {
  WEBHOOK_EVENTS,
  WebhookStore,
  type WebhookTarget,
} from "../../../src/server/api/extractor/jobs/webhook-store.ts";
import { Webhooks } from "../../../src/server/api/extractor/jobs/webhooks.ts";
import type { CrawlSpec } from "../../../src/server/index.ts";
import { directoryForEachTest } from "../../support/for-all-tests.ts";
import { untilTrue } from "../../support/until.ts";

const HOUR_MS = 3600_000;
const TARGET: WebhookTarget = {
  ...{ url: "https://example.org/hook", authorization: null, secret: null, events: WEBHOOK_EVENTS },
  caller: { kind: "remote_request" },
};

const place = directoryForEachTest();
let queue: JobQueue<CrawlSpec>;
let database: Database;
let now: number;
let posted: string[];
beforeEach(() => {
  now = Date.now();
  posted = [];
  const limits = { maxQueued: 50, maxRunning: 50, leaseMs: 24 * HOUR_MS };
  queue = openSqliteJobQueue<CrawlSpec>({ ...limits, directory: place(), now: () => now });
  database = openSharedState(place(), silentLog).database;
});
afterEach(async () => {
  await queue[Symbol.asyncDispose]();
  database.close();
});

/** The receiver, which answers each request with this status. */
const openWebhooks = (status: number): Webhooks => {
  const post: App["post"] = async (_, { json }) => {
    posted.push((json as { event: string }).event);
    return { status, contentType: "", text: "", retryAfterMs: null };
  };
  // Nothing else of the program is asked.
  const eventOf = async () => null;
  const webhooks = new Webhooks({
    app: { post } as unknown as App,
    queue,
    database,
    log: silentLog,
    eventOf,
  });
  webhooks.start();
  return webhooks;
};

/** A job that has ended after so many pages, all of them long ago. */
async function endedJob(pages: number): Promise<string> {
  const job = await queue.submit({ place: "/a", shown: {}, spec: {} as never });
  const claimed = await queue.claim();
  if (typeof job === "string" || !claimed) throw new Error("no job");
  const events = Array.from({ length: pages }, (_, index) => ({ kind: "page", body: { url: `/${index}` } }));
  await queue.report(claimed, { after: 0, events });
  now += HOUR_MS;
  await queue.finish(claimed, { after: pages, events: [], state: "completed", error: null });
  return job.id;
}

test("what the queue keeps no longer is counted as dropped, and the rest is delivered", async () => {
  const job = await endedJob(700);
  await using webhooks = openWebhooks(204);
  webhooks.add(job, TARGET);
  await untilTrue(() => webhooks.statusOf(job)?.is_over === true);
  expect(webhooks.statusOf(job)).toMatchObject({ delivered: 500, failed: 0, dropped: 201 });
  expect(posted).toHaveLength(500);
  expect(posted.at(-1)).toBe("completed");
});

test("a receiver that was away for a day is not told anything more", async () => {
  const job = await endedJob(5);
  const store = new WebhookStore(database);
  store.add(job, TARGET);
  const added = store.get(job);
  if (!added) throw new Error("not added");
  store.write({ ...added, tries: 30, firstTryAt: Date.now() - 24 * HOUR_MS });
  await using webhooks = openWebhooks(503);
  await untilTrue(() => webhooks.statusOf(job)?.is_over === true);
  expect(webhooks.statusOf(job)).toMatchObject({ delivered: 0, failed: 1 });
  expect(posted).toEqual(["page"]);
  expect(store.get(job)?.target).toBeNull();
});

test("two processes deliver each event once", async () => {
  const job = await endedJob(300);
  await using one = openWebhooks(200);
  await using _ = openWebhooks(200);
  one.add(job, TARGET);
  await untilTrue(() => one.statusOf(job)?.is_over === true);
  expect(posted).toHaveLength(301);
});
