import { setTimeout as sleep } from "node:timers/promises";
import { type Page, type Request, within } from "./chromium.ts";

type SettleOptions = {
  /** How long nothing may change, in ms. */
  readonly quietMs: number;
  /** The longest wait, in ms; then the page is read as it is. */
  readonly maxMs: number;
  /** The longest wait for a page whose text still grows, in ms. */
  readonly maxGrowingMs: number;
  /** Whether to wait for a page that has no words yet. */
  readonly awaitsWords: boolean;
  /** Whether to wait for the page that a `<meta http-equiv=refresh>` announces. */
  readonly awaitsRefresh: boolean;
  readonly signal: AbortSignal;
};

/** A page's open requests, except for requests that are meant to stay open. */
export type Traffic = { readonly inFlight: () => number; readonly lastChangeAt: () => number };

// These requests stay open by design, or say nothing about the content.
const ENDLESS = new Set(["eventsource", "websocket", "ping", "media", "texttrack", "manifest", "other"]);

/** Starts counting a page's requests. */
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

/** How the wait ended: the page came to rest, it never did, or it was still growing. */
type SettleOutcome = "rested" | "restless" | "growing";

/**
 * Waits until a page is at rest: for `quietMs` nothing loads, no request is under way, and neither the
 * document nor its frames change. A page without scripts and frames is at rest as soon as it is loaded. A
 * page that has no words yet, or announces another page by a refresh, does not count as at rest before
 * `maxMs`; a page that writes its text piece by piece is given longer silences between the pieces. A page
 * that never rests is read as it is after `maxMs`, or after `maxGrowingMs` when its text still grows.
 * @throws an error that `hasNavigated` recognises when the page goes to another document
 */
export async function settle(page: Page, traffic: Traffic, options: SettleOptions): Promise<SettleOutcome> {
  const startedAt = performance.now();
  let state = await page.evaluate(watchDocument, AT_ONCE);
  if (!state.canChange) return "rested";
  const activity = new Activity(traffic, state.textLength);
  let lookedAt = performance.now();
  for (;;) {
    const now = performance.now();
    const isGrowing = now - activity.grewAt < GROWING_MS;
    const isOver = now - startedAt >= (isGrowing ? options.maxGrowingMs : options.maxMs);
    if (isOver) return isGrowing ? "growing" : "restless";
    if (options.signal.aborted) return "restless";
    // While requests are under way, nothing in the document can end the wait.
    if (traffic.inFlight() > 0 && now - lookedAt < LOADING_LOOK_MS) {
      activity.noteLoading(now);
      await sleep(POLL_MS);
      continue;
    }
    const quietMs = Math.max(options.quietMs, activity.longestPauseMs);
    const leftMs = quietMs - activity.silenceMs(now);
    const next = await watch(page, {
      size: state.size,
      forMs: leftMs > 0 ? leftMs : MIN_WATCH_MS,
      looks: traffic.inFlight() > 0 ? 0 : MIN_LOOKS,
    });
    lookedAt = performance.now();
    const isChanging = next.size !== state.size || isOpening(next, lookedAt - startedAt);
    state = next;
    activity.note(state, { isChanging, at: lookedAt });
    const isQuiet = activity.isQuiet(lookedAt, quietMs);
    const looked = { state, waitedMs: lookedAt - startedAt, options };
    if (isQuiet && !(await isAwaited(page, looked))) return "rested";
    // A document that takes long to measure is measured less often.
    await sleep(isChanging ? Math.max(CHANGE_POLL_MS, 4 * state.lookMs) : POLL_MS);
  }
}

/** Tracks when a page last changed and how long its silences are between two pieces of text. */
class Activity {
  /** When the text last became longer than ever before; minus infinity before the first time. */
  grewAt = Number.NEGATIVE_INFINITY;
  #textLength: number;
  #changedAt = performance.now();
  /** How much of the present silence was lost to busy scripts or a busy machine. */
  #lateMs = 0;
  /** The longest silence since the text last grew, and the longest silence that ended in more text. */
  #pauseMs = 0;
  #longestPauseMs = 0;
  /** The moment up to which silences have been measured. */
  #measuredTo = this.#changedAt;
  readonly #traffic: Traffic;

  constructor(traffic: Traffic, textLength: number) {
    this.#traffic = traffic;
    this.#textLength = textLength;
  }

  /** Whether no request is under way and nothing has happened for this long. */
  isQuiet(now: number, quietMs: number): boolean {
    return this.#traffic.inFlight() === 0 && this.silenceMs(now) >= quietMs;
  }

  /** How long nothing has happened, without the time in which the page could not run. */
  silenceMs(now: number): number {
    return now - this.#silentSince - this.#lateMs;
  }

  /** After a silence that ended in more text, one of twice that length may end so too. */
  get longestPauseMs(): number {
    return Math.min(2 * this.#longestPauseMs, MAX_PAUSE_MS);
  }

  /** Notes that requests are under way, so that their results do not count as the end of a silence. */
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

/** Whether a frame's document is still to come; its request is announced a moment after the element appears. */
const isOpening = ({ isLoading, awaitedFrames }: DocumentState, waitedMs: number): boolean =>
  isLoading || (awaitedFrames > 0 && waitedMs < MAX_FRAME_START_MS);

/** Whether the page, quiet as it is, has no words yet or is about to lead to another page. */
async function isAwaited(
  page: Page,
  { state, waitedMs, options }: { state: DocumentState; waitedMs: number; options: SettleOptions },
): Promise<boolean> {
  if (options.awaitsWords && !state.hasWords) return true;
  const { refreshAfterMs } = state;
  if (!options.awaitsRefresh || refreshAfterMs === null || refreshAfterMs > MAX_REFRESH_MS) return false;
  if (waitedMs >= refreshAfterMs + MAX_REFRESH_START_MS) return false;
  return !(await page.evaluate(hasWordsToRead, MAX_NOTICE_WORDS));
}

// The page watches itself, because each look from outside costs both sides 1 to 2 ms.
async function watch(page: Page, wait: Wait): Promise<DocumentState> {
  const watching = page.evaluate(watchDocument, wait);
  if (await within(wait.forMs + MAX_LATE_MS, watching)) return watching;
  // Scripts may have taken its timers away.
  return page.evaluate(watchDocument, AT_ONCE);
}

/** Whether an error means that the page went to another document meanwhile. */
export const hasNavigated = (error: unknown): boolean =>
  error instanceof Error && /context was destroyed|Cannot find context/i.test(error.message);

/** A frame whose server answers without a document (204) stays empty, so the wait for it is limited. */
const MAX_FRAME_START_MS = 2_000;
const POLL_MS = 25;
/** A page that is loading is looked at now and then too, because it may grow meanwhile. */
const LOADING_LOOK_MS = 1_000;
/** When only words or a refresh are awaited, the page watches itself for at least this long. */
const MIN_WATCH_MS = 200;
/** The longest silence that is expected between two pieces of text. */
const MAX_PAUSE_MS = 2_500;
/** A page that never rests counts as growing when its text grew within this time. */
const GROWING_MS = 3_000;
/** The longest delay of a refresh that is followed, equal to `MAX_REFRESH_SECONDS` of extraction/links.ts. */
const MAX_REFRESH_MS = 5_000;
/** A busy machine may take this long to begin a refresh. */
const MAX_REFRESH_START_MS = 2_000;
const CHANGE_POLL_MS = 100;
/** A page counts as quiet only after this many looks, so that it gets its turns on a busy machine too. */
const MIN_LOOKS = 4;
const MAX_LATE_MS = 2_000;
const AT_ONCE: Wait = { size: 0, forMs: 0, looks: 0 };

/** Scrolls to the end, repeatedly while the page grows by it, so that lazy content loads. */
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

/** A page of more words is there to be read, although it refreshes to another one; as `MAX_NOTICE_WORDS` of extraction. */
export const MAX_NOTICE_WORDS = 60;

/** Tells whether a page shows more than `most` words. Runs inside the page, so it may use nothing from outside. */
export function hasWordsToRead(most: number): boolean {
  // biome-ignore lint/performance/useDomNodeTextContent: readers do not see scripts, styles and hidden text
  const text = document.body?.innerText.slice(0, 10_000) ?? "";
  const words = new Intl.Segmenter(undefined, { granularity: "word" }).segment(text);
  let count = 0;
  for (const { isWordLike } of words) if (isWordLike && ++count > most) return true;
  return false;
}

/** The state of a page's document at one moment. */
type DocumentState = {
  /** Whether scripts, frames or a refresh may still change what is there. */
  readonly canChange: boolean;
  /** Whether the document of some frame is still being parsed. */
  readonly isLoading: boolean;
  /** The number of same-origin frames that have no document yet. */
  readonly awaitedFrames: number;
  /** A number that differs after a change of elements or text, also inside frames and shadow roots. */
  readonly size: number;
  /** The number of characters of text, frames and shadow roots included. */
  readonly textLength: number;
  /** Whether there are any words apart from menus, headers, footers and notes that something is loading. */
  readonly hasWords: boolean;
  /** The delay of a `<meta http-equiv=refresh>` that leads to another page, in ms; null without one. */
  readonly refreshAfterMs: number | null;
  /** The time that measuring took inside the page. */
  readonly lookMs: number;
  /** How late the page's timers fired, because its scripts were busy. */
  readonly lateMs: number;
};

type Wait = {
  /** The size to compare with: a different one, or a frame without a document, ends the wait. */
  readonly size: number;
  readonly forMs: number;
  /** How often to look after the first time. */
  readonly looks: number;
};

/** Looks at the document until it changes or the wait ends. Runs inside the page: nothing from outside. */
async function watchDocument(wait: Wait): Promise<DocumentState> {
  const isNoContent = /^(?:script|style|noscript|template|title|textarea|select|svg|nav|footer|aside)$/;
  /** Matches a placeholder such as "Loading…", in any language. */
  const isPlaceholder = /^(?:(?:loading|please wait)[\s\d%.…]*)?$|^[^.…]{1,40}(?:\.\.\.|…)$/i;
  const maxPlaceholder = 48;
  let canChange = false;
  let isLoading = false;
  let awaitedFrames = 0;
  let size = 0;
  let textLength = 0;
  let words = "";
  let lateMs = 0;
  const measure = (root: Document | ShadowRoot, depth: number): void => {
    const elements = root.querySelectorAll("*");
    const text = "body" in root ? root.body : root;
    const length = text?.textContent?.length ?? 0;
    size = (size * 31 + elements.length * 1_000_003 + length) % 1e15;
    textLength += length;
    if (text) gatherWords(text);
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
  const isContent = (element: Element): boolean => {
    if (isNoContent.test(element.localName)) return false;
    return element.localName !== "header" || element.closest("main, article") !== null;
  };
  // It stops at the first words that are not a placeholder, which most pages have at once. A tree walker's
  // callback may be "no longer runnable" while the page opens windows, so there is none.
  const gatherWords = (root: Node): void => {
    let node: Node | null = root;
    while (node && words.length <= maxPlaceholder) {
      const value = node.nodeType === 3 ? (node.nodeValue ?? "") : "";
      if (/[\p{L}\p{N}]/u.test(value)) words += ` ${value.trim()}`;
      let next: Node | null = node.nodeType !== 1 || isContent(node as Element) ? node.firstChild : null;
      while (!next && node && node !== root) {
        next = node.nextSibling;
        if (!next) node = node.parentNode;
      }
      node = next;
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
      // A frame of another origin cannot be read.
    }
    if (!inner) return;
    // A lazy frame below the screen would never load.
    if (isOwn && frame.loading === "lazy") frame.loading = "eager";
    if (inner.URL === "about:blank" && isOwn) awaitedFrames++;
    if (inner.readyState === "loading") isLoading = true;
    canChange ||= isOwn;
    measure(inner, depth);
  };
  const refresh = (): number | null => {
    const meta = document.querySelector('meta[http-equiv="refresh" i]');
    const [, seconds, url] =
      /^\s*(\d+)(?:\.[\d.]*)?[\s;,]+(?:url\s*=\s*)?["']?([^"']+)/i.exec(
        meta?.getAttribute("content") ?? "",
      ) ?? [];
    const target = url === undefined ? null : URL.parse(url.trim(), document.baseURI);
    if (!target || !/^https?:$/.test(target.protocol)) return null;
    target.hash = "";
    return target.href === location.href.replace(/#.*/, "") ? null : Number(seconds) * 1000;
  };
  const look = (): DocumentState => {
    canChange = false;
    isLoading = false;
    awaitedFrames = 0;
    size = 0;
    textLength = 0;
    words = "";
    const lookedAt = performance.now();
    measure(document, 0);
    const refreshAfterMs = refresh();
    return {
      canChange: canChange || refreshAfterMs !== null,
      isLoading,
      awaitedFrames,
      size,
      textLength,
      hasWords: !isPlaceholder.test(words.trim()),
      refreshAfterMs,
      lookMs: performance.now() - lookedAt,
      lateMs,
    };
  };
  for (let left = wait.looks; ; left--) {
    const state = look();
    if (left === 0 || state.size !== wait.size || isLoading || awaitedFrames > 0) return state;
    const pauseMs = Math.max(wait.forMs / wait.looks, 4 * state.lookMs);
    const sleptAt = performance.now();
    try {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      lateMs += Math.max(0, performance.now() - sleptAt - pauseMs);
    } catch {
      return state; // The page's scripts have replaced the timers.
    }
  }
}

/** Scrolls to the end. Runs inside the page, so it may use nothing from outside this function. */
function scrollToEnd(): number {
  const height = document.documentElement.scrollHeight;
  // The page scrolls step by step, because observers of visibility miss what is jumped over.
  for (let y = 0; y <= height; y += window.innerHeight) window.scrollTo(0, y);
  window.scrollTo(0, height);
  return height;
}
