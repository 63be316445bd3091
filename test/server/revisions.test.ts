import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { BINARY, cleanEnvironment } from "../support/binary.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { MODERN, postMcp } from "../support/mcp.ts";
import { startNginx } from "../support/nginx.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { untilTrue } from "../support/until.ts";

const root = writeDeployment();
const served = forAllTests(await Served.start(root));
const nginx = forAllTests(
  await startNginx(`location /tools/ { proxy_pass ${served.url}/; proxy_set_header Host localhost; }`),
);
await untilTrue(async () => (await served.search("no_proxy")).error === null);

const transports = {
  HTTP: () => new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`)),
  "HTTP behind nginx with a prefix": () =>
    new StreamableHTTPClientTransport(new URL(`${nginx.url}/tools/mcp`)),
  stdio: () =>
    new StdioClientTransport({
      command: BINARY,
      args: ["serve", "search", "--stdio"],
      cwd: root,
      env: cleanEnvironment({ DOCS_SEARCH_STATE_DIR: join(root, "state") }),
      stderr: "ignore",
    }),
};

describe.each(Object.keys(transports) as (keyof typeof transports)[])("over %s", (name) => {
  test.each([
    ["that knows no other revision", { pin: MODERN }, MODERN],
    ["that takes the newest", "auto", MODERN],
    ["of the older revisions", "legacy", "2025-11-25"],
  ] as const)("the second SDK's client %s reaches everything", async (_, mode, revision) => {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(transports[name]());
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect(client.getServerVersion()).toMatchObject({ name: "article-extractor" });
    expect(client.getInstructions()).toContain("root_search");
    expect((await client.listTools()).tools.map((tool) => tool.name)).toContain("root_fetch");
    const found = await client.callTool({
      name: "root_search",
      arguments: { tenant_codename: "tool", query: "no_proxy" },
    });
    expect(found.structuredContent).toMatchObject({ error: null, results: [{ title: "Proxies" }] });
    const failed = await client.callTool({ name: "describe_tenant", arguments: { codename: "nope" } });
    expect([failed.isError ?? false, failed.structuredContent]).toMatchObject([
      false,
      { error: expect.stringMatching(/^Tenant 'nope' not found/) },
    ]);
    await expect(client.callTool({ name: "nope", arguments: {} })).rejects.toThrow("Unknown tool: nope");
    expect(client.getServerCapabilities()).toEqual({ tools: {} });
    const uri = "docs://tool/proxies.md";
    await expect(client.readResource({ uri })).rejects.toThrow(/not found|does not support resources/);
    await client.close();
  });
});

/** Posts a message of the newest revision with the headers that belong to it. */
async function post(
  method: string,
  params: object,
  headers: Record<string, string> = {},
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const response = await postMcp(
    served.url,
    { id: 7, method, params },
    { "mcp-protocol-version": MODERN, "mcp-method": method, ...headers },
  );
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const meta = (revision = MODERN): object => ({
  _meta: {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": {},
  },
});

test("discovery says what there is, who answers, and how long that holds", async () => {
  const { status, body } = await post("server/discover", meta());
  expect(status).toBe(200);
  expect(body).toMatchObject({
    id: 7,
    result: {
      resultType: "complete",
      supportedVersions: [MODERN],
      capabilities: { tools: {} },
      cacheScope: "private",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "article-extractor" } },
    },
  });
});

test("the list of tools says how long it may be kept; results of tools do not", async () => {
  expect((await post("tools/list", meta())).body).toMatchObject({
    result: { resultType: "complete", ttlMs: 3_600_000, cacheScope: "private" },
  });
  const params = { name: "list_tenants", arguments: {}, ...meta() };
  const { body } = await post("tools/call", params, { "mcp-name": "list_tenants" });
  expect(body).toMatchObject({ result: { resultType: "complete", structuredContent: { count: 1 } } });
  expect(body.result).not.toHaveProperty("ttlMs");
});

test("a revision that there is not is refused with those that exist", async () => {
  const { status, body } = await post("tools/list", meta("2031-01-01"), {
    "mcp-protocol-version": "2031-01-01",
  });
  expect(status).toBe(400);
  expect(body).toMatchObject({
    id: 7,
    error: { code: -32022, data: { supported: [MODERN], requested: "2031-01-01" } },
  });
});

test.each<[what: string, method: string, params: object, headers: Record<string, string>, code: number]>([
  ["without its revision", "tools/list", {}, {}, -32602],
  [
    "with another revision in the header",
    "tools/list",
    meta(),
    { "mcp-protocol-version": "2025-11-25" },
    -32020,
  ],
  ["with another method in the header", "tools/list", meta(), { "mcp-method": "prompts/list" }, -32020],
  [
    "with another tool in the header",
    "tools/call",
    { name: "list_tenants", ...meta() },
    { "mcp-name": "root_search" },
    -32020,
  ],
])("a request %s is refused", async (_, method, params, headers, code) => {
  const { status, body } = await post(method, params, headers);
  expect({ status, body }).toMatchObject({ status: 400, body: { id: 7, error: { code } } });
});

test.each(["initialize", "ping", "nope/nope", "toString"])(
  "there is no method %s, with 404",
  async (method) => {
    const { status, body } = await post(method, meta());
    expect({ status, body }).toMatchObject({ status: 404, body: { id: 7, error: { code: -32601 } } });
  },
);
