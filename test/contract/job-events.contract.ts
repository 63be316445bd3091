import { expect, test } from "bun:test";
import fc from "fast-check";
import { EVENT_AGE_MS, MAX_EVENTS, MIN_EVENTS } from "../../src/crawler/queue/jobs.ts";
import {
  claim,
  completed,
  events,
  numbersOf,
  type OpenQueue,
  type QueuePlace,
  submit,
  urlsOf,
} from "../support/job-queue-steps.ts";

/** Which events of a job a queue keeps. */
export function describeKeptEvents(openQueue: OpenQueue, place: () => QueuePlace): void {
  test("keeps an event once that is reported again, alone or with later ones", async () => {
    const queue = await openQueue();
    await submit(queue, "/a");
    const job = await claim(queue);
    await queue.report(job, { after: 0, events: events("a", "b") });
    await queue.report(job, { after: 0, events: events("a", "b") });
    await queue.report(job, { after: 0, events: events("a", "b", "c\u0000") });
    await queue.report(job, { after: 1, events: events("b") });
    expect(await urlsOf(queue, job.id)).toEqual(["a", "b", "c\u0000"]);
    expect(await queue.get(job.id)).toMatchObject({ lastEvent: 3 });
  });

  test("keeps the newest 500 events and those of the last two minutes, however they come and age", async () => {
    const step = fc.record({
      /** Far enough from the two minutes that the time which the test takes does not count. */
      passedMs: fc.constantFrom(0, 50_000, 100_000, 150_000),
      count: fc.oneof(fc.nat(30), fc.integer({ min: 400, max: 1300 })),
      /** How many of the events before are reported again. */
      again: fc.nat(20),
    });
    let name = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const queue = await openQueue({ maxRunning: 99 });
        await submit(queue, `/${name++}`);
        const job = await claim(queue);
        let told: { readonly number: number; ageMs: number }[] = [];
        let last = 0;
        for (const { passedMs, count, again } of steps) {
          await place().pass(passedMs);
          for (const event of told) event.ageMs += passedMs;
          const after = Math.max(0, last - again);
          last += count;
          const numbers = Array.from({ length: last - after }, (_, index) => after + index + 1);
          expect(await queue.report(job, { after, events: events(...numbers.map(String)) })).toBe("go_on");
          for (const number of numbers.slice(numbers.length - count)) told.push({ number, ageMs: 0 });
          // A report without events drops none.
          if (numbers.length > 0)
            told = told.filter(({ number, ageMs }) => number > last - MIN_EVENTS || ageMs < EVENT_AGE_MS);
          expect(await numbersOf(queue, job.id)).toEqual(told.map(({ number }) => number));
        }
        // Of a job that has ended, only the newest ones outlive their age.
        await queue.finish(job, { ...completed(), after: last, events: [] });
        await place().pass(EVENT_AGE_MS + 1000);
        expect(await (await openQueue({ maxRunning: 99 })).claim()).toBeNull();
        const first = Math.max(1, last + 2 - MIN_EVENTS);
        expect(await numbersOf(queue, job.id)).toEqual(
          told.flatMap(({ number }) => (number < first ? [] : number)).concat(last + 1),
        );
      }),
      { numRuns: 12 },
    );
  });

  test("keeps 20000 events at most, however young, under their numbers", async () => {
    const queue = await openQueue();
    await submit(queue, "/a");
    const job = await claim(queue);
    const all = Array.from({ length: MAX_EVENTS + 700 }, (_, index) => String(index + 1));
    await queue.report(job, { after: 0, events: events(...all.slice(0, 600)) });
    for (const _ of [1, 2]) await queue.report(job, { after: 600, events: events(...all.slice(600)) });
    const numbers = await numbersOf(queue, job.id);
    expect([numbers.length, numbers[0], numbers.at(-1)]).toEqual([MAX_EVENTS, 701, all.length]);
  });
}
