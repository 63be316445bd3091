import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  type Database,
  type HeldLease,
  holdLease,
  type Leases,
  openDatabase,
  openLeases,
} from "../../../../src/base/database/index.ts";
import { directoryForEachTest } from "../../../support/for-all-tests.ts";
import { until } from "../../../support/until.ts";

const directory = directoryForEachTest();
let opened: Database[];
beforeEach(() => {
  opened = [];
});
afterEach(async () => {
  for (const database of opened) database.close();
});

/** Another connection to the same file each time, as another process has. */
function open(): Database {
  const database = openDatabase({
    path: join(directory(), "state.sqlite"),
    name: "a test's state",
    access: { kind: "shared" },
  });
  opened.push(database);
  return database;
}

const TTL_MS = 200;
/** Where a process that is slow for a while must not lose its lease. */
const LONG_MS = 4000;

type Told = { lost: number; readonly errors: unknown[] };

async function hold(
  leases: Leases,
  owner: string,
  ttlMs = TTL_MS,
): Promise<{ readonly held: HeldLease | null; readonly told: Told }> {
  const told: Told = { lost: 0, errors: [] };
  const held = await holdLease({
    leases,
    name: "work",
    owner,
    ttlMs,
    onLost: () => told.lost++,
    onError: (error) => told.errors.push(error),
  });
  return { held, told };
}

describe("a lease that is held", () => {
  test("is renewed for longer than it lasts, then given back", async () => {
    let now = 0;
    const [mine, theirs] = [openLeases(open(), { now: () => now }), openLeases(open(), { now: () => now })];
    const { held, told } = await hold(mine, "me");
    const looking = open().prepare<{ at: number }>("SELECT expires_at AS at FROM leases");
    for (let round = 0; round < 3; round++) {
      now += TTL_MS - 1;
      await until(
        () => looking.get()?.at,
        (at) => at === now + TTL_MS,
      );
      expect({ holder: await theirs.holder("work"), lost: told.lost }).toEqual({ holder: "me", lost: 0 });
    }
    expect((await hold(theirs, "they")).held).toBeNull();
    await held?.[Symbol.asyncDispose]();
    expect(await theirs.take("work", "they", TTL_MS)).not.toBeNull();
  });

  test("is lost, once, when another owner takes it", async () => {
    const [mine, theirs] = [openLeases(open()), open()];
    const { held, told } = await hold(mine, "me");
    theirs.run("UPDATE leases SET owner = 'they', expires_at = 1e15");
    await until(
      () => told.lost,
      (count) => count > 0,
    );
    await Bun.sleep(TTL_MS);
    expect(told).toEqual({ lost: 1, errors: [] });
    await held?.[Symbol.asyncDispose]();
    expect(await mine.holder("work")).toBe("they");
  });

  test("survives trouble with the file that ends in time", async () => {
    const [mine, theirs] = [openLeases(open()), open()];
    const { held, told } = await hold(mine, "me", LONG_MS);
    theirs.run("ALTER TABLE leases RENAME TO elsewhere");
    await until(
      () => told.errors.length,
      (count) => count > 0,
    );
    theirs.run("ALTER TABLE elsewhere RENAME TO leases");
    expect(told.lost).toBe(0);
    await held?.[Symbol.asyncDispose]();
    expect(await mine.holder("work")).toBeNull();
  });

  test("is lost when the trouble lasts, and throws no error", async () => {
    const [mine, theirs] = [openLeases(open()), open()];
    const { held, told } = await hold(mine, "me");
    theirs.run("DROP TABLE leases");
    await until(
      () => told.lost,
      (count) => count > 0,
    );
    expect(told.lost).toBe(1);
    expect(told.errors.length).toBeGreaterThan(0);
    await held?.[Symbol.asyncDispose]();
  });
});
