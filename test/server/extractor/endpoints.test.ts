import { describe, expect, test } from "bun:test";
import { startExtractor } from "../../support/extractor-server.ts";
import { startFaultySite } from "../../support/faulty-site.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveSite } from "../../support/site.ts";
import { untilTrue } from "../../support/until.ts";

const server = forAllTests(await startExtractor());
const site = forAllTests(await serveSite());
const faulty = forAllTests(await startFaultySite());

const ARTICLE = "/news/borrowed-tools.html";
const PAGE = { url: "https://example.org/" };

/** The problem of an error answer, checked in its form (RFC 9457). */
async function problemOf(response: Response) {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  const problem = (await response.json()) as {
    readonly status: number;
    readonly code: string;
    readonly detail: string;
    readonly title: string;
    readonly request_id: string;
    readonly http_status?: number;
    readonly target_status?: number;
    readonly errors?: readonly { readonly path: string; readonly message: string }[];
  };
  expect(problem.status).toBe(response.status);
  expect(problem.request_id).toBe(response.headers.get("x-request-id") ?? "");
  expect(problem.title).not.toBe("");
  return problem;
}

describe("POST /", () => {
  test("answers with the extraction result", async () => {
    const response = await server.post("/", { url: site.origin + ARTICLE });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toStartWith("application/json");
    expect(await response.json()).toMatchObject({
      url: site.origin + ARTICLE,
      final_url: site.origin + ARTICLE,
      status_code: 200,
      fetcher: "http",
      title: "What we learned from two years of lending tools",
      byline: "Marta Oyelaran",
      word_count: 429,
      success: true,
      warnings: null,
    });
  });

  test("takes every option, and nulls for what is left open", async () => {
    const body = {
      url: site.origin + ARTICLE,
      prefer_browser: false,
      network: {
        user_agent: "tester/1",
        random_user_agent: false,
        headed: false,
        proxy: null,
        proxy_bypass: ["localhost"],
        storage_state: null,
        user_interaction_timeout: 0,
      },
      options: {
        min_word_count: 100_000,
        favor: "precision",
        engine: "readability",
        include_images: false,
        include_code: false,
        select: "main",
        exclude: ["p"],
      },
    };
    const { warnings, text } = (await (await server.post("/", body)).json()) as Record<string, unknown>;
    expect(warnings).toEqual([expect.stringContaining("Content below minimum word count")]);
    expect(text).not.toContain("Two years ago");
    const nulls = { url: site.origin + ARTICLE, prefer_browser: null, network: null, options: null };
    expect((await server.post("/", nulls)).status).toBe(200);
  });

  test("answers with the fields that the request names, in their order, also out of the cache", async () => {
    const url = `${site.origin}/docs/forecast.html`;
    const ask = async (fields: readonly string[]) =>
      (await (await server.post("/", { url, fields })).json()) as Record<string, unknown>;
    const whole = await ask(["default"]);
    const names = ["title", "links", "images", "structured_data"];
    const asked = await ask(names);
    expect(Object.keys(asked)).toEqual(names);
    const linked = `${site.origin}/news/night-shift-at-the-sluice.html`;
    expect(asked.links).toEqual([{ url: linked, text: "One winter night" }]);
    expect(await ask(["default", "links"])).toEqual({ ...whole, links: asked.links });
    expect(await (await server.post("/", { url })).json()).toEqual(whole);
  });

  test.each<[string, object, string]>([
    ["no url", {}, "url"],
    ["a url that is none", { url: "notaurl" }, "url"],
    ["another scheme", { url: "file:///etc/passwd" }, "url"],
    ["a url of another type", { url: 7 }, "url"],
    ["an unknown field of the result", { ...PAGE, fields: ["titel"] }, "fields.0"],
    ["an unknown field", { ...PAGE, prefer_chrome: true }, "prefer_chrome"],
    ["an unknown field of network", { ...PAGE, network: { agent: "x" } }, "network.agent"],
    ["an option out of its range", { ...PAGE, options: { min_word_count: -1 } }, "options.min_word_count"],
    ["a proxy that is none", { ...PAGE, network: { proxy: "socks5://h:1" } }, "network.proxy"],
    [
      "a user agent with a line break",
      { ...PAGE, network: { user_agent: "a\r\nb: c" } },
      "network.user_agent",
    ],
  ])("names the field of %s with 422", async (_, body, path) => {
    const response = await server.post("/", body);
    expect(response.status).toBe(422);
    const { errors } = await problemOf(response);
    expect(errors?.map((error) => error.path)).toEqual([path]);
  });

  test.each<[string, string, number, string]>([
    ["a body that is no JSON", "{", 400, "application/json"],
    ["a body of another type", "url=x", 415, "application/x-www-form-urlencoded"],
    ["no type at all", "{}", 415, ""],
    ["a body over 2 MiB", `"${"x".repeat(2 * 1024 * 1024)}"`, 413, "application/json"],
    ["a body that is a list", "[]", 422, "application/json"],
    ["a body of null", "null", 422, "application/json"],
    ["a body of nothing", "", 400, "application/json"],
  ])("%s", async (_, body, status, type) => {
    const headers: Record<string, string> = type === "" ? {} : { "content-type": type };
    const response = await fetch(`${server.url}/`, { method: "POST", body: new Blob([body]), headers });
    expect(response.status).toBe(status);
    await problemOf(response);
  });

  test.each<[string, string, number, string]>([
    ["an error status of the target", "/status/500", 502, "500"],
    ["a page that is not there", "/status/403", 502, "403"],
    ["a body of another type", "/type?value=application/pdf", 422, "application/pdf"],
    ["a page without words", "/type?value=text/html&empty", 200, ""],
    ["more bytes than allowed", "/bomb/gzip?mb=30", 422, "limit"],
  ])("%s", async (_, path, status, part) => {
    const response = await server.post("/", { url: faulty.origin + path });
    expect(response.status).toBe(status);
    if (status !== 200) expect((await problemOf(response)).detail).toContain(part);
  });

  test("a target's error status stands in a field of the answer, and in no other answer", async () => {
    const asked: readonly [string, number | undefined][] = [
      ["/status/500", 500],
      ["/status/404", 404],
      ["/status/403", 403],
      ["/flaky?status=429&times=9&retry-after=3600", 429],
      ["/not-http", undefined],
    ];
    for (const [path, status] of asked) {
      const response = await server.post("/", { url: faulty.origin + path });
      const { http_status, target_status } = await problemOf(response);
      expect([path, response.status, http_status, target_status]).toEqual([path, 502, status, status]);
    }
    expect((await problemOf(await server.get("/nothing"))).target_status).toBeUndefined();
  });

  test("a page that takes too long is 504", async () => {
    await using hasty = await startExtractor({ env: { ARTICLE_EXTRACTOR_TIMEOUT: "0.2" } });
    const response = await hasty.post("/", { url: `${faulty.origin}/slow-headers?ms=5000` });
    expect(response.status).toBe(504);
    expect((await problemOf(response)).code).toBe("timeout");
  });

  test("a target that refuses the connection is 502", async () => {
    const response = await server.post("/", { url: "http://127.0.0.1:1/" });
    expect(response.status).toBe(502);
    expect((await problemOf(response)).code).toBe("network");
  });

  test("answers a second request for the page from the cache", async () => {
    const before = faulty.requests.length;
    const body = { url: `${faulty.origin}/page?cached` };
    await server.post("/", body);
    await server.post("/", body);
    expect(faulty.requests.length).toBe(before + 1);
    await server.post("/", { ...body, options: { include_images: false } });
    expect(faulty.requests.length).toBe(before + 2);
    await server.post("/", { ...body, options: { engine: "readability" } });
    expect(faulty.requests.length).toBe(before + 3);
  });
});

describe("GET /https://…", () => {
  const read = (accept: string | null, prefix = "/") =>
    server.get(`${prefix}${site.origin}${ARTICLE}`, { headers: accept === null ? {} : { accept } });

  test.each<[string, string | null, string, string]>([
    ["Markdown where nothing is asked for", "*/*", "text/markdown", "# What we learned"],
    ["Markdown", "text/markdown", "text/markdown", "# What we learned"],
    ["Markdown for a type that is none", "constructor", "text/markdown", "# What we learned"],
    ["plain text", "text/plain", "text/plain", "What we learned"],
    ["JSON", "application/json", "application/json", '{"url":"http'],
    ["JSON where it weighs most", "text/plain;q=0.5, application/json", "application/json", '{"url":"http'],
    ["Markdown that a browser shows", "text/html,*/*;q=0.8", "text/plain", "# What we learned"],
  ])("%s", async (_, accept, type, start) => {
    const response = await read(accept);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toStartWith(type);
    expect(await response.text()).toStartWith(start);
  });

  test("takes the query along, one slash for two, and an escaped address", async () => {
    await server.get(`/${faulty.origin}/page?a=1&b=2`);
    expect(faulty.requests.at(-1)?.target).toBe("/page?a=1&b=2");
    await server.get(`/${faulty.origin.replace("//", "/")}/page?c=3`);
    expect(faulty.requests.at(-1)?.target).toBe("/page?c=3");
    await server.get(`/${encodeURIComponent(`${faulty.origin}/page?d=4`)}`);
    expect(faulty.requests.at(-1)?.target).toBe("/page?d=4");
  });

  test.each([
    ["/ftp://example.org/", 404],
    ["/example.org", 404],
    ["/https://", 422],
    ["/https:", 404],
  ])("%s is %i", async (path, status) => {
    const response = await server.get(path);
    expect(response.status).toBe(status);
    await problemOf(response);
  });
});

describe("the other endpoints", () => {
  test("/health says what the server has", async () => {
    const response = await server.get("/health");
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      status: "healthy",
      service: "article-extractor",
      version: expect.any(String),
      uptime_seconds: expect.any(Number),
      cache: { size: expect.any(Number), max_size: 1000 },
      workers: expect.any(Number),
      browser: { available: expect.any(Boolean) },
      jobs: { running: 0, queued: 0 },
    });
  });

  test("/ready is 200, / names the service, unknown paths are 404, other methods 405", async () => {
    expect(await (await server.get("/ready")).json()).toEqual({ ready: true });
    expect(await (await server.get("/")).json()).toMatchObject({
      service: "article-extractor",
      status: "ready",
    });
    expect((await problemOf(await server.get("/nothing"))).status).toBe(404);
    const wrong = await fetch(`${server.url}/crawl`, { method: "PUT" });
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get("allow")).toBe("GET, HEAD, POST");
  });

  test("/metrics counts requests and extractions", async () => {
    const text = await (await server.get("/metrics")).text();
    expect(text).toContain('article_extractor_article_requests_total{shell="server",outcome="success"} ');
    expect(text).toContain(
      'article_extractor_http_request_duration_seconds_bucket{method="POST",route="/",le="60"}',
    );
  });

  test("/docs and what it loads come from the server, under a policy that allows nothing else", async () => {
    const page = await server.get("/docs");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self'");
    const html = await page.text();
    const loaded = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, address = ""]) => address);
    expect(loaded.filter((address) => !address.startsWith("data:")).length).toBe(6);
    for (const address of loaded) {
      if (address.startsWith("data:")) continue;
      const file = await server.get(`/${address}`);
      expect(file.status).toBe(200);
      expect((await file.bytes()).length).toBeGreaterThan(50);
    }
    expect((await server.get("/docs/nothing.js")).status).toBe(404);
  });

  test("/openapi.json describes every operation with its errors", async () => {
    const document = (await (await server.get("/openapi.json")).json()) as {
      readonly openapi: string;
      readonly paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
    };
    expect(document.openapi).toBe("3.1.0");
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(operations.sort()).toEqual([
      ...["delete /crawl/{job_id}", "get /", "get /crawl"],
      "get /crawl/{job_id}",
      ...["download", "events", "manifest", "outcomes", "pages"].map((part) => `get /crawl/{job_id}/${part}`),
      "get /docs",
      ...["get /health", "get /mcp.json", "get /metrics", "get /openapi.json", "get /ready"],
      "get /{url}",
      "post /",
      "post /batch",
      "post /crawl",
      "post /mcp",
    ]);
    const statuses = Object.keys(document.paths["/"]?.post?.responses ?? {}).join(" ");
    expect(statuses).toBe("200 400 401 403 408 413 415 422 429 500 502 503 504");
  });

  test("a request id is taken over when it is one, and is in the log", async () => {
    const given = await server.get("/health", { headers: { "x-request-id": "caller-7" } });
    expect(given.headers.get("x-request-id")).toBe("caller-7");
    const odd = await server.get("/", { headers: { "x-request-id": "with space" } });
    const made = odd.headers.get("x-request-id") ?? "";
    expect(made).toMatch(/^[0-9a-f-]{36}$/);
    await untilTrue(() => server.stderr().includes(made));
  });

  test.each(["/http://reader:pa55word@", "/http:/reader:pa55word@", "/http%3A%2F%2Freader%3Apa55word%40"])(
    "credentials in %s… reach the target, and no log",
    async (start) => {
      const response = await server.get(`${start}${new URL(faulty.origin).host}/echo?${start.length}`, {
        headers: { "x-request-id": `with-credentials-${start.length}` },
      });
      expect(response.status).toBe(200);
      expect(faulty.requests.at(-1)?.headers.authorization).toBe(`Basic ${btoa("reader:pa55word")}`);
      const logged = () => server.lines(`with-credentials-${start.length}`);
      await untilTrue(() => logged().some((line) => line.includes('"status":200')));
      expect(logged().join("\n")).toContain("/echo");
      expect(server.stderr()).not.toContain("pa55word");
    },
  );

  test("answers carry the headers that keep browsers careful, errors too", async () => {
    for (const path of ["/health", "/nothing", "/docs"]) {
      const { headers } = await server.get(path);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    }
  });
});
