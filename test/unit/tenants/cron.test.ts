import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { nextRunAt } from "../../../src/tenants/schedule.ts";

const MINUTE_MS = 60_000;

type Range = readonly [min: number, max: number];
const RANGES: readonly Range[] = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
];

/** The values of one field, by trying each. */
function valuesOf(field: string, [min, max]: Range): Set<number> {
  const values = new Set<number>();
  for (let value = min; value <= max; value++) {
    for (const part of field.split(",")) {
      const [range = "", step] = part.split("/");
      const [from = min, to = step === undefined ? from : max] =
        range === "*" ? [min, max] : range.split("-").map(Number);
      if (value >= from && value <= to && (value - from) % Number(step ?? 1) === 0) values.add(value);
    }
  }
  return values;
}

/** Vixie cron's rule, asked of every minute. */
function runsAt(expression: string): (at: number) => boolean {
  const fields = expression.split(" ");
  const [minutes, hours, days, months, weekdays] = fields.map((field, index) =>
    valuesOf(field, RANGES[index] as Range),
  );
  const isEither = !fields[2]?.startsWith("*") && !fields[4]?.startsWith("*");
  return (at) => {
    const date = new Date(at);
    const isDay = days?.has(date.getUTCDate()) === true;
    const isWeekday = weekdays?.has(date.getUTCDay()) === true;
    return (
      minutes?.has(date.getUTCMinutes()) === true &&
      hours?.has(date.getUTCHours()) === true &&
      months?.has(date.getUTCMonth() + 1) === true &&
      (isEither ? isDay || isWeekday : isDay && isWeekday)
    );
  };
}

describe("nextRunAt", () => {
  test("is every run of ten years that a minute-by-minute search finds", () => {
    const start = Date.UTC(2024, 0, 1);
    const end = Date.UTC(2034, 0, 1);
    for (const expression of [
      "7 3 29 2 *",
      "30 2 13 * 5",
      "0 12 */9 * 1",
      "59 23 31 * *",
      "0 0 1 1 0",
      "15 6 * 2,10 6",
    ]) {
      const isRun = runsAt(expression);
      const expected: number[] = [];
      for (let at = start; at < end; at += MINUTE_MS) if (isRun(at)) expected.push(at);
      const found: number[] = [];
      for (let at = nextRunAt(expression, start - 1); at !== null && at < end; at = nextRunAt(expression, at))
        found.push(at);
      expect(found, expression).toEqual(expected);
    }
  });

  test("is the first minute that a slow search finds, for any schedule", () => {
    const field = ([min, max]: Range) =>
      fc.oneof(
        fc.constant("*"),
        fc.integer({ min: 1, max: 12 }).map((step) => `*/${step}`),
        fc
          .uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 3 })
          .map((values) => values.join(",")),
        fc
          .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
          .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
      );
    const schedule = fc.tuple(...RANGES.map(field)).map((fields) => fields.join(" "));
    const horizonMs = 40 * 24 * 60 * MINUTE_MS;
    fc.assert(
      fc.property(schedule, fc.integer({ min: 0, max: 5 * 365 * 24 * 60 }), (expression, minutes) => {
        const after = Date.UTC(2026, 0, 1) + minutes * MINUTE_MS + 17_000;
        const isRun = runsAt(expression);
        let expected: number | null = null;
        for (let at = Math.ceil(after / MINUTE_MS) * MINUTE_MS; at < after + horizonMs; at += MINUTE_MS) {
          if (!isRun(at)) continue;
          expected = at;
          break;
        }
        const found = nextRunAt(expression, after);
        if (expected !== null) expect(found).toBe(expected);
        else expect(found === null || found >= after + horizonMs).toBe(true);
      }),
      { numRuns: 60, seed: 11 },
    );
  });

  test.each(["UTC", "Europe/Berlin", "America/St_Johns"])(
    "knows no clock change where the zone is %s: no run is lost, and none comes twice",
    (zone) => {
      const before = process.env.TZ;
      process.env.TZ = zone;
      try {
        // 29 March and 25 October 2026 have 23 and 25 hours in most of Europe, 8 March and 1 November in America.
        for (const [month, day] of [
          [2, 29],
          [9, 25],
          [2, 8],
          [10, 1],
        ] as const) {
          const start = Date.UTC(2026, month, day);
          const runs = (expression: string): number[] => {
            const found: number[] = [];
            let at = nextRunAt(expression, start - 1);
            for (; at !== null && at < start + 48 * 60 * MINUTE_MS; at = nextRunAt(expression, at))
              found.push(at);
            return found.map((one) => (one - start) / MINUTE_MS);
          };
          expect(runs("30 * * * *")).toEqual(Array.from({ length: 48 }, (_, hour) => 60 * hour + 30));
          for (let hour = 0; hour < 4; hour++)
            expect(runs(`30 ${hour} * * *`)).toEqual([60 * hour + 30, 60 * (hour + 24) + 30]);
        }
      } finally {
        if (before === undefined) delete process.env.TZ;
        else process.env.TZ = before;
      }
    },
  );

  test("is nothing for a day that never comes", () => {
    expect(nextRunAt("0 0 31 2 *", Date.UTC(2026, 0, 1))).toBeNull();
  });

  test("takes five fields and nothing else", () => {
    for (const wrong of ["", "* * * *", "* * * * * *", "@daily"])
      expect(() => nextRunAt(wrong, 0)).toThrow(/five fields/);
  });
});
