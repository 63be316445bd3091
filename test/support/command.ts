import { type Io, runCli } from "../../src/cli/index.ts";
import { type BinaryResult, cleanEnvironment, type RunOptions } from "./binary.ts";
import { temporaryDirectory } from "./temporary.ts";
import { INDEX_WORKER_URL, WORKER_URL } from "./workers.ts";

export type CommandOptions = Pick<RunOptions, "stdin" | "env" | "cwd">;

// A process has one current directory, so one command runs at a time.
let turn: Promise<unknown> = Promise.resolve();

/**
 * Runs a command in this process, from an empty directory, as `runBinary` runs it in one of its own. How words
 * are read takes milliseconds this way; what a process does, such as signals, pipes and its end, is tested on
 * the built program.
 */
export function runCommand(words: readonly string[], options: CommandOptions = {}): Promise<BinaryResult> {
  const run = turn.then(() => runNow(words, options));
  turn = run.catch(() => {});
  return run;
}

async function runNow(
  words: readonly string[],
  { stdin = "", env, cwd }: CommandOptions,
): Promise<BinaryResult> {
  using directory = cwd === undefined ? temporaryDirectory() : null;
  const before = process.cwd();
  process.chdir(cwd ?? directory?.path ?? before);
  const written = { stdout: "", stderr: "" };
  const stream = { isTerminal: false, columns: 80, identity: null };
  const input = typeof stdin === "string" ? new TextEncoder().encode(stdin) : stdin;
  const io: Io = {
    environment: cleanEnvironment(env),
    executablePath: "/nowhere/article-extractor",
    workerUrl: WORKER_URL,
    indexWorkerUrl: INDEX_WORKER_URL,
    useTemporaryDirectory: () => {},
    command: ["article-extractor"],
    letWorkersGiveWay: () => {},
    supervisor: null,
    startCopy: () => {
      throw new Error("no copy of the program starts here");
    },
    signal: new AbortController().signal,
    onReload: () => ({ [Symbol.dispose]() {} }),
    stdin: {
      isTerminal: false,
      read: async () => input,
      stream: () => new Blob([input]).stream(),
      readLine: async () => null,
    },
    stdout: {
      ...stream,
      write: async (content) => {
        written.stdout += content;
      },
    },
    stderr: {
      ...stream,
      write: (text) => {
        written.stderr += text;
      },
    },
  };
  try {
    return { exitCode: await runCli(words, io), ...written };
  } finally {
    process.chdir(before);
  }
}

/** The words of a line; those with blanks and the empty one are in quotes. */
export const wordsOf = (line: string): string[] =>
  (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'(.*)'$/s, "$1"));
