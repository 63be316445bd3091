import type net from "node:net";

/** The request of a client to a forward proxy (RFC 9112, 3.2.2 and 3.2.3). */
export type ProxyHead = {
  /** A tunnel (CONNECT), or one request in absolute form. */
  readonly kind: "tunnel" | "request";
  /** The target; a tunnel's scheme is guessed from its port. */
  readonly url: URL;
  readonly method: string;
  readonly version: string;
  /** The header lines as received, without those that are meant for the proxy. */
  readonly headerLines: readonly string[];
  readonly authorization: string | null;
  /** The length of the following body; null for a tunnel, which has no end. */
  readonly bodyBytes: number | null;
};

const MAX_HEAD_BYTES = 64 * 1024;

/**
 * Reads from a socket up to the empty line.
 * @returns the head and the bytes after it; null when the peer closed, was too slow or sent too much
 */
export function readHead(
  socket: net.Socket,
  timeoutMs: number,
): Promise<{ readonly head: string; readonly rest: Buffer } | null> {
  const { promise, resolve } = Promise.withResolvers<{ head: string; rest: Buffer } | null>();
  const pieces: Buffer[] = [];
  let total = 0;
  const finish = (result: { head: string; rest: Buffer } | null): void => {
    clearTimeout(timer);
    socket.off("data", take);
    socket.off("close", close);
    socket.pause();
    resolve(result);
  };
  const close = (): void => finish(null);
  const take = (piece: Buffer): void => {
    pieces.push(piece);
    total += piece.length;
    const all = pieces.length === 1 ? piece : Buffer.concat(pieces);
    const end = all.indexOf("\r\n\r\n");
    if (end >= 0) finish({ head: all.toString("latin1", 0, end), rest: all.subarray(end + 4) });
    else if (total > MAX_HEAD_BYTES) finish(null);
  };
  const timer = setTimeout(close, timeoutMs);
  socket.on("data", take);
  socket.on("close", close);
  return promise;
}

/** @returns null when the text is no request to a proxy */
export function parseProxyHead(head: string): ProxyHead | null {
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
export function rewriteHead(
  head: ProxyHead,
  { proxy }: { readonly proxy: { readonly authorization: string | null } | null },
): string {
  const { url, method, version } = head;
  const target =
    proxy === null
      ? `${url.pathname}${url.search}`
      : `${url.protocol}//${url.host}${url.pathname}${url.search}`;
  const credentials = proxy?.authorization ? [`Proxy-Authorization: ${proxy.authorization}`] : [];
  const lines = head.headerLines.map((line) => (/^host:/i.test(line) ? `Host: ${url.host}` : line));
  return `${[`${method} ${target} ${version}`, ...lines, ...credentials, "Connection: close"].join("\r\n")}\r\n\r\n`;
}
