import { CronExpressionParser } from "cron-parser";
import { pause } from "../base/abort.ts";
import { type HeldLease, holdLease } from "../base/database/index.ts";
import { Failure } from "../base/failure.ts";
import type { TenantSettings } from "./settings.ts";
import type { LeaseHolder, SyncRecord } from "./sync-book.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
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

/** Corrects recorded times that are in the future because the clock was set back; null when none are. */
export function withoutFutureTimes({ syncedAt, failedAt }: SyncRecord, now: number) {
  const isFuture = (at: number | null): boolean => at !== null && at > now + TOLERANCE_MS;
  if (!isFuture(syncedAt) && !isFuture(failedAt)) return null;
  return { syncedAt: isFuture(syncedAt) ? now : syncedAt, failedAt: isFuture(failedAt) ? now : failedAt };
}

/**
 * The first minute after a time at which a schedule runs, in UTC. If both days are restricted, either of them
 * is enough, as in Vixie cron; with a day field that begins with `*`, both must match.
 * @param expression five fields that passed the check of deployment.json
 * @param after ms since 1970
 * @returns ms since 1970; null for a schedule that never runs, such as 31 February
 * @throws Failure `invalid_settings` for anything but five fields
 */
export function nextRunAt(expression: string, after: number): number | null {
  const fields = expression.trim().split(/\s+/);
  const [minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = ""] = fields;
  if (fields.length !== 5)
    throw new Failure("invalid_settings", `${JSON.stringify(expression)} is no schedule of five fields`);
  const isEither = !dayOfMonth.startsWith("*") && !dayOfWeek.startsWith("*");
  const schedule = { minute, hour, month };
  if (!isEither) return nextOf({ ...schedule, dayOfMonth, dayOfWeek }, after);
  const byMonth = nextOf({ ...schedule, dayOfMonth, dayOfWeek: "*" }, after);
  const byWeek = nextOf({ ...schedule, dayOfMonth: "*", dayOfWeek }, after);
  return byMonth === null || byWeek === null ? (byMonth ?? byWeek) : Math.min(byMonth, byWeek);
}

type Fields = Readonly<Record<"minute" | "hour" | "dayOfMonth" | "month" | "dayOfWeek", string>>;

/** A leap day on a given day of the week comes within 40 years (the 28-year cycle breaks at 2100). */
const FARTHEST_MS = 41 * 366 * DAY_MS;

/** A time at which both day fields match. The package accepts either, so the day of the week is checked here. */
function nextOf({ minute, hour, dayOfMonth, month, dayOfWeek }: Fields, after: number): number | null {
  const days = daysOfWeek(dayOfWeek);
  const expression = `${minute} ${hour} ${dayOfMonth} ${month} *`;
  for (let from = after; from - after < FARTHEST_MS; ) {
    const next = nextByPackage(expression, from);
    if (next === null || days.has(new Date(next).getUTCDay())) return next;
    // Continuing at the last moment of that day avoids checking its other minutes one by one.
    from = Math.floor(next / DAY_MS) * DAY_MS + DAY_MS - 1;
  }
  return null;
}

function nextByPackage(expression: string, after: number): number | null {
  try {
    const runs = CronExpressionParser.parse(expression, { currentDate: new Date(after), tz: "UTC" });
    return runs.next().getTime();
  } catch {
    // The package gives up on days that no month has.
    return null;
  }
}

/** Reads the days of the week; Sunday is 0. */
function daysOfWeek(field: string): ReadonlySet<number> {
  const days = new Set<number>();
  for (const part of field.split(",")) {
    const [range = "", step = "1"] = part.split("/");
    const [from = 0, to = range.includes("-") || range === "*" || part.includes("/") ? 6 : from] =
      range === "*" ? [0, 6] : range.split("-").map(Number);
    for (let day = from; day <= to; day += Number(step)) days.add(day);
  }
  return days;
}

/** The most simultaneous syncs, over all processes that share the state. */
const SLOTS = 2;
const LEASE_MS = 15_000;
const LOOK_EVERY_MS = 250;

/** Waits for one of the slots for syncs. @throws Failure `cancelled` when the signal aborts */
export async function takeSyncSlot(
  { leases, owner, onLeaseError: onError }: LeaseHolder,
  signal: AbortSignal,
): Promise<HeldLease> {
  // The holder has a name of its own, because one process may hold both slots.
  const holder = `${owner}:${crypto.randomUUID()}`;
  for (;;) {
    if (signal.aborted) throw new Failure("cancelled", "waiting for a place to sync was cancelled");
    for (let slot = 0; slot < SLOTS; slot++) {
      // A process that slept this long has also lost its tenant, which ends the sync.
      const onLost = (): void => {};
      const name = `sync-slot:${slot}`;
      const held = await holdLease({ leases, name, owner: holder, ttlMs: LEASE_MS, onLost, onError });
      if (held) return held;
    }
    await pause(LOOK_EVERY_MS, signal);
  }
}
