import { Failure } from "../../failure.ts";
import type { PinningProxy } from "../pinning-proxy.ts";
import type { BrowserContext, Page } from "./chromium.ts";
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
      state = await known.context.storageState().catch(() => state);
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
  return {
    async openTab(tabOptions) {
      await takeTurn(tabOptions.signal);
      let open: OpenContext | null = null;
      try {
        open = await next();
        open.pages++;
        open.openPages++;
        const tab = await openTab(open, options, tabOptions);
        return { ...tab, close: () => tab.close().finally(passTurn) };
      } catch (error) {
        if (open) open.openPages--;
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
    const context = await lease.browser.newContext({
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
  const page = await open.context.newPage();
  const gone = Promise.withResolvers<Failure>();
  let isClosing = false;
  const die = (why: string): void => {
    // The code is one that the next try may get past.
    if (!isClosing) gone.resolve(new Failure("network", why, { cause: { code: "BROWSER_GONE" } }));
  };
  page.on("crash", () => die("the page crashed the browser's tab"));
  page.on("close", () => die("the browser closed the tab"));
  open.lease.browser.once("disconnected", () => die("the browser crashed"));
  page.on("popup", (popup) => void popup.close().catch(() => {}));
  page.on("download", (download) => void download.cancel().catch(() => {}));
  await intercept(page, options, tab);
  return {
    page,
    gone: gone.promise,
    async close() {
      isClosing = true;
      open.openPages--;
      // A tab whose scripts never yield cannot be closed; the whole browser goes.
      const isClosed = await within(CLOSE_TIMEOUT_MS, page.close({ runBeforeUnload: false }));
      if (!isClosed) await open.lease.giveBack(true);
    },
  };
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
