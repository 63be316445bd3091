import { afterEach, describe, expect, test } from "bun:test";
import net from "node:net";
import { gzipSync } from "node:zlib";
import { createMetrics } from "../../../src/base/metrics.ts";
import { silentLog } from "../../../src/base/silent-log.ts";
import { parseAddressSet, subscriberNetwork } from "../../../src/fetching/index.ts";
import { type Listener, listen } from "../../../src/server/listen.ts";
import {
  type BodyLimits,
  MAX_BODY_BYTES,
  readJsonBody,
  receiveBodies,
} from "../../../src/server/middleware/body.ts";
import { type Handler, inLayers, type Layer } from "../../../src/server/middleware/exchange.ts";
import { limitConcurrency } from "../../../src/server/middleware/limits.ts";
import { observe } from "../../../src/server/middleware/observe.ts";
import { ProblemError } from "../../../src/server/middleware/problem.ts";

const listeners: Listener[] = [];
const sockets: net.Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const listener of listeners.splice(0)) await listener.close(0);
});

const LIMITS: BodyLimits = {
  maxBytes: 4000,
  maxMs: 60_000,
  smallBytes: 100,
  maxLarge: 3,
  maxLargePerClient: 2,
};

const onePlace: Layer = limitConcurrency({
  max: 1,
  refuse: () => new ProblemError(503, "overloaded", "full"),
});

/** A server with one place for requests, that answers with the length of the body; gives its port. */
function serve(
  limits: Partial<BodyLimits> = {},
  layers: readonly Layer[] = [receiveBodies({ ...LIMITS, ...limits }), onePlace],
  handler: Handler = async ({ body }) => new Response(String(body.length)),
): number {
  const listener = listen({
    host: "127.0.0.1",
    port: 0,
    basePath: "",
    trustedProxies: parseAddressSet("127.0.0.1"),
    handler: inLayers([observe(createMetrics([]), []), ...layers], handler),
    log: silentLog,
    sharesPort: false,
    idleSeconds: 75,
  });
  listeners.push(listener);
  return listener.port;
}

/** A request of which no more is sent than this; resolves with what comes back before the connection ends. */
function begin(port: number, head: string, body: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = net.connect(port, "127.0.0.1", () =>
      socket.write(`POST / HTTP/1.1\r\nhost: localhost\r\n${head}\r\n\r\n${body}`),
    );
    sockets.push(socket);
    socket.on("data", (piece) => {
      answer += piece;
      if (answer.includes("\r\n\r\n")) resolve(answer);
    });
    socket.on("error", () => resolve(answer));
    socket.on("close", () => resolve(answer));
  });
}

const statusOf = async (port: number, body: string, client = "192.0.2.1"): Promise<number> => {
  const headers = { "x-forwarded-for": client };
  return (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body, headers })).status;
};

describe("a body of JSON", () => {
  const send = async (body: BodyInit, type = "application/json", coding?: string): Promise<Response> => {
    const port = serve({}, [receiveBodies()], async (exchange) => Response.json(readJsonBody(exchange)));
    return fetch(`http://127.0.0.1:${port}/`, {
      method: "POST",
      body,
      headers: { "content-type": type, ...(coding === undefined ? {} : { "content-encoding": coding }) },
    });
  };

  test.each([
    ["gzip", gzipSync('{"a":1}'), 200],
    ["X-GZIP", gzipSync('{"a":1}'), 200],
    ["identity", '{"a":1}', 200],
    ["gzip", '{"a":1}', 400],
    ["gzip", gzipSync("x".repeat(MAX_BODY_BYTES + 1)), 413],
    ["br", '{"a":1}', 415],
    ["gzip, gzip", gzipSync(gzipSync('{"a":1}')), 415],
  ])("coded as %s", async (coding, body, status) => {
    expect((await send(body, undefined, coding)).status).toBe(status);
  });

  test("is read, with parameters of its type", async () => {
    expect(await (await send('{"a":1}', "Application/JSON; charset=utf-8")).json()).toEqual({ a: 1 });
  });

  test.each([
    ["of another type", "{}", "text/plain", 415],
    ["that is no JSON", "{", "application/json", 400],
    ["over the limit", `"${"x".repeat(MAX_BODY_BYTES)}"`, "application/json", 413],
  ])("%s is a problem", async (_, body, type, status) => {
    const response = await send(body, type);
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
  });

  test("in chunks is bounded too", async () => {
    const chunk = new Uint8Array(64 * 1024).fill(32);
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => (sent++ < 40 ? controller.enqueue(chunk) : controller.close()),
    });
    expect((await send(body)).status).toBe(413);
  });
});

describe("a body that arrives slowly", () => {
  test.each([
    ["with a length", "content-length: 50"],
    ["in chunks", "transfer-encoding: chunked"],
  ])("%s is given up after its time", async (_, head) => {
    const answer = await begin(serve({ maxMs: 50 }), head, head.includes("chunked") ? "1\r\n{\r\n" : "{");
    expect(answer).toStartWith("HTTP/1.1 408");
    expect(answer).toContain("body_too_slow");
    expect(answer.toLowerCase()).toContain("connection: close");
  });

  test("takes no place from others, however many do so", async () => {
    const port = serve();
    for (let sender = 0; sender < 100; sender++)
      void begin(
        port,
        sender % 2 ? "content-length: 50" : "transfer-encoding: chunked",
        sender % 2 ? "{" : "1\r\n{\r\n",
      );
    for (let request = 0; request < 20; request++) expect(await statusOf(port, "{}")).toBe(200);
  });

  test("comes through when it is whole in time", async () => {
    const port = serve();
    const answer = begin(port, "content-length: 3", "a");
    await Bun.sleep(20);
    sockets.at(-1)?.write("bc");
    expect((await answer).slice(-1)).toBe("3");
  });
});

describe("large bodies that arrive at once", () => {
  const HEAD = "content-length: 1000";
  const ask = async (port: number, client: string): Promise<number> =>
    statusOf(port, "x".repeat(1000), client);
  const untilStatus = async (port: number, client: string, wanted: number): Promise<void> => {
    while ((await ask(port, client)) !== wanted) await Bun.sleep(5);
  };

  test("are few of one client and few in all; small ones pass, and places come back", async () => {
    const port = serve();
    const slow = (client: string): void =>
      void begin(port, `${HEAD}\r\nx-forwarded-for: ${client}`, "x".repeat(900));
    slow("192.0.2.1");
    slow("192.0.2.1");
    await untilStatus(port, "192.0.2.1", 429);
    expect(await ask(port, "192.0.2.2")).toBe(200);
    slow("192.0.2.3");
    await untilStatus(port, "192.0.2.2", 429);
    expect(await statusOf(port, "small", "192.0.2.1")).toBe(200);
    for (const socket of sockets.splice(0)) socket.destroy();
    await untilStatus(port, "192.0.2.1", 200);
  });

  test("in chunks count once they turn out to be large", async () => {
    const port = serve({ maxLarge: 0 });
    const chunks = (size: number): ReadableStream<Uint8Array> =>
      new Blob(["x".repeat(size)]).stream() as ReadableStream<Uint8Array>;
    const send = async (size: number): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: chunks(size) })).status;
    expect(await send(100)).toBe(200);
    expect(await send(101)).toBe(429);
  });
});

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2:0:0:0:0/64"],
  ["2001:db8:1:2::", "2001:db8:1:2:0:0:0:0/64"],
  ["unix", "unix"],
])("the client at %s is the one of %s", (address, network) => {
  expect(subscriberNetwork(address)).toBe(network);
});
