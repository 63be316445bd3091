import { openDatabase } from "../../src/base/database/index.ts";
import { createHostSlots, createSharedHostSlots, openSharedHosts } from "../../src/crawler/index.ts";
import { systemClock } from "../../src/fetching/index.ts";
import { testDatabase } from "../support/postgres.ts";
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

describeHostSlots("PostgreSQL", async () => {
  const database = await testDatabase();
  const db = await database.open();
  const opened: AsyncDisposable[] = [];
  return {
    async open() {
      const hosts = openSharedHosts(await database.open({ connections: 2 }), systemClock);
      opened.push(hosts);
      return hosts.slots;
    },
    skip: (ms) =>
      db.script(`UPDATE host_pace SET held_until = held_until - ${ms} * interval '1 millisecond'`),
    async [Symbol.asyncDispose]() {
      for (const hosts of opened) await hosts[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
});
