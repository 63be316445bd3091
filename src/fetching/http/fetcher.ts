import { once } from "node:events";
import { connect } from "node:net";
import { Failure } from "../../base/failure.ts";
import type { PageUrl } from "../../urls/index.ts";
import { parseContentType } from "../charset/content-type.ts";
import { decodeText } from "../charset/decode.ts";
import { endOf } from "../egress/dial.ts";
import { createRouteFinder, type RouteOptions } from "../egress/egress.ts";
import { type CookieSession, createCookieSession } from "../session/cookies.ts";
import {
  deadlineOf,
  type FetchedPage,
  type FetchedStream,
  type Fetcher,
  type FetchLimits,
  type FetchOptions,
  type Poster,
  type PostResponse,
  type StreamFetcher,
  type StreamPurpose,
} from "../types.ts";
import type { AuthorityPlaces } from "./authorities.ts";
import { fastestFirst } from "./race.ts";
import { openStream, pageUrlOf, readPage } from "./read-answer.ts";
import { type FinalResponse, followRedirects, type HopHeaders } from "./redirects.ts";
import { checkCustomHeaders, checkUserAgent, conditionalHeaders } from "./request-headers.ts";
import { readTolerantly } from "./tolerant.ts";
import {
  type Clock,
  retryAfterMsOf,
  startWatch,
  systemClock,
  type Try,
  tryRepeatedly,
  type Watch,
  wireFailure,
} from "./tries.ts";
import { type Connect, type ConnectOptions, createBunConnect, discard, readBody, tooLarge } from "./wire.ts";

/** Options of every fetcher. */
export type FetcherOptions = RouteOptions & {
  readonly userAgent: string;
  readonly limits: FetchLimits;
  /** Extra request headers. Those that may hold secrets are sent only to the origin of the requested URL. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
};

export type HttpFetcherOptions = FetcherOptions & {
  /** Whether to ask for Markdown before HTML, for sites that offer both. */
  readonly acceptMarkdown?: boolean;
  /** The session's cookies; without them the fetcher has a session of its own that ends with it. */
  readonly cookies?: CookieSession;
  /** Trusted certificates in PEM, in addition to the runtime's own. */
  readonly extraCertificates?: readonly string[];
  /** Where the machine keeps further trusted authorities; by default they are not trusted. */
  readonly authorityPlaces?: AuthorityPlaces | null;
};

/** A fetcher that can also stream and post. */
export interface HttpFetcher extends Fetcher, StreamFetcher, Poster {}

/**
 * Fetches over HTTP/1.1 with the runtime's connection pool. It is cheap, so make one for each set of network
 * options and share only the egress with its resolver.
 * @throws Failure `invalid_usage` for a user agent or a header that cannot be sent
 */
export function createHttpFetcher(options: HttpFetcherOptions): HttpFetcher {
  const session = openSession(options);
  return {
    fetch: (url, fetchOptions = {}) => fetchPage(session, url, fetchOptions),
    fetchStream: (url, streamOptions) => fetchStream(session, url, streamOptions),
    post: (url, postOptions) => postJson(session, url, postOptions),
    reach: (url, reachOptions) => openConnection(session, url, reachOptions),
    [Symbol.asyncDispose]: async () => {
      await (await session.connect).close();
    },
  };
}

type Session = Pick<FetcherOptions, "limits" | "log"> & {
  readonly clock: Clock;
  readonly cookies: CookieSession;
  readonly headers: HopHeaders;
  readonly connect: Promise<Connect>;
  readonly findRoutes: ReturnType<typeof createRouteFinder>;
};

const ACCEPT_PAGE = "text/html,application/xhtml+xml;q=0.9,text/markdown;q=0.8,text/plain;q=0.7,*/*;q=0.1";
const ACCEPT_MARKDOWN =
  "text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.8,text/plain;q=0.7,*/*;q=0.1";

const JSON_HEADERS = { accept: "application/json", "content-type": "application/json" };

function openSession(options: HttpFetcherOptions): Session {
  const custom = checkCustomHeaders(options.headers ?? {});
  const anywhere = {
    accept: options.acceptMarkdown ? ACCEPT_MARKDOWN : ACCEPT_PAGE,
    ...custom.anywhere,
    "user-agent": checkUserAgent(options.userAgent),
  };
  return {
    limits: options.limits,
    log: options.log,
    clock: options.clock ?? systemClock,
    cookies: options.cookies ?? createCookieSession(),
    headers: { anywhere, sameOrigin: custom.sameOrigin },
    connect: openConnect({
      extraCertificates: options.extraCertificates ?? [],
      authorityPlaces: options.authorityPlaces ?? null,
    }),
    findRoutes: createRouteFinder(options),
  };
}

async function fetchPage(session: Session, url: PageUrl, options: FetchOptions): Promise<FetchedPage> {
  using watch = watchFor(session, options, "GET");
  const startedAt = session.clock.now();
  const { answer, tries } = await tryWithin(session, { url, options, watch }, async (final) => {
    const page = await readPage(final.wire, final.url, {
      maxBytes: session.limits.pageBytes,
      acceptsFiles: options.acceptsFiles ?? false,
    });
    watch.endRequest();
    return { answer: { final, page } };
  });
  const { final, page } = answer;
  return {
    ...page,
    url,
    finalUrl: pageUrlOf(final.url, url),
    redirects: final.redirects.map((hop) => pageUrlOf(hop, url)),
    status: final.wire.status,
    fetchedBy: "http",
    tries,
    durationMs: session.clock.now() - startedAt,
  };
}

async function fetchStream(
  session: Session,
  url: PageUrl,
  options: FetchOptions & { readonly purpose: StreamPurpose },
): Promise<FetchedStream> {
  const watch = watchFor(session, options, "GET");
  try {
    const { answer } = await tryWithin(session, { url, options, watch }, async (final) => ({
      answer: final,
      discard: () => discard(final.wire),
    }));
    const { purpose } = options;
    const { wire, url: end } = answer;
    const opened = openStream({ wire, url: end, purpose, watch, limits: session.limits });
    return { ...opened, url, finalUrl: pageUrlOf(end, url), status: wire.status };
  } catch (error) {
    watch[Symbol.dispose]();
    throw error;
  }
}

async function postJson(
  session: Session,
  url: PageUrl,
  options: FetchOptions & { readonly json: unknown },
): Promise<PostResponse> {
  using watch = watchFor(session, options, "POST");
  const maxBytes = session.limits.pageBytes;
  const body = JSON.stringify(options.json);
  const { answer } = await tryWithin(session, { url, options, watch, body }, async ({ wire }) => {
    const bytes = await readBody(wire, maxBytes);
    if (!bytes) throw tooLarge(watch.describe(url), maxBytes);
    const header = wire.headers.get("content-type");
    const contentType = parseContentType(header)?.essence ?? "";
    const { text } = decodeText(bytes, header);
    const retryAfterMs = retryAfterMsOf(Object.fromEntries(wire.headers));
    return { answer: { status: wire.status, contentType, text, retryAfterMs } };
  });
  return answer;
}

async function openConnection(session: Session, url: PageUrl, options: FetchOptions): Promise<void> {
  using watch = watchFor(session, options, "POST");
  const { signal } = watch;
  const target = new URL(url);
  let error: unknown;
  for (const route of await fastestFirst(target, await session.findRoutes(target, signal), signal)) {
    const { host, port } = endOf(target, route);
    const socket = connect({ host, port });
    try {
      await once(socket, "connect", { signal });
      return;
    } catch (cause) {
      error = cause;
    } finally {
      socket.destroy();
    }
  }
  throw watch.failure(url) ?? wireFailure(watch.describe(url), error);
}

const watchFor = (session: Session, options: FetchOptions, method: "GET" | "POST"): Watch =>
  startWatch({
    method,
    caller: options.signal,
    deadlineMs: deadlineOf(options, session.limits),
    requestTimeoutMs: session.limits.requestTimeoutMs,
    now: session.clock.now,
  });

type FetchJob = {
  readonly url: PageUrl;
  readonly options: FetchOptions;
  readonly watch: Watch;
  /** A JSON body makes the request a POST, which is not redirected. */
  readonly body?: string;
};

/** Follows the redirects and reads the answer, repeatedly while that may help. */
async function tryWithin<T>(
  session: Session,
  job: FetchJob,
  take: (final: FinalResponse) => Promise<Pick<Try<T>, "answer" | "discard">>,
): Promise<{ readonly answer: T; readonly tries: number }> {
  const { clock, log } = session;
  const { url, options, watch, body } = job;
  const connect = await session.connect;
  const headers = headersOf(session, connect, job);
  const attempt = async (): Promise<Try<T>> => {
    const final = await followRedirects({
      start: new URL(url),
      headers,
      maxRedirects: body === undefined ? session.limits.maxRedirects : 0,
      body,
      watch,
      connect,
      findRoutes: session.findRoutes,
      cookies: session.cookies,
      beforeRequest: options.beforeRequest,
    });
    try {
      return {
        ...(await take(final)),
        status: final.wire.status,
        retryAfterMs: retryAfterMsOf(Object.fromEntries(final.wire.headers)),
      };
    } catch (error) {
      const failure = watch.failure(final.url) ?? wireFailure(watch.describe(final.url), error);
      throw failure.aboutStatus(final.wire.status);
    }
  };
  const tries = options.tries ?? session.limits.tries;
  try {
    return await tryRepeatedly({ url, tries, watch, clock, log, logFields: options.logFields }, attempt);
  } catch (error) {
    // An interrupted wait does not know the reason; the watch does.
    if (error instanceof Failure && error.code === "cancelled") throw watch.failure(url) ?? error;
    throw error;
  }
}

function headersOf(session: Session, connect: Connect, { options, body }: FetchJob): HopHeaders {
  const { anywhere, sameOrigin } = session.headers;
  const { authorization } = options;
  const own = authorization ? checkCustomHeaders({ authorization }).sameOrigin : {};
  return {
    anywhere: {
      ...anywhere,
      "accept-encoding": connect.acceptEncoding,
      ...conditionalHeaders(options.validators),
      ...(options.accept !== undefined && { accept: options.accept }),
      ...(body !== undefined && JSON_HEADERS),
    },
    sameOrigin: options.isForeign ? {} : { ...sameOrigin, ...own },
  };
}

/** Opens connections with the client of the present runtime. */
async function openConnect(options: ConnectOptions): Promise<Connect> {
  if (process.versions.bun !== undefined) return readTolerantly(createBunConnect(options), options);
  const { createNodeConnect } = await import("./connect-node.ts");
  return readTolerantly(createNodeConnect(options), options);
}
