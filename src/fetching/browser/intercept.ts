import { Failure } from "../../base/failure.ts";
import type { PinningProxy } from "../egress/pinning-proxy.ts";
import { tooLarge } from "../http/body.ts";
import { tooManyRedirects } from "../http/hops.ts";
import type { Page } from "./chromium.ts";

export type InterceptOptions = {
  /** Images, fonts and media. */
  readonly loadsMedia: boolean;
  /** Requests to this origin, and to no other, carry `headers`. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Its credentials are given to it, and to nobody else. */
  readonly proxy: PinningProxy;
  /** What is being done, for messages. */
  readonly what: string;
  /** Largest document, decompressed, in bytes. */
  readonly maxBytes: number;
  readonly maxRedirects: number;
  /** A person is at the tab. */
  readonly opensWindows: boolean;
  /** Told when the document, or all that the page loads, is too large, or goes from place to place: the page should end. */
  readonly onRefused: (failure: Failure) => void;
};

const MEDIA = ["Image", "Font", "Media"] as const;
/** All that a page loads may have so many times the size of a document. */
const MAX_DOCUMENTS = 8;

/**
 * Has the tab's requests stopped where there is something to do, and counts what comes. Playwright's own
 * routes would do, but the headers that they add stay on through redirects, to whatever host; these do not.
 */
export async function intercept(page: Page, options: InterceptOptions): Promise<void> {
  const { loadsMedia } = options;
  const hasSecrets = Object.keys(options.headers).length > 0;
  const patterns = [
    ...(loadsMedia ? [] : MEDIA.map((resourceType) => ({ urlPattern: "*", resourceType }))),
    ...(hasSecrets ? [{ urlPattern: `${options.origin}/*` }] : []),
    // The proxy asks the first one for its credentials; Chromium tells of requests that stop, and of no others.
    { urlPattern: "*", resourceType: "Document" as const },
  ];
  const session = await page.context().newCDPSession(page);
  countBytes(session, options);
  answerProxy(session, options.proxy);
  const isAstray = countMoves(options);
  session.on("Fetch.requestPaused", (paused) => {
    const { requestId, request, resourceType } = paused;
    if (resourceType === "Document" && isAstray(paused)) return;
    const isMedia = !loadsMedia && MEDIA.some((media) => media === resourceType);
    const isOwn = URL.parse(request.url)?.origin === options.origin;
    const answer = isMedia
      ? session.send("Fetch.failRequest", { requestId, errorReason: "BlockedByClient" })
      : session.send("Fetch.continueRequest", {
          requestId,
          ...(hasSecrets && isOwn ? { headers: entriesOf({ ...request.headers, ...options.headers }) } : {}),
        });
    // The page may be gone meanwhile.
    answer.catch(() => {});
  });
  await Promise.all([
    // What is not kept needs no memory.
    session.send("Network.enable", { maxTotalBufferSize: 0, maxResourceBufferSize: 0 }),
    session.send("Fetch.enable", { patterns, handleAuthRequests: true }),
  ]);
}

type Session = Awaited<ReturnType<ReturnType<Page["context"]>["newCDPSession"]>>;

// Playwright would stop every request for this, and switch the cache off. A context asks for the proxy's
// credentials once.
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
  readonly frameId: string;
  readonly redirectedRequestId?: string | undefined;
};

/** Documents after the first; scripts that log in or choose a language need a few. */
const MAX_MOVES = 20;

/**
 * Says of each request for a document whether it is one too many: a redirect, where Chromium itself goes round
 * twenty times, or another page that scripts go on to, which has no end at all.
 */
function countMoves({ what, maxRedirects, opensWindows, onRefused }: InterceptOptions) {
  let main: string | null = null;
  let moves = 0;
  const redirects = new Map<string, number>();
  const failureOf = ({ requestId, redirectedRequestId }: PausedRequest): Failure | null => {
    if (redirectedRequestId !== undefined) {
      const count = (redirects.get(redirectedRequestId) ?? 0) + 1;
      redirects.delete(redirectedRequestId);
      redirects.set(requestId, count);
      return count > maxRedirects ? tooManyRedirects(what, maxRedirects) : null;
    }
    // A person goes where he likes.
    if (moves++ <= MAX_MOVES || opensWindows) return null;
    return new Failure("network", `${what}: its scripts go on to another page more than ${MAX_MOVES} times`);
  };
  return (paused: PausedRequest): boolean => {
    // A tab's first request is for its own document.
    main ??= paused.frameId;
    const failure = paused.frameId === main ? failureOf(paused) : null;
    if (failure) onRefused(failure);
    return failure !== null;
  };
}

// A document of gigabytes, or scripts that load without end, would take the machine's memory first.
function countBytes(session: Session, { what, maxBytes, onRefused }: InterceptOptions): void {
  let document: string | null = null;
  let documentBytes = 0;
  let allBytes = 0;
  session.on("Network.requestWillBeSent", ({ requestId, loaderId, type }) => {
    if (type !== "Document" || requestId !== loaderId || document === requestId) return;
    document ??= requestId;
  });
  session.on("Network.dataReceived", ({ requestId, dataLength }) => {
    allBytes += dataLength;
    if (requestId === document) documentBytes += dataLength;
    if (documentBytes > maxBytes || allBytes > maxBytes * MAX_DOCUMENTS) onRefused(tooLarge(what, maxBytes));
  });
}

const entriesOf = (headers: Readonly<Record<string, string>>): { name: string; value: string }[] =>
  Object.entries(headers).map(([name, value]) => ({ name, value }));
