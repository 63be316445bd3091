import { Failure } from "../../base/failure.ts";
import type { PinningProxy } from "../egress/pinning-proxy.ts";
import type { BrowsingSession } from "../session/session.ts";
import { answered, browserGone, isGone, isSilent, within } from "./answered.ts";
import type { BrowserContext, Page } from "./chromium.ts";
import { type ContextState, createContextState, type KeepOptions } from "./context-state.ts";
import type { BrowserHost, BrowserLease } from "./host.ts";
import { intercept } from "./intercept.ts";

export type ContextOptions = {
  readonly host: BrowserHost;
  readonly proxy: PinningProxy;
  /** Whose cookies and local storage the contexts have. */
  readonly session: BrowsingSession;
  readonly userAgent: string;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly loadsMedia: boolean;
  /** A context gives way to a new one after so many pages. */
  readonly maxPages: number;
  /** Largest document, in bytes. */
  readonly maxBytes: number;
  readonly maxRedirects: number;
};

export type TabOptions = {
  /** What is being done, for messages. */
  readonly what: string;
  /** Requests to this origin, and to no other, carry `headers`. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Leaves windows open that the page opens: a person may need them to log in. */
  readonly opensWindows: boolean;
};

export type Tab = {
  readonly page: Page;
  /** Comes true when the tab or the browser dies, or loads too much, before it is closed. */
  readonly gone: Promise<Failure>;
  /**
   * Gives the session what the page changed of cookies and local storage.
   * @throws Failure `unwritable_output`
   */
  keepState(options?: KeepOptions): Promise<void>;
  close(): Promise<void>;
};

/** The browser contexts of one fetcher, one after another: cookies move on, memory does not. */
export interface BrowserContexts extends AsyncDisposable {
  openTab(options: TabOptions): Promise<Tab>;
}

/** Further tabs wait for one of these to close: a page with scripts keeps a core busy. */
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
};

/** Makes the contexts of a fetcher; the first one opens with the first tab. */
export function createContexts(options: ContextOptions): BrowserContexts {
  let current: Promise<OpenContext> | null = null;
  const turns = createTurns(MAX_TABS);
  const usable = async (): Promise<OpenContext> => {
    const known = current && (await current.catch(() => null));
    if (known?.lease.browser.isConnected()) {
      if (known.pages < options.maxPages && !known.lease.isWorn()) return known;
      // Its last tab closes it.
      known.isRetired = true;
      if (known.openPages === 0) await closeContext(known);
    } else await known?.lease.giveBack(true);
    current = openContext(options);
    return current;
  };
  let tail: Promise<unknown> = Promise.resolve();
  const next = (): Promise<OpenContext> => {
    const result = tail.then(usable);
    tail = result.catch(() => {});
    return result;
  };
  const open = async (tabOptions: TabOptions): Promise<Tab> => {
    const used = await next();
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
      await turns.take(tabOptions.signal);
      try {
        // A browser that died between two pages costs neither of them.
        const tab = await open(tabOptions).catch((error: unknown) => {
          if (!isGone(error) || tabOptions.signal.aborted) throw error;
          return open(tabOptions);
        });
        return { ...tab, close: () => tab.close().finally(turns.pass) };
      } catch (error) {
        turns.pass();
        throw error;
      }
    },
    async [Symbol.asyncDispose]() {
      const last = current && (await current.catch(() => null));
      if (last) await closeContext(last);
    },
  };
}

type Turns = { readonly take: (signal: AbortSignal) => Promise<void>; readonly pass: () => void };

function createTurns(count: number): Turns {
  let taken = 0;
  const waiting: (() => void)[] = [];
  return {
    async take(signal) {
      if (taken < count) {
        taken++;
        return;
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const leave = (): void => {
        waiting.splice(waiting.indexOf(resolve), 1);
        reject(new Failure("cancelled", "the page was called off"));
      };
      waiting.push(resolve);
      signal.addEventListener("abort", leave, { once: true });
      await promise.finally(() => signal.removeEventListener("abort", leave));
    },
    // A turn is handed on, so the number of those taken stays.
    pass() {
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
        // Without it Chromium would go to loopback addresses past the proxy.
        bypass: "<-loopback>",
      },
      serviceWorkers: "block",
      acceptDownloads: false,
      permissions: [],
      extraHTTPHeaders: { ...options.headers },
      // Playwright's types ask for arrays that may be written to.
      ...(state.cookies.length + state.origins.length > 0
        ? { storageState: structuredClone(state) as never }
        : {}),
    });
    const context = await answered(lease.browser, opening);
    const contextState = createContextState(context, session, state);
    return { context, lease, state: contextState, pages: 0, openPages: 0, isRetired: false };
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
    page = await open.context.newPage();
    const end = watchForEnd(page, open.lease, tab.what);
    if (!tab.opensWindows) page.on("popup", (popup) => void popup.close().catch(() => {}));
    page.on("download", (download) => void download.cancel().catch(() => {}));
    await intercept(page, { ...options, ...tab, onRefused: end.tell });
    return { page, end };
  })();
  try {
    const opened = await answered(browser, opening, tab.signal);
    return {
      page: opened.page,
      gone: opened.end.failure,
      keepState: (keep) => open.state.keep(opened.page, keep),
      close: () => closeTab(open, opened),
    };
  } catch (error) {
    // It may come about yet.
    opening.catch(() => {}).then(() => page?.close().catch(() => {}));
    if (isSilent(error)) await open.lease.giveBack(true);
    throw error;
  }
}

type Opened = { readonly page: Page; readonly end: End };

/** The end of a tab that was not asked for. */
type End = {
  readonly failure: Promise<Failure>;
  readonly tell: (failure: Failure) => void;
  readonly ignore: () => void;
};

function watchForEnd(page: Page, lease: BrowserLease, what: string): End {
  const { browser } = lease;
  const { promise, resolve } = Promise.withResolvers<Failure>();
  let isClosing = false;
  const tell = (failure: Failure): void => {
    if (!isClosing) resolve(failure);
  };
  const crash = (): void => tell(browserGone("the browser crashed"));
  page.on("crash", () =>
    tell(
      lease.hasEndedGreedyPage()
        ? new Failure("too_large", `${what}: the page takes too much memory`)
        : browserGone("the page crashed the browser's tab"),
    ),
  );
  page.on("close", () =>
    tell(browserGone(browser.isConnected() ? "the browser closed the tab" : "the browser crashed")),
  );
  browser.once("disconnected", crash);
  const ignore = (): void => {
    isClosing = true;
    browser.off("disconnected", crash);
  };
  return { failure: promise, tell, ignore };
}

async function closeTab(open: OpenContext, { page, end }: Opened): Promise<void> {
  end.ignore();
  // Chromium forgets to close a tab that is just taking over a document.
  const state = page.waitForLoadState("domcontentloaded", { timeout: COMMIT_TIMEOUT_MS });
  await state.catch(() => {});
  // A tab whose scripts never yield cannot be closed; the whole browser goes.
  const isClosed = await within(CLOSE_TIMEOUT_MS, page.close({ runBeforeUnload: false }));
  if (!isClosed) await open.lease.giveBack(true);
  await leave(open);
}

/** The last one out takes along what pages and persons have opened, and the context where it has had its pages. */
async function leave(open: OpenContext): Promise<void> {
  open.openPages--;
  if (open.openPages > 0) return;
  if (open.isRetired) await closeContext(open);
  else for (const window of open.context.pages()) void window.close().catch(() => {});
}
