import { type Database, openLeaseOwner } from "../../base/database/index.ts";
import type { Log } from "../../base/log.ts";
import type { MetricsSnapshot } from "../../base/metrics.ts";

/** What the processes of one run know about each other. */
export interface ProcessBoard extends Disposable {
  /** The processes that were heard from in the last seconds, including this one. */
  alive(): readonly LiveProcess[];
  /** The metrics of the other processes, including dead ones, so that totals never fall. */
  otherMetrics(): readonly MetricsSnapshot[];
}

export type LiveProcess = { readonly pid: number; readonly startedAt: Date };

export type BoardOptions = {
  /** The database that all processes share. */
  readonly database: Database;
  /** See `SuperviseOptions`. */
  readonly run: string;
  readonly pid: number;
  readonly snapshot: () => MetricsSnapshot;
  readonly log: Log;
};

const BEAT_MS = 1_000;
/** A process that is silent for this long is no longer counted. */
const SILENCE_MS = 5_000;
/** The remains of earlier runs are removed after a day. */
const KEEP_MS = 24 * 60 * 60 * 1000;

/** Registers this process, and publishes its metrics every second. */
export function openProcessBoard(options: BoardOptions): ProcessBoard {
  const { database, run, pid, snapshot, log } = options;
  // The last sign of a killed process is some seconds old, but its lock is gone at once.
  const owner = openLeaseOwner(database);
  const id = owner.name;
  const startedAt = Date.now();
  database.run(
    `CREATE TABLE IF NOT EXISTS processes (id TEXT PRIMARY KEY, run TEXT NOT NULL, pid INTEGER NOT NULL,
     started_at REAL NOT NULL, seen_at REAL NOT NULL, metrics TEXT NOT NULL) STRICT`,
  );
  const put = database.prepare<never, [string, string, number, number, number, string]>(
    "INSERT OR REPLACE INTO processes VALUES (?, ?, ?, ?, ?, ?)",
  );
  const seen = database.prepare<{ id: string; pid: number; started_at: number }, [string, number]>(
    "SELECT id, pid, started_at FROM processes WHERE run = ? AND seen_at > ? ORDER BY started_at",
  );
  const others = database.prepare<{ metrics: string }, [string, string]>(
    "SELECT metrics FROM processes WHERE run = ? AND id <> ?",
  );
  database.prepare<never, [number]>("DELETE FROM processes WHERE seen_at < ?").run(startedAt - KEEP_MS);
  const beat = (seenAt: number): void => {
    try {
      put.run(id, run, pid, startedAt, seenAt, JSON.stringify(snapshot()));
    } catch (error) {
      log.warning("process board not written", { error: String(error) });
    }
  };
  beat(startedAt);
  const timer = setInterval(() => beat(Date.now()), BEAT_MS);
  timer.unref?.();
  return {
    alive: () =>
      seen
        .all(run, Date.now() - SILENCE_MS)
        .filter((row) => !owner.hasDied(row.id))
        .map((row) => ({ pid: row.pid, startedAt: new Date(row.started_at) })),
    // `beat` of this version or, during an upgrade, of a neighbouring one wrote this.
    otherMetrics: () => others.all(run, id).map(({ metrics }) => JSON.parse(metrics) as MetricsSnapshot),
    [Symbol.dispose]() {
      clearInterval(timer);
      beat(0);
      owner[Symbol.dispose]();
    },
  };
}
