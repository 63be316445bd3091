import { expect, test } from "bun:test";
import { join } from "node:path";
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
