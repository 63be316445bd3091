import type { Page, Request } from "./chromium.ts";

export type SettleOptions = {
  /** Nothing may move for so long, in ms. */
  readonly quietMs: number;
  /** What is there after so long is taken, in ms. */
  readonly maxMs: number;
  readonly signal: AbortSignal;
};

/** Requests under way in a page, apart from those that never end by design. */
export type Traffic = { readonly inFlight: () => number; readonly lastChangeAt: () => number };

// Streams, sockets, beacons and media stay open, or say nothing about the content.
const ENDLESS = new Set(["eventsource", "websocket", "ping", "media", "texttrack", "manifest", "other"]);

/** Counts a page's requests from now on. */
export function watchTraffic(page: Page): Traffic {
  const open = new Set<Request>();
  let changedAt = performance.now();
  const change = (): void => {
    changedAt = performance.now();
  };
  page.on("request", (request) => {
    if (ENDLESS.has(request.resourceType())) return;
    open.add(request);
    change();
  });
  const end = (request: Request): void => {
    if (open.delete(request)) change();
  };
  page.on("requestfinished", end);
  page.on("requestfailed", end);
  return { inFlight: () => open.size, lastChangeAt: () => changedAt };
}

/**
 * Waits until a page has come to rest: no request under way and no change of the document for `quietMs`. A
 * page without scripts rests as soon as it is loaded; one that never does is taken as it is after `maxMs`.
 * @returns whether it came to rest
 */
export async function settle(page: Page, traffic: Traffic, options: SettleOptions): Promise<boolean> {
  const deadline = performance.now() + options.maxMs;
  if (!(await page.evaluate(hasRunningScripts))) return true;
  let size = -1;
  let changedAt = performance.now();
  while (performance.now() < deadline && !options.signal.aborted) {
    const now = await page.evaluate(documentSize);
    if (now !== size) {
      size = now;
      changedAt = performance.now();
    }
    const restSince = Math.max(changedAt, traffic.lastChangeAt());
    if (traffic.inFlight() === 0 && performance.now() - restSince >= options.quietMs) return true;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return false;
}

const POLL_MS = 50;

/** Scrolls to the end, again as long as that makes the page longer, so that lazy content comes. */
export async function scrollThrough(page: Page, traffic: Traffic, options: SettleOptions): Promise<void> {
  let height = -1;
  for (let round = 0; round < MAX_SCROLLS && !options.signal.aborted; round++) {
    const now = await page.evaluate(scrollToEnd);
    if (now === height) return;
    height = now;
    await settle(page, traffic, options);
  }
}

const MAX_SCROLLS = 30;

// The following run inside the page.

function hasRunningScripts(): boolean {
  return [...document.scripts].some((script) => script.type === "" || /module|javascript/.test(script.type));
}

function documentSize(): number {
  return document.getElementsByTagName("*").length * 1_000_003 + (document.body?.textContent?.length ?? 0);
}

function scrollToEnd(): number {
  const height = document.documentElement.scrollHeight;
  // Step by step: observers of visibility do not see what is jumped over.
  for (let y = 0; y <= height; y += window.innerHeight) window.scrollTo(0, y);
  window.scrollTo(0, height);
  return height;
}
