import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import {
  type Database,
  openDatabase,
  openLeaseOwner,
  openLeases,
} from "../../../../src/base/database/index.ts";
import { canContain, IN_CONTAINER } from "../../../support/containers.ts";
import { directoryForEachTest } from "../../../support/for-all-tests.ts";

const ENTRY = new URL("../../../support/lease-owner-entry.ts", import.meta.url).pathname;

const directory = directoryForEachTest();
let path: string;
let database: Database;
const children: Bun.Subprocess[] = [];
beforeEach(() => {
  path = join(directory(), "state.sqlite");
  database = openDatabase({ path, name: "a test's state", access: { kind: "shared" } });
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill("SIGKILL");
    await child.exited;
  }
  database.close();
});

/** Another process that holds the lease `work` for an hour. */
async function startHolder(
  prefix: readonly string[] = [],
): Promise<{ readonly name: string; kill(): Promise<void> }> {
  const child = Bun.spawn([...prefix, process.execPath, ENTRY, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  let said = "";
  for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
    said += piece;
    if (said.includes("\n")) break;
  }
  return {
    name: said.trim(),
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

describe("an owner of leases", () => {
  test("has a name without number or host, a new one each time", () => {
    const names = Array.from({ length: 5 }, () => openLeaseOwner(database).name);
    expect(new Set(names).size).toBe(5);
    for (const name of names) {
      expect(name).toMatch(/^[0-9a-f-]{36}$/);
      expect(name).not.toContain(hostname());
    }
  });

  test("lives as long as its process, and has died the moment that it is killed", async () => {
    using self = openLeaseOwner(database);
    const leases = openLeases(database, { hasDied: self.hasDied });
    const { name, kill } = await startHolder();
    expect(self.hasDied(name)).toBe(false);
    expect(self.hasDied(`${name}:part`)).toBe(false);
    expect(await leases.take("work", self.name, 1000)).toBeNull();
    expect(await leases.holder("work")).toBe(name);
    await kill();
    expect(self.hasDied(name)).toBe(true);
    expect(self.hasDied(`${name}:part`)).toBe(true);
    expect(await leases.holder("work")).toBeNull();
    expect(await leases.take("work", self.name, 1000)).not.toBeNull();
  });

  test("does not count as dead when nothing is known about it: its leases run out", async () => {
    using self = openLeaseOwner(database);
    let now = 0;
    const leases = openLeases(database, { hasDied: self.hasDied, now: () => now });
    for (const name of [
      crypto.randomUUID(),
      `${hostname()}:999999:${crypto.randomUUID()}`,
      "",
      "../state.sqlite",
      self.name,
    ]) {
      expect([name, self.hasDied(name)]).toEqual([name, false]);
      await leases.take(name, name, 1000);
      if (name !== self.name) expect(await leases.take(name, self.name, 1000)).toBeNull();
      now += 1000;
      expect(await leases.take(name, self.name, 1000)).not.toBeNull();
    }
  });

  test("leaves a file that only its user can read, which a later owner removes and remembers", async () => {
    const { name, kill } = await startHolder();
    const files = `${path}.owners`;
    expect(statSync(files).mode & 0o777).toBe(0o700);
    expect(statSync(join(files, name)).mode & 0o777).toBe(0o600);
    await kill();
    const young = await startHolder();
    await young.kill();
    utimesSync(join(files, name), 0, 0);
    using self = openLeaseOwner(database);
    const own = self.name;
    expect(readdirSync(files).sort()).toEqual([young.name, own].sort());
    for (const dead of [name, young.name]) expect(self.hasDied(dead)).toBe(true);
  });

  test("of a living process keeps its file, however old it is", async () => {
    const { name } = await startHolder();
    utimesSync(join(`${path}.owners`, name), 0, 0);
    using self = openLeaseOwner(database);
    expect(self.name).not.toBe(name);
    expect(existsSync(join(`${path}.owners`, name))).toBe(true);
    expect(self.hasDied(name)).toBe(false);
  });

  test("that was disposed of counts as ended for the others", () => {
    using self = openLeaseOwner(database);
    const other = openLeaseOwner(database);
    const { name } = other;
    expect(self.hasDied(name)).toBe(false);
    other[Symbol.dispose]();
    expect(self.hasDied(name)).toBe(true);
  });

  test("of a database in memory has a name, which nobody else can see", () => {
    const memory = openDatabase({ path: ":memory:", name: "x", access: { kind: "shared" } });
    using self = openLeaseOwner(memory);
    expect(self.name).toMatch(/^[0-9a-f-]{36}$/);
    expect(self.hasDied(crypto.randomUUID())).toBe(false);
    expect(existsSync(":memory:.owners")).toBe(false);
    memory.close();
  });
});

test.skipIf(!canContain)(
  "processes of two containers, each the first of its own, are told apart",
  async () => {
    using self = openLeaseOwner(database);
    const one = await startHolder(IN_CONTAINER);
    const two = await startHolder(IN_CONTAINER);
    expect([self.hasDied(one.name), self.hasDied(two.name)]).toEqual([false, false]);
    await one.kill();
    // The container's processes end a moment after the program that holds it.
    while (!self.hasDied(one.name)) await Bun.sleep(10);
    expect(self.hasDied(two.name)).toBe(false);
  },
);
