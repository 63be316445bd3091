import { readFileSync } from "node:fs";
import { type FileIdentity, type Io, readAtMost, stdoutFailure, untilAborted } from "../src/cli/index.ts";
import { programCommand, startCopy, takeSupervisor } from "./process-copies.ts";
import { createProcessOutput, statsOf } from "./process-output.ts";
import { letWorkersGiveWay } from "./worker-priority.ts";

export type ProcessIo = Io & {
  /** Resolves when everything is written, or when an interrupted program has waited long enough. */
  drained(): Promise<void>;
};

/** The real process as the commands see it. */
export function processIo(): ProcessIo {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      // The first signal lets the work clean up; the second one ends the program at once.
      if (controller.signal.aborted) process.exit(130);
      controller.abort();
    });
  }
  const end = (): void => controller.abort();
  let isHearing = false;
  // A closed terminal or an ended session: the work cleans up, however often the signal comes.
  if (!ignoresHangups()) process.on("SIGHUP", () => void (isHearing || end()));
  if (process.pid === 1) void import("./reap-orphans.ts").then(({ reapOrphans }) => reapOrphans());
  const readers = new Set<() => void>();
  const reload = (): void => {
    for (const read of readers) read();
  };
  return {
    onReload(read) {
      if (!isHearing) hearHangups(end, reload);
      isHearing = true;
      readers.add(read);
      return { [Symbol.dispose]: () => void readers.delete(read) };
    },
    startCopy,
    supervisor: takeSupervisor(end, reload),
    command: programCommand(),
    environment: process.env,
    // A script is run by Bun, and beside Bun there is no `.env` of ours.
    executablePath: import.meta.path.includes("$bunfs") ? process.execPath : import.meta.path,
    // The URL is computed here beside the entry, because in a nested module it would break in the compiled
    // program.
    workerUrl: new URL("./extraction-worker.ts", import.meta.url),
    indexWorkerUrl: new URL("./index-worker.ts", import.meta.url),
    letWorkersGiveWay,
    useTemporaryDirectory: (directory) => {
      process.env.TMPDIR = directory;
    },
    ...standardStreams(controller.signal),
    signal: controller.signal,
  };
}

function standardStreams(signal: AbortSignal): Pick<ProcessIo, "stdin" | "stdout" | "stderr" | "drained"> {
  const output = createProcessOutput();
  return {
    stdin: {
      get isTerminal() {
        return isDevice(0) && process.stdin.isTTY;
      },
      read: (maxBytes) => untilAborted(readAtMost(Bun.stdin.stream(), maxBytes), signal),
      stream: () => Bun.stdin.stream(),
      readLine: () => untilAborted(readLine(), signal),
    },
    stdout: new OutputStream(1, (content: string | Uint8Array) =>
      withLastWords(
        output.toStdout(content).catch((error) => {
          throw stdoutFailure(error);
        }),
        signal,
      ),
    ),
    stderr: new OutputStream(2, output.toStderr),
    drained: () => withLastWords(output.drained(), signal).catch(() => {}),
  };
}

/** What is asked of an output when it is needed; see `isDevice`. */
class OutputStream<Content, Written> {
  readonly #descriptor: 1 | 2;
  readonly write: (content: Content) => Written;

  constructor(descriptor: 1 | 2, write: (content: Content) => Written) {
    this.#descriptor = descriptor;
    this.write = write;
  }

  get #device(): NodeJS.WriteStream | null {
    if (!isDevice(this.#descriptor)) return null;
    return this.#descriptor === 1 ? process.stdout : process.stderr;
  }

  get isTerminal(): boolean {
    return this.#device?.isTTY ?? false;
  }

  get columns(): number {
    // A terminal without a size reports 0 columns.
    return this.#device?.columns || DEFAULT_COLUMNS;
  }

  get identity(): FileIdentity | null {
    return statsOf(this.#descriptor);
  }
}

/** Whether the program was started to outlive its session, as by nohup; where nobody can tell, SIGHUP stays as it is. */
function ignoresHangups(): boolean {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1] ?? "1";
    return (Number.parseInt(mask.slice(-1), 16) & 1) === 1;
  } catch {
    return true;
  }
}

/** Hears SIGHUP as the wish to reload, unless it says that the program's terminal is closed. */
function hearHangups(end: () => void, reload: () => void): void {
  // Imported above, it would cost every start a millisecond.
  const { isatty } = process.getBuiltinModule("node:tty");
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  process.on("SIGHUP", () => {
    // A terminal that was closed is none any more.
    if (terminals.length > 0 && !terminals.some((descriptor) => isatty(descriptor))) end();
    else reload();
  });
}

/**
 * The words of this process's command line, each followed by a zero byte; null when the system has no /proc.
 */
export function readCommandLine(): Uint8Array | null {
  try {
    return readFileSync("/proc/self/cmdline");
  } catch {
    return null;
  }
}

const DEFAULT_COLUMNS = 80;

// Touching process.stdin, stdout or stderr loads the whole stream machinery (about 4 ms each), so only a
// descriptor that may be a terminal is asked whether it is one.
const isDevice = (descriptor: number): boolean => statsOf(descriptor)?.isCharacterDevice() ?? false;

let pendingReads = 0;

/** Whether somebody still waits for standard input, which would keep the program alive. */
export const isReadingStdin = (): boolean => pendingReads > 0;

async function readLine(): Promise<string | null> {
  const decoder = new TextDecoder();
  let line = "";
  pendingReads++;
  try {
    for await (const chunk of Bun.stdin.stream()) {
      line += decoder.decode(chunk, { stream: true });
      const end = line.indexOf("\n");
      if (end >= 0) return line.slice(0, end);
    }
    return line === "" ? null : line;
  } finally {
    pendingReads--;
  }
}

/** How long the remaining output of an interrupted program waits for a reader. */
const LAST_WORDS_MS = 500;

// An unread pipe must not keep a program alive that was told to end; a write under way is completed if
// possible.
async function withLastWords<T>(writing: Promise<T>, signal: AbortSignal): Promise<T> {
  const late = new AbortController();
  let timer: Timer | undefined;
  const onAbort = (): void => {
    timer = setTimeout(() => late.abort(), LAST_WORDS_MS);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await untilAborted(writing, late.signal);
  } finally {
    signal.removeEventListener("abort", onAbort);
    clearTimeout(timer);
  }
}
