import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { forAllTests } from "../support/for-all-tests.ts";
import { connectMcp } from "../support/mcp.ts";
import { type Nginx, startNginx } from "../support/nginx.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { untilTrue } from "../support/until.ts";

const env = { ARTICLE_EXTRACTOR_TRUSTED_PROXIES: "127.0.0.0/8", DOCS_SEARCH_ALLOWED_HOSTS: "docs.example" };
const served = forAllTests(await Served.start(writeDeployment({ log_level: "info" }), { env }));
await untilTrue(async () => {
  const health = await fetch(`${served.url}/health`, { headers: { host: "docs.example" } });
  return ((await health.json()) as { status: string }).status === "healthy";
});

const FORWARDED = `
  proxy_set_header Host docs.example;
  proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
  proxy_set_header X-Forwarded-Proto https;
  proxy_set_header X-Forwarded-Prefix /tools;`;

describe.each([
  ["that takes the prefix off", (url: string) => `location /tools/ { proxy_pass ${url}/; ${FORWARDED} }`],
  ["that leaves the prefix on", (url: string) => `location /tools/ { proxy_pass ${url}; ${FORWARDED} }`],
])("behind an nginx with a path prefix, %s", (_, location) => {
  let nginx: Nginx;
  beforeAll(async () => {
    nginx = await startNginx(location(served.url));
  });
  afterAll(() => nginx[Symbol.asyncDispose]());

  test.each(["/tools/mcp", "/tools/mcp/"])("a client searches at %s", async (path) => {
    await using client = await connectMcp(nginx.url + path);
    const args = { tenant_codename: "tool", query: "no_proxy" };
    const { structuredContent } = await client.callTool({ name: "root_search", arguments: args });
    expect(structuredContent).toMatchObject({ error: null, results: [{ url: "docs://tool/proxies.md" }] });
  });

  test("clients are told the address that they see", async () => {
    const configuration = await (await fetch(`${nginx.url}/tools/mcp.json`)).json();
    expect(configuration).toMatchObject({
      mcpServers: { "article-extractor": { url: "https://docs.example/tools/mcp" } },
    });
  });

  test("the log has the client's address, not the proxy's, and a request keeps its id", async () => {
    const headers = { "x-request-id": "from-outside", "x-forwarded-for": "192.0.2.7" };
    const response = await fetch(`${nginx.url}/tools/tenants/status`, { headers });
    expect(response.headers.get("x-request-id")).toBe("from-outside");
    const lineOf = () => served.said.split("\n").find((one) => one.includes("from-outside"));
    await untilTrue(() => lineOf() !== undefined);
    expect(JSON.parse(lineOf() ?? "{}")).toMatchObject({ path: "/tenants/status", client: "192.0.2.7" });
  });

  test("health and errors come through", async () => {
    expect((await fetch(`${nginx.url}/tools/health`)).status).toBe(200);
    const missing = await fetch(`${nginx.url}/tools/nothing`);
    expect(missing.status).toBe(404);
    expect(await missing.json()).toMatchObject({ code: "not_found" });
  });
});
