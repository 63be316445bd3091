import { describe, expect, test } from "bun:test";
import { type Database, openDatabase } from "../../../src/base/database/index.ts";
import { openSearchTimes } from "../../../src/server/testing.ts";

const NOON = Date.UTC(2026, 10, 21, 12, 0, 0);
const memory = (): Database =>
  openDatabase({ path: ":memory:", name: "a test's times", access: { kind: "shared" } });
const open = (database: Database, now: () => number = () => NOON) =>
  openSearchTimes({ database, now, onTrouble: (error) => expect(error).toBeUndefined() });

describe("the times of searches", () => {
  test("gives the median and the 95th percentile of a stretch of ten minutes, within 5 %", () => {
    using times = open(memory());
    for (let ms = 1; ms <= 100; ms++) times.record("success", ms);
    times.record("error", 2000);
    const [bucket, ...others] = times.read().queries;
    expect(others).toEqual([]);
    expect(bucket).toMatchObject({ at: "2026-11-21T12:00:00.000Z", count: 101, errors: 1 });
    expect(Math.abs((bucket?.p50_ms ?? 0) / 51 - 1)).toBeLessThan(0.06);
    expect(Math.abs((bucket?.p95_ms ?? 0) / 96 - 1)).toBeLessThan(0.06);
  });

  test("is what all processes on a database saw, and forgets a day later", () => {
    const database = memory();
    let now = NOON;
    using first = open(database, () => now);
    using second = open(database, () => now);
    first.record("success", 5);
    first.read();
    second.record("success", 7);
    expect(second.read().queries).toMatchObject([{ count: 2 }]);
    now += 25 * 3600_000;
    second.record("success", 9);
    expect(second.read().queries).toMatchObject([{ count: 1 }]);
  });

  test("are said to be in trouble once when the database takes nothing, and go on", () => {
    const database = memory();
    const told: string[] = [];
    using times = openSearchTimes({
      database,
      onTrouble: (error) => told.push(String(error)),
    });
    database.run("PRAGMA query_only = 1");
    for (let count = 0; count < 2; count++) {
      times.record("success", 5);
      expect(times.read().queries).toEqual([]);
    }
    expect(told).toHaveLength(1);
    expect(told[0]).toContain("SQLITE_READONLY");
  });
});
