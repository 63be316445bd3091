import { readdirSync, readFileSync } from "node:fs";

export type RunningProcess = Record<"pid" | "parent" | "session", number> & { readonly args: string };

/** The processes of this machine that have not ended; read from /proc on Linux, where `ps` is not always there. */
export function runningProcesses(): RunningProcess[] {
  if (process.platform === "linux")
    return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (readProcess(name) ?? []) : []));
  const listed = Bun.spawnSync(["ps", "-axo", "stat=,pid=,ppid=,sess=,args="]).stdout.toString();
  return listed.split("\n").flatMap((line) => {
    const [, pid, parent, session, args] = /^\s*[^Z\s]\S*\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return args === undefined
      ? []
      : { pid: Number(pid), parent: Number(parent), session: Number(session), args };
  });
}

/** Null for a process that has ended, also while it is read. */
function readProcess(pid: string): RunningProcess | null {
  try {
    // The name of the program stands in parentheses, and may contain any character.
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1").replace(/^.*\) /s, "");
    const [state, parent, , session] = stat.split(" ");
    const args = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    return state === "Z"
      ? null
      : { pid: Number(pid), parent: Number(parent), session: Number(session), args };
  } catch {
    return null;
  }
}
