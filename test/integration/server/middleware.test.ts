import { afterEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../src/base/failure.ts";
import { createLog } from "../../../src/base/log.ts";
import { createMetrics, type Measurement } from "../../../src/base/metrics.ts";
import { parseAddressSet } from "../../../src/fetching/index.ts";
import { type Listener, listen } from "../../../src/server/listen.ts";
import { createAccess, requireGrant } from "../../../src/server/middleware/access.ts";
import {
  type Exchange,
  type Handler,
  inLayers,
  type Layer,
} from "../../../src/server/middleware/exchange.ts";
import { limitConcurrency, limitEach, refuseWhileDraining } from "../../../src/server/middleware/limits.ts";
import { observe } from "../../../src/server/middleware/observe.ts";
import { guardOrigin } from "../../../src/server/middleware/origin.ts";
import { ProblemError } from "../../../src/server/middleware/problem.ts";
import { untilTrue } from "../../support/until.ts";

const listeners: Listener[] = [];
const lines: Record<string, unknown>[] = [];
const measured: Measurement[] = [];
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.close(0);
  lines.length = 0;
  measured.length = 0;
});

type Options = {
  layers?: readonly Layer[];
  basePath?: string;
  trusted?: string;
  host?: string;
  port?: number;
};

/** A real server whose innermost handler is this one; gives its address. */
function serve(handler: Handler, options: Options = {}): string {
  const { layers = [], basePath = "", trusted = "", host = "127.0.0.1", port = 0 } = options;
  const log = createLog({ level: "debug", format: "json", write: (line) => lines.push(JSON.parse(line)) });
  const metrics = createMetrics([(measurement) => measured.push(measurement)]);
  const listener = listen({
    host,
    port,
    basePath,
    trustedProxies: parseAddressSet(trusted),
    handler: inLayers([observe(metrics, ["/health"]), ...layers], handler),
    log,
    sharesPort: false,
    idleSeconds: 75,
  });
  listeners.push(listener);
  return `http://127.0.0.1:${listener.port}`;
}

const ok: Handler = async () => new Response("ok");
const describeClient: Handler = async ({ client, path, basePath }: Exchange) =>
  Response.json({ ...client, path, basePath });
const json = async (response: Response): Promise<Record<string, unknown>> =>
  (await response.json()) as Record<string, unknown>;

describe("every answer", () => {
  test("carries the caller's request id, or one of ours when theirs is unfit", async () => {
    const at = serve(ok);
    const idFor = async (id: string): Promise<string | null> =>
      (await fetch(at, { headers: { "x-request-id": id } })).headers.get("x-request-id");
    expect(await idFor("abc-123")).toBe("abc-123");
    expect(await idFor("x".repeat(128))).toBe("x".repeat(128));
    for (const unfit of ["x".repeat(129), "a b", "é"]) expect(await idFor(unfit)).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("is one line of the log and one count", async () => {
    const at = serve(ok);
    await fetch(`${at}/a?token=secret`, { headers: { "x-request-id": "r1" } });
    expect(lines).toHaveLength(1);
    const line = { level: "info", request_id: "r1", method: "GET", path: "/a", status: 200 };
    expect(lines[0]).toMatchObject(line);
    expect(JSON.stringify(lines)).not.toContain("secret");
    expect(measured.map(({ name, labels }) => [name, labels])).toEqual([
      ["http_requests", { method: "GET", route: "other", status: "200" }],
      ["http_request_duration", { method: "GET", route: "other" }],
    ]);
  });

  test("to a failure is a problem with its status, code and request id", async () => {
    const at = serve(async () => {
      throw new Failure("timeout", "GET https://a.test/ took longer than 1 ms");
    });
    const response = await fetch(at, { headers: { "x-request-id": "r2" } });
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await json(response)).toEqual({
      type: "about:blank",
      title: "Gateway Timeout",
      status: 504,
      detail: "GET https://a.test/ took longer than 1 ms",
      code: "timeout",
      request_id: "r2",
    });
  });

  test("to a fault says nothing of the inside; the log does", async () => {
    const at = serve(async () => {
      throw new TypeError("secret path /etc/x");
    });
    const response = await fetch(at);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("secret");
    expect(JSON.stringify(lines)).toContain("secret path");
  });

  test("forbids sniffing, framing and telling others", async () => {
    const { headers } = await fetch(serve(ok));
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  });
});

describe("behind a proxy", () => {
  const forwarded = {
    "x-forwarded-for": "198.51.100.7, 203.0.113.9, 10.0.0.2",
    "x-forwarded-proto": "https",
    "x-forwarded-host": "docs.example",
    "x-forwarded-prefix": "/tools",
  };

  test("headers of a peer that is not trusted count for nothing but having been forwarded", async () => {
    const response = await fetch(`${serve(describeClient)}/tools/a`, { headers: forwarded });
    expect(await json(response)).toMatchObject({
      address: "127.0.0.1",
      wasForwarded: true,
      scheme: "http",
      path: "/tools/a",
      basePath: "",
    });
  });

  test("a trusted one says who asks and under which address", async () => {
    const at = serve(describeClient, { trusted: "127.0.0.0/8, 10.0.0.0/8" });
    expect(await json(await fetch(`${at}/a`, { headers: forwarded }))).toMatchObject({
      peerAddress: "127.0.0.1",
      address: "203.0.113.9",
      scheme: "https",
      host: "docs.example",
      path: "/a",
      basePath: "/tools",
    });
  });

  test.each([
    ["made-up", "127.0.0.1"],
    ["1.2.3.4, made-up", "127.0.0.1"],
    ["198.51.100.7:4711", "198.51.100.7"],
    ["[2001:db8::1]:99", "2001:db8::1"],
    ["10.0.0.3, 10.0.0.2", "10.0.0.3"],
  ])("the forwarders %p mean the client %p", async (chain, address) => {
    const at = serve(describeClient, { trusted: "127.0.0.1 10.0.0.0/8" });
    expect(await json(await fetch(at, { headers: { "x-forwarded-for": chain } }))).toMatchObject({ address });
  });

  test.each(["//evil.example", "/a/../b", "/a b", '/"><script>', "a"])(
    "the prefix %p is taken for none",
    async (prefix) => {
      const at = serve(describeClient, { trusted: "127.0.0.1" });
      expect(await json(await fetch(at, { headers: { "x-forwarded-prefix": prefix } }))).toMatchObject({
        basePath: "",
      });
    },
  );

  test("a base path may or may not have been taken off", async () => {
    const at = serve(describeClient, { basePath: "/docs" });
    const pathOf = async (path: string): Promise<unknown> => (await json(await fetch(`${at}${path}`))).path;
    expect(await pathOf("/docs/mcp")).toBe("/mcp");
    expect(await pathOf("/mcp")).toBe("/mcp");
    expect(await pathOf("/docs")).toBe("/");
    expect(await pathOf("/docsx")).toBe("/docsx");
  });
});

describe("origins", () => {
  const guard = (rules: Partial<Parameters<typeof guardOrigin>[0]> = {}): Layer =>
    guardOrigin({
      boundHost: "127.0.0.1",
      allowedHosts: null,
      hostsVariable: "ALLOWED_HOSTS",
      corsOrigins: ["https://app.example"],
      guardedMethods: ["POST"],
      ...rules,
    });
  const post = (at: string, headers: Record<string, string>): Promise<Response> =>
    fetch(at, { method: "POST", headers });

  test.each(["https://evil.example", "null", "file://", "http://127.0.0.1:1", "garbage"])(
    "a POST of %p is refused",
    async (origin) => {
      const response = await post(serve(ok, { layers: [guard()] }), { origin });
      expect(response.status).toBe(403);
      expect((await json(response)).code).toBe("origin_refused");
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
    },
  );

  test("a listed origin may call and read, after asking", async () => {
    const at = serve(ok, { layers: [guard()] });
    const headers = { origin: "https://app.example" };
    const response = await post(at, headers);
    expect(response.headers.get("access-control-allow-origin")).toBe("https://app.example");
    const preflight = await fetch(at, {
      method: "OPTIONS",
      headers: { ...headers, "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-methods")).toContain("POST");
  });

  test.each(["evil.example", "127.0.0.1.evil.example", "localhost.evil.example"])(
    "a server on loopback does not answer to the name %p",
    async (host) => {
      const at = serve(ok, { layers: [guard()] });
      expect((await fetch(at, { headers: { host } })).status).toBe(403);
    },
  );

  test.each(["localhost:3000", "127.0.0.1", "[::1]:80", "LOCALHOST", "docs.localhost"])(
    "a server on loopback answers to %p",
    async (host) => {
      expect((await fetch(serve(ok, { layers: [guard()] }), { headers: { host } })).status).toBe(200);
    },
  );

  test("a list of hosts is what a public server answers to", async () => {
    const layers = [guard({ boundHost: "0.0.0.0", allowedHosts: ["docs.example"] })];
    const at = serve(ok, { layers });
    expect((await fetch(at, { headers: { host: "docs.example:443" } })).status).toBe(200);
    const refused = await fetch(at, { headers: { host: "other.example" } });
    expect(refused.status).toBe(403);
    expect((await json(refused)).detail).toBe(
      "the Host header names no host of this server; its operator can add it to ALLOWED_HOSTS",
    );
  });
});

describe("the API key", () => {
  const layers = [requireGrant(createAccess({ apiKey: "s3cret" }), ["/health"])];
  const statusWith = async (authorization: string | null, path = "/"): Promise<number> => {
    const headers = authorization === null ? {} : { authorization };
    return (await fetch(`${serve(ok, { layers })}${path}`, { headers })).status;
  };

  test("opens, and nothing else does", async () => {
    expect(await statusWith("Bearer s3cret")).toBe(200);
    expect(await statusWith("bearer  s3cret")).toBe(200);
    for (const wrong of [null, "s3cret", "Basic s3cret", "Bearer s3cre", "Bearer s3crett", "Bearer "])
      expect(await statusWith(wrong)).toBe(401);
  });
});

describe("limits", () => {
  const refuse = () =>
    new ProblemError(503, "overloaded", "too many requests at once", { headers: { "retry-after": "1" } });

  const workOf = ({ path }: Exchange) => (path === "/health" ? null : "work");

  /** A handler whose requests end when told to. */
  function gate(): { handler: Handler; open: () => void; started: () => number } {
    const opened = Promise.withResolvers<void>();
    let started = 0;
    return {
      open: opened.resolve,
      started: () => started,
      handler: async () => {
        started++;
        await opened.promise;
        return new Response("ok");
      },
    };
  }
  test("requests over the bound are refused at once when nobody waits", async () => {
    const { handler, open, started } = gate();
    const layers = [limitEach(["work"], workOf, () => [limitConcurrency({ max: 1, refuse })])];
    const at = serve(handler, { layers });
    const first = fetch(at);
    await untilTrue(() => started() === 1);
    const second = await fetch(at);
    expect(second.status).toBe(503);
    expect(second.headers.get("retry-after")).toBe("1");
    const health = fetch(`${at}/health`);
    open();
    expect((await first).status).toBe(200);
    expect((await health).status).toBe(200);
    expect((await fetch(at)).status).toBe(200);
  });

  test("requests over the bound wait for their turn, so long and so many", async () => {
    const { handler, open, started } = gate();
    const layers = [limitConcurrency({ max: 1, waitMs: 5000, maxWaiting: 1, refuse })];
    const at = serve(handler, { layers });
    const first = fetch(at);
    await untilTrue(() => started() === 1);
    const others = [fetch(at), fetch(at)];
    const refused = await Promise.race(others);
    expect(refused.status).toBe(503);
    open();
    expect((await first).status).toBe(200);
    expect((await Promise.all(others)).map(({ status }) => status).sort()).toEqual([200, 503]);
  });

  test("whoever leaves the queue leaves no gap in it", async () => {
    const { handler, open, started } = gate();
    const layers = [limitConcurrency({ max: 1, waitMs: 5000, maxWaiting: 2, refuse })];
    const at = serve(handler, { layers });
    const first = fetch(at);
    await untilTrue(() => started() === 1);
    const leaving = new AbortController();
    const left = fetch(at, { signal: leaving.signal }).catch(() => "left");
    await Bun.sleep(50);
    leaving.abort();
    expect(await left).toBe("left");
    const second = fetch(at);
    await Bun.sleep(50);
    open();
    expect((await first).status).toBe(200);
    expect((await second).status).toBe(200);
  });

  test("a draining server refuses work and answers probes", async () => {
    const at = serve(ok, { layers: [refuseWhileDraining(() => true, ["/health"])] });
    expect((await fetch(at)).status).toBe(503);
    expect((await fetch(`${at}/health`)).status).toBe(200);
  });

  test("closing waits for what runs", async () => {
    const { handler, open, started } = gate();
    const at = serve(handler);
    const running = fetch(at);
    await untilTrue(() => started() === 1);
    const closed = listeners.splice(0)[0]?.close(5000);
    setTimeout(open, 50);
    expect((await running).status).toBe(200);
    await closed;
    expect(await fetch(at).catch(() => "closed")).toBe("closed");
  });
});

test("an address that is taken, or a name without one, is a failure that says so", () => {
  const port = Number(new URL(serve(ok)).port);
  const bind = (host: string): string => serve(ok, { host, port });
  expect(() => bind("127.0.0.1")).toThrow(`cannot listen on 127.0.0.1 port ${port}: the port is in use`);
  for (const name of ["nowhere.invalid", `${"a".repeat(64)}.invalid`])
    expect(() => bind(name)).toThrow(
      `cannot listen on ${name} port ${port}: the name has no address of this machine, or the port is in use`,
    );
});
