import { readdirSync, readFileSync } from "node:fs";

/** The unit of `cpuTicks` in Linux. */
export const TICK_MS = 10;

type Process = { readonly pid: number; readonly parent: number; readonly cpuTicks: number };

/** All processes of the machine. */
export function readProcesses(): Process[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      // This adds up its own time and that of its ended children (proc(5): utime, stime, cutime, cstime).
      const cpuTicks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
      return [{ pid: Number(name), parent: Number(fields[1]), cpuTicks }];
    } catch {
      return []; // the process has ended
    }
  });
}

/** Everything that a process has started, directly or not, and that still runs. */
export function descendantsOf(root: number, processes: readonly Process[]): Process[] {
  const children = processes.filter(({ parent }) => parent === root);
  return [...children, ...children.flatMap(({ pid }) => descendantsOf(pid, processes))];
}

/** Memory in MB, with shared memory divided among those who share it. */
export function proportionalMb(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "latin1");
    return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
