import { describe, expect, test } from "bun:test";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { fastestFirst } from "../../../src/fetching/http/race.ts";
import type { WireRoute } from "../../../src/fetching/http/wire.ts";
import { openPinningProxy } from "../../../src/fetching/index.ts";
import { listenDeafly } from "../../support/deaf-server.ts";
import { pageUrl, tableResolver, testFetcher, testParts } from "../../support/test-fetcher.ts";

test("the address that answers comes first, and families take turns behind it", async () => {
  const server = createServer().listen(0, "127.0.0.3");
  await once(server, "listening");
  const url = new URL(`http://dual.test:${(server.address() as AddressInfo).port}/`);
  const routes = ["::1", "::1", "127.0.0.9", "127.0.0.3"].map(
    (address): WireRoute => ({ kind: "direct", host: "dual.test", address }),
  );
  const order = await fastestFirst(url, routes, new AbortController().signal);
  expect(order.map((route) => route.kind === "direct" && route.address)).toEqual([
    "127.0.0.3",
    "::1",
    "127.0.0.9",
    "::1",
  ]);
  server.close();
});

describe.skipIf(process.platform !== "linux")(
  "an address that swallows packets costs a moment and no request",
  () => {
    const LIMIT_MS = 20_000;
    const resolve = tableResolver({ "dual.test": ["127.0.0.5", "127.0.0.1"] });
    const open = async () => {
      const server = createServer((socket) => socket.end("HTTP/1.1 204 No Content\r\n\r\n")).listen(
        0,
        "127.0.0.1",
      );
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      const deaf = await listenDeafly("127.0.0.5", port);
      return {
        port,
        async [Symbol.asyncDispose]() {
          await deaf[Symbol.asyncDispose]();
          server.close();
        },
      };
    };

    test("of the check whether a service can be reached", async () => {
      await using dual = await open();
      await using http = testFetcher({ resolve, limits: { requestTimeoutMs: LIMIT_MS } });
      const startedAt = performance.now();
      await http.reach(pageUrl(`http://dual.test:${dual.port}/`), { deadlineMs: LIMIT_MS });
      expect(performance.now() - startedAt).toBeLessThan(LIMIT_MS / 2);
    });

    test("of the proxy of the browser", async () => {
      await using dual = await open();
      await using proxy = await openPinningProxy({
        ...testParts({ resolve }),
        connectTimeoutMs: LIMIT_MS,
        idleTimeoutMs: LIMIT_MS,
      });
      const { hostname, port } = new URL(proxy.url);
      const client = connect(Number(port), hostname);
      const login = btoa(`${proxy.username}:${proxy.password}`);
      client.write(
        `GET http://dual.test:${dual.port}/ HTTP/1.1\r\nHost: dual.test\r\nProxy-Authorization: Basic ${login}\r\n\r\n`,
      );
      const startedAt = performance.now();
      const [answer] = await once(client, "data");
      client.destroy();
      expect(String(answer)).toStartWith("HTTP/1.1 204");
      expect(performance.now() - startedAt).toBeLessThan(LIMIT_MS / 2);
    });
  },
);
