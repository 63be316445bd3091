import { Failure } from "../../failure.ts";
import type { PinningProxy } from "../pinning-proxy.ts";
import type { Browser, BrowserContext, Page } from "./chromium.ts";
import type { BrowserHost, BrowserLease } from "./host.ts";

export type ContextOptions = {
  readonly host: BrowserHost;
  readonly proxy: PinningProxy;
  readonly userAgent: string;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly loadsMedia: boolean;
  /** A context gives way to a new one after so many pages. */
  readonly maxPages: number;
};

export type TabOptions = {
  /** Requests to this origin, and to no other, carry `headers`. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
};

export type Tab = {
  readonly page: Page;
  /** Comes true when the tab or the browser dies before it is closed. */
  readonly gone: Promise<Failure>;
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

type StorageState = Awaited<ReturnType<BrowserContext["storageState"]>>;

type OpenContext = {
  readonly context: BrowserContext;
  readonly lease: BrowserLease;
  pages: number;
  openPages: number;
};

/** Makes the contexts of a fetcher; the first one opens with the first tab. */
export function createContexts(options: ContextOptions): BrowserContexts {
  let current: Promise<OpenContext> | null = null;
  let state: StorageState | null = null;

  const usable = async (): Promise<OpenContext> => {
    const known = current && (await current.catch(() => null));
    if (known?.lease.browser.isConnected()) {
      if (known.pages < options.maxPages || known.openPages > 0) return known;
      const { browser } = known.lease;
      state = await answered(browser, known.context.storageState()).catch(() => state);
      await closeContext(known, false);
    }
    current = openContext(options, state);
    return current;
  };
  let openTabs = 0;
  const waiting: (() => void)[] = [];
  const takeTurn = async (signal: AbortSignal): Promise<void> => {
    if (openTabs < MAX_TABS) {
      openTabs++;
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
  };
  // A turn is handed on, so the number of open tabs stays.
  const passTurn = (): void => {
    const following = waiting.shift();
    if (following) following();
    else openTabs--;
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
    try {
      return await openTab(used, options, tabOptions);
    } catch (error) {
      used.openPages--;
      throw error;
    }
  };
  return {
    async openTab(tabOptions) {
      await takeTurn(tabOptions.signal);
      try {
        // A browser that died between two pages costs neither of them.
        const tab = await open(tabOptions).catch((error: unknown) => {
          if (!isGone(error) || tabOptions.signal.aborted) throw error;
          return open(tabOptions);
        });
        return { ...tab, close: () => tab.close().finally(passTurn) };
      } catch (error) {
        passTurn();
        throw error;
      }
    },
    async [Symbol.asyncDispose]() {
      const last = current && (await current.catch(() => null));
      if (last) await closeContext(last, false);
    },
  };
}

async function openContext(options: ContextOptions, state: StorageState | null): Promise<OpenContext> {
  const lease = await options.host.take();
  try {
    const opening = lease.browser.newContext({
      userAgent: options.userAgent,
      proxy: {
        server: options.proxy.url,
        username: options.proxy.username,
        password: options.proxy.password,
        // Without it Chromium would go to loopback addresses past the proxy.
        bypass: "<-loopback>",
      },
      serviceWorkers: "block",
      acceptDownloads: false,
      permissions: [],
      extraHTTPHeaders: { ...options.headers },
      ...(state ? { storageState: state } : {}),
    });
    const context = await answered(lease.browser, opening);
    return { context, lease, pages: 0, openPages: 0 };
  } catch (error) {
    await lease.giveBack(true);
    throw error;
  }
}

async function closeContext({ context, lease }: OpenContext, isBroken: boolean): Promise<void> {
  const isClosed = await within(CLOSE_TIMEOUT_MS, context.close());
  await lease.giveBack(isBroken || !isClosed);
}

async function openTab(open: OpenContext, options: ContextOptions, tab: TabOptions): Promise<Tab> {
  const { browser } = open.lease;
  let page: Page | null = null;
  const opening = (async (): Promise<Opened> => {
    page = await open.context.newPage();
    const gone = watchForEnd(page, browser);
    page.on("popup", (popup) => void popup.close().catch(() => {}));
    page.on("download", (download) => void download.cancel().catch(() => {}));
    await intercept(page, options, tab);
    return { page, gone };
  })();
  try {
    const opened = await answered(browser, opening, tab.signal);
    return { page: opened.page, gone: opened.gone.failure, close: () => closeTab(open, opened) };
  } catch (error) {
    // It may come about yet.
    opening.catch(() => {}).then(() => page?.close().catch(() => {}));
    if (isSilent(error)) await open.lease.giveBack(true);
    throw error;
  }
}

type Opened = { readonly page: Page; readonly gone: End };

/** The end of a tab that was not asked for. */
type End = { readonly failure: Promise<Failure>; readonly ignore: () => void };

function watchForEnd(page: Page, browser: Browser): End {
  const { promise, resolve } = Promise.withResolvers<Failure>();
  let isClosing = false;
  const die = (why: string): void => {
    if (!isClosing) resolve(gone(why));
  };
  const crash = (): void => die("the browser crashed");
  page.on("crash", () => die("the page crashed the browser's tab"));
  page.on("close", () => die(browser.isConnected() ? "the browser closed the tab" : "the browser crashed"));
  browser.once("disconnected", crash);
  const ignore = (): void => {
    isClosing = true;
    browser.off("disconnected", crash);
  };
  return { failure: promise, ignore };
}

async function closeTab(open: OpenContext, { page, gone }: Opened): Promise<void> {
  gone.ignore();
  open.openPages--;
  // Chromium forgets to close a tab that is just taking over a document.
  const state = page.waitForLoadState("domcontentloaded", { timeout: COMMIT_TIMEOUT_MS });
  await state.catch(() => {});
  // A tab whose scripts never yield cannot be closed; the whole browser goes.
  const isClosed = await within(CLOSE_TIMEOUT_MS, page.close({ runBeforeUnload: false }));
  if (!isClosed) await open.lease.giveBack(true);
}

// The code is one that the next try may get past.
const gone = (why: string): Failure => new Failure("network", why, { cause: { code: "BROWSER_GONE" } });
const isGone = (error: unknown): boolean =>
  (error instanceof Failure && error.code === "network") ||
  (error instanceof Error && /has been closed|crashed|Target closed/i.test(error.message));

const SILENT = "the browser does not answer";
const isSilent = (error: unknown): boolean => error instanceof Failure && error.message === SILENT;
/** A browser on a busy machine may take seconds to open a tab. */
const ANSWER_TIMEOUT_MS = 20_000;

/**
 * The browser's answer. One that dies, or hangs, may leave a command without any.
 * @throws Failure `network` when it dies or is silent for too long, `cancelled` when the signal aborts
 */
async function answered<T>(browser: Browser, work: Promise<T>, signal?: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  work.catch(() => {});
  const crash = (): void => reject(gone("the browser crashed"));
  const abort = (): void => reject(new Failure("cancelled", "the page was called off"));
  const timer = setTimeout(() => reject(gone(SILENT)), ANSWER_TIMEOUT_MS);
  browser.once("disconnected", crash);
  signal?.addEventListener("abort", abort, { once: true });
  if (!browser.isConnected()) crash();
  if (signal?.aborted) abort();
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    browser.off("disconnected", crash);
    signal?.removeEventListener("abort", abort);
  }
}

const MEDIA = ["Image", "Font", "Media"] as const;

/**
 * Has the tab's requests stopped where there is something to do. Playwright's own routes would do, but the
 * headers that they add stay on through redirects, to whatever host; these do not.
 */
async function intercept(page: Page, { loadsMedia }: ContextOptions, tab: TabOptions): Promise<void> {
  const hasSecrets = Object.keys(tab.headers).length > 0;
  const patterns = [
    ...(loadsMedia ? [] : MEDIA.map((resourceType) => ({ urlPattern: "*", resourceType }))),
    ...(hasSecrets ? [{ urlPattern: `${tab.origin}/*` }] : []),
  ];
  if (patterns.length === 0) return;
  const session = await page.context().newCDPSession(page);
  session.on("Fetch.requestPaused", ({ requestId, request, resourceType }) => {
    const isMedia = !loadsMedia && MEDIA.some((media) => media === resourceType);
    const isOwn = URL.parse(request.url)?.origin === tab.origin;
    const answer = isMedia
      ? session.send("Fetch.failRequest", { requestId, errorReason: "BlockedByClient" })
      : session.send("Fetch.continueRequest", {
          requestId,
          ...(hasSecrets && isOwn ? { headers: entriesOf({ ...request.headers, ...tab.headers }) } : {}),
        });
    // The page may be gone meanwhile.
    answer.catch(() => {});
  });
  await session.send("Fetch.enable", { patterns });
}

const entriesOf = (headers: Readonly<Record<string, string>>): { name: string; value: string }[] =>
  Object.entries(headers).map(([name, value]) => ({ name, value }));

async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  const isDone = await Promise.race([
    work.then(
      () => true,
      () => true,
    ),
    promise,
  ]);
  clearTimeout(timer);
  return isDone;
}
