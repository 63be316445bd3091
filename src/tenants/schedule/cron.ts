import { CronExpressionParser } from "cron-parser";
import { Failure } from "../../base/failure.ts";

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
  if (isEither) {
    return earliest(
      nextOf({ ...schedule, dayOfMonth, dayOfWeek: "*" }, after),
      nextOf({ ...schedule, dayOfMonth: "*", dayOfWeek }, after),
    );
  }
  return nextOf({ ...schedule, dayOfMonth, dayOfWeek }, after);
}

type Fields = Readonly<Record<"minute" | "hour" | "dayOfMonth" | "month" | "dayOfWeek", string>>;

/** A leap day on a given day of the week comes within 40 years (the 28-year cycle breaks at 2100). */
const FARTHEST_MS = 41 * 366 * 24 * 60 * 60 * 1000;

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Finds a time at which both day fields match. The package would accept either, so the day of the week is
 * checked here.
 */
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

const earliest = (a: number | null, b: number | null): number | null => {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
};
