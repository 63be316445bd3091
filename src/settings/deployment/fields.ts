import { isRecord } from "../../base/json.ts";

/** The part of JSON Schema that names fields. */
export type JsonField = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonField>>;
  readonly items?: JsonField;
  readonly anyOf?: readonly JsonField[];
  readonly oneOf?: readonly JsonField[];
  readonly const?: unknown;
};

type Path = readonly (string | number)[];

/**
 * The names of the fields that a schema knows at a path.
 * @param source the `source_type` of the tenant that the path leads into, which selects one of its forms
 */
export function fieldsOf(schema: JsonField, path: Path, source: unknown): string[] {
  const forms = formsOf(schema, source);
  const [step, ...rest] = path;
  if (step === undefined) return forms.flatMap((form) => Object.keys(form.properties ?? {}));
  return forms.flatMap((form) => {
    const next = below(form, step);
    return next ? fieldsOf(next, rest, source) : [];
  });
}

/** Paths of lists where objects belong: a check of an object's fields sees no difference between `[]` and `{}`. */
export function listsForObjects(schema: JsonField, json: unknown, path: Path = []): Path[] {
  return formsOf(schema, sourceOf(json)).flatMap((form) => {
    if (form.type === "object" && Array.isArray(json)) return [path];
    return partsOf(json).flatMap(([step, part]) => {
      const next = below(form, step);
      // Unknown fields are not walked, because they may be nested without end.
      return next ? listsForObjects(next, part, [...path, step]) : [];
    });
  });
}

/** Paths of all fields that the schema does not know; fields below them are not reported. */
export function unknownFields(schema: JsonField, json: unknown, path: Path = []): Path[] {
  const forms = formsOf(schema, sourceOf(json));
  const hasNames = forms.some(({ properties }) => properties);
  return partsOf(json).flatMap(([step, part]) => {
    const next = forms.map((form) => below(form, step)).find((known) => known !== undefined);
    if (next) return unknownFields(next, part, [...path, step]);
    return hasNames && typeof step === "string" ? [[...path, step]] : [];
  });
}

const sourceOf = (json: unknown): unknown => (isRecord(json) ? (json.source_type ?? null) : null);

const partsOf = (json: unknown): (readonly [string | number, unknown])[] =>
  Array.isArray(json) ? [...json.entries()] : isRecord(json) ? Object.entries(json) : [];

function below({ items, properties }: JsonField, step: string | number): JsonField | undefined {
  if (typeof step === "number") return items;
  return properties && Object.hasOwn(properties, step) ? properties[step] : undefined;
}

function formsOf(schema: JsonField, source: unknown): readonly JsonField[] {
  const forms = schema.anyOf ?? schema.oneOf;
  if (!forms) return [schema];
  const own = forms.filter((form) => form.properties?.source_type?.const === source);
  return (own.length > 0 ? own : forms).flatMap((form) => formsOf(form, source));
}

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
    // `5/15` begins at 5 and continues to the end of the range.
    const isOpen = match[1] === undefined || (match[2] === undefined && match[3] !== undefined);
    const to = isOpen ? max : Number(match[2] ?? match[1]);
    if (from < min || to > max || from > to || step === 0) return wrong;
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return values;
}
