import { afterEach, expect, setSystemTime, test } from "bun:test";
import { clockFrom, sinceSetMs } from "../../../src/base/clock.ts";
import { systemClock } from "../../../src/fetching/index.ts";

afterEach(() => void setSystemTime());

test.each([-60 * 60 * 1000, 3 * 24 * 60 * 60 * 1000])(
  "a clock is not set by %d ms with the machine's",
  (ms) => {
    const clock = clockFrom(1_000_000);
    const before = [clock(), systemClock.now()];
    setSystemTime(Date.now() + ms);
    const passed = [clock(), systemClock.now()].map((now, index) => now - (before[index] ?? 0));
    for (const each of passed) expect(each).toBeWithin(0, 60_000);
    expect(clock()).toBeWithin(1_000_000, 1_060_000);
  },
);

test("a process sees that the clock was set, and set back, while it asked for nothing", async () => {
  sinceSetMs();
  setSystemTime(Date.now() - 60 * 60 * 1000);
  await Bun.sleep(600);
  setSystemTime();
  expect(sinceSetMs()).toBeLessThan(600);
});
