import { expect, test } from "bun:test";
import fc from "fast-check";
import { Week, type WeekOptions } from "../../../scripts/bench/week-model.ts";
import { Agenda, createRandom, TimeHeap } from "../../../scripts/bench/week-parts.ts";

const OPTIONS: WeekOptions = {
  seed: 1,
  days: 1,
  urls: 5000,
  hosts: 100,
  workers: 5,
  crawls: 2,
  maxPages: 1500,
  concurrency: 8,
  skew: 0.9,
  delayMs: 1000,
  fetchMs: 300,
  workerCpuMs: 8,
  workerCores: 2,
  databaseCores: 1,
  costs: { claim: 0.3, claimedPage: 0.1, settle: 0.5, newUrl: 0.02, turn: 0.1, heartbeat: 0.1 },
  // Something fails every few minutes.
  workerHours: 0.05,
  databaseOutageHours: 0.1,
  bucketOutageHours: 0.1,
};

function run(options: Partial<WeekOptions> = {}): Week {
  const week = new Week({ ...OPTIONS, ...options });
  week.run();
  return week;
}

test("the same seed gives the same week, another one another", () => {
  expect(run().days).toEqual(run().days);
  expect(run().total).not.toEqual(run({ seed: 2 }).total);
});

test("whatever fails, the rules hold, each crawl ends, and none has more pages than its budget", () => {
  const some = fc.record({
    seed: fc.nat(),
    urls: fc.integer({ min: 1, max: 3000 }),
    hosts: fc.integer({ min: 1, max: 60 }),
    workers: fc.integer({ min: 1, max: 8 }),
    crawls: fc.integer({ min: 1, max: 3 }),
    maxPages: fc.integer({ min: 1, max: 1000 }),
    delayMs: fc.constantFrom(0, 100, 1000),
  });
  fc.assert(
    fc.property(some, (options) => {
      const week = run(options);
      for (let crawl = 0; crawl < options.crawls; crawl++) {
        const { isRunning, settled, found } = week.frontier.crawl(crawl);
        expect(isRunning).toBe(false);
        expect(settled).toBe(Math.min(found, options.maxPages));
      }
    }),
    { numRuns: 30 },
  );
});

test("faults cost fetches, and the frozen settle too late", () => {
  const { total } = run({ urls: 20_000, maxPages: 100_000, workerHours: 0.02 });
  expect(total.fetchedAgain).toBeGreaterThan(0);
  expect(total.lateSettles).toBeGreaterThan(0);
});

test("events come by their time", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 50 })), (times) => {
      const heap = new TimeHeap();
      const agenda = new Agenda();
      for (const time of times) {
        heap.add(time, time);
        agenda.add(time, 0, 0, 0, time);
      }
      const sorted = [...times].sort((a, b) => a - b);
      expect(times.map(() => heap.take())).toEqual(sorted);
      expect(times.map(() => agenda.take().page)).toEqual(sorted);
      expect(heap.nextAt()).toBe(Number.POSITIVE_INFINITY);
    }),
  );
});

test("random numbers lie where they have to, and around their mean", () => {
  const random = createRandom(7);
  const many = Array.from({ length: 20_000 }, () => random.exponential(10));
  expect(Math.min(...many)).toBeGreaterThanOrEqual(0);
  expect(many.reduce((sum, value) => sum + value, 0) / many.length).toBeCloseTo(10, 0);
  for (let tries = 0; tries < 1000; tries++) expect(random.below(3)).toBeOneOf([0, 1, 2]);
});
