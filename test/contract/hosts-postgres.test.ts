import { expect, test } from "bun:test";
import { systemClock } from "../../src/fetching/index.ts";
import { openSharedHosts } from "../../src/scale/hosts.ts";
import type { Postgres } from "../../src/scale/postgres/postgres.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { startPostgres, testDatabase } from "../support/postgres.ts";
import { failureOf } from "../support/test-fetcher.ts";
import { describeHostPaces } from "./host-paces.contract.ts";
import { describeHostSlots } from "./host-slots.contract.ts";
import { describeRobotsCache } from "./robots-cache.contract.ts";

const database = forAllTests(await testDatabase());

describeHostPaces("PostgreSQL", async () => {
  const db = await database.open();
  await db.script("DELETE FROM host_pace");
  const opened: AsyncDisposable[] = [];
  return {
    isShared: true,
    async open() {
      const hosts = openSharedHosts(db, systemClock);
      opened.push(hosts);
      return hosts;
    },
    async [Symbol.asyncDispose]() {
      for (const hosts of opened) await hosts[Symbol.asyncDispose]();
    },
  };
});

describeRobotsCache("PostgreSQL", async () => {
  const db = await database.open();
  const opened: AsyncDisposable[] = [];
  return {
    async open() {
      const hosts = openSharedHosts(db, systemClock);
      opened.push(hosts);
      return hosts.robots("a client");
    },
    pass: (ms) =>
      db.script(
        `UPDATE robots SET expires_at = expires_at - ${ms} * interval '1 millisecond',
           fetching_until = fetching_until - ${ms} * interval '1 millisecond'`,
      ),
    async [Symbol.asyncDispose]() {
      for (const hosts of opened) await hosts[Symbol.asyncDispose]();
    },
  };
});

test("clients of two kinds have files of their own", async () => {
  await using hosts = openSharedHosts(await database.open(), systemClock);
  const load = async (client: string, text: string) =>
    (
      await hosts.robots(client).load(
        "https://h.test",
        async () => ({ kind: "file", text }),
        () => 1000,
      )
    ).answer;
  expect(await load("one", "first")).toEqual({ kind: "file", text: "first" });
  expect(await load("one", "second")).toEqual({ kind: "file", text: "first" });
  expect(await load("other", "second")).toEqual({ kind: "file", text: "second" });
});

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
});
