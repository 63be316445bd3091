import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The built program, which every test of the command line runs. */
export const BINARY = join(import.meta.dir, "..", "..", "dist", "article-extractor");

export type BinaryResult = {
  /** Null when a signal ended the program. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type RunOptions = {
  /** What comes in on stdin; without it stdin is /dev/null. */
  readonly stdin?: string | Uint8Array<ArrayBuffer>;
  /** The whole environment besides PATH, HOME and TMPDIR: nothing of the tests' own gets in. */
  readonly env?: Readonly<Record<string, string>>;
  /** A new empty directory, removed afterwards, unless one is given. */
  readonly cwd?: string;
  /** After this the program counts as hung and the test fails. */
  readonly timeoutMs?: number;
  /** Another copy of the program. */
  readonly binary?: string;
  /** Runs it as a user without special rights; see `canLoseRights`. */
  readonly asOrdinaryUser?: boolean;
};

const IS_ROOT = process.getuid?.() === 0;
const NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/** Whether `asOrdinaryUser` works: root may do everything, so it needs setpriv (util-linux) to be less. */
export const canLoseRights = !IS_ROOT || Bun.which("setpriv") !== null;

const DEFAULT_TIMEOUT_MS = 100_000;

/**
 * Runs the built program from an empty directory.
 * @throws when it is not built, and when it runs longer than `timeoutMs`
 */
export async function runBinary(args: readonly string[], options: RunOptions = {}): Promise<BinaryResult> {
  return runProgram([options.binary ?? BINARY, ...args], options);
}

/** Runs a script of `sh` or `bash` in which `article-extractor` is the built program; else as `runBinary`. */
export async function runShell(
  script: string,
  { shell = "sh", ...options }: RunOptions & { readonly shell?: "sh" | "bash" } = {},
): Promise<BinaryResult> {
  return runProgram([shell, "-c", script], options);
}

/** An empty directory that is removed at the end of the scope, whatever the rights of what is in it. */
export async function temporaryDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "article-extractor-cli-"));
  await chmod(path, 0o755); // some tests run as another user
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/**
 * The environment of every run: only what a program cannot do without. A browser is fetched with only where a
 * test says so: it takes a second a page, and most tests are about something else.
 */
export function cleanEnvironment(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  const path = [join(BINARY, ".."), process.env.PATH ?? "/usr/bin:/bin"].join(":");
  return {
    PATH: path,
    HOME: "/nonexistent",
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
  await using directory = options.cwd === undefined ? await temporaryDirectory() : null;
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
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (child.signalCode === "SIGKILL")
    throw new Error(`${command.join(" ")} was still running after ${timeoutMs} ms\n${stdout}${stderr}`);
  return { exitCode: child.signalCode === null ? exitCode : null, stdout, stderr };
}
