import { readFileSync } from "node:fs";
import { within } from "./answered.ts";
import type { Browser } from "./chromium.ts";

/**
 * Ends page processes of a browser that take too much memory. V8 limits its own heap, but nothing limits
 * memory outside it. Only Linux tells how much a process takes; nothing is watched on other systems.
 */
export type MemoryWatch = {
  start(): void;
  stop(): void;
  /** Whether a page was ended a moment ago, so that a tab that crashed now was probably that page's. */
  hasJustEnded(): boolean;
};

/** A page can fill a gigabyte in this time. */
const LOOK_EVERY_MS = 250;
/** How long to wait for a slow browser's answer before asking again. */
const LOOK_TIMEOUT_MS = 2_000;
/** On a busy machine seconds may pass before a tab's end is reported. */
const RECENT_MS = 15_000;

/** @param maxMb the limit of resident memory for one page */
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
  // The watch must go on when one look fails.
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
  } catch {} // The process has ended by itself.
}

/**
 * Returns 0 when no page's process has this id: a browser in its own container numbers its processes
 * differently.
 */
function residentMb(pid: number): number {
  try {
    if (!readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("--type=renderer")) return 0;
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
