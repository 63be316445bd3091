import { afterEach, describe, expect, test } from "bun:test";
import { createMetrics } from "../../../src/base/metrics.ts";
import { silentLog } from "../../../src/base/silent-log.ts";
import { parseAddressSet } from "../../../src/fetching/index.ts";
import { type Listener, listen } from "../../../src/server/listen.ts";
import { type Exchange, inLayers, type Layer } from "../../../src/server/middleware/exchange.ts";
import { limitClients, limitConcurrency, limitEach } from "../../../src/server/middleware/limits.ts";
import { observe } from "../../../src/server/middleware/observe.ts";
import { ProblemError } from "../../../src/server/middleware/problem.ts";
import { untilTrue } from "../../support/until.ts";

const listeners: Listener[] = [];
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.close(0);
});

type Gated = {
  /** Sends a request of a client; resolves with its status. */
  readonly ask: (client: string, path?: string) => Promise<number>;
  /** Clients in the order in which their requests were begun. */
  readonly begun: string[];
  /** How many requests have come. */
  readonly arrived: () => number;
  /** Lets the oldest one that runs go on. */
  readonly finishOne: () => void;
};

/** A server whose requests run until they are let go. */
function serve(layers: readonly Layer[]): Gated {
  const begun: string[] = [];
  const running: (() => void)[] = [];
  let arrived = 0;
  const count: Layer = (next) => (exchange) => {
    arrived++;
    return next(exchange);
  };
  const listener = listen({
    host: "127.0.0.1",
    port: 0,
    basePath: "",
    trustedProxies: parseAddressSet("127.0.0.1"),
    handler: inLayers([observe(createMetrics([]), []), count, ...layers], async (exchange) => {
      begun.push(exchange.client.address);
      if (exchange.path !== "/health") await new Promise<void>((resolve) => running.push(resolve));
      return new Response("ok");
    }),
    log: silentLog,
    sharesPort: false,
    idleSeconds: 75,
  });
  listeners.push(listener);
  return {
    begun,
    arrived: () => arrived,
    finishOne: () => running.shift()?.(),
    ask: async (client, path = "/") => {
      const headers = { "x-forwarded-for": client };
      return (await fetch(`http://127.0.0.1:${listener.port}${path}`, { headers })).status;
    },
  };
}

describe("a limit per client", () => {
  const kindOf = ({ path }: Exchange) => (path === "/health" ? null : "work");
  const layers = [limitEach(["work"], kindOf, () => [limitClients(2)])];

  test("refuses one client's third request with Retry-After, and nobody else's", async () => {
    const { ask, begun, finishOne } = serve(layers);
    const held = [ask("192.0.2.1"), ask("192.0.2.1")];
    await untilTrue(() => begun.length === 2);
    expect(await ask("192.0.2.1")).toBe(429);
    expect(await ask("192.0.2.1", "/health")).toBe(200);
    const others = [ask("192.0.2.2"), ask("2001:db8::1"), ask("2001:db8::2")];
    await untilTrue(() => begun.length === 6);
    // One network of IPv6 is one client.
    expect(await ask("2001:db8::3")).toBe(429);
    expect(begun).toHaveLength(6);
    for (let request = 0; request < 5; request++) finishOne();
    expect(await Promise.all([...held, ...others])).toEqual([200, 200, 200, 200, 200]);
    const again = ask("192.0.2.1");
    await untilTrue(() => begun.length === 7);
    finishOne();
    expect(await again).toBe(200);
  });
});

test("those that wait for their turn get it by client, not by arrival", async () => {
  const { ask, arrived, begun, finishOne } = serve([
    limitConcurrency({
      max: 1,
      waitMs: 60_000,
      maxWaiting: 100,
      refuse: () => new ProblemError(503, "overloaded", "full"),
    }),
  ]);
  const all = [ask("192.0.2.1")];
  await untilTrue(() => begun.length === 1);
  for (let request = 0; request < 5; request++) all.push(ask("192.0.2.1"));
  await untilTrue(() => arrived() === all.length);
  all.push(ask("192.0.2.2"), ask("192.0.2.3"));
  await untilTrue(() => arrived() === all.length);
  for (let request = 1; request < all.length; request++) {
    finishOne();
    await untilTrue(() => begun.length === request + 1);
  }
  finishOne();
  expect(await Promise.all(all)).toEqual(all.map(() => 200));
  expect(new Set(begun.slice(1, 4))).toEqual(new Set(["192.0.2.1", "192.0.2.2", "192.0.2.3"]));
});
