import { existsSync, readFileSync, readlinkSync } from "node:fs";
import { Failure, type FailureRecord } from "./failure.ts";

/** The first message of every worker: its code is loaded. `statFile` is Linux's file about the thread, else "". */
type Ready = { readonly kind: "ready"; readonly statFile: string };

/** A thread as the runtime has it. */
type RuntimeThread = { post(message: unknown): void; terminate(): void };

type ThreadListener = {
  readonly onMessage: (message: unknown) => void;
  /** @param message of the error that nobody in the thread caught */
  readonly onError: (message: string) => void;
  /** The thread is gone. */
  readonly onExit: () => void;
};

/** Starts a module on a thread of its own. */
export type StartThread = (url: string | URL, listener: ThreadListener) => RuntimeThread;

/** Starts a worker by the web's interface, which Bun has. */
const startWebWorker: StartThread = (url, { onMessage, onError, onExit }) => {
  const worker = new Worker(url);
  worker.onmessage = ({ data }) => onMessage(data);
  worker.onerror = (event) => {
    event.preventDefault();
    onError(event.message);
  };
  worker.addEventListener("close", onExit);
  return { post: (message) => worker.postMessage(message), terminate: () => worker.terminate() };
};

type WorkerThreadOptions<Reply> = {
  /** The thread as messages name it: `the extraction worker`. */
  readonly name: string;
  /** The worker's module, as an address that `new Worker` takes. */
  readonly url: string | URL;
  /** How long the worker may load its code, in ms. */
  readonly startLimitMs: number;
  readonly onReady: () => void;
  readonly onReply: (reply: Reply) => void;
  /** Called once, when the thread did not start, crashed, ended by itself or was given up by `lose`. */
  readonly onLost: (failure: Failure) => void;
  /** Describes the thread's work when it ended by itself: `while it held …`. */
  readonly describeWork: () => string;
  /** Starts the thread; by default as a web worker. */
  readonly startThread?: StartThread | undefined;
};

/** The side of the main thread: a worker thread with a time limit for loading its code and one for its work. */
export class WorkerThread<Request, Reply> {
  /** Resolves when the thread is gone. */
  readonly closed: Promise<void>;
  readonly #thread: RuntimeThread;
  readonly #options: WorkerThreadOptions<Reply>;
  #isReady = false;
  #statFile = "";
  #cpu: { readonly readAt: number; readonly ms: number | null } = {
    readAt: Number.NEGATIVE_INFINITY,
    ms: null,
  };
  #isEnded = false;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(options: WorkerThreadOptions<Reply>) {
    const { name, url, startLimitMs } = options;
    this.#options = options;
    let close = (): void => {};
    // Node 20 has no Promise.withResolvers, and the library runs there.
    this.closed = new Promise((resolve) => {
      close = resolve;
    });
    this.#thread = (options.startThread ?? startWebWorker)(url, {
      // The module behind the URL answers with nothing else.
      onMessage: (message) => this.#take(message as Ready | Reply),
      onError: (message) => {
        const what = this.#isReady ? "stopped" : `${url} did not start`;
        this.lose(new Failure("internal", `${name} ${what}: ${message.slice(0, 500)}`));
      },
      onExit: () => {
        this.lose(new Failure("internal", `${name} ended ${options.describeWork()}`));
        close();
      },
    });
    this.#startClock(startLimitMs, () =>
      this.lose(new Failure("internal", `${name} ${url} did not start within ${startLimitMs} ms`)),
    );
  }

  /** Whether the worker has loaded its code; what is posted before waits for that. */
  get isReady(): boolean {
    return this.#isReady;
  }

  post(request: Request): void {
    this.#thread.post(request);
  }

  /**
   * Calls `onOver` with the limit in words when the thread has used this much CPU time, or, as it may wait for ever, ten
   * times as much has passed; where the system does not tell a thread's CPU time, the time that passes counts.
   */
  limitWork(limitMs: number, onOver: (limit: string) => void): void {
    const startedAt = performance.now();
    // Reading the file for each page took longer than posting the page. Earlier work distorts the limit by 1 % at most.
    if (startedAt - this.#cpu.readAt > limitMs / 100)
      this.#cpu = { readAt: startedAt, ms: cpuMsOf(this.#statFile) };
    const cpuBefore = this.#cpu.ms;
    const mostMs = cpuBefore === null ? limitMs : limitMs * 10;
    const check = (): void => {
      const clockLeft = startedAt + mostMs - performance.now();
      const cpuLeft = limitMs - ((cpuMsOf(this.#statFile) ?? 0) - (cpuBefore ?? 0));
      if (clockLeft <= 0) onOver(`${mostMs} ms`);
      else if (cpuLeft <= 0) onOver(`${limitMs} ms of CPU time`);
      else this.#startClock(Math.min(clockLeft, cpuLeft), check);
    };
    this.#startClock(limitMs, check);
  }

  #startClock(limitMs: number, onOver: () => void): void {
    this.stopClock();
    this.#timer = setTimeout(onOver, limitMs);
  }

  stopClock(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Ends the thread, and tells `onLost` why. */
  lose(failure: Failure): void {
    if (this.#isEnded) return;
    this.end();
    this.#options.onLost(failure);
  }

  /** Ends the thread; whatever it is at comes to nothing. */
  end(): void {
    this.#isEnded = true;
    this.stopClock();
    this.#thread.terminate();
  }

  #take(message: Ready | Reply): void {
    if (this.#isEnded) return;
    if (isReady(message)) {
      this.#isReady = true;
      this.#statFile = message.statFile;
      this.stopClock();
      this.#options.onReady();
    } else this.#options.onReply(message);
  }
}

const isReady = (message: unknown): message is Ready =>
  typeof message === "object" && message !== null && "kind" in message && message.kind === "ready";

/** The part of a worker's global scope that is used here. */
export type WorkerScope<Request, Reply> = {
  postMessage(message: Ready | Reply): void;
  addEventListener(type: "message", listener: (event: { readonly data: Request }) => void): void;
};

/** The side of the worker: answers requests from now on. */
export function serveRequests<Request, Reply>(
  scope: WorkerScope<Request, Reply>,
  onRequest: (request: Request) => void,
): void {
  scope.addEventListener("message", ({ data }) => onRequest(data));
  const thread = "/proc/thread-self";
  const statFile = existsSync(thread) ? `/proc/${readlinkSync(thread)}/stat` : "";
  scope.postMessage({ kind: "ready", statFile });
}

/** The CPU time that a thread has used, in ms, which a hanging one cannot tell itself; null where the system does not. */
function cpuMsOf(statFile: string): number | null {
  try {
    // proc(5): fields 14 and 15 are user and system time in units of 10 ms; the name before them may have blanks.
    const fields = readFileSync(statFile, "latin1").split(") ")[1]?.split(" ").slice(11) ?? [];
    return (Number(fields[0]) + Number(fields[1])) * 10;
  } catch {
    return null;
  }
}

/**
 * A failure as it crosses to the main thread: a posted Error keeps only its message.
 * @param work what stopped with an error that is a bug: `extraction`
 */
export const failureRecordOf = (error: unknown, work: string): FailureRecord =>
  error instanceof Failure
    ? error.toRecord()
    : { code: "internal", message: `${work} stopped with ${String(error).slice(0, 300)}` };
