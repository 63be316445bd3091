import { within } from "./answered.ts";
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
 * Waits until a page has come to rest: nothing loads, no request under way and no change of the document or of
 * its frames for `quietMs`. A page without scripts and frames rests as soon as it is loaded; one that never
 * does is taken as it is after `maxMs`.
 * @returns whether it came to rest
 * @throws an error of `hasMoved` when the page goes to another document
 */
export async function settle(page: Page, traffic: Traffic, options: SettleOptions): Promise<boolean> {
  const startedAt = performance.now();
  const deadline = startedAt + options.maxMs;
  let state = await page.evaluate(watchDocument, AT_ONCE);
  if (!state.canChange) return true;
  let changedAt = performance.now();
  while (performance.now() < deadline && !options.signal.aborted) {
    // Nothing that the document does can end the wait before the requests end.
    if (traffic.inFlight() > 0) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      continue;
    }
    const quietFor = performance.now() - Math.max(changedAt, traffic.lastChangeAt());
    const forMs = Math.max(0, options.quietMs - quietFor);
    const now = await watch(page, { size: state.size, forMs, looks: MIN_LOOKS });
    const answeredAt = performance.now();
    // A frame that awaits its document: its request is announced a moment after the element.
    const isAwaited = now.awaitedFrames > 0 && answeredAt - startedAt < MAX_FRAME_START_MS;
    const isChanging = now.size !== state.size || now.isLoading || isAwaited;
    state = now;
    if (isChanging) changedAt = answeredAt;
    const restSince = Math.max(changedAt, traffic.lastChangeAt());
    if (traffic.inFlight() === 0 && answeredAt - restSince >= options.quietMs) return true;
    // A document that takes long to measure is measured less often.
    const pauseMs = isChanging ? Math.max(CHANGE_POLL_MS, 4 * now.lookMs) : POLL_MS;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return false;
}

// The page looks at itself, since each look from outside costs both sides a millisecond or two.
async function watch(page: Page, wait: Wait): Promise<DocumentState> {
  const watching = page.evaluate(watchDocument, wait);
  if (await within(wait.forMs + MAX_LATE_MS, watching)) return watching;
  // Scripts may have taken its timers away.
  return page.evaluate(watchDocument, AT_ONCE);
}

/** Whether an error says that the page went to another document meanwhile. */
export const hasMoved = (error: unknown): boolean =>
  error instanceof Error && /context was destroyed|Cannot find context/i.test(error.message);

/** A frame whose server answers with no document (204) stays empty. */
const MAX_FRAME_START_MS = 2_000;
const POLL_MS = 25;
const CHANGE_POLL_MS = 100;
/** On a machine that is short of time the page gets its turns, too, before it counts as quiet. */
const MIN_LOOKS = 4;
const MAX_LATE_MS = 2_000;
const AT_ONCE: Wait = { size: 0, forMs: 0, looks: 0 };

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

// The following run inside the page, so they may use nothing from outside.

type DocumentState = {
  /** Whether scripts or frames may still change what is there. */
  readonly canChange: boolean;
  /** Whether a frame's document is being read. */
  readonly isLoading: boolean;
  /** Frames of the same origin that have no document yet. */
  readonly awaitedFrames: number;
  /** Another number after a change of elements or text, of frames and shadow roots too. */
  readonly size: number;
  /** What the look cost the page. */
  readonly lookMs: number;
};

type Wait = {
  /** Ends with the first look that finds another size, or a frame that is not there yet. */
  readonly size: number;
  readonly forMs: number;
  /** Looks after the first. */
  readonly looks: number;
};

async function watchDocument(wait: Wait): Promise<DocumentState> {
  let canChange = false;
  let isLoading = false;
  let awaitedFrames = 0;
  let size = 0;
  const measure = (root: Document | ShadowRoot, depth: number): void => {
    const elements = root.querySelectorAll("*");
    const text = "body" in root ? root.body : root;
    size = (size * 31 + elements.length * 1_000_003 + (text?.textContent?.length ?? 0)) % 1e15;
    for (const element of elements) {
      if (element.shadowRoot) measure(element.shadowRoot, depth);
      if (element.localName === "iframe" || element.localName === "frame")
        measureFrame(element as HTMLIFrameElement, depth + 1);
      if (element.localName === "script") {
        const { type } = element as HTMLScriptElement;
        canChange ||= type === "" || /module|javascript/.test(type);
      }
    }
  };
  const measureFrame = (frame: HTMLIFrameElement, depth: number): void => {
    if (depth > 10) return;
    const hasInline = frame.hasAttribute("srcdoc");
    const isOwn = hasInline || (frame.src !== "" && URL.parse(frame.src)?.origin === location.origin);
    let inner: Document | null = null;
    try {
      inner = frame.contentDocument;
    } catch {
      // Another origin's frame cannot be read.
    }
    if (!inner) return;
    // What is below the screen would never load.
    if (isOwn && frame.loading === "lazy") frame.loading = "eager";
    if (inner.URL === "about:blank" && isOwn) awaitedFrames++;
    if (inner.readyState === "loading") isLoading = true;
    canChange ||= isOwn;
    measure(inner, depth);
  };
  const look = (): DocumentState => {
    canChange = false;
    isLoading = false;
    awaitedFrames = 0;
    size = 0;
    const lookedAt = performance.now();
    measure(document, 0);
    return { canChange, isLoading, awaitedFrames, size, lookMs: performance.now() - lookedAt };
  };
  for (let left = wait.looks; ; left--) {
    const state = look();
    if (left === 0 || state.size !== wait.size || isLoading || awaitedFrames > 0) return state;
    const pauseMs = Math.max(wait.forMs / wait.looks, 4 * state.lookMs);
    try {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    } catch {
      return state; // scripts have put something else in the place of timers
    }
  }
}

function scrollToEnd(): number {
  const height = document.documentElement.scrollHeight;
  // Step by step: observers of visibility do not see what is jumped over.
  for (let y = 0; y <= height; y += window.innerHeight) window.scrollTo(0, y);
  window.scrollTo(0, height);
  return height;
}
