import { timingSafeEqual } from "node:crypto";
import net from "node:net";
import { Failure } from "../../base/failure.ts";
import type { Log } from "../../base/log.ts";
import { fastestFirst } from "../http/race.ts";
import { displayUrl, wireFailure } from "../http/tries.ts";
import type { WireRoute } from "../http/wire.ts";
import { dial, endOf, openTunnel, readHead } from "./dial.ts";
import { createRouteFinder, type RouteFinder, type RouteOptions, refusalOf, throughProxy } from "./egress.ts";

/**
 * A loopback proxy for programs that resolve names and follow redirects themselves (a browser, git). Each connection
 * goes to an address that the egress policy has checked, through the caller's own proxy if there is one, or is refused.
 */
export type PinningProxy = AsyncDisposable & {
  /** The address in the form `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly username: string;
  /** A password made for this proxy, so that other programs on the machine cannot use it. */
  readonly password: string;
  /** Why the last connection to a URL's host failed; null when it succeeded. */
  failureFor(url: string): Failure | null;
  /** The failure behind an answer of the proxy itself; null when the answer is the target's. */
  answered(headers: Readonly<Record<string, string | undefined>>, url: string): Failure | null;
};

type PinningProxyOptions = RouteOptions & {
  /** The time limit for opening a connection, in ms. */
  readonly connectTimeoutMs: number;
  /** How long a tunnel may be silent before it is closed, in ms. */
  readonly idleTimeoutMs: number;
};

/** Opens the proxy on a free port of the loopback address. */
export async function openPinningProxy(options: PinningProxyOptions): Promise<PinningProxy> {
  const username = "egress";
  const password = crypto.randomUUID();
  const errors = new Map<string, unknown>();
  // No server knows this mark, so none can pass its answer off as the proxy's.
  const mark = crypto.randomUUID();
  // The last failure may belong to another URL of the host, such as its icon.
  const failureFor = (url: string): Failure | null => {
    const parsed = URL.parse(url);
    const error = errors.get(parsed?.host ?? "");
    if (parsed === null || error === undefined) return null;
    const failure = failureOf(url, error);
    return failure.code === "egress_refused" ? refusalOf(failure, parsed) : failure;
  };
  const ending = new AbortController();
  const open = new Set<net.Socket>();
  const parts: ConnectionParts = {
    log: options.log,
    connectTimeoutMs: options.connectTimeoutMs,
    idleTimeoutMs: options.idleTimeoutMs,
    findRoutes: createRouteFinder(options),
    credentials: Buffer.from(`Basic ${btoa(`${username}:${password}`)}`),
    signal: ending.signal,
    mark,
    onConnected: ({ host }) => errors.delete(host),
    onError: ({ host }, error) => {
      if (errors.size >= MAX_KEPT_ERRORS) errors.clear();
      errors.set(host, error);
    },
  };
  const server = net.createServer({ pauseOnConnect: false }, (client) => {
    open.add(client);
    client.on("close", () => open.delete(client));
    void serveConnection(client, parts);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    username,
    password,
    failureFor,
    answered: (headers, url) => (headers[MARK_HEADER] === mark ? failureFor(url) : null),
    async [Symbol.asyncDispose]() {
      ending.abort();
      for (const client of open) client.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const MAX_KEPT_ERRORS = 1000;
const MARK_HEADER = "x-pinning-proxy";

type ConnectionParts = {
  readonly findRoutes: RouteFinder;
  readonly credentials: Buffer;
  readonly log: Log;
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal;
  readonly mark: string;
  readonly onConnected: (target: URL) => void;
  readonly onError: (target: URL, error: unknown) => void;
};

/** An error of a connection, and the way that was taken. */
class RouteError extends Error {
  readonly route: WireRoute;

  constructor(route: WireRoute, cause: unknown) {
    super("the connection failed", { cause });
    this.route = route;
  }
}

const failureOf = (url: URL | string, error: unknown): Failure =>
  wireFailure(`GET ${displayUrl(url)}${error instanceof RouteError ? throughProxy(error.route) : ""}`, error);

/** Serves one connection of the client, which carries one tunnel or one request. */
async function serveConnection(client: net.Socket, parts: ConnectionParts): Promise<void> {
  // Without a listener a socket error would end the process.
  client.on("error", () => client.destroy());
  let target: URL | null = null;
  try {
    const received = await readHead(client, parts.connectTimeoutMs);
    if (received === null) return void client.destroy();
    const head = parseProxyHead(received.head);
    if (head === null) return refuse(client, "400 Bad Request");
    if (!isAuthorized(head, parts.credentials))
      return refuse(client, '407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="egress"');
    target = head.url;
    const upstream = await connectUpstream(head, parts);
    parts.onConnected(target);
    if (client.destroyed) return void upstream.socket.destroy();
    if (head.kind === "tunnel") client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    else upstream.socket.write(rewriteHead(head, upstream));
    if (received.rest.length > 0) client.unshift(received.rest);
    joinSockets(client, upstream.socket, { bodyBytes: head.bodyBytes, idleTimeoutMs: parts.idleTimeoutMs });
  } catch (error) {
    if (target) parts.onError(target, error);
    const isRefused = error instanceof Failure && error.code === "egress_refused";
    const status = isRefused ? "403 Forbidden" : "502 Bad Gateway";
    refuse(client, `${status}\r\n${MARK_HEADER}: ${parts.mark}`);
  }
}

// The answer has a body, because browsers replace an empty error answer with an error of their own.
function refuse(client: net.Socket, status: string): void {
  client.end(
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: 7\r\nConnection: close\r\n\r\nrefused`,
  );
}

function isAuthorized(head: ProxyHead, credentials: Buffer): boolean {
  const given = Buffer.from(head.authorization ?? "");
  return given.length === credentials.length && timingSafeEqual(given, credentials);
}

/** A connection to the target or to the next proxy. */
type Upstream = {
  readonly socket: net.Socket;
  /** Set when a further proxy takes a plain request, which keeps its absolute form for it. */
  readonly proxy: { readonly authorization: string | null } | null;
};

async function connectUpstream(head: ProxyHead, parts: ConnectionParts): Promise<Upstream> {
  const routes = await parts.findRoutes(head.url, parts.signal);
  let failure: unknown;
  for (const route of await fastestFirst(head.url, routes, parts.signal)) {
    try {
      return await connectBy(route, head, parts);
    } catch (error) {
      failure = new RouteError(route, error);
    }
  }
  throw failure;
}

async function connectBy(route: WireRoute, head: ProxyHead, parts: ConnectionParts): Promise<Upstream> {
  const socket = await dial(endOf(head.url, route), { timeoutMs: parts.connectTimeoutMs });
  if (route.kind === "direct") return { socket, proxy: null };
  if (head.kind === "request") return { socket, proxy: { authorization: route.authorization } };
  const { authorization } = route;
  await openTunnel(socket, head.url, { authorization, timeoutMs: parts.connectTimeoutMs });
  return { socket, proxy: null };
}

type JoinOptions = {
  /** How many bytes the client may still send; null without a limit. */
  readonly bodyBytes: number | null;
  readonly idleTimeoutMs: number;
};

function joinSockets(client: net.Socket, upstream: net.Socket, options: JoinOptions): void {
  const end = (): void => {
    client.destroy();
    upstream.destroy();
  };
  for (const socket of [client, upstream]) {
    socket.setTimeout(options.idleTimeoutMs, end);
    socket.once("close", end);
  }
  upstream.pipe(client);
  if (options.bodyBytes === null) return void client.pipe(upstream);
  // A second request on the connection might be for another host, which must not get this host's cookies.
  let left = options.bodyBytes;
  client.on("data", (piece) => {
    left -= piece.length;
    if (left < 0) end();
    else if (!upstream.write(piece)) {
      client.pause();
      upstream.once("drain", () => client.resume());
    }
  });
  client.resume();
}

/** The request of a client to a forward proxy (RFC 9112, 3.2.2 and 3.2.3). */
type ProxyHead = {
  /** A tunnel (CONNECT), or one request in absolute form. */
  readonly kind: "tunnel" | "request";
  /** The target; a tunnel's scheme is guessed from its port. */
  readonly url: URL;
  readonly method: string;
  readonly version: string;
  /** The header lines as received, without the headers meant for the proxy. */
  readonly headerLines: readonly string[];
  readonly authorization: string | null;
  /** The length of the following body; null for a tunnel, which has no end. */
  readonly bodyBytes: number | null;
};

/** @returns null when the text is not a request to a proxy */
function parseProxyHead(head: string): ProxyHead | null {
  const [first = "", ...lines] = head.split("\r\n");
  const match = /^([A-Z]{1,20}) (\S+) (HTTP\/1\.[01])$/.exec(first);
  if (!match || lines.some((line) => !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*$/.test(line))) return null;
  const [, method = "", target = "", version = ""] = match;
  const kind = method === "CONNECT" ? "tunnel" : "request";
  const url = kind === "tunnel" ? tunnelUrl(target) : URL.parse(target);
  if (!url || (kind === "request" && url.protocol !== "http:")) return null;
  // Chunked bodies have no length to check against; browsers and git's small requests do not send any.
  if (kind === "request" && lines.some((line) => /^transfer-encoding:/i.test(line))) return null;
  const lengths = lines.filter((line) => /^content-length:/i.test(line)).map((line) => line.slice(15).trim());
  if (lengths.length > 1 || lengths.some((length) => !/^\d{1,15}$/.test(length))) return null;
  const authorization = lines.find((line) => /^proxy-authorization:/i.test(line));
  return {
    kind,
    url,
    method,
    version,
    headerLines: lines.filter((line) => !/^(?:proxy-[a-z-]+|connection|keep-alive):/i.test(line)),
    authorization:
      authorization === undefined ? null : authorization.slice(authorization.indexOf(":") + 1).trim(),
    bodyBytes: kind === "tunnel" ? null : Number(lengths[0] ?? 0),
  };
}

function tunnelUrl(target: string): URL | null {
  const match = /^(\[[0-9A-Fa-f:.]+\]|[^\s:/?#@[\]\\]+):(\d{1,5})$/.exec(target);
  if (!match) return null;
  return URL.parse(`${match[2] === "80" ? "http" : "https"}://${match[1]}:${match[2]}/`);
}

/**
 * Writes the head of a plain request as it is sent on, for one request per connection: a second one could be
 * meant for a host that was not checked.
 */
function rewriteHead(head: ProxyHead, { proxy }: Upstream): string {
  const { url, method, version } = head;
  const path = `${url.pathname}${url.search}`;
  const target = proxy === null ? path : `${url.protocol}//${url.host}${path}`;
  const credentials = proxy?.authorization ? [`Proxy-Authorization: ${proxy.authorization}`] : [];
  const lines = head.headerLines.map((line) => (/^host:/i.test(line) ? `Host: ${url.host}` : line));
  return `${[`${method} ${target} ${version}`, ...lines, ...credentials, "Connection: close"].join("\r\n")}\r\n\r\n`;
}
