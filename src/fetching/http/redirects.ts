import { Failure } from "../../base/failure.ts";
import { type RouteFinder, throughProxy } from "../egress/egress.ts";
import type { CookieSession } from "../session/cookies.ts";
import type { BeforeRequest } from "../types.ts";
import { fastestFirst } from "./race.ts";
import { isUnconnected, type Watch, wireFailure } from "./tries.ts";
import { type Connect, discard, type WireResponse, type WireRoute } from "./wire.ts";

/** The headers of a request, sorted by how far a redirect may carry them. */
export type HopHeaders = {
  readonly anywhere: Readonly<Record<string, string>>;
  /** Headers that are dropped for good once a redirect leaves the first URL's origin. */
  readonly sameOrigin: Readonly<Record<string, string>>;
};

type FollowOptions = {
  readonly start: URL;
  readonly headers: HopHeaders;
  readonly maxRedirects: number;
  /** Makes the request a POST, which must not be redirected. */
  readonly body?: string | undefined;
  readonly watch: Watch;
  readonly connect: Connect;
  readonly findRoutes: RouteFinder;
  readonly cookies: CookieSession;
  readonly beforeRequest: BeforeRequest | undefined;
};

/** The answer after all redirects. */
export type FinalResponse = {
  readonly url: URL;
  readonly redirects: readonly URL[];
  readonly wire: WireResponse;
};

/**
 * Sends the request and follows redirects by hand, because each hop needs its own egress check, proxy,
 * cookies and headers.
 * @throws Failure
 */
export async function followRedirects(options: FollowOptions): Promise<FinalResponse> {
  const { watch } = options;
  const redirects: URL[] = [];
  let url = options.start;
  let hasLeftOrigin = false;
  for (;;) {
    const wire = await sendOnce(options, url, hasLeftOrigin);
    const location = [301, 302, 303, 307, 308].includes(wire.status) ? wire.headers.get("location") : null;
    if (location === null) return { url, redirects, wire };
    await discard(wire);
    watch.endRequest();
    if (redirects.length >= options.maxRedirects)
      throw tooManyRedirects(watch.describe(options.start), options.maxRedirects).aboutStatus(wire.status);
    redirects.push(url);
    const next = resolveLocation(location, url);
    if (!next)
      throw new Failure("network", `${watch.describe(url)}: it redirects to what is not a URL`, {
        targetStatus: wire.status,
      });
    if (next.origin !== url.origin) hasLeftOrigin = true;
    url = next;
  }
}

export const tooManyRedirects = (what: string, maxRedirects: number): Failure =>
  new Failure("network", `${what}: more than ${maxRedirects} redirects`);

const MAX_LOCATION_LENGTH = 8192;

function resolveLocation(location: string, base: URL): URL | null {
  const url = location.length <= MAX_LOCATION_LENGTH ? URL.parse(asUtf8(location), base.href) : null;
  if (!url) return null;
  // A redirect must not add credentials, and a fragment is not sent.
  url.username = "";
  url.password = "";
  url.hash = "";
  return url;
}

/** Decodes a header that arrived as Latin-1: servers that write other characters there mean UTF-8. */
function asUtf8(header: string): string {
  if (!/[\u0080-\u00ff]/.test(header) || /[\u0100-\uffff]/.test(header)) return header;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(header, (c) => c.charCodeAt(0)));
  } catch {
    return header;
  }
}

async function sendOnce(options: FollowOptions, url: URL, hasLeftOrigin: boolean): Promise<WireResponse> {
  const { watch, cookies } = options;
  let route: WireRoute | null = null;
  let isCallers = false;
  let endTurn: (() => void) | null = null;
  try {
    const routes = await options.findRoutes(url, watch.signal);
    route = routes[0]!;
    // A failure of the caller's own work is not a failure of the request.
    isCallers = true;
    endTurn = (await options.beforeRequest?.(url, watch.signal)) ?? null;
    isCallers = false;
    watch.startRequest();
    const inOrder = await fastestFirst(url, routes, watch.signal);
    route = inOrder[0]!;
    const headers = headersFor(options, url, hasLeftOrigin);
    const wire = await firstThatConnects(inOrder.length, (index) =>
      options.connect.request({
        url,
        headers,
        signal: watch.signal,
        route: inOrder[index]!,
        body: options.body,
      }),
    );
    cookies.store(url, wire.headers.getSetCookie());
    if (wire.status === 407)
      throw new Failure("network", `${watch.describe(url)}: the proxy asks for other credentials (407)`);
    return wire;
  } catch (error) {
    const what = `${watch.describe(url)}${throughProxy(route)}`;
    throw watch.failure(url) ?? (isCallers ? error : wireFailure(what, error));
  } finally {
    endTurn?.();
  }
}

async function firstThatConnects<T>(count: number, send: (index: number) => Promise<T>): Promise<T> {
  for (let index = 0; ; index++) {
    try {
      return await send(index);
    } catch (error) {
      if (!isUnconnected(error) || index + 1 >= count) throw error;
    }
  }
}

function headersFor(options: FollowOptions, url: URL, hasLeftOrigin: boolean): Record<string, string> {
  const { anywhere, sameOrigin } = options.headers;
  const headers: Readonly<Record<string, string>> = hasLeftOrigin ? anywhere : { ...anywhere, ...sameOrigin };
  const { cookie: given, ...others } = headers;
  const cookie = options.cookies.headerFor(url, given);
  return cookie === null ? others : { ...others, cookie };
}
