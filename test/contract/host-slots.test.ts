import { expect, test } from "bun:test";
import { openDatabase } from "../../src/base/database/index.ts";
import { createHostSlots, createSharedHostSlots } from "../../src/crawler/index.ts";
import { systemClock } from "../../src/fetching/index.ts";
import { describeHostSlots } from "./host-slots.contract.ts";

describeHostSlots("memory", async () => {
  return {
    open: async () => createHostSlots(systemClock),
    skip: null,
    [Symbol.asyncDispose]: async () => {},
  };
});

describeHostSlots("a SQLite file", async () => {
  let skipped = 0;
  const clock = { ...systemClock, now: () => Date.now() + skipped };
  const database = openDatabase({ path: ":memory:", name: "a test's state", access: { kind: "shared" } });
  return {
    open: async () => createSharedHostSlots({ local: createHostSlots(clock), database, now: clock.now }),
    skip: async (ms) => {
      skipped += ms;
    },
    [Symbol.asyncDispose]: async () => database.close(),
  };
});

test("slots in a file keep pace and pauses, and nothing longer, after the clock was set back", async () => {
  let setBy = 0;
  const now = () => Date.now() + setBy;
  using stack = new DisposableStack();
  const database = openDatabase({ path: ":memory:", name: "a test's state", access: { kind: "shared" } });
  stack.defer(() => database.close());
  const open = () => createSharedHostSlots({ local: createHostSlots(systemClock), database, now });
  const [one, other] = [open(), open()];
  const { signal } = new AbortController();
  (await one.take("h.test", { delayMs: 200, signal })).release();
  await one.pause("paused.test", 400);
  (await one.take("paused.test", { delayMs: 200, signal })).release();
  await one.pause("paused.test", 60_000);
  setBy = -60 * 60 * 1000;
  const startedAt = performance.now();
  (await other.take("h.test", { delayMs: 200, signal })).release();
  // The waiting itself is what is tested: the pace counts once more, and not for an hour.
  expect(performance.now() - startedAt).toBeWithin(190, 60_000);
  const rest = await other.takeSoon("paused.test", { delayMs: 200, patienceMs: 0, signal });
  // Both ends are whole milliseconds of two clocks, so a pause may look one or two longer.
  expect(rest).toBeWithin(50_000, 60_010);
});

test("slots in a file keep pace for a process that starts after the clock was set forward", async () => {
  let setBy = 0;
  const now = () => Date.now() + setBy;
  using stack = new DisposableStack();
  const database = openDatabase({ path: ":memory:", name: "a test's state", access: { kind: "shared" } });
  stack.defer(() => database.close());
  const open = () => createSharedHostSlots({ local: createHostSlots(systemClock), database, now });
  const options = { delayMs: 300, signal: new AbortController().signal };
  (await open().take("h.test", options)).release();
  const startedAt = performance.now();
  setBy = 60 * 60 * 1000;
  (await open().take("h.test", options)).release();
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(290);
});

test("a turn whose end cannot be written does not keep its own process from the host", async () => {
  using stack = new DisposableStack();
  const database = openDatabase({ path: ":memory:", name: "a test's state", access: { kind: "shared" } });
  stack.defer(() => database.close());
  const slots = createSharedHostSlots({ local: createHostSlots(systemClock), database });
  const options = { delayMs: 100, signal: new AbortController().signal };
  const turn = await slots.take("h.test", options);
  // As on a full disk: the database can be read and not written.
  database.run("PRAGMA query_only = 1");
  turn.release();
  database.run("PRAGMA query_only = 0");
  const startedAt = performance.now();
  (await slots.take("h.test", options)).release();
  expect(performance.now() - startedAt).toBeWithin(90, 30_000);
});
