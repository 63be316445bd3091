import { expect, test } from "bun:test";
import { createHostSlots } from "../../../src/crawler/index.ts";
import { withRobotsHeader } from "../../../src/crawler/testing.ts";
import { failureOf } from "../../support/test-fetcher.ts";

/** A clock whose sleeps take no time. */
function fakeClock() {
  let now = 1_000_000;
  return {
    now: () => now,
    sleep: async (ms: number, signal: AbortSignal) => {
      await Promise.resolve();
      if (signal.aborted) throw new Error("aborted");
      now += ms;
    },
  };
}

const signal = new AbortController().signal;

test("turns of a host start at least the delay apart, and one at a time", async () => {
  const clock = fakeClock();
  const slots = createHostSlots(clock);
  const first = await slots.take("h", { delayMs: 500, signal });
  const startedAt = clock.now();
  let isSecondOut = false;
  const second = slots.take("h", { delayMs: 500, signal }).then(() => {
    isSecondOut = true;
  });
  await Bun.sleep(1);
  expect(isSecondOut).toBe(false);
  first.release();
  await second;
  expect(clock.now() - startedAt).toBe(500);
});

test("hosts do not wait for each other, nor does a host without delay for itself", async () => {
  const slots = createHostSlots(fakeClock());
  await slots.take("one", { delayMs: 500, signal });
  await slots.take("two", { delayMs: 500, signal });
  await slots.take("three", { delayMs: 0, signal });
  await slots.take("three", { delayMs: 0, signal });
});

test("a pause holds every turn, and a shorter one does not end it", async () => {
  const clock = fakeClock();
  const slots = createHostSlots(clock);
  const until = clock.now() + 9000;
  slots.pause("h", until);
  slots.pause("h", until - 8000);
  expect(slots.readyAt("h", 0)).toBe(until);
  await slots.take("h", { delayMs: 0, signal });
  expect(clock.now()).toBe(until);
});

test("whoever is called off leaves the line to those behind", async () => {
  const slots = createHostSlots(fakeClock());
  const first = await slots.take("h", { delayMs: 1, signal });
  const controller = new AbortController();
  const second = failureOf(slots.take("h", { delayMs: 1, signal: controller.signal }));
  const third = slots.take("h", { delayMs: 1, signal });
  controller.abort();
  expect((await second)?.code).toBe("cancelled");
  first.release();
  (await third).release();
});

test.each([
  ["noindex", true, false],
  ["noindex, nofollow", true, true],
  ["none", true, true],
  ["all", false, false],
  ["otherbot: noindex, nofollow", false, false],
  ["otherbot: noindex, article-extractor: nofollow", false, true],
  ["unavailable_after: 25 Jun 2030 15:00:00 PST, noindex", true, false],
  ["max-snippet: 20, nofollow", false, true],
])("X-Robots-Tag %p", (header, noindex, nofollow) => {
  expect(withRobotsHeader({ noindex: false, nofollow: false }, header)).toEqual({ noindex, nofollow });
});

test("the header adds to the page's own directives and takes none away", () => {
  expect(withRobotsHeader({ noindex: true, nofollow: false }, "nofollow")).toEqual({
    noindex: true,
    nofollow: true,
  });
});
