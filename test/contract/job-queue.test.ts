import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Damage } from "../../src/base/damaged.ts";
import { openSqliteJobQueue } from "../../src/crawler/index.ts";
import { claim, type Spec, specOf, submit } from "../support/job-queue-steps.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { describeJobQueue } from "./job-queue.contract.ts";

describeJobQueue("SQLite", async () => {
  const { path, ...place } = temporaryDirectory();
  let passedMs = 0;
  return {
    ...place,
    open: async (limits) =>
      openSqliteJobQueue({ ...limits, directory: path, now: () => Date.now() + passedMs }),
    pass: async (ms) => {
      passedMs += ms;
    },
    dump: async () =>
      readdirSync(path, { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => readFileSync(join(path, name), "latin1"))
        .join(),
  };
});

test("jobs in a file wait no longer than any after the clock was set back, and end after they began", async () => {
  let now = Date.now();
  using place = temporaryDirectory();
  const limits = { maxQueued: 5, maxRunning: 1, leaseMs: 15_000 };
  const open = () => openSqliteJobQueue<Spec>({ ...limits, directory: place.path, now: () => now });
  await using one = open();
  await using other = open();
  const { id } = await submit(one, "/a");
  await one.handBack(await claim(one), 5000);
  expect(await one.claim()).toBeNull();
  now -= 5 * 24 * 60 * 60 * 1000;
  expect(await claim(one)).toMatchObject({ id, spec: specOf("/a") });
  expect(await other.claim()).toBeNull();
  now -= 60 * 60 * 1000;
  const again = await claim(other);
  const startedAt = new Date(now + 60_000).toISOString();
  await other.report(again, { startedAt, after: 0, events: [] });
  await other.finish(again, { state: "completed", error: null, after: 0, events: [] });
  expect(await one.get(id)).toMatchObject({ state: "completed", startedAt, completedAt: startedAt });
});

test.each(["an earlier", "a later", "no"])(
  "a file of jobs of %s version is refused and stays, unless it may be put aside",
  async (which) => {
    using place = temporaryDirectory();
    const path = join(place.path, "jobs.sqlite");
    const limits = { maxQueued: 5, maxRunning: 1, leaseMs: 15_000 };
    const open = () => openSqliteJobQueue<Spec>({ ...limits, directory: place.path, now: Date.now });
    {
      await using queue = open();
      await submit(queue, "/a");
    }
    const readVersion = (): number => {
      using file = new Database(path);
      return file.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
    };
    const own = readVersion();
    const version = which === "no" ? 0 : own + (which === "a later" ? 1 : -1);
    {
      using file = new Database(path);
      file.run(`PRAGMA user_version = ${version}`);
    }
    const formats = `it has format ${version}, this version reads ${own}`;
    expect(open).toThrow(formats);
    expect(readVersion()).toBe(version);
    const damages: Damage[] = [];
    const openAnyway = () =>
      openSqliteJobQueue<Spec>({
        ...limits,
        directory: place.path,
        now: Date.now,
        onDamaged: (damage) => damages.push(damage),
      });
    if (which === "a later") {
      expect(openAnyway).toThrow(
        `${path} holds the server's jobs of a newer version of this program: ${formats}`,
      );
      expect(readVersion()).toBe(version);
    } else {
      await using queue = openAnyway();
      expect(await queue.claim()).toBeNull();
      expect(damages).toEqual([{ path, as: expect.any(String), error: formats }]);
    }
  },
);

test("a database of another program in place of the jobs is refused", () => {
  using place = temporaryDirectory();
  {
    using file = new Database(join(place.path, "jobs.sqlite"), { create: true });
    file.run("CREATE TABLE job (name TEXT)");
  }
  const limits = { maxQueued: 5, maxRunning: 1, leaseMs: 15_000 };
  expect(() => openSqliteJobQueue<Spec>({ ...limits, directory: place.path, now: Date.now })).toThrow(
    "format 0",
  );
});
