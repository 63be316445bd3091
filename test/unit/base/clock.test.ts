import { afterEach, expect, setSystemTime, test } from "bun:test";
import { join } from "node:path";
import { clockFrom } from "../../../src/base/clock.ts";
import { systemClock } from "../../../src/fetching/index.ts";
import { outputOf } from "../../support/local.ts";

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

/** It runs in a process of its own, which stays careful for a while after the clock was set. */
const SCRIPT = `
import { sinceSetMs } from ${JSON.stringify(join(import.meta.dir, "../../../src/base/clock.ts"))};
const { now } = Date;
const before = sinceSetMs();
Date.now = () => now() - 60 * 60 * 1000;
await Bun.sleep(600);
Date.now = now;
console.log(before, sinceSetMs() < 600);
`;

test("a process sees that the clock was set, and set back, while it asked for nothing", async () => {
  const child = Bun.spawn([process.execPath, "-e", SCRIPT], { stdio: ["ignore", "pipe", "pipe"] });
  expect(await outputOf(child)).toMatchObject({ stdout: "Infinity true\n", exitCode: 0 });
});
