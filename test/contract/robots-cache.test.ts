import { afterAll, expect, test } from "bun:test";
import { openSharedHosts } from "../../src/crawler/index.ts";
import { systemClock } from "../../src/fetching/index.ts";
import { testDatabase } from "../support/postgres.ts";
import { describeRobotsCache } from "./robots-cache.contract.ts";

describeRobotsCache("memory alone", async () => ({
  open: async () => undefined,
  pass: async () => {},
  [Symbol.asyncDispose]: async () => {},
}));

const database = await testDatabase();
afterAll(() => database[Symbol.asyncDispose]());

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
