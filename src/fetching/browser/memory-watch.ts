import { readFileSync } from "node:fs";
import { within } from "./answered.ts";
import type { Browser } from "./chromium.ts";

/**
 * Ends a browser's processes of pages that take more memory than they may: V8 bounds its own heap, and nobody
 * what lies outside of it. Linux alone tells what a process takes; elsewhere nothing is watched.
 */
export type MemoryWatch = {
  start(): void;
  stop(): void;
  /** Whether one was ended a moment ago: the tab that crashed was its. */
  hasJustEnded(): boolean;
};

/** A page can fill a gigabyte in this time. */
const LOOK_EVERY_MS = 250;
/** A browser that is slow to answer is not asked twice; for so long. */
const LOOK_TIMEOUT_MS = 2_000;
/** A busy machine may take seconds to tell of a tab's end. */
const RECENT_MS = 15_000;

/** @param maxMb of resident memory, a page */
export function createMemoryWatch(browser: Browser, maxMb: number): MemoryWatch {
  let timer: ReturnType<typeof setInterval> | undefined;
  let endedAt = Number.NEGATIVE_INFINITY;
  let isLooking = false;
  const stop = (): void => clearInterval(timer);
  let session: ReturnType<Browser["newBrowserCDPSession"]> | null = null;
  const look = async (): Promise<void> => {
    session ??= browser.newBrowserCDPSession();
    const { processInfo } = await (await session).send("SystemInfo.getProcessInfo");
    for (const { type, id } of processInfo) {
      if (type !== "renderer" || residentMb(id) <= maxMb) continue;
      endedAt = performance.now();
      end(id);
    }
  };
  // The one look that fails must not be the last one.
  const lookAgain = (): void => {
    session = null;
    if (!browser.isConnected()) stop();
  };
  return {
    start() {
      stop();
      timer = setInterval(() => {
        if (isLooking) return;
        isLooking = true;
        void within(LOOK_TIMEOUT_MS, look().catch(lookAgain)).then(() => {
          isLooking = false;
        });
      }, LOOK_EVERY_MS);
    },
    stop,
    hasJustEnded: () => performance.now() - endedAt < RECENT_MS,
  };
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {} // it has ended by itself
}

/** 0 for what is no process of a page: a browser in a container of its own counts its processes differently. */
function residentMb(pid: number): number {
  try {
    if (!readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("--type=renderer")) return 0;
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
