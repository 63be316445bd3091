import { expect, test } from "bun:test";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { fastestFirst } from "../../../src/fetching/http/race.ts";
import type { WireRoute } from "../../../src/fetching/http/wire.ts";

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
