type CronField = { readonly name: string; readonly min: number; readonly max: number };

const FIELDS: readonly CronField[] = [
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day of month", min: 1, max: 31 },
  { name: "month", min: 1, max: 12 },
  { name: "day of week", min: 0, max: 6 },
];

// For February this is the leap year's length.
const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Says what is wrong with a schedule, or null. It must have exactly five fields of digits, `*`, `,`, `-` and
 * `/`, each within its range; a day that no month has is refused, because it never comes. Cron libraries
 * accept far more (names, seconds, `@daily`, `L`), so this check comes before theirs.
 */
export function scheduleProblem(schedule: string): string | null {
  const written = schedule.trim().split(/\s+/);
  if (schedule.trim() === "" || written.length !== FIELDS.length)
    return `it needs five fields (minute, hour, day of month, month, day of week), not ${schedule.trim() === "" ? 0 : written.length}`;
  const values: Set<number>[] = [];
  for (const [index, field] of FIELDS.entries()) {
    const parsed = fieldValues(written[index] ?? "", field);
    if (typeof parsed === "string") return parsed;
    values.push(parsed);
  }
  const [, , days, months, weekdays] = values;
  const isAnyWeekday = weekdays?.size === 7;
  const smallestDay = Math.min(...(days ?? []));
  const longestMonth = Math.max(...[...(months ?? [])].map((month) => MONTH_DAYS[month - 1] ?? 0));
  return isAnyWeekday && smallestDay > longestMonth ? `day ${smallestDay} never comes in these months` : null;
}

function fieldValues(written: string, field: CronField): Set<number> | string {
  const { name, min, max } = field;
  const wrong = `${name} '${written.slice(0, 50)}' must be numbers from ${min} to ${max}, *, or these with , - and /`;
  const values = new Set<number>();
  for (const part of written.split(",")) {
    const match = /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part);
    if (!match) return wrong;
    const step = match[3] === undefined ? 1 : Number(match[3]);
    const from = match[1] === undefined ? min : Number(match[1]);
    // `5/15` begins at 5 and goes on to the end of the range.
    const isOpen = match[1] === undefined || (match[2] === undefined && match[3] !== undefined);
    const to = isOpen ? max : Number(match[2] ?? match[1]);
    if (from < min || to > max || from > to || step === 0) return wrong;
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return values;
}
