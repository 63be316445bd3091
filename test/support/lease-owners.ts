import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Which of these processes is the lease owner of that name: the one that has its file open. Linux only. */
export function processOfOwner(pids: readonly number[], owner: string): number | undefined {
  return pids.find((pid) => openFiles(pid).some((path) => path.endsWith(`.owners/${owner}`)));
}

function openFiles(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
  } catch {
    return []; // ended meanwhile
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ""; // closed meanwhile
  }
}

/** The numbers of the processes that this one has started. Linux only. */
export function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1]?.split(" ")[1] === String(pid);
      } catch {
        return false; // ended meanwhile
      }
    })
    .map(Number);
}
