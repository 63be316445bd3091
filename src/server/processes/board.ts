import { type Database, openLeaseOwner } from "../../base/database/index.ts";
import type { Log } from "../../base/log.ts";
import type { MetricsSnapshot } from "../../metrics.ts";

/** What the processes of one run know of each other. */
export interface ProcessBoard extends Disposable {
  /** Those that were heard of in the last seconds, this one included. */
  alive(): readonly LiveProcess[];
  /** What the others have counted, the dead ones included, so that totals never fall. */
  otherMetrics(): readonly MetricsSnapshot[];
}

export type LiveProcess = { readonly pid: number; readonly startedAt: Date };

export type BoardOptions = {
  /** Shared by all processes. */
  readonly database: Database;
  /** See `SuperviseOptions`. */
  readonly run: string;
  readonly pid: number;
  readonly snapshot: () => MetricsSnapshot;
  readonly log: Log;
};

const BEAT_MS = 1_000;
/** Silent for so long, a process is not counted any more. */
const SILENCE_MS = 5_000;
/** What earlier runs have left is removed after a day. */
const KEEP_MS = 24 * 60 * 60 * 1000;

/** Puts this process on the board, and what it counts every second. */
export function openProcessBoard(options: BoardOptions): ProcessBoard {
  const { database, run, pid, snapshot, log } = options;
  // What is heard of a process that was killed is some seconds old; its lock is gone at once.
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
    // Written by `beat` of this version or, during an upgrade, of a neighbouring one.
    otherMetrics: () => others.all(run, id).map(({ metrics }) => JSON.parse(metrics) as MetricsSnapshot),
    [Symbol.dispose]() {
      clearInterval(timer);
      beat(0);
      owner[Symbol.dispose]();
    },
  };
}
