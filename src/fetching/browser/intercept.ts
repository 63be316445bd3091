import { Failure } from "../../base/failure.ts";
import type { PinningProxy } from "../egress/pinning-proxy.ts";
import { tooManyRedirects } from "../http/redirects.ts";
import { tooLarge } from "../http/wire.ts";
import type { CookieSession } from "../session/cookies.ts";
import type { FetchedPage } from "../types.ts";
import type { Page } from "./chromium.ts";
import { hasWordsToRead, MAX_NOTICE_WORDS } from "./settle.ts";

export type InterceptOptions = {
  /** Whether images, fonts and media are loaded. */
  readonly loadsMedia: boolean;
  /** The origin whose requests, and no others, carry `headers`. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The session's cookies, as they were before this page. */
  readonly cookies: Pick<CookieSession, "headerFor">;
  /** The proxy that gets its credentials; no other does. */
  readonly proxy: PinningProxy;
  /** The operation as messages name it. */
  readonly what: string;
  /** The size limit of one document, decompressed, in bytes. */
  readonly maxBytes: number;
  readonly maxRedirects: number;
  /** The answer to show for the tab's own first document; null requests it. */
  readonly received: FetchedPage | null;
  /** Whether windows that the page opens stay open: a person is using the tab, and may need them to log in. */
  readonly opensWindows: boolean;
  /** Called when the page must end: it, or all that it loads, is too large, or it moves on too often. */
  readonly onRefused: (failure: Failure) => void;
};

const MEDIA = ["Image", "Font", "Media"] as const;
/** Everything that a page loads together may be this many times as large as a document. */
const MAX_DOCUMENTS = 8;

/**
 * Intercepts the tab's requests that need a change, and counts what is received. Playwright's own routes are
 * not used, because the headers that they add are sent along with redirects to any host; these are not.
 */
export async function intercept(page: Page, options: InterceptOptions): Promise<Session> {
  const { loadsMedia } = options;
  const hasSecrets = Object.keys(options.headers).length > 0;
  const patterns = [
    ...(loadsMedia ? [] : MEDIA.map((resourceType) => ({ urlPattern: "*", resourceType }))),
    ...(hasSecrets ? [{ urlPattern: `${options.origin}/*` }] : []),
    { urlPattern: "*", resourceType: "Other" as const },
    // The proxy asks the first request of a context for credentials, and Chromium raises that event only for
    // intercepted requests. A document that is here already is not requested.
    { urlPattern: "*", ...(options.received === null && { resourceType: "Document" as const }) },
  ];
  const session = await page.context().newCDPSession(page);
  countBytes(session, options);
  answerProxy(session, options.proxy);
  const isOneTooMany = countNavigations(options);
  let received = options.received;
  const refreshes = new Set<string>();
  // A person sees the page as the site means it.
  if (!options.opensWindows)
    session.on("Page.frameRequestedNavigation", ({ reason, url }) => {
      if (reason === "metaTagRefresh" || reason === "httpHeaderRefresh")
        refreshes.add(URL.parse(url)?.href ?? url);
    });
  session.on("Fetch.requestPaused", (paused) => {
    const { requestId, request, resourceType } = paused;
    if (resourceType === "Document" && isOneTooMany(paused)) return;
    if (resourceType === "Document" && refreshes.delete(request.url)) {
      followRefresh(session, paused).catch(() => {});
      return;
    }
    if (received !== null && resourceType === "Document") {
      session.send("Fetch.fulfillRequest", { requestId, ...fulfilment(received) }).catch(() => {});
      received = null;
      return;
    }
    const isMedia = !loadsMedia && MEDIA.some((media) => media === resourceType);
    // The icon of a tab that nobody sees.
    const isIcon = resourceType === "Other" && /^image\//.test(request.headers["Accept"] ?? "");
    const isOwn = URL.parse(request.url)?.origin === options.origin;
    const answer =
      isMedia || isIcon
        ? session.send("Fetch.failRequest", { requestId, errorReason: "BlockedByClient" })
        : hasSecrets && isOwn
          ? continueWithHeaders(session, paused, options)
          : session.send("Fetch.continueRequest", { requestId });
    // The page may be gone by now.
    answer.catch(() => {});
  });
  await Promise.all([
    // Nothing reads these buffers, so they get no memory.
    session.send("Network.enable", { maxTotalBufferSize: 0, maxResourceBufferSize: 0 }),
    session.send("Page.enable"),
    session.send("Fetch.enable", { patterns, handleAuthRequests: true }),
  ]);
  return session;
}

async function continueWithHeaders(
  session: Session,
  { requestId, request }: PausedRequest,
  { headers, cookies }: InterceptOptions,
): Promise<void> {
  const { cookie: given, ...others } = headers;
  const cookie =
    given === undefined ? null : await cookieFor(session, new URL(request.url), { given, cookies });
  const all = { ...request.headers, ...others, ...(cookie !== null && { cookie }) };
  await session.send("Fetch.continueRequest", { requestId, headers: entriesOf(all) });
}

/**
 * Returns the Cookie header with one value for each name. Chromium would send the user's alone, without what the site
 * has set; what it has set or removed during this page is newer than the session's cookies.
 */
async function cookieFor(
  session: Session,
  url: URL,
  { given, cookies }: Pick<InterceptOptions, "cookies"> & { readonly given: string },
): Promise<string | null> {
  const answer = await session.send("Network.getCookies", { urls: [url.href] });
  const now = new Map(answer.cookies.map(({ name, value }) => [name, value]));
  const before = pairsOf(cookies.headerFor(url));
  const sent = pairsOf(cookies.headerFor(url, given));
  for (const [name, value] of now) if (before.get(name) !== value) sent.set(name, value);
  for (const name of before.keys()) if (!now.has(name)) sent.delete(name);
  return sent.size === 0 ? null : [...sent].map(([name, value]) => `${name}=${value}`).join("; ");
}

const pairsOf = (header: string | null): Map<string, string> =>
  new Map(
    (header ?? "").split("; ").flatMap((pair) => {
      const at = pair.indexOf("=");
      return at < 0 ? [] : [[pair.slice(0, at), pair.slice(at + 1)] as const];
    }),
  );

/**
 * Stops a page that refreshes to another one if it is there to be read, having more words than a notice. Chromium runs
 * nothing inside a page whose navigation waits, so the refresh is stopped first and done again.
 */
async function followRefresh(session: Session, { requestId, request }: PausedRequest): Promise<void> {
  const target = JSON.stringify(request.url);
  const expression = `(${hasWordsToRead})(${MAX_NOTICE_WORDS}) || (location.href = ${target})`;
  await session.send("Fetch.failRequest", { requestId, errorReason: "Aborted" });
  await session.send("Runtime.evaluate", { expression });
}

/** Headers that describe the bytes that were sent, not the document. */
const OF_TRANSFER = new Set(["content-encoding", "content-length", "content-type", "transfer-encoding"]);

function fulfilment({ status, headers, contentType, html }: FetchedPage) {
  const kept = Object.entries(headers).filter(
    (header): header is [string, string] => !OF_TRANSFER.has(header[0]) && header[1] !== undefined,
  );
  return {
    responseCode: status,
    responseHeaders: [
      ...entriesOf(Object.fromEntries(kept)),
      { name: "content-type", value: `${contentType}; charset=utf-8` },
    ],
    body: Buffer.from(html).toString("base64"),
  };
}

export type Session = Awaited<ReturnType<ReturnType<Page["context"]>["newCDPSession"]>>;

// Playwright's own proxy login would intercept every request and switch the cache off. A context is asked for
// the credentials once.
function answerProxy(session: Session, { url, username, password }: PinningProxy): void {
  session.on("Fetch.authRequired", ({ requestId, authChallenge }) => {
    const isOurs = authChallenge.source === "Proxy" && authChallenge.origin.replace(/\/$/, "") === url;
    const authChallengeResponse = isOurs
      ? { response: "ProvideCredentials" as const, username, password }
      : { response: "CancelAuth" as const };
    session.send("Fetch.continueWithAuth", { requestId, authChallengeResponse }).catch(() => {});
  });
}

type PausedRequest = {
  readonly requestId: string;
  readonly request: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  readonly frameId: string;
  readonly redirectedRequestId?: string | undefined;
};

/** Documents a page may move on to after the first; scripts that log in or choose a language need a few. */
const MAX_NAVIGATIONS = 20;

/**
 * Returns a function that says whether a request for a document is one too many. Chromium itself follows
 * twenty redirects, and pages that scripts move on to have no limit at all.
 */
function countNavigations({ what, maxRedirects, opensWindows, onRefused }: InterceptOptions) {
  let main: string | null = null;
  let navigations = 0;
  const redirects = new Map<string, number>();
  const failureOf = ({ requestId, redirectedRequestId }: PausedRequest): Failure | null => {
    if (redirectedRequestId !== undefined) {
      const count = (redirects.get(redirectedRequestId) ?? 0) + 1;
      redirects.delete(redirectedRequestId);
      redirects.set(requestId, count);
      return count > maxRedirects ? tooManyRedirects(what, maxRedirects) : null;
    }
    // A person may visit any number of pages.
    if (navigations++ <= MAX_NAVIGATIONS || opensWindows) return null;
    return new Failure(
      "network",
      `${what}: its scripts lead to another page more than ${MAX_NAVIGATIONS} times`,
    );
  };
  return (paused: PausedRequest): boolean => {
    // The first request of a tab is for its own document.
    main ??= paused.frameId;
    const failure = paused.frameId === main ? failureOf(paused) : null;
    if (failure) onRefused(failure);
    return failure !== null;
  };
}

// Documents of gigabytes, or scripts that load without end, would otherwise exhaust the machine's memory.
function countBytes(session: Session, { what, maxBytes, onRefused }: InterceptOptions): void {
  let document: string | null = null;
  let documentBytes = 0;
  let allBytes = 0;
  session.on("Network.requestWillBeSent", ({ requestId, loaderId, type }) => {
    if (type === "Document" && requestId === loaderId) document ??= requestId;
  });
  session.on("Network.dataReceived", ({ requestId, dataLength }) => {
    allBytes += dataLength;
    if (requestId === document) documentBytes += dataLength;
    if (documentBytes > maxBytes || allBytes > maxBytes * MAX_DOCUMENTS) onRefused(tooLarge(what, maxBytes));
  });
}

const entriesOf = (headers: Readonly<Record<string, string>>): { name: string; value: string }[] =>
  Object.entries(headers).map(([name, value]) => ({ name, value }));
