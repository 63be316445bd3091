import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { type HistoryDatabase, openHistory } from "../../../src/server/search/history.ts";
import type { TenantStatus } from "../../../src/tenants/index.ts";

const NOON = Date.UTC(2026, 10, 21, 12, 0, 0);
const memory = (): HistoryDatabase => new Database(":memory:") as unknown as HistoryDatabase;
const open = (database: HistoryDatabase | null, now: () => number = () => NOON) =>
  openHistory({ database, now, onTrouble: (error) => expect(error).toBeUndefined() });

function status(fields: Partial<TenantStatus>): TenantStatus {
  const base = { codename: "docs", source: "filesystem", state: "idle", documentCount: 3, lastError: null };
  return { ...base, lastStartedAt: null, lastCompletedAt: null, ...fields } as TenantStatus;
}
const run = (startedMs: number, lastedMs: number): Partial<TenantStatus> => ({
  lastStartedAt: new Date(NOON + startedMs),
  lastCompletedAt: new Date(NOON + startedMs + lastedMs),
});

describe("the history of searches", () => {
  test("gives the median and the 95th percentile of a stretch of ten minutes, within 5 %", () => {
    using history = open(null);
    for (let ms = 1; ms <= 100; ms++) history.recordQuery("success", ms);
    history.recordQuery("error", 2000);
    const [bucket, ...others] = history.read().queries;
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
    first.recordQuery("success", 5);
    first.read();
    second.recordQuery("success", 7);
    expect(second.read().queries).toMatchObject([{ count: 2 }]);
    now += 25 * 3600_000;
    second.recordQuery("success", 9);
    expect(second.read().queries).toMatchObject([{ count: 1 }]);
  });
});

describe("the history of syncs", () => {
  test("has each sync once, whoever saw it, the oldest first", () => {
    const database = memory();
    using first = open(database);
    using second = open(database);
    first.observe([status(run(0, 500))]);
    first.observe([status(run(0, 500))]);
    second.observe([status(run(0, 500))]);
    second.observe([
      status({ ...run(1000, 20), lastError: { code: "timeout", message: "too slow" } as never }),
    ]);
    expect(first.read().syncs).toEqual({
      docs: [
        {
          started_at: "2026-11-21T12:00:00.000Z",
          completed_at: "2026-11-21T12:00:00.500Z",
          duration_ms: 500,
          documents: 3,
          error: null,
        },
        {
          started_at: "2026-11-21T12:00:01.000Z",
          completed_at: "2026-11-21T12:00:01.020Z",
          duration_ms: 20,
          documents: 3,
          error: { code: "timeout", message: "too slow" },
        },
      ],
    });
  });

  test("does not have one that is under way, and keeps the last 50", () => {
    using history = open(null);
    history.observe([status({ state: "running", lastStartedAt: new Date(NOON) })]);
    expect(history.read().syncs).toEqual({});
    for (let count = 0; count < 60; count++) history.observe([status(run(count * 1000, 1))]);
    const { docs = [] } = history.read().syncs;
    expect([docs.length, docs[0]?.started_at]).toEqual([50, "2026-11-21T12:00:10.000Z"]);
  });

  test("is told to be in trouble once when the database takes nothing, and goes on", () => {
    const database = new Database(":memory:");
    const told: string[] = [];
    using history = openHistory({
      database: database as unknown as HistoryDatabase,
      onTrouble: (error) => told.push(String(error)),
    });
    database.run("PRAGMA query_only = 1");
    history.observe([status(run(0, 1))]);
    history.observe([status(run(9, 1))]);
    expect(told).toHaveLength(1);
    expect(told[0]).toContain("readonly");
  });
});
