import { existsSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outputOf } from "./local.ts";
import { temporaryDirectory } from "./temporary.ts";

/** The path of the built program, which the tests of the command line run. */
export const BINARY = join(import.meta.dir, "..", "..", "dist", "article-extractor");

export type BinaryResult = {
  /** Null when a signal ended the program. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type RunOptions = {
  /** The program reads this from stdin; without it stdin is /dev/null. */
  readonly stdin?: string | Uint8Array<ArrayBuffer>;
  /** The program sees these variables besides PATH, HOME and TMPDIR, and none of the tests' own. */
  readonly env?: Readonly<Record<string, string>>;
  /** The program starts here; without it, in a new empty directory that is removed afterwards. */
  readonly cwd?: string;
  /** A program that runs longer than this is killed, and the test fails. */
  readonly timeoutMs?: number;
  /** The test runs this copy of the program instead of the built one. */
  readonly binary?: string;
  /** The program runs as a user without special rights; see `canLoseRights`. */
  readonly asOrdinaryUser?: boolean;
};

const IS_ROOT = process.getuid?.() === 0;
const NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/**
 * Whether `asOrdinaryUser` works. Root may do everything, so tests that run as root need setpriv (util-linux) to give up
 * their rights.
 */
export const canLoseRights = !IS_ROOT || Bun.which("setpriv") !== null;

const DEFAULT_TIMEOUT_MS = 100_000;

/**
 * Runs the built program from an empty directory.
 * @throws when it is not built, and when it runs longer than `timeoutMs`
 */
export async function runBinary(args: readonly string[], options: RunOptions = {}): Promise<BinaryResult> {
  return runProgram([options.binary ?? BINARY, ...args], options);
}

/** Runs a script of `sh` or `bash` as `runBinary` runs the program, which is `article-extractor` in the script. */
export async function runShell(
  script: string,
  { shell = "sh", ...options }: RunOptions & { readonly shell?: "sh" | "bash" } = {},
): Promise<BinaryResult> {
  return runProgram([shell, "-c", script], options);
}

/**
 * Nobody has it, and the program can make it: at the root of the disk only root can. It is this process's own, since a
 * program refuses the state that another version left.
 */
const NOBODYS_HOME = join(
  IS_ROOT ? "/nonexistent" : join(tmpdir(), "article-extractor-nobody"),
  String(process.pid),
);
process.on("exit", () => rmSync(NOBODYS_HOME, { recursive: true, force: true }));

/**
 * Gives a run the variables that a program cannot do without, and those of the test. The program fetches with a
 * browser only where a test asks for it, because a browser takes a second a page.
 */
export function cleanEnvironment(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  const path = [join(BINARY, ".."), process.env.PATH ?? "/usr/bin:/bin"].join(":");
  const browser = process.env.ARTICLE_EXTRACTOR_BROWSER_PATH;
  return {
    PATH: path,
    // Whoever names a browser, or "none", has the tests run with it.
    ...(browser && { ARTICLE_EXTRACTOR_BROWSER_PATH: browser }),
    HOME: NOBODYS_HOME,
    TMPDIR: tmpdir(),
    ARTICLE_EXTRACTOR_PREFER_BROWSER: "false",
    ...env,
  };
}

/** Throws when the program has not been built. */
export function requireBinary(): void {
  if (!existsSync(BINARY)) throw new Error(`${BINARY} is missing: run "make build" before these tests`);
}

async function runProgram(command: readonly string[], options: RunOptions): Promise<BinaryResult> {
  requireBinary();
  using directory = options.cwd === undefined ? temporaryDirectory() : null;
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const prefix = options.asOrdinaryUser && IS_ROOT ? NOBODY : [];
  const child = Bun.spawn([...prefix, ...command], {
    cwd: options.cwd ?? directory?.path ?? "/",
    env: cleanEnvironment(options.env),
    stdin: options.stdin === undefined ? "ignore" : new Blob([options.stdin]),
    stdout: "pipe",
    stderr: "pipe",
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  const { stdout, stderr, exitCode } = await outputOf(child);
  if (child.signalCode === "SIGKILL")
    throw new Error(`${command.join(" ")} was still running after ${timeoutMs} ms\n${stdout}${stderr}`);
  return { exitCode: child.signalCode === null ? exitCode : null, stdout, stderr };
}
