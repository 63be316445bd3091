import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { formatDuration, formatProgress, Pace } from "../../../src/cli/terminal/screen.ts";
import type { CrawlProgress } from "../../../src/crawler/index.ts";

const PROGRESS: CrawlProgress = {
  progress: 120,
  total: 400,
  successful: 115,
  failed: 2,
  skipped: 3,
  inFlight: 5,
  queued: 275,
  fetched: 117,
  bytes: 1_000_000,
};

describe("the progress line", () => {
  test("says done and known, speed, failed, skipped, in flight and the time left", () => {
    expect(formatProgress(PROGRESS, 4, 80)).toBe(
      "120/400 pages · 4.0/s · 2 failed · 3 skipped · 5 in flight · ETA 1:10",
    );
  });

  test("says the same in 40 columns", () => {
    expect(formatProgress(PROGRESS, 4, 39)).toBe("120/400 4.0/s 2 fail 3 skip 5 run 1:10");
  });

  test("says nothing of the time left while nothing is known", () => {
    expect(formatProgress(PROGRESS, 0, 80)).toEndWith("ETA -:--");
    expect(formatProgress(PROGRESS, 0.0001, 80)).toEndWith("ETA -:--");
    expect(formatProgress({ ...PROGRESS, total: 120 }, 0, 80)).toEndWith("ETA 0:00");
    expect(formatProgress({ ...PROGRESS, total: 4120 }, 1, 80)).toEndWith("ETA 1:06:40");
  });

  test("never takes more columns than there are", () => {
    const count = fc.integer({ min: 0, max: 1_000_000 });
    fc.assert(
      fc.property(
        count,
        count,
        fc.float({ min: 0, max: 10_000, noNaN: true }),
        fc.integer({ min: 1, max: 100 }),
        (a, b, rate, columns) => {
          const progress = { ...PROGRESS, progress: a, total: a + b, failed: a, skipped: b, inFlight: 256 };
          const line = formatProgress(progress, rate, columns);
          expect(line.length).toBeLessThanOrEqual(columns);
          if (columns >= 15) expect(line).toContain(`${a}/${a + b}`);
        },
      ),
    );
  });
});

describe("the pace", () => {
  test("is that of the last seconds, not of the whole crawl", () => {
    const pace = new Pace(10_000);
    for (let second = 0; second <= 60; second++) pace.mark(second * 1000, second * 100);
    expect(pace.pagesPerSecond(60_000)).toBeCloseTo(100);
    for (let second = 61; second <= 80; second++) pace.mark(second * 1000, 6000 + (second - 60));
    expect(pace.pagesPerSecond(80_000)).toBeCloseTo(1);
  });

  test("falls while nothing happens", () => {
    const pace = new Pace();
    pace.mark(0, 0);
    pace.mark(1000, 10);
    expect(pace.pagesPerSecond(1000)).toBe(10);
    expect(pace.pagesPerSecond(10_000)).toBe(1);
  });

  test("does not count what an earlier run of the program did", () => {
    const pace = new Pace();
    pace.mark(0, 5000);
    expect(pace.pagesPerSecond(1000)).toBe(0);
    pace.mark(1000, 5004);
    expect(pace.pagesPerSecond(1000)).toBe(4);
  });

  test("keeps few marks, however many pages pass", () => {
    const pace = new Pace(10_000);
    for (let ms = 0; ms < 100_000; ms++) pace.mark(ms, ms);
    expect(pace.pagesPerSecond(99_999)).toBeCloseTo(1000, 0);
    expect(Object.values(pace).find(Array.isArray)?.length).toBeLessThan(50);
  });
});

test.each([
  [850, "850 ms"],
  [12_340, "12.3 s"],
  [245_000, "4 min 5 s"],
  [7_390_000, "2 h 3 min"],
])("%d ms are told as %s", (ms, told) => {
  expect(formatDuration(ms)).toBe(told);
});
