import { Failure } from "../../failure.ts";
import type { Log } from "../../log.ts";
import type { PageUrl } from "../../urls/index.ts";
import { tooLarge } from "../body.ts";
import { isPageType, parseContentType } from "../content-type.ts";
import type { Egress } from "../egress.ts";
import type { EgressCaller } from "../egress-policy.ts";
import type { FetchLimits } from "../limits.ts";
import { pageUrlOf } from "../page-url-of.ts";
import { openPinningProxy, type PinningProxy } from "../pinning-proxy.ts";
import type { ChooseProxy } from "../proxy.ts";
import { checkCustomHeaders, checkUserAgent } from "../request-headers.ts";
import { isRetryableStatus, parseRetryAfterMs } from "../retry.ts";
import { type Clock, systemClock, type Try, tryRepeatedly } from "../tries.ts";
import type { FetchedHeaders, FetchedPage, Fetcher, FetchOptions } from "../types.ts";
import { startWatch, type Watch } from "../watch.ts";
import { captureDocument } from "./capture.ts";
import type { Page, Response } from "./chromium.ts";
import { type BrowserContexts, createContexts, type Tab } from "./contexts.ts";
import type { BrowserHost } from "./host.ts";
import { navigationFailure } from "./navigation-failure.ts";
import { hasMoved, scrollThrough, settle, watchTraffic } from "./settle.ts";

export type BrowserFetcherOptions = {
  readonly host: BrowserHost;
  readonly egress: Egress;
  readonly caller: EgressCaller;
  readonly chooseProxy: ChooseProxy;
  readonly userAgent: string;
  readonly limits: FetchLimits;
  readonly log: Log;
  /** Further request headers; those that hold secrets stay with the origin of the URL asked for. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly behaviour: BrowserBehaviour;
  /** A context gives way to a new one with the same cookies after so many pages: memory stays flat. */
  readonly pagesPerContext: number;
  readonly clock?: Clock;
};

export type BrowserBehaviour = {
  /** Waits for an element that matches this selector before the page is read. */
  readonly waitFor: string | null;
  /** Scrolls through the page first, for content that comes when it is seen. */
  readonly scrolls: boolean;
  /** Loads images, fonts and media, which the text does not need. */
  readonly loadsMedia: boolean;
};

/** Rest of a page before it is read, and the longest wait for it, in ms. */
const QUIET_MS = 400;
const MAX_SETTLE_MS = 10_000;
const CONNECT_TIMEOUT_MS = 15_000;
const TUNNEL_IDLE_MS = 60_000;

/**
 * Fetches pages with a browser, which runs their scripts. Everything that the browser requests goes through a
 * proxy of ours on loopback, and so through the egress policy. Each page gets a tab of its own; the cookies of
 * earlier pages stay for the life of the fetcher.
 */
export function createBrowserFetcher(options: BrowserFetcherOptions): Fetcher {
  const session = openSession(options);
  return {
    fetch: (url, fetchOptions = {}) => fetchPage(session, url, fetchOptions),
    async [Symbol.asyncDispose]() {
      const open = await session.open?.catch(() => null);
      await open?.contexts[Symbol.asyncDispose]();
      await open?.proxy[Symbol.asyncDispose]();
    },
  };
}

type Session = {
  readonly options: BrowserFetcherOptions;
  readonly clock: Clock;
  readonly headers: ReturnType<typeof checkCustomHeaders>;
  /** Opened with the first page. */
  open: Promise<OpenSession> | null;
};

type OpenSession = { readonly proxy: PinningProxy; readonly contexts: BrowserContexts };

const openSession = (options: BrowserFetcherOptions): Session => ({
  options: { ...options, userAgent: checkUserAgent(options.userAgent) },
  clock: options.clock ?? systemClock,
  headers: checkCustomHeaders(options.headers ?? {}),
  open: null,
});

async function openParts({ options, headers }: Session): Promise<OpenSession> {
  const proxy = await openPinningProxy({
    ...options,
    connectTimeoutMs: Math.min(CONNECT_TIMEOUT_MS, options.limits.requestTimeoutMs),
    idleTimeoutMs: TUNNEL_IDLE_MS,
  });
  const { host, userAgent, behaviour } = options;
  const contexts = createContexts({
    host,
    proxy,
    userAgent,
    headers: headers.anywhere,
    loadsMedia: behaviour.loadsMedia,
    maxPages: options.pagesPerContext,
  });
  return { proxy, contexts };
}

async function fetchPage(session: Session, url: PageUrl, options: FetchOptions): Promise<FetchedPage> {
  const { clock } = session;
  const { limits, log } = session.options;
  session.open ??= openParts(session);
  const open = await session.open;
  using watch = startWatch({
    caller: options.signal,
    method: "GET",
    deadlineMs: options.deadlineMs ?? limits.deadlineMs,
    // Scripts may go on after the answer: a page's rest is bounded by the deadline alone.
    requestTimeoutMs: Number.POSITIVE_INFINITY,
    now: clock.now,
  });
  const startedAt = clock.now();
  const { answer, tries } = await tryRepeatedly(
    {
      url,
      tries: options.tries ?? limits.tries,
      watch,
      clock,
      onWait: ({ failedTries, waitMs, why }) =>
        log.info("trying again", {
          url,
          failed_tries: failedTries,
          wait_ms: waitMs,
          reason: why,
          ...options.logFields,
        }),
    },
    () => visit({ session, open, url, options, watch }),
  );
  return { ...answer, url, tries, durationMs: clock.now() - startedAt };
}

type Visit = {
  readonly session: Session;
  readonly open: OpenSession;
  readonly url: PageUrl;
  readonly options: FetchOptions;
  readonly watch: Watch;
};

type VisitedPage = Omit<FetchedPage, "url" | "tries" | "durationMs">;

/** One try: a tab, a navigation, the rest of the page, its document. */
async function visit({ session, open, url, options, watch }: Visit): Promise<Try<VisitedPage>> {
  await options.beforeRequest?.(new URL(url), watch.signal);
  const secrets = {
    ...session.headers.sameOrigin,
    ...(options.authorization ? { authorization: options.authorization } : {}),
  };
  let tab: Tab | null = null;
  try {
    tab = await open.contexts.openTab({
      origin: new URL(url).origin,
      headers: secrets,
      signal: watch.signal,
    });
    const { page, gone } = tab;
    const answer = await abortable(watch.signal, gone, () => read({ session, open, url, watch }, page));
    return { answer, discard: async () => {}, ...retryAdvice(answer, session.clock) };
  } catch (error) {
    const { requestTimeoutMs } = session.options.limits;
    const context = { what: watch.describe(url), url, proxy: open.proxy, requestTimeoutMs };
    throw watch.failure(url) ?? navigationFailure(error, context);
  } finally {
    await tab?.close();
  }
}

const retryAdvice = ({ status, headers }: VisitedPage, clock: Clock) => ({
  isRetryable: isRetryableStatus(status),
  retryAfterMs: parseRetryAfterMs(headers["retry-after"] ?? null, clock.now()),
});

async function read({ session, open, url, watch }: Omit<Visit, "options">, page: Page): Promise<VisitedPage> {
  const { limits, behaviour, log } = session.options;
  const traffic = watchTraffic(page);
  const broken = breakOff(page);
  const response = await navigate(page, url, limits.requestTimeoutMs);
  if (!response) throw new Failure("network", `${watch.describe(url)}: the browser went to no page`);
  const headers = await headersOf(response);
  const refused = open.proxy.answered(headers, response.url());
  if (refused) throw refused;
  const type = parseContentType(headers["content-type"] ?? null);
  const status = response.status();
  const shared = {
    headers,
    ...(await whereFrom(response, page, url)),
    status,
    fetchedBy: "browser" as const,
  };
  if (isPageType(type) && type?.essence.startsWith("text/") && type.essence !== "text/html") {
    const text = await response.text();
    return { ...shared, ...bodyOf(text, type.essence) };
  }
  if (isPageType(type) === false && status < 400) throw unsupported(watch.describe(url), type?.essence ?? "");
  if (!(await loaded(page, broken))) return { ...shared, ...bodyOf("", type?.essence ?? "") };
  const rest = { quietMs: QUIET_MS, maxMs: MAX_SETTLE_MS, signal: watch.signal };
  const captured = await whileMoving(page, async () => {
    const isResting = await settle(page, traffic, rest);
    if (!isResting) log.debug("the page never came to rest", { url });
    if (behaviour.scrolls) await scrollThrough(page, traffic, rest);
    if (behaviour.waitFor !== null)
      await waitFor(page, behaviour.waitFor, {
        what: watch.describe(url),
        timeoutMs: limits.requestTimeoutMs,
      });
    return page.evaluate(captureDocument, limits.pageBytes);
  });
  if (!captured) throw tooLarge(watch.describe(url), limits.pageBytes);
  return { ...shared, ...(await whereFrom(response, page, url)), ...bodyOf(captured.html, "text/html") };
}

/** Does the work again on the next document where the page went on to one meanwhile. */
async function whileMoving<T>(page: Page, work: () => Promise<T>): Promise<T> {
  for (let left = MAX_MOVES; ; left--) {
    try {
      return await work();
    } catch (error) {
      if (left === 0 || !hasMoved(error)) throw error;
      await page.waitForLoadState("domcontentloaded", { timeout: 0 });
    }
  }
}

const MAX_MOVES = 20;

const NO_BODY = "ERR_HTTP_RESPONSE_CODE_FAILURE";

/** Goes to a URL. The browser makes an error page of a status of 400 and more without a body, which is an answer. */
async function navigate(page: Page, url: PageUrl, timeoutMs: number): Promise<Response | null> {
  let answer: Response | null = null;
  page.on("response", (response) => {
    if (response.request().isNavigationRequest() && response.frame() === page.mainFrame()) answer = response;
  });
  try {
    return await page.goto(url, { waitUntil: "commit", timeout: timeoutMs });
  } catch (error) {
    if (answer && error instanceof Error && error.message.includes(NO_BODY)) return answer;
    throw error;
  }
}

/** Comes true when the document's connection breaks off, which leaves the page loading for ever. */
function breakOff(page: Page): Promise<Error> {
  return new Promise((resolve) => {
    page.on("requestfailed", (request) => {
      const why = request.failure()?.errorText ?? "";
      // A script that goes to another page aborts the one before.
      const isDocument = request.isNavigationRequest() && request.frame() === page.mainFrame();
      if (isDocument && why !== "net::ERR_ABORTED") resolve(new Error(why));
    });
  });
}

/**
 * Waits for the document.
 * @returns false when the answer has none, and the tab shows an error page of the browser
 */
async function loaded(page: Page, broken: Promise<Error>): Promise<boolean> {
  const state = page.waitForLoadState("domcontentloaded", { timeout: 0 });
  state.catch(() => {});
  const error = await Promise.race([state, broken]);
  if (error && !error.message.includes(NO_BODY)) throw error;
  return !error && !page.url().startsWith("chrome-error:");
}

const bodyOf = (html: string, contentType: string) => ({
  html,
  contentType,
  // The browser has decoded it; what it replaced is not told.
  encoding: "utf-8",
  malformedText: false,
  bodyBytes: Buffer.byteLength(html),
});

/** Scripts may have moved the page on, so the tab's own URL counts, where it is still of the web. */
async function whereFrom(
  response: Response,
  page: Page,
  url: PageUrl,
): Promise<Pick<FetchedPage, "finalUrl" | "redirects">> {
  const hops: PageUrl[] = [];
  for (let hop = response.request().redirectedFrom(); hop; hop = hop.redirectedFrom())
    hops.unshift(pageUrlOf(new URL(hop.url()), url));
  const answered = URL.parse(response.url());
  const shown = URL.parse(page.url());
  const final = shown && /^https?:$/.test(shown.protocol) ? shown : answered;
  return { finalUrl: final ? pageUrlOf(final, url) : url, redirects: hops };
}

async function headersOf(response: Response): Promise<FetchedHeaders> {
  const plain: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(await response.allHeaders()))
    if (name !== "set-cookie") plain[name] = value;
  return plain;
}

async function waitFor(
  page: Page,
  selector: string,
  limit: { readonly what: string; readonly timeoutMs: number },
): Promise<void> {
  try {
    await page.waitForSelector(selector, { state: "attached", timeout: limit.timeoutMs });
  } catch (error) {
    const isTimeout = error instanceof Error && error.name === "TimeoutError";
    if (!isTimeout) throw error;
    throw new Failure(
      "timeout",
      `${limit.what}: nothing matched ${JSON.stringify(selector)} within ${limit.timeoutMs} ms`,
    );
  }
}

const unsupported = (what: string, type: string): Failure =>
  new Failure(
    "unsupported_content",
    `${what}: the body is ${type.slice(0, 80)}, not HTML, plain text or Markdown`,
  );

/** Runs the work until it ends, the signal aborts or the tab is gone, whichever is first. */
async function abortable<T>(signal: AbortSignal, gone: Promise<Failure>, work: () => Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(new Failure("cancelled", "the page was called off"));
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  void gone.then(reject);
  const running = work();
  // When the race is lost, its rejection must not go unheard.
  running.catch(() => {});
  try {
    return await Promise.race([running, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
