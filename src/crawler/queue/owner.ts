import { readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Names this process so that another one on the machine can tell whether it is still there. */
export function createOwner(): string {
  return JSON.stringify([place(), process.pid, crypto.randomUUID()]);
}

/** Whether the process of that name has surely ended: it ran where we run, and its number is free or ours. */
export function isSurelyGone(owner: string, self: string): boolean {
  if (owner === self) return false;
  const [where, pid] = JSON.parse(owner) as [string, number, string]; // written by createOwner
  if (where !== place()) return false;
  // Ours under another name: what had the number before us.
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}

/** Process numbers mean something on one host, in one namespace of containers, until it starts again. */
function place(): string {
  const of = (link: string): string => {
    try {
      return readlinkSync(link);
    } catch {
      return ""; // no Linux
    }
  };
  return `${hostname()} ${of("/proc/self/ns/pid")}`;
}
