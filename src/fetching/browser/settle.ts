import { within } from "./answered.ts";
import type { Page, Request } from "./chromium.ts";
import { type DocumentState, scrollToEnd, type Wait, watchDocument } from "./document-state.ts";

export type SettleOptions = {
  /** Nothing may move for so long, in ms. */
  readonly quietMs: number;
  /** What is there after so long is taken, in ms. */
  readonly maxMs: number;
  /** The same of a page whose text still grows. */
  readonly maxGrowingMs: number;
  /** Whether a page that has no words yet is waited for. */
  readonly awaitsWords: boolean;
  /** Whether the page that a `<meta http-equiv=refresh>` announces is waited for. */
  readonly awaitsRefresh: boolean;
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

/** How the wait for a page ended: it came to rest, it never did, or it was growing to the last. */
export type Rest = "rested" | "restless" | "growing";

/**
 * Waits until a page has come to rest: nothing loads, no request under way and no change of the document or of
 * its frames for `quietMs`. A page without scripts and frames rests as soon as it is loaded. One that has no
 * words yet, or announces another page by a refresh, does not rest before `maxMs`, and one that writes piece by
 * piece has longer silences between the pieces. What never rests is taken as it is after `maxMs`, or after
 * `maxGrowingMs` when its text still grows.
 * @throws an error of `hasMoved` when the page goes to another document
 */
export async function settle(page: Page, traffic: Traffic, options: SettleOptions): Promise<Rest> {
  const startedAt = performance.now();
  let state = await page.evaluate(watchDocument, AT_ONCE);
  if (!state.canChange) return "rested";
  const activity = new Activity(traffic, state.textLength);
  let lookedAt = performance.now();
  for (;;) {
    const now = performance.now();
    const quietMs = Math.max(options.quietMs, activity.longestPauseMs);
    const isGrowing = now - activity.grewAt < GROWING_MS;
    if (now - startedAt >= (isGrowing ? options.maxGrowingMs : options.maxMs))
      return isGrowing ? "growing" : "restless";
    if (options.signal.aborted) return "restless";
    // Nothing that the document does can end the wait before the requests end.
    if (traffic.inFlight() > 0 && now - lookedAt < LOADING_LOOK_MS) {
      activity.noteLoading(now);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      continue;
    }
    const isBusy = traffic.inFlight() > 0;
    const leftMs = quietMs - activity.silenceMs(now);
    const next = await watch(page, {
      size: state.size,
      forMs: leftMs > 0 ? leftMs : MIN_WATCH_MS,
      looks: isBusy ? 0 : MIN_LOOKS,
    });
    lookedAt = performance.now();
    // A frame that awaits its document: its request is announced a moment after the element.
    const isAwaited = next.awaitedFrames > 0 && lookedAt - startedAt < MAX_FRAME_START_MS;
    const isChanging = next.size !== state.size || next.isLoading || isAwaited;
    state = next;
    activity.note(state, { isChanging, at: lookedAt });
    const isEmpty = options.awaitsWords && !state.hasWords;
    const isLeaving = options.awaitsRefresh && isRefreshing(state, lookedAt - startedAt);
    const isQuiet = traffic.inFlight() === 0 && activity.silenceMs(lookedAt) >= quietMs;
    if (isQuiet && !isEmpty && !isLeaving) return "rested";
    // A document that takes long to measure is measured less often.
    const pauseMs = isChanging ? Math.max(CHANGE_POLL_MS, 4 * state.lookMs) : POLL_MS;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** When a page last did something, and how long it is silent before it writes more. */
class Activity {
  /** When its text last became longer than it ever was; before it did, long ago. */
  grewAt = Number.NEGATIVE_INFINITY;
  #textLength: number;
  #changedAt = performance.now();
  /** How long the page's scripts, or others on the machine, kept it from its turns in this silence. */
  #lateMs = 0;
  /** The longest silence since it last grew, and the longest that ended in more text. */
  #pauseMs = 0;
  #longestPauseMs = 0;
  /** Up to where silences are measured. */
  #measuredTo = this.#changedAt;
  readonly #traffic: Traffic;

  constructor(traffic: Traffic, textLength: number) {
    this.#traffic = traffic;
    this.#textLength = textLength;
  }

  /** How long nothing has happened, by the page's own turns. */
  silenceMs(now: number): number {
    return now - this.#silentSince - this.#lateMs;
  }

  /** A silence twice as long as one that ended in more text may end so again. */
  get longestPauseMs(): number {
    return Math.min(2 * this.#longestPauseMs, MAX_PAUSE_MS);
  }

  /** Requests are under way: what comes of them ends no silence. */
  noteLoading(at: number): void {
    this.#measurePause();
    this.#measuredTo = at;
  }

  note(
    state: DocumentState,
    { isChanging, at }: { readonly isChanging: boolean; readonly at: number },
  ): void {
    this.#lateMs += state.lateMs;
    if (isChanging) this.#changedAt = at;
    this.#measurePause();
    if (state.textLength <= this.#textLength) return;
    this.#textLength = state.textLength;
    this.grewAt = at;
    this.#longestPauseMs = Math.max(this.#longestPauseMs, this.#pauseMs);
    this.#pauseMs = 0;
  }

  get #silentSince(): number {
    return Math.max(this.#changedAt, this.#traffic.lastChangeAt());
  }

  #measurePause(): void {
    const end = this.#silentSince;
    if (end <= this.#measuredTo) return;
    this.#pauseMs = Math.max(this.#pauseMs, end - this.#measuredTo - this.#lateMs);
    this.#measuredTo = end;
    this.#lateMs = 0;
  }
}

const isRefreshing = ({ refreshAfterMs }: DocumentState, waitedMs: number): boolean =>
  refreshAfterMs !== null &&
  refreshAfterMs <= MAX_REFRESH_MS &&
  waitedMs < refreshAfterMs + MAX_REFRESH_START_MS;

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
/** A page that loads something is looked at now and then, too: it may grow meanwhile. */
const LOADING_LOOK_MS = 1_000;
/** The page watches itself for so long at least, when only words or a refresh are awaited. */
const MIN_WATCH_MS = 200;
/** The longest silence between two pieces of text. */
const MAX_PAUSE_MS = 2_500;
/** A page that never rests still grows when it did so in this time. */
const GROWING_MS = 3_000;
/** The longest delay of a refresh that is waited for, as `MAX_REFRESH_SECONDS` of the plain client. */
const MAX_REFRESH_MS = 5_000;
/** A busy machine may need so long to begin with it. */
const MAX_REFRESH_START_MS = 2_000;
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
    await settle(page, traffic, { ...options, awaitsWords: false, awaitsRefresh: false });
  }
}

const MAX_SCROLLS = 30;
