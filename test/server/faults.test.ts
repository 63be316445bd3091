import { expect, test } from "bun:test";
import { forAllTests } from "../support/for-all-tests.ts";
import { META, MODERN, postMcp } from "../support/mcp.ts";
import { folderTenant, openRegistry, openSearchServer } from "../support/search-server.ts";

const registry = forAllTests(openRegistry({ tenants: [folderTenant("harbour", { "quay.md": "# Quay\n" })] }));
const bug = (): never => {
  throw new TypeError("a bug in https://ann:hunter2@harbour.example/x?token=hunter3");
};
const server = forAllTests(
  openSearchServer(Object.assign(registry, { searchTogether: bug }), { apiKey: "hunter4" }),
);

const search = { name: "root_search", arguments: { tenant_codename: "*", query: "hunter5" } };

test.each<[string, string, object, Record<string, string>]>([
  ["a call", "tools/call", search, {}],
  ["a call that only the SDK reads", "tools/call", { ...search, task: null }, {}],
  ["a call of 2026-07-28", "tools/call", { ...search, _meta: META }, { "mcp-name": "root_search" }],
  ["the same call again", "tools/call", { ...search, _meta: META }, { "mcp-name": "root_search" }],
])("a bug in %s is logged, and the client is told of a fault", async (_, method, params, headers) => {
  registry.lines.length = 0;
  const response = await postMcp(
    server.url,
    { id: "seven", method, params },
    {
      authorization: "Bearer hunter4",
      ...("_meta" in params && { "mcp-protocol-version": MODERN, "mcp-method": method }),
      ...headers,
    },
  );
  expect(response.status).toBe(200);
  const answer = await response.text();
  expect(JSON.parse(answer)).toMatchObject({ jsonrpc: "2.0", id: "seven", error: { code: -32603 } });
  expect(answer).not.toMatch(/hunter|TypeError|bug in/);
  const faults = registry.lines
    .map((line) => JSON.parse(line))
    .filter(({ msg, message }) => (msg ?? message) === "fault");
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatchObject({
    request_id: response.headers.get("x-request-id"),
    rpc_id: "seven",
    method,
    error: expect.stringContaining("TypeError: a bug in https://"),
  });
  expect(registry.lines.join("\n")).not.toContain("hunter");
});

test("a call that fails by a bug is counted as one with an error", async () => {
  const text = await (
    await fetch(`${server.url}/metrics`, { headers: { authorization: "Bearer hunter4" } })
  ).text();
  expect(text).toContain('article_extractor_mcp_calls_total{tool="root_search",outcome="error"} 4');
});
