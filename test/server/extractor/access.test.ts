import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { converse } from "../../support/converse.ts";
import { codeOf, startExtractor } from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { FORBIDDEN_ADDRESSES, LOCAL_ADDRESSES } from "../../support/hostile-addresses.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { untilTrue } from "../../support/until.ts";

const FORWARDED = { "x-forwarded-for": "203.0.113.7" };

/** What proxies, load balancers and content networks add to the requests that they pass on. */
const PROXY_HEADERS: readonly (readonly [string, string])[] = [
  ["via", "1.1 edge"],
  ["x-forwarded-host", "reader.example"],
  ["x-forwarded-proto", "https"],
  ["x-forwarded-anything-new", "1"],
  ["cf-connecting-ip", "203.0.113.7"],
  ["cf-ray", "7d1f"],
  ["cdn-loop", "cloudflare"],
  ["true-client-ip", "203.0.113.7"],
  ["x-real-ip", "127.0.0.1"],
  ["x-client-ip", "203.0.113.7"],
  ["x-cluster-client-ip", "203.0.113.7"],
  ["fastly-client-ip", "203.0.113.7"],
  ["x-amzn-trace-id", "Root=1-67891233-abcdef012345678912345678"],
  ["x-azure-clientip", "203.0.113.7"],
  ["x-appengine-user-ip", "203.0.113.7"],
  ["x-envoy-external-address", "203.0.113.7"],
  ["fly-client-ip", "203.0.113.7"],
  ["x-vercel-id", "fra1::abc"],
  ["x-original-url", "/"],
  ["x-proxyuser-ip", "203.0.113.7"],
  ["proxy-connection", "keep-alive"],
  ["max-forwards", "10"],
  ["remote-addr", "203.0.113.7"],
  // These are headers of unknown proxies.
  ["x-seen-from", "203.0.113.7"],
  ["x-hops", "10.0.0.1, 203.0.113.7:4711"],
  ["x-peer", "[2001:db8::7]:4711"],
];

const site = forAllTests(serveNumberedSite({ pages: 3 }));

const keyed = forAllTests(await startExtractor({ env: { ARTICLE_EXTRACTOR_API_KEY: "k3y-of-ours" } }));
const server = forAllTests(await startExtractor({ env: { ARTICLE_EXTRACTOR_ALLOWED_HOSTS: "*" } }));

describe("an API key", () => {
  test.each<[string, string]>([
    ["POST", "/"],
    ["GET", "/"],
    ["POST", "/crawl"],
    ["GET", "/crawl"],
    ["GET", "/crawl/x"],
    ["DELETE", "/crawl/x"],
    ["GET", "/crawl/x/manifest"],
    ["GET", "/crawl/x/events"],
    ["GET", "/metrics"],
    ["GET", "/docs"],
    ["GET", "/openapi.json"],
    ["GET", "/https://example.org/"],
    ["GET", "/nothing"],
  ])("is asked for by %s %s", async (method, path) => {
    for (const authorization of [undefined, "Bearer wrong", "Basic azN5"]) {
      const response = await keyed.get(path, { method, headers: authorization ? { authorization } : {} });
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toContain("Bearer");
      expect(await codeOf(response)).toBe("unauthorized");
    }
  });

  test("is not asked for where a browser comes for a page, but for what the page shows", async () => {
    const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
    for (const path of ["/", "/docs"]) {
      const page = await keyed.get(path, { headers: { accept } });
      expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      for (const [, file] of (await page.text()).matchAll(/(?:href|src)="((?:docs|assets)\/[^"]+)"/g))
        expect((await keyed.get(`/${file}`)).status).toBe(200);
    }
    for (const path of ["/openapi.json", "/crawl", "/docs/none.js", "/assets/none.js"])
      expect((await keyed.get(path, { headers: { accept } })).status).toBe(401);
  });

  test("lets its holder in, and probes need none", async () => {
    const headers = { authorization: "Bearer k3y-of-ours" };
    expect((await keyed.get("/crawl", { headers })).status).toBe(200);
    for (const path of ["/health", "/ready"]) expect((await keyed.get(path)).status).toBe(200);
    expect(keyed.stderr()).not.toContain("k3y-of-ours");
  });

  test("makes callers from this machine strangers to its inner addresses", async () => {
    const headers = { authorization: "Bearer k3y-of-ours" };
    const response = await keyed.post("/", { url: `${site.origin}/` }, headers);
    expect([response.status, await codeOf(response)]).toEqual([403, "egress_refused"]);
  });
});

describe("a server without a key", () => {
  const WARNING = /"level":"warning","message":"there is no API key: .*ARTICLE_EXTRACTOR_API_KEY sets one"/;

  test("says so at its start, an empty key included, unless it is bound to loopback", async () => {
    const env = { ARTICLE_EXTRACTOR_API_KEY: "" };
    await using open = await startExtractor({ env, host: "0.0.0.0" });
    expect(open.lines(WARNING)).toHaveLength(1);
    await using own = await startExtractor({ env });
    expect(own.stderr()).not.toMatch(WARNING);
  });

  test("is not what an empty key file means: the message names its setting", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "key");
    writeFileSync(file, "\n");
    await expect(startExtractor({ env: { ARTICLE_EXTRACTOR_API_KEY_FILE: file } })).rejects.toThrow(
      "ARTICLE_EXTRACTOR_API_KEY_FILE must name a file of visible ASCII characters",
    );
  });
});

describe("who may reach inner addresses", () => {
  test.each<Record<string, string>>([
    { "user-agent": "Mozilla/5.0 Chrome/131.0.0.0 Safari/537.36", "sec-ch-ua-full-version": "8.0.0.0" },
    { "x-request-id": "192.0.2.1", referer: "http://192.0.2.1/", accept: "text/html;q=0.9,*/*;q=0.8" },
    { "x-app-version": "1.2.3", "x-local": "127.0.0.1:8080", traceparent: "00-0af7651916cd43dd-01" },
    { host: "localhost:3000" },
    { host: "reader.localhost" },
    { host: "[::1]" },
  ])("a caller on this machine does, with what clients send of themselves: %j", async (headers) => {
    expect((await server.post("/", { url: `${site.origin}/` }, headers)).status).toBe(200);
  });

  test.each([
    "GET http://reader.example/TARGET HTTP/1.1\r\nHost: reader.example",
    "GET http://localhost/TARGET HTTP/1.1\r\nHost: localhost\r\nVia: 1.1 proxy",
    "GET http://localhost/TARGET HTTP/1.1\r\nHost: localhost\r\nProxy-Connection: keep-alive",
    "CONNECT reader.example:443 HTTP/1.1\r\nHost: reader.example:443",
  ])("a proxy that asks as it would ask another proxy does not: %s", async (head) => {
    const before = site.visits.length;
    const bytes = `${head.replace("TARGET", `${site.origin}/`)}\r\nConnection: close\r\n\r\n`;
    expect(await converse(server.url, bytes)).toMatch(/^HTTP\/1.1 4\d\d/);
    expect(site.visits.length).toBe(before);
  });

  test.each<[string, Record<string, string>]>([
    ["who was forwarded", FORWARDED],
    ["who was forwarded in the standard's way", { forwarded: "for=203.0.113.7" }],
    ...PROXY_HEADERS.map(([name, value]): [string, Record<string, string>] => [
      `behind a proxy that says ${name}`,
      { [name]: value },
    ]),
    ["who asks by a name that is not this machine's", { host: "rebound.example" }],
    ["who asks by an address that is not this machine's", { host: "10.0.0.7:3000" }],
    ["whose Host hides a loopback name behind another's", { host: "localhost.evil.example" }],
    ["in a page of another site", { "sec-fetch-site": "cross-site" }],
  ])("one %s does not, and gets nothing out of the cache either", async (_, headers) => {
    const response = await server.post("/", { url: `${site.origin}/` }, headers);
    expect([response.status, await codeOf(response)]).toEqual([403, "egress_refused"]);
  });

  test("one whose Host is no host is answered nothing", async () => {
    const headers = { host: "evil.example@localhost" };
    const response = await server.post("/", { url: `${site.origin}/` }, headers);
    expect([response.status, await codeOf(response)]).toEqual([403, "origin_refused"]);
  });

  test("no spelling of an inner address gets a stranger there", async () => {
    const before = site.visits.length;
    for (const address of [...LOCAL_ADDRESSES, ...FORBIDDEN_ADDRESSES]) {
      const url = address.replace("PORT", new URL(site.origin).port);
      expect(`${url} ${(await server.post("/", { url }, FORWARDED)).status}`).toBe(`${url} 403`);
    }
    expect(site.visits.length).toBe(before);
  });

  test("link-local and metadata addresses are closed to everybody", async () => {
    for (const url of FORBIDDEN_ADDRESSES)
      expect(`${url} ${(await server.post("/", { url })).status}`).toBe(`${url} 403`);
  });

  test("no field of a request gets a stranger there", async () => {
    const before = site.visits.length;
    for (const body of [
      { url: "http://example.org/", network: { proxy: site.origin } },
      { url: `${site.origin}/`, network: { proxy: "http://203.0.113.1:3128" } },
    ])
      expect((await server.post("/", body, FORWARDED)).status).toBe(403);
    expect((await server.get(`/${site.origin}/`, { headers: FORWARDED })).status).toBe(403);
    expect(site.visits.length).toBe(before);
  });
});

describe("other sites' pages", () => {
  test("a POST or DELETE with a foreign Origin is refused, unless the operator allows it", async () => {
    await using server = await startExtractor({
      env: { ARTICLE_EXTRACTOR_CORS_ORIGINS: "https://app.example" },
    });
    for (const [method, path] of [
      ["POST", "/"],
      ["POST", "/crawl"],
      ["DELETE", "/crawl/x"],
    ] as const) {
      const response = await server.get(path, { method, headers: { origin: "https://evil.example" } });
      expect(response.status).toBe(403);
      expect(await codeOf(response)).toBe("origin_refused");
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
    }
    const allowed = await server.post("/", {}, { origin: "https://app.example" });
    expect(allowed.status).toBe(422);
    expect(allowed.headers.get("access-control-allow-origin")).toBe("https://app.example");
    const preflight = await server.get("/", {
      method: "OPTIONS",
      headers: { origin: "https://app.example", "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(204);
    const own = await server.post("/", {}, { origin: server.url });
    expect(own.status).toBe(422);
  });

  test("a Host that is not the server's is refused when it is bound to loopback", async () => {
    await using server = await startExtractor({ env: { ARTICLE_EXTRACTOR_ALLOWED_HOSTS: "reader.example" } });
    const refused = await server.get("/crawl", { headers: { host: "evil.example" } });
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining("ARTICLE_EXTRACTOR_ALLOWED_HOSTS"),
    ]);
    expect((await server.get("/health", { headers: { host: "reader.example" } })).status).toBe(200);
  });

  test("with a list of hosts a probe beside the server still reaches it, whatever it is bound to", async () => {
    await using server = await startExtractor({
      words: ["--host", "0.0.0.0"],
      env: { ARTICLE_EXTRACTOR_ALLOWED_HOSTS: "reader.example" },
    });
    const { port } = new URL(server.url);
    const statusFor = async (host: string): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}/health`, { headers: { host } })).status;
    for (const host of ["reader.example", "localhost", `127.0.0.1:${port}`])
      expect(await statusFor(host)).toBe(200);
    for (const host of ["evil.example", "localhost.evil.example", "10.0.0.7"])
      expect(await statusFor(host)).toBe(403);
  });
});

describe("behind a proxy", () => {
  test("the base path stands in every address, and forwarded words count only from trusted proxies", async () => {
    await using server = await startExtractor({
      env: { ARTICLE_EXTRACTOR_BASE_PATH: "/reader", ARTICLE_EXTRACTOR_TRUSTED_PROXIES: "127.0.0.1" },
    });
    expect(await (await server.get("/reader/")).json()).toMatchObject({ docs: "/reader/docs" });
    const accepted = await server.post("/reader/crawl", { output_dir: "x", seeds: [`${site.origin}/`] });
    expect(accepted.headers.get("location")).toStartWith("/reader/crawl/");
    const document = (await (await server.get("/reader/openapi.json")).json()) as { servers: object[] };
    expect(document.servers).toEqual([{ url: "/reader" }]);
    await server.get("/ready?x", { headers: FORWARDED });
    await server.get("/reader/crawl", { headers: FORWARDED });
    await untilTrue(() => server.stderr().includes('"client":"203.0.113.7"'));
  });
});
