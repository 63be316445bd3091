import { Database } from "bun:sqlite";
import type { TenantStatus } from "../../tenants/index.ts";

/** What a history is kept in: SQLite in a file that processes share, or in memory. */
export type HistoryDatabase = {
  prepare<Row, Parameters extends (string | number)[]>(
    sql: string,
  ): { all(...parameters: Parameters): Row[]; run(...parameters: Parameters): unknown };
  run(sql: string): unknown;
};

/** One sync of a tenant that came to its end. */
export type SyncRun = {
  /** ISO 8601, UTC. */
  readonly started_at: string;
  readonly completed_at: string;
  readonly duration_ms: number;
  /** Documents in the index afterwards; null without an index. */
  readonly documents: number | null;
  readonly error: { readonly code: string; readonly message: string } | null;
};

/** The searches of one stretch of time. */
export type QueryTimes = {
  /** Its beginning, ISO 8601, UTC. */
  readonly at: string;
  readonly count: number;
  readonly errors: number;
  /** Half of the searches took at most so long, ms; within 5 %. */
  readonly p50_ms: number;
  readonly p95_ms: number;
};

export type HistoryRecord = {
  readonly bucket_seconds: number;
  readonly span_seconds: number;
  readonly queries: readonly QueryTimes[];
  readonly syncs: Readonly<Record<string, readonly SyncRun[]>>;
};

/** What happened lately: bounded, kept across restarts where the database is. */
export interface History extends Disposable {
  /** Counts one search. */
  recordQuery(outcome: "success" | "error", durationMs: number): void;
  /** Looks whether a sync has ended since the last look, and remembers it. */
  observe(statuses: readonly TenantStatus[]): void;
  read(): HistoryRecord;
}

const BUCKET_SECONDS = 600;
const SPAN_SECONDS = 24 * 3600;
const RUNS_KEPT = 50;
/** How often counts go from memory into the database, ms. */
const FLUSH_MS = 2000;
/** Durations are counted in classes, each 10 % longer than the one before. */
const CLASS_BASE = 1.1;
const ERRORS = -1000;

const classOf = (ms: number): number => Math.round(Math.log(Math.max(ms, 0.01)) / Math.log(CLASS_BASE));
const durationOf = (durationClass: number): number => Math.round(CLASS_BASE ** durationClass * 100) / 100;

type RunRow = {
  readonly codename: string;
  readonly started: number;
  readonly completed: number;
  readonly documents: number | null;
  readonly error: string | null;
};
type ClassRow = { readonly bucket: number; readonly class: number; readonly count: number };

export type HistoryOptions = {
  /** Null keeps it in memory, until the process ends. */
  readonly database: HistoryDatabase | null;
  /** Told once when the database refuses to take more; answers go on without. */
  readonly onTrouble: (error: unknown) => void;
  /** ms since 1970. */
  readonly now?: () => number;
};

/** Opens the history; several processes may share its database. */
export function openHistory({ onTrouble, now = Date.now, ...options }: HistoryOptions): History {
  const database = options.database ?? inMemory();
  database.run(
    "CREATE TABLE IF NOT EXISTS history_queries (bucket INTEGER, class INTEGER, count INTEGER NOT NULL, PRIMARY KEY (bucket, class)) STRICT, WITHOUT ROWID",
  );
  database.run(
    "CREATE TABLE IF NOT EXISTS history_syncs (codename TEXT, started INTEGER, completed INTEGER NOT NULL, documents INTEGER, error TEXT, PRIMARY KEY (codename, started)) STRICT, WITHOUT ROWID",
  );
  const statements = prepareStatements(database);
  const pending = new Map<string, ClassRow>();
  const seen = new Map<string, number>();
  let isTroubled = false;
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      if (!isTroubled) onTrouble(error);
      isTroubled = true;
    }
  };
  const flush = (): void => {
    if (pending.size === 0) return;
    const rows = JSON.stringify([...pending.values()].map((row) => [row.bucket, row.class, row.count]));
    pending.clear();
    attempt(() => {
      statements.addQueries.run(rows);
      statements.dropQueries.run(bucketOf(now() - SPAN_SECONDS * 1000));
    });
  };
  const timer = setInterval(flush, FLUSH_MS);
  timer.unref();
  return {
    recordQuery(outcome, durationMs) {
      const bucket = bucketOf(now());
      for (const one of outcome === "error" ? [ERRORS, classOf(durationMs)] : [classOf(durationMs)]) {
        const key = `${bucket} ${one}`;
        pending.set(key, { bucket, class: one, count: (pending.get(key)?.count ?? 0) + 1 });
      }
    },
    observe(statuses) {
      for (const status of statuses) {
        const run = runOf(status);
        if (!run || seen.get(run.codename) === run.started) continue;
        seen.set(run.codename, run.started);
        attempt(() => {
          statements.addRun.run(JSON.stringify(run));
          statements.dropRuns.run(run.codename, run.codename, RUNS_KEPT);
        });
      }
    },
    read() {
      flush();
      const runs = statements.runs.all();
      const syncs = Object.groupBy(runs.reverse(), ({ codename }) => codename);
      return {
        bucket_seconds: BUCKET_SECONDS,
        span_seconds: SPAN_SECONDS,
        queries: toQueryTimes(statements.queries.all(bucketOf(now() - SPAN_SECONDS * 1000))),
        syncs: Object.fromEntries(
          Object.entries(syncs).map(([codename, rows]) => [codename, (rows ?? []).map(toSyncRun)]),
        ),
      };
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      flush();
    },
  };
}

// The runtime's type describes the same calls in a form that generic parameters do not fit.
const inMemory = (): HistoryDatabase => new Database(":memory:") as unknown as HistoryDatabase;

const bucketOf = (ms: number): number => Math.floor(ms / 1000 / BUCKET_SECONDS);

function prepareStatements(database: HistoryDatabase) {
  return {
    addQueries: database.prepare<never, [string]>(
      "INSERT INTO history_queries SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?) WHERE true ON CONFLICT DO UPDATE SET count = count + excluded.count",
    ),
    dropQueries: database.prepare<never, [number]>("DELETE FROM history_queries WHERE bucket < ?"),
    queries: database.prepare<ClassRow, [number]>(
      "SELECT bucket, class, count FROM history_queries WHERE bucket >= ? ORDER BY bucket, class",
    ),
    // Every process sees the end of a sync; the first one writes it down.
    addRun: database.prepare<never, [string]>(
      "INSERT OR IGNORE INTO history_syncs SELECT value ->> 'codename', value ->> 'started', value ->> 'completed', value ->> 'documents', value ->> 'error' FROM (SELECT ? AS value)",
    ),
    dropRuns: database.prepare<never, [string, string, number]>(
      "DELETE FROM history_syncs WHERE codename = ? AND started NOT IN (SELECT started FROM history_syncs WHERE codename = ? ORDER BY started DESC LIMIT ?)",
    ),
    runs: database.prepare<RunRow, []>("SELECT * FROM history_syncs ORDER BY started DESC LIMIT 5000"),
  };
}

/** The last sync of a tenant, once it has ended: by success, or by an error that leaves no time of its end. */
function runOf({
  codename,
  state,
  ...status
}: TenantStatus): (RunRow & { readonly codename: string }) | null {
  const { lastStartedAt, lastCompletedAt, lastError, documentCount } = status;
  if (state !== "idle" || lastStartedAt === null) return null;
  const isDone = lastCompletedAt !== null && lastCompletedAt >= lastStartedAt;
  if (!isDone && lastError === null) return null;
  const started = lastStartedAt.getTime();
  const completed = isDone ? lastCompletedAt.getTime() : Date.now();
  const { code, message } = lastError ?? {};
  const error = lastError === null ? null : JSON.stringify({ code, message: message?.slice(0, MAX_MESSAGE) });
  return { codename, started, completed, documents: documentCount, error };
}

const MAX_MESSAGE = 500;

const toSyncRun = ({ started, completed, documents, error }: RunRow): SyncRun => ({
  started_at: new Date(started).toISOString(),
  completed_at: new Date(completed).toISOString(),
  duration_ms: completed - started,
  documents,
  error: error === null ? null : JSON.parse(error),
});

function toQueryTimes(rows: readonly ClassRow[]): QueryTimes[] {
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
