import { join } from "node:path";
import { type Database, openDatabase, openLeases } from "../../src/base/database/index.ts";
import { openSharedLeases } from "../../src/base/postgres/index.ts";
import { testDatabase } from "../support/postgres.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { describeLeases } from "./leases.contract.ts";

describeLeases("SQLite", async () => {
  const directory = temporaryDirectory();
  const path = join(directory.path, "state.sqlite");
  const opened: Database[] = [];
  let passed = 0;
  return {
    async open() {
      const database = openDatabase({ path, name: "a test's state", access: { kind: "shared" } });
      opened.push(database);
      return openLeases(database, { now: () => Date.now() + passed });
    },
    expiry: async (name) =>
      opened[0]
        ?.prepare<{ at: number }, [string]>("SELECT expires_at AS at FROM leases WHERE name = ?")
        .get(name)?.at ?? 0,
    async pass(ms) {
      passed += ms;
    },
    async [Symbol.asyncDispose]() {
      for (const database of opened) database.close();
      directory[Symbol.dispose]();
    },
  };
});

describeLeases("PostgreSQL", async () => {
  const database = await testDatabase();
  const clock = await database.open();
  return {
    open: async () => openSharedLeases(await database.open({ connections: 1 })),
    async expiry(name) {
      const sql = "SELECT extract(epoch FROM expires_at) * 1000 AS at FROM lease WHERE name = $1";
      return (await clock.query<{ at: number }>(sql, [name]))[0]?.at ?? 0;
    },
    pass: async (ms) =>
      void (await clock.run("UPDATE lease SET expires_at = expires_at - $1::float8 * interval '1 ms'", [ms])),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
});
