import { onAbort } from "../../base/abort.ts";
import { Failure } from "../../base/failure.ts";
import type { PageUrl } from "../../urls/index.ts";
import { openPinningProxy, type PinningProxy } from "../egress/pinning-proxy.ts";
import type { FetcherOptions } from "../http/fetcher.ts";
import { checkCustomHeaders, checkUserAgent } from "../http/request-headers.ts";
import {
  type Clock,
  displayUrl,
  errorCode,
  retryAfterMsOf,
  startWatch,
  systemClock,
  type Try,
  tryRepeatedly,
  type Watch,
} from "../http/tries.ts";
import type { BrowsingSession } from "../session/session.ts";
import { deadlineOf, type FetchedPage, type Fetcher, type FetchOptions } from "../types.ts";
import { isUnusable, navigationFailure, unusable } from "./chromium.ts";
import {
  type BrowserContexts,
  createContexts,
  type Pause,
  pauseForPerson,
  type Tab,
  type TabOptions,
} from "./contexts.ts";
import type { BrowserHost } from "./host.ts";
import { type BrowserBehaviour, readPage, type VisitedPage } from "./read-page.ts";

export type BrowserFetcherOptions = FetcherOptions & {
  readonly host: BrowserHost;
  readonly behaviour: BrowserBehaviour;
  /** Cookies and local storage; several fetchers may share one session. */
  readonly session: BrowsingSession;
  /** Whether the caller's options need a browser, so that a browser that does not start is an error. */
  readonly isRequired: boolean;
  /** Shows the first page to a person before any page is read; null shows none. */
  readonly pause: Pause | null;
  /** Pages after which a context is replaced by a new one with the same cookies, so that memory stays flat. */
  readonly pagesPerContext: number;
};

const CONNECT_TIMEOUT_MS = 15_000;
const TUNNEL_IDLE_MS = 60_000;

/**
 * Fetches pages with a browser, which runs their scripts. All the browser's requests go through our own proxy
 * on loopback, and so through the egress policy. Each page gets its own tab; cookies and local storage belong
 * to the session.
 */
export function createBrowserFetcher(options: BrowserFetcherOptions): Fetcher {
  const session: Session = {
    options,
    userAgent: checkUserAgent(options.userAgent),
    clock: options.clock ?? systemClock,
    headers: checkCustomHeaders(options.headers ?? {}),
    open: null,
    pause: null,
  };
  return {
    async fetch(url, fetchOptions = {}) {
      try {
        return await fetchPage(session, url, fetchOptions);
      } catch (error) {
        if (!options.isRequired || !isUnusable(error)) throw error;
        // When the caller needs the browser, the failure must not lead to the plain client.
        throw new Failure("internal", error.message);
      }
    },
    async [Symbol.asyncDispose]() {
      const open = await session.open?.catch(() => null);
      await open?.contexts[Symbol.asyncDispose]();
      await open?.proxy[Symbol.asyncDispose]();
    },
  };
}

type Session = {
  readonly options: BrowserFetcherOptions;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly headers: ReturnType<typeof checkCustomHeaders>;
  /** Opened by the first page. */
  open: Promise<OpenSession> | null;
  /** Started by the first page and awaited by all. */
  pause: Promise<void> | null;
};

type OpenSession = { readonly proxy: PinningProxy; readonly contexts: BrowserContexts };

async function openParts({ options, userAgent, headers }: Session): Promise<OpenSession> {
  const { egress, caller, chooseProxy, log, host, session } = options;
  const proxy = await openPinningProxy({
    egress,
    caller,
    chooseProxy,
    log,
    connectTimeoutMs: Math.min(CONNECT_TIMEOUT_MS, options.limits.requestTimeoutMs),
    idleTimeoutMs: TUNNEL_IDLE_MS,
  });
  const contexts = createContexts({
    host,
    session,
    userAgent,
    proxy,
    headers: headers.anywhere,
    loadsMedia: options.behaviour.loadsMedia,
    maxPages: options.pagesPerContext,
    maxBytes: options.limits.pageBytes,
    maxRedirects: options.limits.maxRedirects,
  });
  return { proxy, contexts };
}

async function fetchPage(session: Session, url: PageUrl, options: FetchOptions): Promise<FetchedPage> {
  const { clock } = session;
  const { limits, log } = session.options;
  session.open ??= openParts(session).catch((error: unknown) => {
    // A shortage, such as of file descriptors or ports, may be over for the next page.
    session.open = null;
    throw unusable(`the browser's proxy cannot be opened: ${errorCode(error)}`, error);
  });
  const open = await session.open;
  // The time that a person takes does not count against the page's deadline.
  await pauseOnce(session, open, { url, options });
  using watch = startWatch({
    caller: options.signal,
    method: "GET",
    deadlineMs: deadlineOf(options, limits),
    // A page's scripts may run on after the answer; only the deadline limits how long it may take to settle.
    requestTimeoutMs: Number.POSITIVE_INFINITY,
    now: clock.now,
  });
  const startedAt = clock.now();
  const { answer, tries } = await tryRepeatedly(
    { url, tries: options.tries ?? limits.tries, watch, clock, log, logFields: options.logFields },
    () => visit({ session, open, url, options, watch }),
  );
  return { ...answer, url, tries, durationMs: clock.now() - startedAt };
}

type PageRequest = { readonly url: PageUrl; readonly options: FetchOptions };

async function pauseOnce(session: Session, open: OpenSession, { url, options }: PageRequest): Promise<void> {
  const { pause, limits } = session.options;
  if (!pause) return;
  session.pause ??= (async () => {
    const signal = options.signal ?? new AbortController().signal;
    const endTurn = await options.beforeRequest?.(new URL(url), signal);
    const what = `GET ${displayUrl(url)}`;
    const timeoutMs = limits.requestTimeoutMs;
    try {
      const tab = await open.contexts.openTab(
        tabFor(session, { url, options, what, signal, opensWindows: true }),
      );
      await using _ = { [Symbol.asyncDispose]: () => tab.close() };
      await pauseForPerson(tab, { url, pause, signal, timeoutMs });
    } catch (error) {
      throw navigationFailure(error, { what, url, proxy: open.proxy, requestTimeoutMs: timeoutMs });
    } finally {
      endTurn?.();
    }
  })();
  try {
    await session.pause;
  } catch (error) {
    // The pause failed for this page, so the next page is shown instead.
    session.pause = null;
    throw error;
  }
}

const tabFor = (
  session: Session,
  {
    url,
    options,
    what,
    signal,
    opensWindows = false,
  }: PageRequest & { readonly what: string; readonly signal: AbortSignal; readonly opensWindows?: boolean },
): TabOptions => ({
  opensWindows,
  // A person is shown the page as the site sends it.
  received: opensWindows ? null : (options.received ?? null),
  what,
  signal,
  origin: new URL(url).origin,
  headers: options.isForeign
    ? {}
    : {
        ...session.headers.sameOrigin,
        ...(options.authorization ? { authorization: options.authorization } : {}),
      },
});

type Visit = {
  readonly session: Session;
  readonly open: OpenSession;
  readonly url: PageUrl;
  readonly options: FetchOptions;
  readonly watch: Watch;
};

/** Makes one try: opens a tab, navigates, waits until the page has settled and reads its document. */
async function visit({ session, open, url, options, watch }: Visit): Promise<Try<VisitedPage>> {
  const endTurn = await options.beforeRequest?.(new URL(url), watch.signal);
  const { limits, behaviour, log } = session.options;
  const what = watch.describe(url);
  let tab: Tab | null = null;
  let status: number | null = null;
  let isRead = false;
  const onAnswer = (answered: number): void => {
    status = answered;
  };
  try {
    tab = await open.contexts.openTab(tabFor(session, { url, options, what, signal: watch.signal }));
    const { page, gone, keepState } = tab;
    const { proxy } = open;
    const answer = await abortable(watch.signal, gone, async () => {
      const { received } = options;
      const { signal } = watch;
      const shown = received?.finalUrl ?? url;
      const read = await readPage(page, {
        url: shown,
        what,
        proxy,
        limits,
        behaviour,
        log,
        signal,
        onAnswer,
      });
      await keepState();
      return received ? { ...read, redirects: received.redirects } : read;
    });
    isRead = true;
    return { answer, status: answer.status, retryAfterMs: retryAfterMsOf(answer.headers) };
  } catch (error) {
    const context = { what, url, proxy: open.proxy, requestTimeoutMs: limits.requestTimeoutMs };
    throw (watch.failure(url) ?? navigationFailure(error, context)).aboutStatus(status);
  } finally {
    endTurn?.();
    await tab?.close(isRead);
  }
}

/** Runs the work until it ends, the signal aborts or the tab is gone, whichever comes first. */
async function abortable<T>(signal: AbortSignal, gone: Promise<Failure>, work: () => Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  using _ = onAbort(signal, () => reject(new Failure("cancelled", "the page was cancelled")));
  void gone.then(reject);
  const running = work();
  // A rejection that comes after the race is decided must not count as unhandled.
  running.catch(() => {});
  return await Promise.race([running, promise]);
}
