import { onAbort, orAborted } from "../../base/abort.ts";
import { createTurns } from "../../base/event-loop.ts";
import { Failure } from "../../base/failure.ts";
import type { PageUrl } from "../../urls/index.ts";
import type { BrowsingSession } from "../session/session.ts";
import {
  answered,
  type BrowserContext,
  browserGone,
  isGone,
  isSilent,
  type Page,
  within,
} from "./chromium.ts";
import { type ContextState, createContextState, type KeepOptions } from "./context-state.ts";
import type { BrowserHost, BrowserLease } from "./host.ts";
import { type InterceptOptions, intercept, type Session } from "./intercept.ts";
import { RestingTabs } from "./resting-tabs.ts";

type ContextOptions = Pick<InterceptOptions, "proxy" | "loadsMedia" | "maxBytes" | "maxRedirects"> & {
  readonly host: BrowserHost;
  /** Supplies the cookies and local storage of the contexts. */
  readonly session: BrowsingSession;
  readonly userAgent: string;
  /** Headers that are sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Pages after which a context is replaced by a new one. */
  readonly maxPages: number;
};

type TabInterception = Pick<InterceptOptions, "what" | "origin" | "headers" | "opensWindows" | "received">;
export type TabOptions = TabInterception & { readonly signal: AbortSignal };

export type Tab = {
  readonly page: Page;
  /** Resolves when the tab or the browser dies, or the page loads too much, before the tab is closed. */
  readonly gone: Promise<Failure>;
  /**
   * Copies the page's changes of cookies and local storage into the session.
   * @throws Failure `unwritable_output`
   */
  keepState(options?: KeepOptions): Promise<void>;
  /** @param isRead whether the page was read to its end, so that its tab may show another page */
  close(isRead?: boolean): Promise<void>;
};

/** A fetcher's contexts, one after another: each takes the cookies of the one before, with empty memory. */
export interface BrowserContexts extends AsyncDisposable {
  openTab(options: TabOptions): Promise<Tab>;
}

/** Most open tabs; further tabs wait, because a page with scripts keeps a core busy. */
const MAX_TABS = 6;
const CLOSE_TIMEOUT_MS = 3_000;
const COMMIT_TIMEOUT_MS = 500;

type OpenContext = {
  readonly context: BrowserContext;
  readonly lease: BrowserLease;
  readonly state: ContextState;
  pages: number;
  openPages: number;
  isRetired: boolean;
  readonly resting: RestingTabs;
};

/** Makes the contexts of a fetcher. The first one opens with the first tab. */
export function createContexts(options: ContextOptions): BrowserContexts {
  let current: Promise<OpenContext> | null = null;
  const places = createPlaces(MAX_TABS);
  const usable = async (): Promise<OpenContext> => {
    const known = current && (await current.catch(() => null));
    if (known?.lease.browser.isConnected()) {
      if (known.pages < options.maxPages && !known.lease.isWorn()) return known;
      // A context that still has tabs is closed by the last of them.
      known.isRetired = true;
      if (known.openPages === 0) await closeContext(known);
    } else await known?.lease.giveBack(true);
    current = openContext(options);
    return current;
  };
  const inTurn = createTurns();
  const open = async (tabOptions: TabOptions): Promise<Tab> => {
    const used = await inTurn(usable);
    used.pages++;
    used.openPages++;
    used.lease.countPage();
    try {
      await used.state.refresh();
      return await openTab(used, options, tabOptions);
    } catch (error) {
      await leave(used);
      throw error;
    }
  };
  return {
    async openTab(tabOptions) {
      await places.take(tabOptions.signal);
      try {
        // A browser that died since the last page must not cost this page a try.
        const tab = await open(tabOptions).catch((error: unknown) => {
          if (!isGone(error) || tabOptions.signal.aborted) throw error;
          return open(tabOptions);
        });
        return { ...tab, close: (isRead) => tab.close(isRead).finally(places.pass) };
      } catch (error) {
        places.pass();
        throw error;
      }
    },
    async [Symbol.asyncDispose]() {
      const last = current && (await current.catch(() => null));
      if (last) await closeContext(last);
    },
  };
}

function createPlaces(count: number) {
  let taken = 0;
  const waiting: (() => void)[] = [];
  return {
    async take(signal: AbortSignal): Promise<void> {
      if (taken < count) {
        taken++;
        return;
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const leave = (): void => {
        waiting.splice(waiting.indexOf(resolve), 1);
        reject(new Failure("cancelled", "the page was cancelled"));
      };
      waiting.push(resolve);
      using _ = onAbort(signal, leave);
      await promise;
    },
    // A place is handed straight to the next in line, so the number of places taken stays the same.
    pass(): void {
      const following = waiting.shift();
      if (following) following();
      else taken--;
    },
  };
}

async function openContext(options: ContextOptions): Promise<OpenContext> {
  const { host, proxy, session } = options;
  const lease = await host.take();
  try {
    const state = session.state();
    const opening = lease.browser.newContext({
      userAgent: options.userAgent,
      proxy: {
        server: proxy.url,
        // Without this entry Chromium would connect to loopback addresses past the proxy.
        bypass: "<-loopback>",
      },
      serviceWorkers: "block",
      acceptDownloads: false,
      permissions: [],
      extraHTTPHeaders: { ...options.headers },
      // Playwright's types ask for mutable arrays.
      ...(state.cookies.length + state.origins.length > 0
        ? { storageState: structuredClone(state) as never }
        : {}),
    });
    const context = await answered(lease.browser, opening);
    return {
      context,
      lease,
      state: createContextState(context, session, state),
      pages: 0,
      openPages: 0,
      isRetired: false,
      resting: new RestingTabs(),
    };
  } catch (error) {
    await lease.giveBack(isGone(error));
    throw error;
  }
}

async function closeContext({ context, lease }: OpenContext): Promise<void> {
  const isClosed = await within(CLOSE_TIMEOUT_MS, context.close());
  await lease.giveBack(!isClosed);
}

async function openTab(open: OpenContext, options: ContextOptions, tab: TabOptions): Promise<Tab> {
  const { browser } = open.lease;
  let page: Page | null = null;
  const opening = (async (): Promise<Opened> => {
    const resting = tab.opensWindows ? null : await open.resting.take(tab.origin);
    page = resting ?? (await open.context.newPage());
    const end = watchForEnd(page, open.lease, tab.what);
    if (!tab.opensWindows) page.on("popup", (popup) => void popup.close().catch(() => {}));
    page.on("download", (download) => void download.cancel().catch(() => {}));
    const session = await intercept(page, {
      loadsMedia: options.loadsMedia,
      origin: tab.origin,
      headers: tab.headers,
      proxy: options.proxy,
      what: tab.what,
      maxBytes: options.maxBytes,
      maxRedirects: options.maxRedirects,
      received: tab.received,
      opensWindows: tab.opensWindows,
      cookies: options.session.cookies,
      onRefused: end.tell,
    });
    return { page, end, session, tab };
  })();
  try {
    const opened = await answered(browser, opening, tab.signal);
    return {
      page: opened.page,
      gone: opened.end.failure,
      keepState: (keep) => open.state.keep(opened.page, keep),
      close: (isRead = false) => closeTab(open, opened, isRead),
    };
  } catch (error) {
    // The page may still open after we stopped waiting for it.
    opening.catch(() => {}).then(() => page?.close().catch(() => {}));
    if (isSilent(error)) await open.lease.giveBack(true);
    throw error;
  }
}

type Opened = {
  readonly page: Page;
  readonly end: ReturnType<typeof watchForEnd>;
  readonly session: Session;
  readonly tab: TabOptions;
};

/** Notices when a tab ends without being asked to. */
function watchForEnd(page: Page, lease: BrowserLease, what: string) {
  const { browser } = lease;
  const { promise, resolve: tell } = Promise.withResolvers<Failure>();
  const crash = (): void => tell(browserGone("the browser crashed"));
  const crashTab = (): void =>
    tell(
      lease.hasEndedGreedyPage()
        ? new Failure("too_large", `${what}: the page takes too much memory`)
        : browserGone("the page crashed the browser's tab"),
    );
  const close = (): void =>
    tell(browserGone(browser.isConnected() ? "the browser closed the tab" : "the browser crashed"));
  page.on("crash", crashTab);
  page.on("close", close);
  browser.once("disconnected", crash);
  const ignore = (): void => {
    page.off("crash", crashTab);
    page.off("close", close);
    browser.off("disconnected", crash);
  };
  return { failure: promise, tell, ignore };
}

async function closeTab(
  open: OpenContext,
  { page, end, session, tab }: Opened,
  isRead: boolean,
): Promise<void> {
  end.ignore();
  // A tab that went elsewhere has session storage of an origin that cannot be reached any more.
  const isThere = URL.parse(page.url())?.origin === tab.origin;
  const mayRest = isRead && isThere && !tab.opensWindows && !open.isRetired;
  if (mayRest && (await open.resting.keep(page, { origin: tab.origin, session }))) return leave(open);
  // Chromium forgets to close a tab that is about to show a new document.
  const state = page.waitForLoadState("domcontentloaded", { timeout: COMMIT_TIMEOUT_MS });
  await state.catch(() => {});
  // A tab whose scripts never yield cannot be closed, so the whole browser is ended.
  const isClosed = await within(CLOSE_TIMEOUT_MS, page.close({ runBeforeUnload: false }));
  if (!isClosed) await open.lease.giveBack(true);
  await leave(open);
}

/**
 * Counts a closed tab. The last one of a context also closes the windows that the pages or a person opened,
 * or the whole context when it has had all its pages.
 */
async function leave(open: OpenContext): Promise<void> {
  open.openPages--;
  if (open.openPages > 0) return;
  if (open.isRetired) await closeContext(open);
  else
    for (const window of open.context.pages())
      if (!open.resting.has(window)) void window.close().catch(() => {});
}

/** Waits for a person at the browser's window. */
export type Pause = {
  /** The longest wait, in ms. */
  readonly timeoutMs: number;
  /** Fulfilled when the person is done; otherwise it is rejected or stays pending. */
  readonly untilDone: (signal: AbortSignal) => Promise<void>;
};

type PauseOptions = {
  readonly url: PageUrl;
  readonly pause: Pause;
  readonly signal: AbortSignal;
  /** The time limit for loading the page, in ms. */
  readonly timeoutMs: number;
};

const KEEP_EVERY_MS = 1_000;

/**
 * Shows a page until the person has logged in or solved what the page asks, the window is closed or the time
 * is over, and keeps the resulting cookies and local storage.
 * @throws Failure `cancelled` or `unwritable_output`; errors for `navigationFailure` when the page cannot be shown
 */
export async function pauseForPerson(tab: Tab, options: PauseOptions): Promise<void> {
  const { pause, signal } = options;
  const calledOff = (): Failure => new Failure("cancelled", "the page was cancelled");
  const going = tab.page.goto(options.url, { waitUntil: "commit", timeout: options.timeoutMs });
  await orAborted(going, signal, calledOff);
  const ending = new AbortController();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const timer = setTimeout(end, pause.timeoutMs);
  // The person may just close the window, and a closed window cannot be asked any more.
  const keeping = setInterval(() => void tab.keepState({ isWhole: false }).catch(() => {}), KEEP_EVERY_MS);
  void tab.gone.then(() => end());
  using _ = onAbort(signal, end);
  pause.untilDone(ending.signal).then(end, () => {});
  try {
    await over;
    if (signal.aborted) throw calledOff();
  } finally {
    clearTimeout(timer);
    clearInterval(keeping);
    ending.abort();
  }
  // Closing the window may end the browser; then the copy that was made every second has to do.
  await tab.keepState({ isWhole: true }).catch((error: unknown) => {
    if (!isGone(error)) throw error;
  });
}
