import { isIP, type Socket } from "node:net";
import { Readable } from "node:stream";
import { dial, endOf, openTunnel } from "../egress/dial.ts";
import { errorCode } from "./tries.ts";
import { type Connect, type ConnectOptions, trustedBy, type WireRequest, type WireResponse } from "./wire.ts";

const CONNECT_TIMEOUT_MS = 30_000;
const MAX_HEAD_BYTES = 256 * 1024;
const MAX_CHUNK_LINE_BYTES = 16 * 1024;
const MAX_ODD_HOSTS = 1000;

/**
 * Reads answers whose header lines the runtime refuses (a space in a name, no colon, a folded line, a control character),
 * as browsers and wget read them. A request is repeated for it only where that changes nothing, and later requests to the
 * host go this way at once. Each connection carries one request, so nothing after an answer can pass for another one.
 */
export function readTolerantly(connect: Connect, options: ConnectOptions): Connect {
  const oddHosts = new Set<string>();
  return {
    ...connect,
    async request(wire) {
      if (wire.body !== undefined || !oddHosts.has(wire.url.host)) {
        try {
          return await connect.request(wire);
        } catch (error) {
          // The codes of Bun and of Node's parser.
          if (wire.body !== undefined || !/^Malformed_HTTP_Response$|^HPE_/.test(errorCode(error)))
            throw error;
        }
      }
      const answer = await ask(wire, options);
      if (oddHosts.size >= MAX_ODD_HOSTS) oddHosts.clear();
      oddHosts.add(wire.url.host);
      return answer;
    },
  };
}

async function ask(wire: WireRequest, options: ConnectOptions): Promise<WireResponse> {
  const socket = await open(wire, options);
  try {
    socket.write(requestHead(wire), "latin1");
    const input = inputOf(socket);
    const { status, headers } = await readAnswerHead(input);
    const hasBody = status !== 204 && status !== 304;
    if (!hasBody) socket.destroy();
    const stream = (): ReadableStream<Uint8Array> | null => {
      const body = hasBody ? Readable.from(bodyOf(input, headers), { objectMode: false }) : null;
      // A body that is given up before its first byte must close the connection, too.
      body?.once("close", () => socket.destroy());
      // Node's types for its web streams differ from the global ones, but the objects are the same.
      return body && (Readable.toWeb(body) as unknown as ReadableStream<Uint8Array>);
    };
    return { status, headers, stream, bytes: () => new Response(stream()).bytes() };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function open({ url, route, signal }: WireRequest, options: ConnectOptions): Promise<Socket> {
  const timeoutMs = CONNECT_TIMEOUT_MS;
  const isSecure = url.protocol === "https:";
  const end = endOf(url, route);
  if (route.kind === "proxy" && !isSecure) return await dial(end, { timeoutMs, signal });
  const name = route.kind === "direct" ? route.host : url.hostname.replace(/^\[|\]$/g, "");
  // An address is no server name (RFC 6066, section 3); the certificate is compared with the host then.
  const servername = !isSecure ? undefined : isIP(name) ? "" : name;
  const ca = isSecure ? trustedBy(options) : undefined;
  if (route.kind === "direct")
    return await dial({ host: end.host, port: end.port, servername }, { timeoutMs, signal, ca });
  const over = await dial(end, { timeoutMs, signal });
  await openTunnel(over, url, { authorization: route.authorization, timeoutMs });
  return await dial({ host: name, port: 0, servername }, { timeoutMs, signal, ca, over });
}

function requestHead({ url, route, headers }: WireRequest): string {
  const isAbsolute = route.kind === "proxy" && url.protocol === "http:";
  const target = `${isAbsolute ? url.origin : ""}${url.pathname}${url.search}`;
  const authorization = isAbsolute ? route.authorization : null;
  // `Headers` refuses what would end a line.
  const all = new Headers({ ...headers, host: url.host, connection: "close" });
  if (authorization !== null) all.set("proxy-authorization", authorization);
  const lines = [...all].map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${target} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

const malformed = (): Error =>
  Object.assign(new Error("the answer is not HTTP"), { code: "Malformed_HTTP_Response" });

/** The bytes from a connection, read by line and by length. */
type Input = {
  /** The next line without its end. */
  line(maxBytes: number): Promise<string>;
  /** Yields the given number of bytes; `Infinity` means everything up to the end. */
  take(bytes: number): AsyncGenerator<Buffer>;
};

function inputOf(socket: Socket): Input {
  const pieces = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>; // without an encoding, a socket gives Buffers
  let kept: Buffer = Buffer.alloc(0);
  const more = async (): Promise<boolean> => {
    const { done, value } = await pieces.next();
    if (!done) kept = kept.length === 0 ? value : Buffer.concat([kept, value]);
    return !done;
  };
  const cutOff = (): Error =>
    Object.assign(new Error("the connection was closed"), { code: "ConnectionClosed" });
  return {
    async line(maxBytes) {
      for (;;) {
        const end = kept.indexOf(10);
        if (end > maxBytes || (end < 0 && kept.length > maxBytes)) throw malformed();
        if (end < 0 && !(await more())) throw cutOff();
        if (end < 0) continue;
        const text = kept.toString("latin1", 0, end);
        kept = kept.subarray(end + 1);
        return text.endsWith("\r") ? text.slice(0, -1) : text;
      }
    },
    async *take(bytes) {
      for (let left = bytes; left > 0; ) {
        if (kept.length === 0 && !(await more())) {
          if (left === Number.POSITIVE_INFINITY) return;
          throw cutOff();
        }
        const piece = kept.subarray(0, left);
        kept = kept.subarray(piece.length);
        left -= piece.length;
        yield piece;
      }
    },
  };
}

/** Reads heads up to that of the answer itself, behind those of informational answers. */
async function readAnswerHead(input: Input): Promise<{ status: number; headers: Headers }> {
  let left = MAX_HEAD_BYTES;
  const next = async (): Promise<string> => {
    const line = await input.line(left);
    left -= line.length + 1;
    return line;
  };
  for (;;) {
    const status = Number(/^HTTP\/\d(?:\.\d)? +(\d{3})(?!\d)/.exec(await next())?.[1] ?? 0);
    if (status < 100) throw malformed();
    const lines: string[] = [];
    for (let line = await next(); line !== ""; line = await next()) {
      // A line that begins with a space continues the line before (RFC 9112, 5.2).
      if (/^[ \t]/.test(line)) lines.push(`${lines.pop() ?? ""} ${line.trim()}`);
      else lines.push(line);
    }
    if (status >= 200) return { status, headers: headersOf(lines) };
  }
}

function headersOf(lines: readonly string[]): Headers {
  const headers = new Headers();
  for (const line of lines) {
    // A line that is not a header is ignored, as in browsers.
    const [, name, value = ""] = /^([!#$%&'*+.^_`|~\w-]+)[ \t]*:(.*)$/.exec(line) ?? [];
    // A NUL ends a value for some readers (RFC 9110, 5.5).
    if (name !== undefined) headers.append(name, value.replaceAll("\0", " "));
  }
  const lengths = new Set(headers.get("content-length")?.split(/, */));
  // Two lengths are two answers to some readers (RFC 9112, 6.3).
  if (lengths.size > 1 && !isChunked(headers)) throw malformed();
  for (const length of lengths) headers.set("content-length", length);
  return headers;
}

const isChunked = (headers: Headers): boolean => /\bchunked\b/i.test(headers.get("transfer-encoding") ?? "");

async function* bodyOf(input: Input, headers: Headers): AsyncGenerator<Buffer> {
  const length = headers.get("content-length") ?? "";
  if (!isChunked(headers))
    return yield* input.take(/^\d{1,15}$/.test(length) ? Number(length) : Number.POSITIVE_INFINITY);
  for (;;) {
    const digits = /^[\da-f]{1,12}(?=\s*(?:;|$))/i.exec(await input.line(MAX_CHUNK_LINE_BYTES))?.[0];
    const size = Number.parseInt(digits ?? "", 16);
    if (Number.isNaN(size)) throw malformed();
    if (size === 0) return;
    yield* input.take(size);
    await input.line(2);
  }
}
