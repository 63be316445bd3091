import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { DOCUMENT_INSTRUCTIONS } from "../../src/server/api/mcp/tools.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { MCP_HEADERS } from "../support/mcp.ts";
import { folderTenant, openRegistry, openSearchServer, writeTree } from "../support/search-server.ts";

const DOCS = writeTree({
  "proxies.md": "# Proxies\n\nRequests go through a proxy when one is set.\n",
  "cafe.md": "# Café \u{1f980}\n\n</script> \u2028 & more.\n",
});
const tenant = (codename: string, more: object = {}): object => folderTenant(codename, DOCS, more);
const DEPLOYMENT = {
  infrastructure: { allow_index_builds: true },
  tenants: [
    tenant("tool", { test_queries: { natural: ["how do I bypass a proxy?"], words: ["nonesuchword"] } }),
    tenant("other"),
    tenant("third"),
    tenant("handed", { allow_index_builds: false }),
  ],
};

const registry = forAllTests(openRegistry(DEPLOYMENT));
await registry.build("tool");
const server = forAllTests(
  openSearchServer(registry, { queries: { path: join(registry.stateDirectory, "queries.sqlite"), days: 1 } }),
);

describe("the endpoint", () => {
  const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${server.url}${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { ...MCP_HEADERS, ...headers },
    });
  const initialize = (protocolVersion: string): object => ({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion, capabilities: {}, clientInfo: { name: "t", version: "1" } },
  });

  test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
    "speaks revision %s",
    async (version) => {
      for (const path of ["/mcp", "/mcp/"]) {
        const response = await post(path, initialize(version));
        expect(response.headers.get("content-type")).toStartWith("application/json");
        expect(await response.json()).toMatchObject({
          result: { protocolVersion: version, instructions: DOCUMENT_INSTRUCTIONS },
        });
      }
    },
  );

  test.each<[string, Record<string, string>, number]>([
    ["a client that takes no JSON", { accept: "text/event-stream" }, 406],
    ["a body that is no JSON", { "content-type": "text/plain" }, 415],
    ["a revision that there is not", { "mcp-protocol-version": "1999-01-01" }, 400],
  ])("refuses %s", async (_, headers, status) => {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_tenants" } };
    expect((await post("/mcp", message, headers)).status).toBe(status);
  });

  test.each(["application/json", "application/json;q=0.9, text/html", "*/*"])(
    "answers a client that takes %s",
    async (accept) => {
      const list = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_tenants" } };
      for (const message of [initialize("2025-06-18"), list]) {
        const response = await post("/mcp", message, { accept });
        expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
        expect(await response.json()).toMatchObject({ id: 1, result: {} });
      }
      const notice = { jsonrpc: "2.0", method: "notifications/initialized" };
      expect((await post("/mcp", notice, { accept })).status).toBe(202);
    },
  );

  test.each(["GET", "DELETE", "PUT"])("answers %s with 405", async (method) => {
    const response = await fetch(`${server.url}/mcp`, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST");
  });

  test("refuses foreign pages and names", async () => {
    const statusWith = async (headers: Record<string, string>): Promise<number> =>
      (await post("/mcp", initialize("2025-06-18"), headers)).status;
    expect(await statusWith({ origin: "https://evil.example" })).toBe(403);
    expect(await statusWith({ host: "evil.example" })).toBe(403);
    expect(await statusWith({ origin: server.url })).toBe(200);
  });

  test.each(["{", '"x"', "null", '{"jsonrpc":"2.0"}'])(
    "answers %s with an error and goes on",
    async (body) => {
      const response = await fetch(`${server.url}/mcp`, { method: "POST", body, headers: MCP_HEADERS });
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
    },
  );
});

describe("operations", () => {
  const json = async (path: string, init?: RequestInit) => {
    const response = await fetch(`${server.url}${path}`, init);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  test("health names every tenant", async () => {
    const { body } = await json("/health");
    expect(body).toMatchObject({
      tenant_count: 4,
      infrastructure: { operation_mode: "online", version: "0.0.0" },
      status: "degraded",
      tenants: {
        tool: { status: "healthy", source_type: "filesystem", doc_count: 2 },
        other: { status: "degraded", built_at: null, error: { code: "index_missing" } },
        handed: {
          status: "degraded",
          error: {
            code: "index_missing",
            message: "Tenant 'handed' has no search index; build it with: article-extractor index handed",
          },
        },
      },
    });
  });

  test("health names no tenant and no error to who has not the key", async () => {
    await using guarded = openSearchServer(registry, { apiKey: "s3cret" });
    const ask = async (headers: Record<string, string>) =>
      (await (await fetch(`${guarded.url}/health`, { headers })).json()) as unknown;
    const short = {
      status: "degraded",
      problems: [],
      tenants: {},
      infrastructure: { operation_mode: "online", version: "0.0.0", processes: { configured: 1, alive: 1 } },
    };
    expect(await ask({})).toEqual(short);
    expect(await ask({ authorization: "Bearer other" })).toEqual(short);
    const { body } = await json("/health");
    // This server keeps no log of queries.
    const infrastructure = { ...Object(body.infrastructure), query_log_days: 0 };
    expect(await ask({ authorization: "Bearer s3cret" })).toEqual({ ...body, infrastructure });
  });

  test("a trigger that can do nothing is refused, and says why", async () => {
    const { status, body } = await json("/handed/sync/trigger", { method: "POST" });
    expect({ status, body }).toMatchObject({
      status: 409,
      body: {
        success: false,
        code: "builds_not_allowed",
        detail: expect.stringContaining("allow_index_builds is false"),
      },
    });
  });

  test("sync status, trigger, and what there is not", async () => {
    expect((await json("/tool/sync/status")).body).toMatchObject({
      tenant: "tool",
      source_type: "filesystem",
      index: { doc_count: 2, building: false },
      left_out: {},
      test_queries: [
        { query: "how do I bypass a proxy?", hits: expect.any(Number) },
        { query: "nonesuchword", hits: 0 },
      ],
    });
    expect((await json("/nope/sync/status")).status).toBe(404);
    expect((await json("/nope")).status).toBe(404);
    expect((await json("/tool/sync/trigger")).status).toBe(405);
    expect(await json("/tool/sync/trigger", { method: "POST" })).toMatchObject({
      status: 202,
      body: { success: true },
    });
    expect((await json("/tenants/status")).body.tenants).toHaveLength(4);
  });

  test("metrics, readiness and the client's configuration", async () => {
    expect(await (await fetch(`${server.url}/metrics`)).text()).toContain(
      'article_extractor_mcp_calls_total{tool="list_tenants",outcome="success"}',
    );
    expect((await json("/ready")).body).toEqual({ ready: true });
    expect((await json("/mcp.json")).body).toEqual({
      defaultModel: null,
      mcpServers: { "article-extractor": { type: "http", url: `${server.url}/mcp` } },
    });
  });
});

describe("the description of the API", () => {
  type Operation = { readonly responses: Readonly<Record<string, { readonly content?: object }>> };
  type ApiDocument = {
    readonly openapi: string;
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  const read = async (): Promise<ApiDocument> =>
    (await (await fetch(`${server.url}/openapi.json`)).json()) as ApiDocument;

  test("names every operation", async () => {
    const { openapi, paths } = await read();
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(openapi).toBe("3.1.0");
    expect(operations.sort()).toEqual([
      ...["get /", "get /analytics", "get /docs", "get /document", "get /health", "get /mcp.json"],
      ...["get /metrics", "get /openapi.json", "get /ready", "get /search", "get /tenants/status"],
      "get /tenants/why",
      ...["get /{codename}/sync/status", "post /mcp", "post /{codename}/sync/trigger"],
    ]);
  });

  test("is true of what is answered", async () => {
    const { paths } = await read();
    for (const [path, methods] of Object.entries(paths)) {
      const { get } = methods;
      if (!get) continue;
      const response = await fetch(
        server.url +
          path
            .replace("{codename}", "tool")
            .replace(/search$/, "$&?q=x")
            .replace(/document$/, "$&?uri=docs://tool/cafe.md")
            .replace(/why$/, "$&?url=docs://tool/cafe.md"),
      );
      const type = response.headers.get("content-type")?.split(";")[0] ?? "";
      expect([path, response.status, Object.keys(get.responses["200"]?.content ?? {})]).toEqual([
        path,
        200,
        expect.arrayContaining([type]),
      ]);
    }
  });

  test("is shown at /docs", async () => {
    const page = await fetch(`${server.url}/docs`, { headers: { accept: "text/html" } });
    expect(await page.text()).toContain("swagger-ui");
    expect((await fetch(`${server.url}/docs/swagger-ui.css`)).status).toBe(200);
  });
});
