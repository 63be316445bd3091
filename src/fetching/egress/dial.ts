import net from "node:net";
import tls from "node:tls";
import { onAbort } from "../../base/abort.ts";
import { defined } from "../../base/json.ts";
import { NO_TUNNEL } from "../http/tries.ts";
import type { WireRoute } from "../http/wire.ts";

/** The target of a connection; with a `servername` it uses TLS, and the certificate must have that name. */
type End = {
  readonly host: string;
  readonly port: number;
  readonly servername?: string | undefined;
};

const portOf = (url: URL): number => Number(url.port || (url.protocol === "https:" ? 443 : 80));

/** The end of a route to a URL: its checked address, or its proxy. */
export function endOf(url: URL, route: WireRoute): End {
  if (route.kind === "direct") return { host: route.address, port: portOf(url) };
  const proxy = new URL(route.proxyUrl);
  const servername = proxy.protocol === "https:" ? route.proxyHost : undefined;
  return { host: proxy.hostname.replace(/^\[|\]$/g, ""), port: portOf(proxy), servername };
}

type DialOptions = {
  /** The time limit for opening the connection. */
  readonly timeoutMs: number;
  /** Closes the connection, whenever it aborts. */
  readonly signal?: AbortSignal;
  /** An open connection to speak TLS on. */
  readonly over?: net.Socket;
  /** The trusted authorities, in place of the built-in ones. */
  readonly ca?: readonly string[] | undefined;
};

const coded = (message: string, code: string): Error => Object.assign(new Error(message), { code });

/** Opens a connection, and for an end with a name checks the certificate. */
export function dial({ host, port, servername }: End, options: DialOptions): Promise<net.Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<net.Socket>();
  const { over, ca } = options;
  const socket =
    servername === undefined
      ? net.connect({ host, port })
      : tls.connect(defined({ host, port, servername, socket: over, ca: ca && [...ca] }));
  const timer = setTimeout(
    () => socket.destroy(coded("the connection took too long", "ETIMEDOUT")),
    options.timeoutMs,
  );
  const following = onAbort(options.signal, () => socket.destroy(coded("it was cancelled", "ABORT_ERR")));
  const fail = (error: Error): void => {
    clearTimeout(timer);
    reject(error);
  };
  socket.once("error", fail);
  socket.once("close", () => {
    following[Symbol.dispose]();
    fail(new Error("the connection was closed"));
  });
  socket.once(servername === undefined ? "connect" : "secureConnect", () => {
    clearTimeout(timer);
    socket.setNoDelay(true);
    socket.off("error", fail);
    socket.on("error", () => socket.destroy());
    resolve(socket);
  });
  return promise;
}

type TunnelOptions = { readonly authorization: string | null; readonly timeoutMs: number };

/** Asks the proxy at the other end to connect to the URL's host. */
export async function openTunnel(socket: net.Socket, url: URL, options: TunnelOptions): Promise<void> {
  const target = `${url.hostname}:${portOf(url)}`;
  const credentials =
    options.authorization === null ? "" : `Proxy-Authorization: ${options.authorization}\r\n`;
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${credentials}\r\n`);
  const answer = await readHead(socket, options.timeoutMs);
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(answer?.head ?? "")?.[1] ?? 0);
  if (answer !== null && status >= 200 && status < 300) {
    if (answer.rest.length > 0) socket.unshift(answer.rest);
    return;
  }
  socket.destroy();
  const code = answer === null ? "ECONNRESET" : NO_TUNNEL;
  throw Object.assign(coded("the proxy opened no tunnel", code), { status });
}

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
