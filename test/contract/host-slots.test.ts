import { afterAll, expect, test } from "bun:test";
import { openDatabase } from "../../src/base/database/index.ts";
import type { Postgres } from "../../src/base/postgres/index.ts";
import { createHostSlots, createSharedHostSlots, openSharedHosts } from "../../src/crawler/index.ts";
import { systemClock } from "../../src/fetching/index.ts";
import { startPostgres, testDatabase } from "../support/postgres.ts";
import { failureOf } from "../support/test-fetcher.ts";
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

const database = await testDatabase();
afterAll(() => database[Symbol.asyncDispose]());

describeHostSlots("PostgreSQL", async () => {
  const db = await database.open({ connections: 1 });
  await db.script("DELETE FROM host_pace");
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
    },
  };
});

test("on PostgreSQL no process overtakes another for ever, also where requests take longer than the delay", async () => {
  const order: number[] = [];
  const { signal } = new AbortController();
  const databases = [await database.open({ connections: 2 }), await database.open({ connections: 2 })];
  const run = async (process: number): Promise<void> => {
    await using hosts = openSharedHosts(databases[process]!, systemClock);
    for (let count = 0; count < 12; count++) {
      const turn = await hosts.slots.take("contended", { delayMs: 1, signal });
      order.push(process);
      await Bun.sleep(10);
      turn.release();
    }
  };
  await Promise.all([run(0), run(1)]);
  // By then both are there, and neither is done.
  const middle = order.slice(6, 14);
  for (const process of [0, 1])
    expect(middle.filter((one) => one === process).length).toBeGreaterThanOrEqual(2);
});

/** The same database, whose answers come late. */
const slow = (db: Postgres): Postgres => ({
  ...db,
  patient: (patience) => slow(db.patient(patience)),
  async query<Row>(...statement: Parameters<Postgres["query"]>) {
    const rows = await db.query<Row>(...statement);
    await Bun.sleep(40);
    return rows;
  },
});

test("on PostgreSQL a late answer of the database shortens no gap between requests", async () => {
  const { signal } = new AbortController();
  const db = await database.open({ connections: 2 });
  await using late = openSharedHosts(slow(db), systemClock);
  await using prompt = openSharedHosts(db, systemClock);
  const first = await late.slots.take("late", { delayMs: 50, signal });
  const startedAt = performance.now();
  first.release();
  await prompt.slots.take("late", { delayMs: 50, signal });
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(49);
});

test("on PostgreSQL turns wait for a database that is away, and can be called off", async () => {
  await using server = await startPostgres();
  await using away = await testDatabase(server);
  await using hosts = openSharedHosts(await away.open({ connections: 2 }), systemClock);
  const { signal } = new AbortController();
  const held = await hosts.slots.take("h", { delayMs: 1, signal });
  await server.stop("immediate");
  held.release();
  const controller = new AbortController();
  const calledOff = failureOf(hosts.slots.take("other", { delayMs: 1, signal: controller.signal }));
  let isTaken = false;
  const waiting = hosts.slots.take("h", { delayMs: 1, signal }).then((turn) => {
    isTaken = true;
    return turn;
  });
  controller.abort();
  expect((await calledOff)?.code).toBe("cancelled");
  expect(isTaken).toBe(false);
  await server.start();
  (await waiting).release();
}, 120_000);
