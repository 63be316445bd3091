import { afterAll } from "bun:test";
import { createHostPaces } from "../../src/crawler/host-paces.ts";
import { createHostSlots, openSharedHosts } from "../../src/crawler/index.ts";
import { systemClock } from "../../src/fetching/index.ts";
import { testDatabase } from "../support/postgres.ts";
import { describeHostPaces } from "./host-paces.contract.ts";

describeHostPaces("memory", async () => ({
  isShared: false,
  async open() {
    const slots = createHostSlots(systemClock);
    return { slots, paces: createHostPaces(slots, systemClock) };
  },
  [Symbol.asyncDispose]: async () => {},
}));

const database = await testDatabase();
afterAll(() => database[Symbol.asyncDispose]());

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
