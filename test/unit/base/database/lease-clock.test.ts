import { expect, test } from "bun:test";
import { join } from "node:path";
import { openDatabase, openLeases } from "../../../../src/base/database/index.ts";
import { outputOf } from "../../../support/local.ts";
import { temporaryDirectory } from "../../../support/temporary.ts";

const DATABASE = join(import.meta.dir, "../../../../src/base/database/index.ts");

/** It runs in a process of its own, which stays careful for a while after the clock was set. */
const SCRIPT = `
import { openDatabase, openLeases } from ${JSON.stringify(DATABASE)};
const path = process.argv.at(-1);
const database = openDatabase({ path, name: "a test's state", access: { kind: "shared" } });
const { now } = Date;
const leases = openLeases(database, { now: () => Date.now() });
await leases.take("work", "holder", 15_000);
await leases.take("free", "holder", 15_000);
await leases.release("free", "holder");
Date.now = () => now() + 3 * 24 * 60 * 60 * 1000;
const fences = [await leases.take("work", "other", 15_000), await leases.take("free", "other", 15_000)];
console.log(JSON.stringify([...fences, await leases.holder("work")]));
`;

test("a lease is not taken from its holder because the clock was set forward", async () => {
  using directory = temporaryDirectory();
  const script = join(directory.path, "script.ts");
  await Bun.write(script, SCRIPT);
  const child = Bun.spawn([process.execPath, script, join(directory.path, "state.sqlite")], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  expect(await outputOf(child)).toMatchObject({ stdout: '[null,2,"holder"]\n', exitCode: 0 });
});

test("a lease that could not be given back while the clock was a day ahead is held for seconds, not for a day", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "state.sqlite");
  const database = openDatabase({ path, name: "a test's state", access: { kind: "shared" } });
  let now = Date.now();
  const leases = openLeases(database, { now: () => now });
  now += 24 * 60 * 60 * 1000;
  await leases.take("work", "holder", 15_000);
  expect(await leases.holder("work")).toBe("holder");
  now -= 24 * 60 * 60 * 1000;
  expect(await leases.holder("work")).toBeNull();
  // Whoever wants it waits for as long as any holder needs to renew it.
  expect(await leases.take("work", "other", 15_000)).toBeNull();
  now += 15_000;
  expect(await leases.take("work", "other", 15_000)).toBe(2);
  database.close();
});
