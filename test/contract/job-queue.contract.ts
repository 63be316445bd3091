import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ClaimedJob, JobQueue, JobRecord } from "../../src/crawler/index.ts";
import type { JobQueueLimits } from "../../src/crawler/queue/jobs.ts";
import {
  claim,
  completed,
  events,
  type OpenQueue,
  type QueuePlace,
  type Spec,
  specOf,
  submit,
  taking,
  urlsOf,
} from "../support/job-queue-steps.ts";
import { until } from "../support/until.ts";
import { describeKeptEvents } from "./job-events.contract.ts";

/** The lease of a process that is not meant to lose it during a test. */
const LONG_MS = 600_000;
const SHORT_MS = 50;

/** What every job queue does, whatever it is made of. */
export function describeJobQueue(kind: string, makePlace: () => Promise<QueuePlace>): void {
  describe(`the job queue of ${kind}`, () => {
    let place: QueuePlace;
    const open: JobQueue<Spec>[] = [];
    const openQueue = async (limits: Partial<JobQueueLimits> = {}): Promise<JobQueue<Spec>> => {
      const queue = await place.open({ maxQueued: 5, maxRunning: 2, leaseMs: LONG_MS, ...limits });
      open.push(queue);
      return queue;
    };
    beforeEach(async () => {
      place = await makePlace();
    });
    afterEach(async () => {
      for (const queue of open.splice(0)) await queue[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    });
    describeSubmitting(openQueue);
    describeClaiming(openQueue);
    describeReporting(openQueue);
    describeKeptEvents(openQueue, () => place);
    describeEnding(openQueue, () => place);
    describeTakingOver(openQueue);
  });
}

function describeSubmitting(openQueue: OpenQueue): void {
  test("shows an accepted job to every process, as it was submitted", async () => {
    const [one, other] = [await openQueue(), await openQueue()];
    const job = await submit(one, "/a", { list: ["é", "\u0000", "🙂"] });
    expect(job).toMatchObject({
      state: "queued",
      place: "/a",
      shown: { list: ["é", "\u0000", "🙂"] },
      startedAt: null,
      completedAt: null,
      counts: { progress: 0, total: 0, successful: 0, failed: 0, skipped: 0 },
      error: null,
      warnings: [],
      isCancelled: false,
      lastEvent: 0,
    });
    expect(job.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(await other.get(job.id)).toEqual(job);
    expect(await other.counts()).toEqual({ queued: 1, running: 0 });
  });

  test.each(["", "none", "00000000-0000-0000-0000-000000000000", "\u0000", "'; --", "é".repeat(100)])(
    "has no job %p",
    async (id) => {
      const queue = await openQueue();
      await submit(queue, "/a");
      expect(await queue.get(id)).toBeNull();
      expect(await queue.cancel(id)).toBeNull();
      expect(await queue.eventsAfter(id, 0, 10)).toEqual([]);
    },
  );

  test("refuses a place that an unfinished job has, and takes it again after its end", async () => {
    const queue = await openQueue();
    const job = await submit(queue, "/a");
    const again = { place: "/a", shown: {}, spec: specOf("/a") };
    expect(await queue.submit(again)).toBe("in_use");
    const claimed = await claim(queue);
    expect(await queue.submit(again)).toBe("in_use");
    await queue.finish(claimed, completed());
    expect(await queue.submit(again)).toMatchObject({ state: "queued" });
    expect(await queue.get(job.id)).toMatchObject({ state: "completed" });
  });

  test("lets as many wait as may, over all processes at once", async () => {
    const queues = [await openQueue({ maxQueued: 5 }), await openQueue({ maxQueued: 5 })];
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        queues[index % 2]?.submit({ place: `/${index}`, shown: {}, spec: specOf("/") }),
      ),
    );
    expect(answers.filter((answer) => answer === "full")).toHaveLength(7);
    expect(await queues[0]?.counts()).toEqual({ queued: 5, running: 0 });
  });

  test("finds the wanted jobs at once, and no other", async () => {
    const queue = await openQueue();
    const jobs = [await submit(queue, "/a"), await submit(queue, "/b"), await submit(queue, "/c")];
    const found = async (...ids: string[]) => (await queue.find(ids)).map(({ place }) => place).sort();
    expect(await found()).toEqual([]);
    expect(await found("none")).toEqual([]);
    expect(await found(jobs[2]?.id ?? "", "none", jobs[0]?.id ?? "", jobs[0]?.id ?? "")).toEqual([
      "/a",
      "/c",
    ]);
  });

  test("lists the newest first, of one state or of all, as many as are wanted", async () => {
    const queue = await openQueue();
    for (const name of ["/a", "/b", "/c", "/d"]) await submit(queue, name);
    await claim(queue);
    const places = async (limit: number, state: JobRecord["state"] | null) =>
      (await queue.list({ limit, state })).map(({ place }) => place);
    expect(await places(9, null)).toEqual(["/d", "/c", "/b", "/a"]);
    expect(await places(2, null)).toEqual(["/d", "/c"]);
    expect(await places(9, "queued")).toEqual(["/d", "/c", "/b"]);
    expect(await places(9, "running")).toEqual(["/a"]);
    expect(await places(9, "failed")).toEqual([]);
  });
}

function describeClaiming(openQueue: OpenQueue): void {
  test("has nothing to claim while it is empty", async () => {
    expect(await (await openQueue()).claim()).toBeNull();
  });

  test("hands out each job once, the first submitted first, with its whole request", async () => {
    const [one, other] = [await openQueue({ maxRunning: 9 }), await openQueue({ maxRunning: 9 })];
    for (const name of ["/a", "/b", "/c"]) await submit(one, name);
    const first = await claim(one);
    expect(first).toMatchObject({ spec: specOf("/a"), hasBegun: false, lastEvent: 0 });
    const rest = await Promise.all([one.claim(), other.claim(), one.claim(), other.claim()]);
    expect(rest.flatMap((job) => job?.spec.url ?? []).sort()).toEqual(["/b", "/c"]);
    expect(await one.get(first.id)).toMatchObject({ state: "running", startedAt: expect.any(String) });
  });

  test("lets as many run as may, over all processes at once", async () => {
    const [one, other] = [await openQueue(), await openQueue()];
    for (const name of ["/a", "/b", "/c", "/d"]) await submit(one, name);
    const claimed = await Promise.all([one, other, one, other].map((queue) => queue.claim()));
    expect(claimed.filter(Boolean)).toHaveLength(2);
    expect(await other.counts()).toEqual({ queued: 2, running: 2 });
    const index = claimed.findIndex(Boolean);
    await (index % 2 === 0 ? one : other).finish(claimed[index] as ClaimedJob<Spec>, completed());
    expect(await claim(other)).toMatchObject({ spec: specOf("/c") });
  });
}

function describeReporting(openQueue: OpenQueue): void {
  test("keeps counts, the time of the start, warnings and events for every process", async () => {
    const [one, other] = [await openQueue(), await openQueue()];
    await submit(one, "/a");
    const job = await claim(one);
    const counts = { progress: 3, total: 9, successful: 1, failed: 1, skipped: 1 };
    const startedAt = "2026-11-22T10:00:00.000Z";
    const report = { counts, startedAt, warnings: ["é"], after: 0, events: events("a", "b") };
    expect(await one.report(job, report)).toBe("go_on");
    expect(await other.get(job.id)).toMatchObject({ counts, startedAt, warnings: ["é"], lastEvent: 2 });
    expect(await other.eventsAfter(job.id, 0, 10)).toEqual([
      { number: 1, kind: "page", body: '{"url":"a"}' },
      { number: 2, kind: "page", body: '{"url":"b"}' },
    ]);
    expect(await other.eventsAfter(job.id, 1, 10)).toHaveLength(1);
    expect(await other.eventsAfter(job.id, 0, 1)).toHaveLength(1);
    expect(await other.eventsAfter(job.id, 2, 10)).toEqual([]);
    expect(await one.report(job, { after: 2, events: [] })).toBe("go_on");
    expect(await other.get(job.id)).toMatchObject({ counts, startedAt, warnings: ["é"], lastEvent: 2 });
  });
}

function describeEnding(openQueue: OpenQueue, place: () => QueuePlace): void {
  test("closes a job with its end as the last event, once", async () => {
    const queue = await openQueue();
    await submit(queue, "/a");
    const job = await claim(queue);
    const counts = { progress: 3, total: 9, successful: 1, failed: 1, skipped: 1 };
    await queue.report(job, { after: 0, events: events("a") });
    for (const _ of [1, 2])
      await queue.finish(job, { ...completed(), counts, warnings: ["w"], after: 1, events: events("b") });
    expect(await queue.get(job.id)).toMatchObject({
      state: "completed",
      counts: { ...counts, total: 3 },
      warnings: ["w"],
      error: null,
      completedAt: expect.any(String),
      lastEvent: 3,
    });
    const kept = await queue.eventsAfter(job.id, 0, 10);
    expect(kept.map(({ number, kind }) => [number, kind])).toEqual([
      [1, "page"],
      [2, "page"],
      [3, "end"],
    ]);
    expect(JSON.parse(kept[2]?.body ?? "")).toEqual({ status: "completed", error: null });
    expect(await queue.report(job, { after: 3, events: [] })).toBe("lost");
  });

  test("keeps the failure of a failed job", async () => {
    const queue = await openQueue();
    await submit(queue, "/a");
    const error = { code: "unwritable_output", message: "the disk is full" } as const;
    const job = await claim(queue);
    await queue.finish(job, { state: "failed", error, after: 0, events: [] });
    expect(await queue.get(job.id)).toMatchObject({ state: "failed", error });
  });

  test("has a request's secrets while the job is unfinished, and nothing of them after its end", async () => {
    const queue = await openQueue();
    await submit(queue, "/a");
    await submit(queue, "/b");
    const job = await claim(queue);
    expect(await place().dump()).toContain("hunter2");
    await queue.finish(job, completed());
    const [waiting] = await queue.list({ limit: 1, state: "queued" });
    await queue.cancel(waiting?.id ?? "");
    expect(await place().dump()).not.toContain("hunter2");
  });

  test("cancels a waiting job at once, a running one by its next report, an ended one not at all", async () => {
    const [one, other] = [await openQueue({ maxRunning: 1 }), await openQueue({ maxRunning: 1 })];
    await submit(one, "/a");
    const waiting = await submit(one, "/b");
    const job = await claim(one);
    for (const _ of [1, 2])
      expect(await other.cancel(waiting.id)).toMatchObject({
        state: "failed",
        error: { code: "cancelled" },
        startedAt: null,
        lastEvent: 1,
      });
    for (const _ of [1, 2])
      expect(await other.cancel(job.id)).toMatchObject({ state: "running", isCancelled: true });
    expect(await one.report(job, { after: 0, events: events("a") })).toBe("cancelled");
    await one.finish(job, completed());
    expect(await other.cancel(job.id)).toMatchObject({ state: "completed" });
    expect(await one.claim()).toBeNull();
  });

  test("puts a job that is handed back at the front, with what it has told so far", async () => {
    const queue = await openQueue({ maxRunning: 1 });
    const first = await submit(queue, "/a");
    await submit(queue, "/b");
    const job = await claim(queue);
    const startedAt = "2026-11-22T10:00:00.000Z";
    await queue.report(job, { startedAt, after: 0, events: events("a") });
    for (const _ of [1, 2]) await queue.handBack(job, 0);
    expect(await queue.get(first.id)).toMatchObject({ state: "queued", startedAt: null, lastEvent: 1 });
    const again = await claim(queue);
    expect(again).toMatchObject({ id: first.id, spec: specOf("/a"), hasBegun: true, lastEvent: 1 });
    expect(await queue.report(job, { after: 1, events: events("late") })).toBe("lost");
    expect(await queue.report(again, { after: 1, events: events("b") })).toBe("go_on");
    expect(await urlsOf(queue, first.id)).toEqual(["a", "b"]);
  });

  test("lets a job that is handed back with a delay rest, and cancels one that was to be cancelled", async () => {
    const queue = await openQueue({ maxRunning: 1 });
    const first = await submit(queue, "/a");
    await queue.handBack(await claim(queue), LONG_MS);
    expect(await queue.claim()).toBeNull();
    await queue.cancel(first.id);
    const second = await submit(queue, "/b");
    const job = await claim(queue);
    await queue.cancel(second.id);
    await queue.handBack(job, 0);
    expect(await queue.get(second.id)).toMatchObject({ state: "failed", error: { code: "cancelled" } });
  });
}

function describeTakingOver(openQueue: OpenQueue): void {
  test("gives a job to another process when its own is silent, and refuses what that says later", async () => {
    const [silent, other] = [await openQueue({ leaseMs: SHORT_MS }), await openQueue()];
    await submit(silent, "/a");
    const late = await claim(silent);
    await silent.report(late, { startedAt: "2026-11-22T10:00:00.000Z", after: 0, events: events("a") });
    const taken = await taking(other);
    expect(taken).toMatchObject({ id: late.id, hasBegun: true, lastEvent: 1 });
    const counts = { progress: 9, total: 9, successful: 9, failed: 0, skipped: 0 };
    expect(await silent.report(late, { counts, after: 1, events: events("late") })).toBe("lost");
    await silent.finish(late, { ...completed(), after: 1, events: events("late") });
    await silent.handBack(late, 0);
    expect(await other.get(late.id)).toMatchObject({ state: "running", counts: { progress: 0 } });
    expect(await other.report(taken, { after: 1, events: events("b") })).toBe("go_on");
    expect(await urlsOf(other, late.id)).toEqual(["a", "b"]);
  });

  test("lets a process keep its job that reports in time", async () => {
    const [busy, other] = [await openQueue({ leaseMs: 60_000 }), await openQueue()];
    await submit(busy, "/a");
    const job = await claim(busy);
    for (let count = 0; count < 3; count++) {
      await busy.report(job, { after: 0, events: [] });
      expect(await other.claim()).toBeNull();
    }
  });

  test("ends a cancelled job whose process is silent", async () => {
    const [silent, other] = [await openQueue({ leaseMs: SHORT_MS }), await openQueue()];
    await submit(silent, "/a");
    const job = await claim(silent);
    await other.cancel(job.id);
    const ended = await until(
      async () => {
        await other.claim();
        return await other.get(job.id);
      },
      (record) => record?.state === "failed",
    );
    expect(ended).toMatchObject({ error: { code: "cancelled" } });
  });

  test("gives up a job that five processes did not survive, and says so", async () => {
    const queue = await openQueue();
    const { id } = await submit(queue, "/a");
    for (let crash = 0; crash < 5; crash++) {
      expect(await queue.get(id)).not.toMatchObject({ state: "failed" });
      await taking(await openQueue({ leaseMs: SHORT_MS }));
    }
    const ended = await until(
      async () => {
        expect(await queue.claim()).toBeNull();
        return await queue.get(id);
      },
      (record) => record?.state === "failed",
    );
    expect(ended).toMatchObject({ error: { code: "internal", message: expect.stringContaining("5 times") } });
    expect(ended?.lastEvent).toBe(1);
  });
}
