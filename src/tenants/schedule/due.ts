import type { TenantSettings } from "../settings.ts";
import type { SyncRecord } from "../sync-book.ts";
import { nextRunAt } from "./cron.ts";

const MINUTE_MS = 60_000;
/** The longest wait between two tries of a failing sync; it doubles from one minute to an hour. */
const MAX_BACK_OFF_MS = 60 * MINUTE_MS;

/**
 * When a tenant is to be synced next: at once if it never was, after a back-off if the last try failed, else
 * as its settings say. However many runs were missed, one is due now.
 * @param now ms since 1970
 * @returns ms since 1970, in the past for a sync that is due; null when a sync starts only on request
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

/** A smaller difference does not mean that the clock was set back. */
const TOLERANCE_MS = 5_000;

/**
 * Finds recorded times that lie in the future because the clock was set back, and corrects them; null when
 * there are none.
 */
export function withoutFutureTimes(
  { syncedAt, failedAt }: SyncRecord,
  now: number,
): Pick<SyncRecord, "syncedAt" | "failedAt"> | null {
  const isFuture = (at: number | null): boolean => at !== null && at > now + TOLERANCE_MS;
  if (!isFuture(syncedAt) && !isFuture(failedAt)) return null;
  return { syncedAt: isFuture(syncedAt) ? now : syncedAt, failedAt: isFuture(failedAt) ? now : failedAt };
}
