import { onAbort, pause } from "../../base/abort.ts";
import type { Log } from "../../base/log.ts";

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
export type StartCopy = (copy: {
  /** See `SuperviseOptions`. */
  readonly run: string;
  readonly port: number;
  /** Called when it answers. */
  readonly onReady: () => void;
}) => ProcessCopy;

export type SuperviseOptions = {
  /** The number of processes to keep running. */
  readonly count: number;
  readonly startCopy: StartCopy;
  /** An id that is unique among all starts; the processes of one run add up their metrics. */
  readonly run: string;
  /** The shared port; see `reservePort`. */
  readonly port: number;
  /** Ends all processes. */
  readonly signal: AbortSignal;
  /** See `ServingProcess`. */
  readonly onReload: (read: () => void) => Disposable;
  /** Called when every process has been ready once. */
  readonly onReady: () => void;
  readonly log: Log;
};

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
 * Keeps copies of the program running until the signal aborts, and restarts those that die. They listen on
 * one port by themselves (`sharesPort`).
 * @returns the exit code: 0 after the signal; 2 when one finds the settings wrong before any was ready
 */
export async function superviseProcesses(options: SuperviseOptions): Promise<number> {
  const { startCopy, run, port, count, log } = options;
  const onceReady = new Set<number>();
  const copies = new Set<ProcessCopy>();
  /** Aborted when starting is useless. */
  const stop = new AbortController();
  const ended = AbortSignal.any([options.signal, stop.signal]);
  using _ = options.onReload(() => {
    for (const copy of copies) copy.reload();
  });
  const noteReady = (number: number, { pid }: ProcessCopy): void => {
    log.info("process ready", { process: number, pid });
    if (onceReady.has(number)) return;
    onceReady.add(number);
    if (onceReady.size === count) options.onReady();
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
