import type { TenantSettings } from "../settings.ts";
import type { SyncRecord } from "../sync-book.ts";
import { nextRunAt } from "./cron.ts";

const MINUTE_MS = 60_000;
/** Between two tries of a sync that fails: it doubles from one minute to an hour. */
const MAX_BACK_OFF_MS = 60 * MINUTE_MS;

/**
 * When a tenant is to be synced next: at once when it never was, after a back-off when the last try failed, else as
 * its settings say. A run that was missed is due now, once, whatever the number of those missed.
 * @param now ms since 1970
 * @returns ms since 1970, in the past for what is due; null when only somebody's wish starts a sync
 */
export function dueAt(tenant: TenantSettings, record: SyncRecord, now: number): number | null {
  if (tenant.source === "filesystem") return null;
  const { failedAt, failures, syncedAt } = record;
  if (failures > 0 && failedAt !== null)
    return failedAt + Math.min(MAX_BACK_OFF_MS, MINUTE_MS * 2 ** Math.min(failures - 1, 10));
  if (syncedAt === null) return now;
  if (tenant.source === "git" && tenant.syncIntervalMinutes !== null)
    return syncedAt + tenant.syncIntervalMinutes * MINUTE_MS;
  return tenant.schedule === null ? null : nextRunAt(tenant.schedule, syncedAt);
}

/** A difference that is no clock set back. */
const TOLERANCE_MS = 5_000;

/** What a clock that was set back makes wrong: times to come at which something has happened. Null: nothing. */
export function withoutFutureTimes(
  { syncedAt, failedAt }: SyncRecord,
  now: number,
): Pick<SyncRecord, "syncedAt" | "failedAt"> | null {
  const isFuture = (at: number | null): boolean => at !== null && at > now + TOLERANCE_MS;
  if (!isFuture(syncedAt) && !isFuture(failedAt)) return null;
  return { syncedAt: isFuture(syncedAt) ? now : syncedAt, failedAt: isFuture(failedAt) ? now : failedAt };
}
