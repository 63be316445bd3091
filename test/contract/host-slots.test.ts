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
    open: async () => createSharedHostSlots({ local: createHostSlots(clock), database, clock }),
    skip: async (ms) => {
      skipped += ms;
    },
    [Symbol.asyncDispose]: async () => database.close(),
  };
});
