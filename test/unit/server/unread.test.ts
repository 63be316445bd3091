import { afterEach, describe, expect, test } from "bun:test";
import net from "node:net";
import { createMetrics } from "../../../src/base/metrics.ts";
import { silentLog } from "../../../src/base/silent-log.ts";
import { parseAddressSet } from "../../../src/fetching/index.ts";
import { type Listener, listen } from "../../../src/server/listen.ts";
import { type Handler, inLayers } from "../../../src/server/middleware/exchange.ts";
import { limitEach } from "../../../src/server/middleware/limits.ts";
import { observe } from "../../../src/server/middleware/observe.ts";
import { limitUnread, streamAnswer, streamOf } from "../../../src/server/middleware/unread.ts";
import { untilTrue } from "../../support/until.ts";

const MB = 1024 * 1024;
const listeners: Listener[] = [];
const sockets: net.Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const listener of listeners.splice(0)) await listener.close(0);
});

/** A server whose clients may leave 20 MB unread each, and 50 MB in all; it answers with as many bytes as the path says. */
function serve(
  handler: Handler = async ({ path }) => new Response("x".repeat(Number(path.slice(1)) * MB)),
): number {
  const limits = { maxUnreadBytesPerClient: 20 * MB, maxUnreadBytes: 50 * MB };
  const listener = listen({
    host: "127.0.0.1",
    port: 0,
    basePath: "",
    trustedProxies: parseAddressSet("127.0.0.1"),
    handler: inLayers([observe(createMetrics([]), []), limitUnread(limits, ["/health"])], handler),
    log: silentLog,
    sharesPort: false,
    idleSeconds: 75,
  });
  listeners.push(listener);
  return listener.port;
}

/** Asks and reads the head of the answer, and no more until it is told to; a client that reads slowly. */
async function begin(port: number, client: string, path: string) {
  const socket = net.connect({ port, host: "127.0.0.1" });
  sockets.push(socket);
  socket.on("error", () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: ${client}\r\n\r\n`);
  await new Promise((resolve) => socket.once("readable", resolve));
  const head = String(socket.read() ?? "");
  return {
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]),
    head,
    /** Reads to the end of the answer. */
    read: () =>
      new Promise<number>((resolve) => {
        let bytes = head.length;
        socket.on("data", (piece: Buffer) => {
          bytes += piece.length;
          if (piece.subarray(-5).toString() === "0\r\n\r\n") resolve(bytes);
        });
      }),
    leave: () => socket.destroy(),
  };
}

const ask = async (port: number, client: string, path: string): Promise<number> => {
  const headers = { "x-forwarded-for": client, connection: "close" };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  await response.arrayBuffer();
  return response.status;
};

describe("answers that a client does not read", () => {
  test("count until the last byte is taken; more of them are refused with Retry-After", async () => {
    const port = serve();
    const first = await begin(port, "192.0.2.1", "/12");
    const second = await begin(port, "192.0.2.1", "/12");
    expect([first.status, second.status]).toEqual([200, 429]);
    expect(second.head.toLowerCase()).toContain("retry-after: 1\r\n");
    // Others are not concerned.
    expect(await ask(port, "192.0.2.2", "/12")).toBe(200);
    expect(await first.read()).toBeGreaterThan(12 * MB);
    await untilTrue(async () => (await ask(port, "192.0.2.1", "/12")) === 200);
  });

  test("keep a client from asking for more, for longer each time, but its probes are answered", async () => {
    let made = 0;
    const port = serve(async ({ path }) => {
      made++;
      return new Response(path === "/health" ? "yes" : "x".repeat(Number(path.slice(1)) * MB));
    });
    await begin(port, "192.0.2.1", "/12");
    expect(await ask(port, "192.0.2.1", "/12")).toBe(429);
    for (let more = 0; more < 5; more++) expect(await ask(port, "192.0.2.1", "/12")).toBe(429);
    expect(made).toBe(2);
    expect(await ask(port, "192.0.2.1", "/health")).toBe(200);
    await untilTrue(async () => (await ask(port, "192.0.2.1", "/12")) === 429 && made === 4);
    expect((await begin(port, "192.0.2.1", "/12")).head.toLowerCase()).toContain("retry-after: 2\r\n");
    expect(made).toBe(4);
  });

  test("may be one of any length when there is nothing else", async () => {
    const port = serve();
    const long = await begin(port, "192.0.2.1", "/40");
    expect(long.status).toBe(200);
    expect(await long.read()).toBeGreaterThan(40 * MB);
  });

  test("count no longer when the client has left", async () => {
    const port = serve();
    const first = await begin(port, "192.0.2.1", "/18");
    first.leave();
    await untilTrue(async () => (await ask(port, "192.0.2.1", "/18")) === 200);
  });

  test("of all clients together have a limit too, which short answers do not meet", async () => {
    const port = serve();
    for (const client of [1, 2]) expect((await begin(port, `192.0.2.${client}`, "/18")).status).toBe(200);
    expect(await ask(port, "192.0.2.3", "/18")).toBe(429);
    expect(await ask(port, "192.0.2.3", "/0")).toBe(200);
    expect(await ask(port, "192.0.2.1", "/0")).toBe(200);
  });

  test("that are streams are made only as fast as the client reads, and are limited in number", async () => {
    let pieces = 0;
    let ended = 0;
    async function* endless() {
      try {
        for (; ; pieces++) yield new Uint8Array(MB);
      } finally {
        ended++;
      }
    }
    const port = serve(async () => streamAnswer(streamOf(endless()), {}, 8 * MB));
    const held = [await begin(port, "192.0.2.1", "/"), await begin(port, "192.0.2.1", "/")];
    expect(held.map(({ status }) => status)).toEqual([200, 200]);
    expect((await begin(port, "192.0.2.1", "/")).status).toBe(429);
    let before = -1;
    await untilTrue(async () => {
      if (before === pieces) return true;
      before = pieces;
      await Bun.sleep(200);
      return false;
    });
    // The kernel takes some MB of each.
    expect(pieces).toBeLessThan(40);
    for (const one of held) one.leave();
    await untilTrue(() => ended === 2);
    await untilTrue(async () => (await begin(port, "192.0.2.1", "/")).status === 200);
  });
});

test("each kind of work has limits of its own", async () => {
  const inside: string[] = [];
  const layer = limitEach(
    ["pages", "searches"],
    ({ path }) =>
      path === "/pages" || path === "/searches" ? (path.slice(1) as "pages" | "searches") : null,
    () => {
      const kinds = new Set<string>();
      return [
        (next) => (exchange) => {
          kinds.add(exchange.path);
          inside.push([...kinds].join());
          return next(exchange);
        },
      ];
    },
  );
  const handler = layer(async ({ path }) => new Response(path));
  for (const path of ["/pages", "/searches", "/health", "/pages"])
    expect(await (await handler({ path } as Parameters<Handler>[0])).text()).toBe(path);
  expect(inside).toEqual(["/pages", "/searches", "/pages"]);
});
