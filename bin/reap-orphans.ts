import { dlopen } from "bun:ffi";
import { readFileSync } from "node:fs";

const LIBRARIES = [
  "libc.so.6",
  "libc.so",
  `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`,
];
const EVERY_MS = 500;
const WITHOUT_WAITING = 1; // WNOHANG

/**
 * Reaps the orphans that a container gives to its first process, such as the helpers of a browser that was killed. The
 * runtime reaps its own children at once, so one that is dead at two looks in a row is nobody's.
 */
export function reapOrphans(): void {
  const waitpid = openWaitpid();
  if (waitpid === null) return;
  let deadBefore = new Set<number>();
  const look = (): void => {
    const dead = new Set(children().filter(isDead));
    for (const pid of dead) if (deadBefore.has(pid)) waitpid(pid, null, WITHOUT_WAITING);
    deadBefore = dead;
  };
  setInterval(look, EVERY_MS).unref();
}

function openWaitpid() {
  for (const library of LIBRARIES) {
    try {
      return dlopen(library, { waitpid: { args: ["i32", "ptr", "i32"], returns: "i32" } }).symbols.waitpid;
    } catch {
      // Another C library, or none: then the orphans stay, as they did.
    }
  }
  return null;
}

/** Children belong to the thread that started them; orphans come to the first. */
const children = (): number[] => read("/proc/self/task/1/children").split(" ").map(Number).filter(Boolean);

const isDead = (pid: number): boolean => /^\) Z /.test(read(`/proc/${pid}/stat`).replace(/^.*(?=\))/s, ""));

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return ""; // it has gone
  }
}
