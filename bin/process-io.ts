import { fstatSync, readFileSync } from "node:fs";
import { type FileIdentity, type Io, stdoutFailure, untilAborted } from "../src/cli/index.ts";
import { startCopy, takeSupervisor } from "./process-copies.ts";
import { createProcessOutput } from "./process-output.ts";
import { letWorkersGiveWay } from "./worker-priority.ts";

export type ProcessIo = Io & {
  /** Resolves when all that was written is out, or an interrupted program has waited long enough. */
  drained(): Promise<void>;
};

/** The real process as the commands see it. */
export function processIo(): ProcessIo {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      // The first one lets the work clean up, the second one does not wait.
      if (controller.signal.aborted) process.exit(130);
      controller.abort();
    });
  }
  const output = createProcessOutput();
  const supervisor = takeSupervisor(() => controller.abort());
  return {
    startCopy,
    supervisor,
    environment: process.env,
    // A script is run by Bun, beside which no `.env` of ours stands.
    executablePath: import.meta.path.includes("$bunfs") ? process.execPath : import.meta.path,
    // Computed here, beside the entry: inside a nested module it would break in the compiled program.
    workerUrl: new URL("./extraction-worker.ts", import.meta.url),
    indexWorkerUrl: new URL("./index-worker.ts", import.meta.url),
    letWorkersGiveWay,
    useTemporaryDirectory: (directory) => {
      process.env.TMPDIR = directory;
    },
    stdin: {
      get isTerminal() {
        return isDevice(0) && process.stdin.isTTY;
      },
      read: (maxBytes) => untilAborted(readStdin(maxBytes), controller.signal),
      readLine: () => untilAborted(readLine(), controller.signal),
    },
    stdout: {
      get isTerminal() {
        return isDevice(1) && process.stdout.isTTY;
      },
      get columns() {
        // Terminals that nobody has given a size have 0 columns.
        return (isDevice(1) && process.stdout.columns) || DEFAULT_COLUMNS;
      },
      get identity() {
        return identify(1);
      },
      write: (text) =>
        withLastWords(
          output.toStdout(text).catch((error) => {
            throw stdoutFailure(error);
          }),
          controller.signal,
        ),
    },
    stderr: {
      get isTerminal() {
        return isDevice(2) && process.stderr.isTTY;
      },
      get columns() {
        return (isDevice(2) && process.stderr.columns) || DEFAULT_COLUMNS;
      },
      get identity() {
        return identify(2);
      },
      write: output.toStderr,
    },
    signal: controller.signal,
    drained: () => withLastWords(output.drained(), controller.signal).catch(() => {}),
  };
}

/** This process's words, each with a zero byte behind it; null where the system has no /proc. */
export function readCommandLine(): Uint8Array | null {
  try {
    return readFileSync("/proc/self/cmdline");
  } catch {
    return null;
  }
}

const DEFAULT_COLUMNS = 80;

// Touching process.stdin, stdout or stderr loads the whole stream machinery (about 4 ms each), so only
// what may be a terminal is asked whether it is one.
function isDevice(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice();
  } catch {
    return false; // closed
  }
}

function identify(descriptor: number): FileIdentity | null {
  try {
    return fstatSync(descriptor);
  } catch {
    return null; // closed
  }
}

async function readStdin(maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of Bun.stdin.stream()) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= maxBytes) break;
  }
  return Buffer.concat(chunks);
}

let pendingReads = 0;

/** Whether somebody still waits for standard input, which would keep the program. */
export const isReadingStdin = (): boolean => pendingReads > 0;

async function readLine(): Promise<string | null> {
  pendingReads++;
  try {
    return await readLineOfStdin();
  } finally {
    pendingReads--;
  }
}

async function readLineOfStdin(): Promise<string | null> {
  const decoder = new TextDecoder();
  let line = "";
  for await (const chunk of Bun.stdin.stream()) {
    line += decoder.decode(chunk, { stream: true });
    const end = line.indexOf("\n");
    if (end >= 0) return line.slice(0, end);
  }
  return line === "" ? null : line;
}

/** What an interrupted program still has to write has this long to find a reader. */
const LAST_WORDS_MS = 500;

// An unread pipe must not keep a program that was told to end; what was under way goes out whole if it can.
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
