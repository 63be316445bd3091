import { describe, expect, test } from "bun:test";
import { openDatabase } from "../../../src/base/database/index.ts";
import { createLog } from "../../../src/base/log.ts";
import { openSyncBook, type TenantSettings } from "../../../src/tenants/index.ts";
import { dueAt, takeSyncSlot, withoutFutureTimes } from "../../../src/tenants/schedule.ts";
import type { GitTenant, OnlineTenant } from "../../../src/tenants/settings.ts";
import { recordOf, type SyncRecord } from "../../../src/tenants/sync-book.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = Date.UTC(2026, 10, 21, 12, 7);

// What the schedule reads of a tenant.
const online = (schedule: string | null): TenantSettings => ({ source: "online", schedule }) as OnlineTenant;
const git = (syncIntervalMinutes: number | null, schedule: string | null = null): TenantSettings =>
  ({ source: "git", syncIntervalMinutes, schedule }) as GitTenant;
const silent = createLog({ level: "critical", format: "text", write: () => {} });
const onLeaseError = (): void => {};
const openBook = () =>
  openSyncBook(
    openDatabase({ path: ":memory:", name: "a test's state", access: { kind: "shared" } }),
    silent,
  );
const record = (fields: Partial<SyncRecord> = {}): SyncRecord =>
  recordOf(fields, { isAsked: false, isTaken: false });

describe("dueAt", () => {
  test("is at once for a tenant that was never synced", () => {
    for (const tenant of [online(null), online("0 0 * * *"), git(60)])
      expect(dueAt(tenant, record(), NOW)).toBe(NOW);
  });

  test("is the schedule's next time after the last sync", () => {
    expect(dueAt(online("0 * * * *"), record({ syncedAt: NOW }), NOW)).toBe(Date.UTC(2026, 10, 21, 13));
  });

  test("is past once for runs that were missed, however many", () => {
    const tenant = online("*/10 * * * *");
    const missed = record({ syncedAt: NOW - 24 * HOUR });
    expect(dueAt(tenant, missed, NOW)).toBeLessThan(NOW);
    expect(dueAt(tenant, { ...missed, syncedAt: NOW }, NOW)).toBe(Date.UTC(2026, 10, 21, 12, 10));
  });

  test("goes by the interval of a repository before its schedule", () => {
    expect(dueAt(git(30, "0 0 * * *"), record({ syncedAt: NOW }), NOW)).toBe(NOW + 30 * MINUTE);
    expect(dueAt(git(null, "0 0 * * *"), record({ syncedAt: NOW }), NOW)).toBe(Date.UTC(2026, 10, 22));
  });

  test("is never by itself without a schedule, and for a folder", () => {
    expect(dueAt(online(null), record({ syncedAt: NOW }), NOW)).toBeNull();
    expect(dueAt({ source: "filesystem" } as TenantSettings, record(), NOW)).toBeNull();
  });

  test("backs off from a minute to an hour after failures", () => {
    const waits = [1, 2, 3, 7, 8, 100].map((failures) => {
      const at = dueAt(online(null), record({ failures, failedAt: NOW }), NOW);
      return ((at ?? 0) - NOW) / MINUTE;
    });
    expect(waits).toEqual([1, 2, 4, 60, 60, 60]);
  });
});

describe("a clock that is set back", () => {
  test("does not put a sync off until the time that it had shown", () => {
    const wrong = record({ syncedAt: NOW + 365 * 24 * HOUR });
    const right = { ...wrong, ...withoutFutureTimes(wrong, NOW) };
    expect(dueAt(git(30), right, NOW)).toBe(NOW + 30 * MINUTE);
    expect(withoutFutureTimes(right, NOW)).toBeNull();
  });

  test("and one set forward makes one run of those that it jumped over", () => {
    const synced = record({ syncedAt: NOW });
    const later = NOW + 30 * 24 * HOUR;
    expect(dueAt(online("0 * * * *"), synced, later)).toBeLessThan(later);
    expect(dueAt(online("0 * * * *"), { ...synced, syncedAt: later }, later)).toBeGreaterThan(later);
  });
});

describe("places to sync", () => {
  test("are two, for all processes together", async () => {
    const { leases } = openBook();
    const { signal } = new AbortController();
    const first = await takeSyncSlot({ leases, onLeaseError, owner: "a" }, signal);
    await using _second = await takeSyncSlot({ leases, onLeaseError, owner: "b" }, signal);
    let isThird = false;
    const third = takeSyncSlot({ leases, onLeaseError, owner: "a" }, signal).then((slot) => {
      isThird = true;
      return slot;
    });
    await Bun.sleep(600);
    expect(isThird).toBe(false);
    await first[Symbol.asyncDispose]();
    await using _third = await third;
    expect(isThird).toBe(true);
  });

  test("are not waited for by who is called off", async () => {
    const { leases } = openBook();
    const calling = new AbortController();
    for (const owner of ["a", "b"]) await takeSyncSlot({ leases, onLeaseError, owner }, calling.signal);
    const waiting = takeSyncSlot({ leases, onLeaseError, owner: "c" }, calling.signal);
    calling.abort();
    await expect(waiting).rejects.toMatchObject({ code: "cancelled" });
  });

  test("are free again when their process has died", async () => {
    let now = 0;
    const { openLeases } = await import("../../../src/base/database/index.ts");
    const database = openDatabase({ path: ":memory:", name: "a test's state", access: { kind: "shared" } });
    const leases = openLeases(database, { now: () => now });
    for (const slot of [0, 1]) await leases.take(`sync-slot:${slot}`, "dead", 15_000);
    now = 16_000;
    await using _ = await takeSyncSlot(
      { leases, onLeaseError, owner: "alive" },
      new AbortController().signal,
    );
    expect(await leases.holder("sync-slot:0")).toStartWith("alive");
  });
});
