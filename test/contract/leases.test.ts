import { expect, test } from "bun:test";
import { join } from "node:path";
import { type Database, openDatabase, openLeases } from "../../src/base/database/index.ts";
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

test("a lease in a file from before the clock was set back is held for no longer than any", async () => {
  let now = Date.now();
  using directory = temporaryDirectory();
  const path = join(directory.path, "state.sqlite");
  using stack = new DisposableStack();
  const database = openDatabase({ path, name: "a test's state", access: { kind: "shared" } });
  stack.defer(() => database.close());
  const leases = openLeases(database, { now: () => now });
  expect(await leases.take("work", "killed", 15_000)).toBe(1);
  now -= 5 * 24 * 60 * 60 * 1000;
  expect(await leases.take("work", "next", 15_000)).toBeNull();
  now += 15_001;
  expect(await leases.take("work", "next", 15_000)).toBe(2);
});
