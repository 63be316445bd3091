import type { Database } from "../../../base/database/index.ts";
import type { z } from "../openapi.ts";
import type * as schemas from "./schemas.ts";

/** What `GET /search-times` answers with. */
export type SearchTimesRecord = z.infer<typeof schemas.SearchTimes>;

/** The searches of one interval. */
export type StretchTimes = SearchTimesRecord["queries"][number];

/** The durations of the last day's searches, limited in size and kept across restarts if the database is. */
export interface SearchTimes extends Disposable {
  record(outcome: "success" | "error", durationMs: number): void;
  read(): SearchTimesRecord;
}

const BUCKET_SECONDS = 600;
const SPAN_SECONDS = 24 * 3600;
/** How often counts move from memory to the database, in ms. */
const FLUSH_MS = 2000;
/** Durations are counted in classes, each 10 % longer than the previous one. */
const CLASS_BASE = 1.1;
/** The class that counts failed searches, in addition to the class of their duration. */
const ERRORS = -1000;

const classOf = (ms: number): number => Math.round(Math.log(Math.max(ms, 0.01)) / Math.log(CLASS_BASE));
const durationOf = (durationClass: number): number => Math.round(CLASS_BASE ** durationClass * 100) / 100;

type ClassRow = { readonly bucket: number; readonly class: number; readonly count: number };

export type SearchTimesOptions = {
  /** The shared database, or one in memory. */
  readonly database: Database;
  /** Called once when the database refuses to store more; answers continue without it. */
  readonly onTrouble: (error: unknown) => void;
  /** The time in ms since 1970. */
  readonly now?: () => number;
};

/** Opens the times; several processes may share their database. */
export function openSearchTimes({ database, onTrouble, now = Date.now }: SearchTimesOptions): SearchTimes {
  const statements = prepareStatements(database);
  const pending = new Map<string, ClassRow>();
  let isTroubled = false;
  const oldest = (): number => bucketOf(now() - SPAN_SECONDS * 1000);
  const flush = (): void => {
    if (pending.size === 0) return;
    const rows = JSON.stringify([...pending.values()].map((row) => [row.bucket, row.class, row.count]));
    pending.clear();
    try {
      statements.add.run(rows);
      statements.drop.run(oldest());
    } catch (error) {
      if (!isTroubled) onTrouble(error);
      isTroubled = true;
    }
  };
  const timer = setInterval(flush, FLUSH_MS);
  timer.unref();
  return {
    record(outcome, durationMs) {
      const bucket = bucketOf(now());
      for (const one of outcome === "error" ? [ERRORS, classOf(durationMs)] : [classOf(durationMs)]) {
        const key = `${bucket} ${one}`;
        pending.set(key, { bucket, class: one, count: (pending.get(key)?.count ?? 0) + 1 });
      }
    },
    read() {
      flush();
      const queries = toStretches(statements.since.all(oldest()));
      return { bucket_seconds: BUCKET_SECONDS, span_seconds: SPAN_SECONDS, queries };
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      flush();
    },
  };
}

const bucketOf = (ms: number): number => Math.floor(ms / 1000 / BUCKET_SECONDS);

function prepareStatements(database: Database) {
  database.run(
    "CREATE TABLE IF NOT EXISTS search_times (bucket INTEGER, class INTEGER, count INTEGER NOT NULL, PRIMARY KEY (bucket, class)) STRICT, WITHOUT ROWID",
  );
  return {
    // A single statement stores either all counts of a flush or none.
    add: database.prepare<never, [string]>(
      "INSERT INTO search_times SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?) WHERE true ON CONFLICT DO UPDATE SET count = count + excluded.count",
    ),
    drop: database.prepare<never, [number]>("DELETE FROM search_times WHERE bucket < ?"),
    since: database.prepare<ClassRow, [number]>(
      "SELECT bucket, class, count FROM search_times WHERE bucket >= ? ORDER BY bucket, class",
    ),
  };
}

function toStretches(rows: readonly ClassRow[]): StretchTimes[] {
  return Object.values(Object.groupBy(rows, ({ bucket }) => bucket)).flatMap((classes = []) => {
    const timed = classes.filter((row) => row.class !== ERRORS);
    const count = timed.reduce((sum, row) => sum + row.count, 0);
    const [first] = timed;
    if (!first) return [];
    return [
      {
        at: new Date(first.bucket * BUCKET_SECONDS * 1000).toISOString(),
        count,
        errors: classes.find((row) => row.class === ERRORS)?.count ?? 0,
        p50_ms: quantile(timed, count, 0.5),
        p95_ms: quantile(timed, count, 0.95),
      },
    ];
  });
}

/** @param rows in the order of their durations */
function quantile(rows: readonly ClassRow[], count: number, part: number): number {
  let left = Math.ceil(count * part);
  for (const row of rows) {
    left -= row.count;
    if (left <= 0) return durationOf(row.class);
  }
  return 0;
}
