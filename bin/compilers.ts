import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import type { Workload } from "../src/cli/index.ts";

/** The runtime reads its variables before any code runs, so a program can only set them for the one that replaces it. */
export const COMPILER_VARIABLES: Readonly<
  Record<Exclude<Workload, "short">, readonly [name: string, value: string]>
> = {
  page: ["BUN_JSC_useDFGJIT", "0"],
  // Code that is still hot after minutes gets the last compiler all the same.
  long: ["BUN_JSC_thresholdForFTLOptimizeAfterWarmUp", "1000000"],
};

/** How much more reluctant the runtime is to compile for one page where the program cannot replace itself. */
const JIT_POLICY = 20;

/**
 * Chooses the runtime's compilers for what the program is about to do; on Linux the program replaces itself by itself
 * with another choice, in the same process. Call this before anything is read or opened and before a signal is listened
 * for, because a signal that came in between would be lost.
 *
 * A page is over before code that was optimised has paid for it. On a page of 100 kB the optimising compilers took a third
 * of the CPU time, and on none of up to 4.5 MB did they win it back; a restart costs 20 ms and saves 100. Where the program
 * cannot replace itself, the runtime is made more reluctant, which delays its quick compiler too and saves half as much.
 *
 * A long run needs all compilers but the last, which takes more time than the next minutes win back: docs/decisions.md
 * has the measurements.
 */
export function chooseCompilers(workload: Workload): void {
  if (workload === "short") return;
  const [name, value] = COMPILER_VARIABLES[workload];
  // An operator has set it, or this is the program that replaced itself.
  if (process.env[name] !== undefined) return;
  if (isReplaceable(workload)) replaceProgram({ ...process.env, [name]: value });
  if (workload === "page") Bun.unsafe.setJITPolicy(JIT_POLICY);
}

/** Whether the program that takes the place of this one would get and keep everything that this one has. */
function isReplaceable(workload: Workload): boolean {
  if (process.platform !== "linux" || !import.meta.path.includes("$bunfs")) return false;
  if ([...process.argv, ...Object.values(process.env)].some(isLost)) return false;
  try {
    // A loader or an emulator in front of the program has words of its own, and `execPath` is the loader's.
    const words = readFileSync("/proc/self/cmdline", "latin1").split("\0").length - 1;
    if (words !== process.argv.length - 1) return false;
    return workload === "page" || (keepsName() && !hasInheritedFiles());
  } catch {
    return false; // without /proc
  }
}

/** Bytes that are not UTF-8 do not survive, nor do open files of the shell (`<(…)`), which the runtime closes. */
const isLost = (word = ""): boolean => word.includes("\ufffd") || word.includes("/fd/");

const COMM_BYTES = 15;

/** Whether `ps` and `pgrep` would still find a program that was started by a link with another name. */
const keepsName = (): boolean =>
  readFileSync("/proc/self/comm", "utf8").trimEnd() === basename(process.execPath).slice(0, COMM_BYTES);

/** Whether a parent has left files open, such as the channel to a copy of a server or the lock of `flock --no-fork`. */
const hasInheritedFiles = (): boolean =>
  readdirSync("/proc/self/fd").some((descriptor) => Number(descriptor) > 2 && isInherited(descriptor));

function isInherited(descriptor: string): boolean {
  try {
    // Those of the runtime's own event loop.
    return !readlinkSync(`/proc/self/fd/${descriptor}`).startsWith("anon_inode:");
  } catch {
    return false; // the list itself, which is closed
  }
}

/** Returns only where the system does not allow it. */
function replaceProgram(environment: NodeJS.ProcessEnv): void {
  try {
    process.execve?.(process.execPath, [process.argv0, ...process.argv.slice(2)], environment);
  } catch {
    // The work is done all the same, with other compiling. The runtime is about to warn that execve is experimental.
    process.removeAllListeners("warning");
  }
}
