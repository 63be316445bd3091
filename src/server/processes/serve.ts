import { onAbort, pause } from "../../base/abort.ts";
import { type Database, openLeaseOwner } from "../../base/database/index.ts";
import type { Log } from "../../base/log.ts";
import type { Gauge, MetricsSink } from "../../base/metrics.ts";
import { reservePort, urlOf } from "../listen.ts";
import type { ServerPlace } from "../serve.ts";
import { createPrometheusSink, type MetricsSnapshot, type OtherMetrics } from "./prometheus.ts";

/** The link from one of several serving processes to the one that started it. */
export type Supervisor = {
  /** The id of the run, the same for all processes of one start. */
  readonly run: string;
  /** The port that all processes listen on. */
  readonly port: number;
  /** Reports that this process answers. */
  announceReady(): void;
};

/** A copy of the program that runs beside others. */
type ProcessCopy = {
  readonly pid: number;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Asks it to read its settings again. */
  reload(): void;
  /** Asks it to finish running requests and end. */
  end(): void;
  /** Ends it at once. */
  kill(): void;
};

/** Starts a copy that ends with this process, however this process ends. */
type StartCopy = (copy: {
  /** An id that is unique among all starts; the processes of one run add up their metrics. */
  readonly run: string;
  /** The shared port; see `reservePort`. */
  readonly port: number;
  /** Called when it answers. */
  readonly onReady: () => void;
}) => ProcessCopy;

/** The process around a server. */
export type ServingProcess = {
  /** Null unless another process started this one as a copy. */
  readonly supervisor: Supervisor | null;
  /** Starts this program again with the same arguments, as one of several that serve. */
  readonly startCopy: StartCopy;
  /** Aborts when the person interrupts the program, or its supervisor has ended or ends it. */
  readonly signal: AbortSignal;
  /** Hears SIGHUP, or the supervisor's word of it, as the wish to read the settings again, until it is disposed of. */
  readonly onReload: (read: () => void) => Disposable;
};

/** A server that runs in one process, or in several on one port. */
type ServedProgram = {
  readonly host: string;
  readonly port: number;
  /** The number of serving processes. */
  readonly count: number;
  readonly metricsNamespace: string;
  readonly log: Log;
  /** Called once it answers, in the process that the person has started. @param processes how many serve */
  readonly announce: (url: string, processes: number) => void;
  /** Runs once before several processes start, so that an error is reported once and ends the program. */
  readonly prepare: () => Promise<void>;
  /** Opens the server in this process, waits in `serving.untilEnd`, and closes it. */
  readonly run: (serving: ServingPart) => Promise<void>;
};

/** One process's share of the port and of the common metrics. */
export type ServingPart = Pick<ServerPlace, "port" | "sharesPort"> & {
  /** Counts for `/metrics`. */
  readonly sink: MetricsSink;
  /** Registers this process in the database that all share. */
  join(database: Database): JoinedProcess;
  /** Announces that the server answers at this address, and waits until it has to end. */
  untilEnd(url: string): Promise<void>;
};

/** This process among those on the port; dispose of it at the end. */
type JoinedProcess = Disposable & {
  readonly processes: { readonly configured: number; readonly alive: () => number };
  /** The metrics of all processes in Prometheus's text format, with what is read now. */
  readonly renderMetrics: (gauges: readonly Gauge[]) => string;
};

/** Serves until the signal aborts; returns the exit code. @throws what `prepare` and `run` throw */
export async function serveProcesses(program: ServedProgram, around: ServingProcess): Promise<number> {
  const { host, port, count, log } = program;
  const { supervisor, signal } = around;
  const announce = (url: string): void => program.announce(url, count);
  if (count > 1 && supervisor === null) {
    await program.prepare();
    const shared = await reservePort(host, port);
    return await supervise(program, around, { port: shared, onReady: () => announce(urlOf(host, shared)) });
  }
  const prometheus = createPrometheusSink(program.metricsNamespace);
  await program.run({
    port: supervisor?.port ?? port,
    sharesPort: supervisor !== null,
    sink: prometheus.sink,
    join(database) {
      const run = supervisor?.run ?? crypto.randomUUID();
      const { alive, otherMetrics, ...board } = openProcessBoard(database, run, { prometheus, log });
      const renderMetrics: JoinedProcess["renderMetrics"] = (gauges) =>
        prometheus.render(otherMetrics(), gauges);
      return { ...board, processes: { configured: count, alive }, renderMetrics };
    },
    async untilEnd(url) {
      if (supervisor === null) announce(url);
      else supervisor.announceReady();
      await new Promise<void>((done) => void onAbort(signal, done));
    },
  });
  return 0;
}

/** How long processes have to end by themselves, in ms; longer than a server gives its requests. */
const GRACE_MS = 9_500;
/** The wait before a dead process is restarted, in ms; it doubles while processes die young. */
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 10_000;
/** A process that lived this long did not die because of its start, in ms. */
const YOUNG_MS = 30_000;
/** The exit code for wrong settings, which a restart does not fix. */
const WRONG_SETTINGS = 2;

/**
 * Keeps copies of the program running until the signal aborts, and restarts a copy that dies. They listen on one port by
 * themselves (`sharesPort`).
 * @param onReady called when every process has been ready once
 * @returns the exit code: 0 after the signal; 2 if a copy rejects the settings before any copy was ready
 */
async function supervise(
  { count, log }: ServedProgram,
  { startCopy, signal, onReload }: ServingProcess,
  { port, onReady }: { readonly port: number; readonly onReady: () => void },
): Promise<number> {
  const run = crypto.randomUUID();
  const onceReady = new Set<number>();
  const copies = new Set<ProcessCopy>();
  /** Aborted when starting is useless. */
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, stop.signal]);
  using _ = onReload(() => {
    for (const copy of copies) copy.reload();
  });
  const noteReady = (number: number, { pid }: ProcessCopy): void => {
    log.info("process ready", { process: number, pid });
    if (onceReady.has(number)) return;
    onceReady.add(number);
    if (onceReady.size === count) onReady();
  };
  const keepRunning = async (number: number): Promise<number> => {
    let waitMs = FIRST_WAIT_MS;
    while (!ended.aborted) {
      const startedAt = performance.now();
      const copy = startCopy({ run, port, onReady: () => noteReady(number, copy) });
      copies.add(copy);
      const { code, signal } = await endOf(copy, ended);
      copies.delete(copy);
      if (ended.aborted) break;
      if (code === WRONG_SETTINGS && onceReady.size === 0) {
        stop.abort();
        return code;
      }
      if (performance.now() - startedAt >= YOUNG_MS) waitMs = FIRST_WAIT_MS;
      log.error("process died", { process: number, pid: copy.pid, code, signal, restart_in_ms: waitMs });
      await pause(waitMs, ended);
      waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
    }
    return 0;
  };
  const codes = await Promise.all(Array.from({ length: count }, (_, index) => keepRunning(index + 1)));
  return codes.find((code) => code !== 0) ?? 0;
}

/** Waits for the end of a process, and ends it after the signal. */
async function endOf(copy: ProcessCopy, ended: AbortSignal): ProcessCopy["exited"] {
  let timer: ReturnType<typeof setTimeout> | undefined;
  using _ = onAbort(ended, () => {
    copy.end();
    timer = setTimeout(copy.kill, GRACE_MS);
  });
  return await copy.exited.finally(() => clearTimeout(timer));
}

const BEAT_MS = 1_000;
/** A process that is silent for this long is no longer counted. */
const SILENCE_MS = 5_000;
/** The remains of earlier runs are removed after a day. */
const KEEP_MS = 24 * 60 * 60 * 1000;

/** Registers this process, and publishes its metrics every second. */
function openProcessBoard(
  database: Database,
  run: string,
  { prometheus, log }: { readonly prometheus: ReturnType<typeof createPrometheusSink>; readonly log: Log },
) {
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
  const seen = database.prepare<{ id: string; seen_at: number }, [string]>(
    "SELECT id, seen_at FROM processes WHERE run = ?",
  );
  const others = database.prepare<{ id: string; seen_at: number; metrics: string }, [string, string]>(
    "SELECT id, seen_at, metrics FROM processes WHERE run = ? AND id <> ?",
  );
  database.prepare<never, [number]>("DELETE FROM processes WHERE seen_at < ?").run(startedAt - KEEP_MS);
  const beat = (seenAt: number): void => {
    try {
      put.run(id, run, process.pid, startedAt, seenAt, JSON.stringify(prometheus.snapshot()));
    } catch (error) {
      log.warning("process board not written", { error: String(error) });
    }
  };
  beat(startedAt);
  const timer = setInterval(() => beat(Date.now()), BEAT_MS);
  timer.unref?.();
  const isAlive = (row: { readonly id: string; readonly seen_at: number }): boolean =>
    row.seen_at > Date.now() - SILENCE_MS && !owner.hasDied(row.id);
  return {
    /** How many processes were heard from in the last seconds, including this one. */
    alive: (): number => seen.all(run).filter(isAlive).length,
    /** The metrics of the other processes, including dead ones, so that totals never fall. */
    otherMetrics: (): readonly OtherMetrics[] =>
      // `beat` of this version or, during an upgrade, of a neighbouring one wrote this.
      others.all(run, id).map((row) => ({
        snapshot: JSON.parse(row.metrics) as MetricsSnapshot,
        isAlive: isAlive(row),
      })),
    [Symbol.dispose]() {
      clearInterval(timer);
      beat(0);
      owner[Symbol.dispose]();
    },
  };
}
