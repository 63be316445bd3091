import type net from "node:net";
import zlib from "node:zlib";
import { type RawRequest, type RawServer, startRawServer } from "./raw-server.ts";

export type FaultySite = RawServer & {
  /** `http://127.0.0.1:port`, or https with the certificate given. */
  readonly origin: string;
};

export type FaultySiteOptions = {
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Routes of one test, by path; they go before the site's own. */
  readonly routes?: Readonly<Record<string, Route>>;
};

export type Route = (visit: Visit) => void | Promise<void>;

export type Visit = {
  readonly request: RawRequest;
  readonly url: URL;
  readonly socket: net.Socket;
  /** How often this target was asked for, this visit included. */
  readonly visits: number;
};

/**
 * A site with every fault that a fetcher must survive. Its own routes:
 * - `/disguised?kind=` (a file of another kind, called HTML), `/page`, `/text`, `/markdown`, `/echo` (the request's headers as JSON inside HTML), `/type?value=`;
 * - `/slow-headers?ms=`, `/slow-body?ms=&pieces=`, `/reset`, `/truncated`, `/truncated-chunked`,
 *   `/truncated-gzip`, `/not-gzip`, `/long-length`, `/not-http`, `/empty-answer`, `/huge-headers`;
 * - `/redirect?to=&status=`, `/chain/N`, `/loop`;
 * - `/status/N`, `/flaky?status=&times=&retry-after=` (fails that often, then answers);
 * - `/bomb/CODING?mb=`, `/endless`, `/endless-nothing`, `/bytes?n=`, `/encoded/CODING` (`deflate-raw` too);
 * - `/cookies/set?name=&value=`, `/basic-auth` (user `reader`, password `s3cret`), `/versioned` (ETag `"v1"`).
 */
export async function startFaultySite(options: FaultySiteOptions = {}): Promise<FaultySite> {
  const visited = new Map<string, number>();
  const server = await startRawServer({
    ...(options.tls ? { tls: options.tls } : {}),
    async answer(request, socket) {
      const url = new URL(request.target, "http://site.test");
      const visits = (visited.get(request.target) ?? 0) + 1;
      visited.set(request.target, visits);
      const [, first = ""] = url.pathname.split("/");
      const route = options.routes?.[url.pathname] ?? ROUTES[first] ?? notFound;
      await route({ request, url, socket, visits });
    },
  });
  return Object.assign(server, {
    origin: `${options.tls ? "https" : "http"}://127.0.0.1:${server.port}`,
  });
}

export type Answer = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
};

/** Writes a whole, correct answer; HTML unless the headers say otherwise. */
export function reply(socket: net.Socket, answer: Answer): void {
  const body = Buffer.from(answer.body ?? "");
  const status = answer.status ?? 200;
  const headers: Record<string, string | readonly string[]> = {
    "content-type": "text/html; charset=utf-8",
    "content-length": String(body.length),
    ...answer.headers,
  };
  socket.write(head(status, headers));
  if (status !== 304 && status !== 204) socket.write(body);
}

export function head(status: number, headers: Readonly<Record<string, string | readonly string[]>>): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}: ${one}\r\n`),
  );
  return `HTTP/1.1 ${status} Status\r\n${lines.join("")}\r\n`;
}

const PAGE =
  "<!doctype html><html><head><title>Page</title></head><body><p>A page of the site.</p></body></html>";

const number = (visit: Visit, name: string, otherwise: number): number =>
  Number(visit.url.searchParams.get(name) ?? otherwise);

const lastSegment = (visit: Visit): string => visit.url.pathname.split("/").at(-1) ?? "";

const notFound: Route = ({ socket }) => reply(socket, { status: 404, body: "<p>Nothing here.</p>" });

const DISGUISED: Readonly<Record<string, string>> = {
  pdf: "%PDF-1.4\n1 0 obj <<",
  png: "\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
  zip: "PK\x03\x04\x14\0\0\0\x08\0",
};

const ROUTES: Readonly<Record<string, Route>> = {
  page: ({ socket }) => reply(socket, { body: PAGE }),
  text: ({ socket }) =>
    reply(socket, { body: "plain é", headers: { "content-type": "text/plain; charset=utf-8" } }),
  markdown: ({ socket }) =>
    reply(socket, { body: "# Title\n", headers: { "content-type": "text/markdown" } }),
  echo: ({ socket, request }) => reply(socket, { body: `<pre>${JSON.stringify(request.headers)}</pre>` }),
  type: (visit) =>
    reply(visit.socket, {
      body: PAGE,
      headers: { "content-type": visit.url.searchParams.get("value") ?? "" },
    }),

  disguised: (visit) =>
    reply(visit.socket, {
      body: Buffer.concat([
        Buffer.from(DISGUISED[visit.url.searchParams.get("kind") ?? ""] ?? "", "latin1"),
        zlib.deflateRawSync(Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * index) % 251))),
      ]),
    }),

  "slow-headers": async (visit) => {
    await Bun.sleep(number(visit, "ms", 1000));
    reply(visit.socket, { body: PAGE });
  },
  "slow-body": slowBody,
  reset: ({ socket }) => {
    socket.write(`${head(200, { "content-type": "text/html", "content-length": "1000" })}<p>cut`);
    setTimeout(() => socket.resetAndDestroy(), 10);
  },
  truncated: ({ socket }) =>
    void socket.end(`${head(200, { "content-type": "text/html", "content-length": "1000" })}<p>cut`),
  "truncated-chunked": ({ socket }) =>
    void socket.end(
      `${head(200, { "content-type": "text/html", "transfer-encoding": "chunked" })}6\r\n<p>cut\r\n`,
    ),
  "truncated-gzip": ({ socket }) => {
    const whole = zlib.gzipSync(PAGE);
    reply(socket, { headers: { "content-encoding": "gzip" }, body: whole.subarray(0, whole.length - 10) });
  },
  "not-gzip": ({ socket }) => reply(socket, { headers: { "content-encoding": "gzip" }, body: PAGE }),
  "long-length": ({ socket }) =>
    void socket.write(
      `${head(200, { "content-type": "text/html", "content-length": "4" })}<p>more than it says`,
    ),
  "not-http": ({ socket }) => void socket.end("SSH-2.0-OpenSSH_9.2\r\n"),
  "empty-answer": ({ socket }) => void socket.end(),
  "huge-headers": ({ socket }) =>
    void socket.end(head(200, { "content-type": "text/html", "x-long": "x".repeat(2_000_000) })),

  redirect: (visit) =>
    reply(visit.socket, {
      status: number(visit, "status", 302),
      headers: { location: visit.url.searchParams.get("to") ?? "" },
    }),
  chain: (visit) => {
    const left = Number(lastSegment(visit));
    if (left === 0) reply(visit.socket, { body: PAGE });
    else reply(visit.socket, { status: 302, headers: { location: `/chain/${left - 1}` } });
  },
  loop: ({ socket }) => reply(socket, { status: 302, headers: { location: "/loop" } }),

  status: (visit) =>
    reply(visit.socket, { status: Number(lastSegment(visit)), body: "<p>The status says it.</p>" }),
  flaky: (visit) => {
    if (visit.visits > number(visit, "times", 1)) return reply(visit.socket, { body: PAGE });
    const retryAfter = visit.url.searchParams.get("retry-after");
    reply(visit.socket, {
      status: number(visit, "status", 503),
      headers: retryAfter === null ? {} : { "retry-after": retryAfter },
      body: "<p>Not now.</p>",
    });
  },

  bomb: bomb,
  // Chunks without end, and gzip without end that holds nothing: empty stored blocks.
  endless: ({ socket }) => writeEndlessly(socket, "", Buffer.alloc(65_536, "x")),
  "endless-nothing": ({ socket }) =>
    writeEndlessly(
      socket,
      "gzip",
      Buffer.from("000000ffff".repeat(13_107), "hex"),
      zlib.gzipSync("").subarray(0, 10),
    ),
  bytes: (visit) => reply(visit.socket, { body: `<p>${"x".repeat(number(visit, "n", 1000) - 3)}` }),
  encoded: (visit) => {
    const coding = lastSegment(visit);
    const compress = COMPRESS[coding];
    const named = coding === "deflate-raw" ? "deflate" : coding;
    if (compress)
      reply(visit.socket, { headers: { "content-encoding": named }, body: compress(Buffer.from(PAGE)) });
    else notFound(visit);
  },

  cookies: (visit) => {
    const { searchParams } = visit.url;
    const cookie = `${searchParams.get("name")}=${searchParams.get("value")}; Path=/`;
    reply(visit.socket, { headers: { "set-cookie": [cookie, "second=2"] }, body: PAGE });
  },
  "basic-auth": ({ socket, request }) => {
    const expected = `Basic ${Buffer.from("reader:s3cret").toString("base64")}`;
    if (request.headers.authorization === expected) reply(socket, { body: PAGE });
    else reply(socket, { status: 401, headers: { "www-authenticate": 'Basic realm="site"' } });
  },
  versioned: ({ socket, request }) => {
    const headers = { etag: '"v1"', "last-modified": "Wed, 21 Oct 2015 07:28:00 GMT" };
    const isKnown = request.headers["if-none-match"] === '"v1"';
    if (isKnown) reply(socket, { status: 304, headers });
    else reply(socket, { headers, body: PAGE });
  },
};

async function slowBody(visit: Visit): Promise<void> {
  const { socket } = visit;
  socket.write(head(200, { "content-type": "text/html", "transfer-encoding": "chunked" }));
  for (let piece = 0; piece < number(visit, "pieces", 100) && !socket.destroyed; piece++) {
    socket.write("6\r\n<p>bit\r\n");
    await Bun.sleep(number(visit, "ms", 50));
  }
  socket.write("0\r\n\r\n");
}

function writeEndlessly(
  socket: net.Socket,
  coding: string,
  piece: Buffer,
  start: Buffer = Buffer.alloc(0),
): void {
  const headers = { "content-type": "text/html", "transfer-encoding": "chunked", "content-encoding": coding };
  socket.write(head(200, headers));
  if (start.length > 0) socket.write(chunk(start));
  const write = (): void => {
    while (!socket.destroyed && socket.write(chunk(piece))) {}
  };
  socket.on("drain", write);
  write();
}

const chunk = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);

const COMPRESS: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  gzip: (bytes) => zlib.gzipSync(bytes),
  deflate: (bytes) => zlib.deflateSync(bytes),
  br: (bytes) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } }),
  "deflate-raw": (bytes) => zlib.deflateRawSync(bytes),
  zstd: (bytes) => zlib.zstdCompressSync(bytes),
};

const bombs = new Map<string, Uint8Array>();

function bomb(visit: Visit): void {
  const coding = lastSegment(visit);
  const megabytes = number(visit, "mb", 200);
  const key = `${coding} ${megabytes}`;
  const body = bombs.get(key) ?? COMPRESS[coding]?.(Buffer.alloc(megabytes * 1024 * 1024, " "));
  if (!body) return void notFound(visit);
  bombs.set(key, body);
  reply(visit.socket, { headers: { "content-encoding": coding }, body });
}
