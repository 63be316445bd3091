import { expect, test } from "bun:test";
import fc from "fast-check";
import { createMcpEndpoint } from "../../src/server/api/mcp/protocol.ts";
import { documentation } from "../../src/server/index.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { CALL } from "../support/mcp.ts";
import { folderTenant, openIndexed } from "../support/search-server.ts";

const MODERN = "2026-07-28";
const META = {
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};

const registry = forAllTests(
  await openIndexed(folderTenant("harbour", { "quay.md": "# Quay\n\nMoor the “boat” at\u2028the quay.\n" })),
);
const options = {
  name: "test",
  version: '1"2',
  onCall: () => {},
  ...documentation({
    registry,
    searchTimeoutMs: 30_000,
    includeStats: false,
    fetchMode: "surrounding",
    fetchSurroundingChars: 1000,
    maxFetchChars: 400_000,
    queryLog: null,
    onSearched: () => {},
    pages: null,
  }),
};
const warm = createMcpEndpoint(options);
await answerOf(warm, { name: "list_tenants" });

type Changes = { readonly headers?: Record<string, string | null>; readonly message?: object };

async function answerOf(
  endpoint: typeof warm,
  params: Readonly<Record<string, unknown>>,
  { headers = {}, message = {} }: Changes = {},
): Promise<readonly [number, string | null, unknown]> {
  const all = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": MODERN,
    "mcp-method": "tools/call",
    "mcp-name": String(params.name),
    ...headers,
  };
  const given = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== null);
  const request = new Request("http://127.0.0.1/mcp", { method: "POST", headers: given });
  const asked = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { _meta: META, ...params },
    ...message,
  };
  const response = await endpoint({ request, body: JSON.stringify(asked), call: CALL });
  return [response.status, response.headers.get("content-type"), await response.text()];
}

/** An endpoint that knows no client lets the SDK answer its first call. */
const answerOfSdk = (...asked: Parameters<typeof answerOf> extends [unknown, ...infer Rest] ? Rest : never) =>
  answerOf(createMcpEndpoint(options), ...asked);

test("a plain call of 2026-07-28 is answered as the SDK does, byte for byte", async () => {
  const word = fc.oneof(fc.constantFrom("harbour", "moor boat", "docs://harbour/quay.md"), fc.string());
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("list_tenants", "find_tenant", "describe_tenant", "root_search", "root_fetch"),
      fc.record(
        { codename: word, query: word, uri: word, size: fc.oneof(fc.nat(9), word) },
        { requiredKeys: [] },
      ),
      fc.oneof(fc.integer(), fc.string()),
      async (name, given, id) => {
        const asked = [{ name, arguments: given }, { message: { id } }] as const;
        expect(await answerOf(warm, ...asked)).toEqual(await answerOfSdk(...asked));
      },
    ),
    { numRuns: 60 },
  );
});

const described = { name: "describe_tenant", arguments: { codename: "harbour" } };
const withMeta = (more: object): Record<string, unknown> => ({ ...described, _meta: { ...META, ...more } });

test.each<[string, Record<string, unknown>, Changes]>([
  ["another name in the header", described, { headers: { "mcp-name": "root_fetch" } }],
  ["no name in the header", described, { headers: { "mcp-name": null } }],
  ["a name in Base64", described, { headers: { "mcp-name": `=?base64?${btoa("describe_tenant")}?=` } }],
  ["another method in the header", described, { headers: { "mcp-method": "tools/list" } }],
  ["no method in the header", described, { headers: { "mcp-method": null } }],
  ["another revision in the header", described, { headers: { "mcp-protocol-version": "2025-11-25" } }],
  ["no revision in the header", described, { headers: { "mcp-protocol-version": null } }],
  ["a revision that there is not", withMeta({ "io.modelcontextprotocol/protocolVersion": "2027-01-01" }), {}],
  [
    "one in both places",
    withMeta({ "io.modelcontextprotocol/protocolVersion": "2027-01-01" }),
    { headers: { "mcp-protocol-version": "2027-01-01" } },
  ],
  ["no capabilities", withMeta({ "io.modelcontextprotocol/clientCapabilities": undefined }), {}],
  ["capabilities that are none", withMeta({ "io.modelcontextprotocol/clientCapabilities": 7 }), {}],
  ["a client without a name", withMeta({ "io.modelcontextprotocol/clientInfo": {} }), {}],
  ["no client", withMeta({ "io.modelcontextprotocol/clientInfo": undefined }), {}],
  ["no _meta", { ...described, _meta: undefined }, {}],
  ["a progress token", withMeta({ progressToken: "p" }), {}],
  ["a progress token that is none", withMeta({ progressToken: {} }), {}],
  ["a field of the client's own", withMeta({ "example.com/trace": "1" }), {}],
  ["a field of the protocol", withMeta({ "io.modelcontextprotocol/logLevel": "debug" }), {}],
  ["such a field that is wrong", withMeta({ "io.modelcontextprotocol/logLevel": 7 }), {}],
  ["an unknown tool", { name: "nope" }, {}],
  ["a tool without a name", { arguments: {} }, {}],
  ["arguments that are none", { name: "list_tenants", arguments: 7 }, {}],
  ["more parameters", { ...described, requestState: "x" }, {}],
  ["more members", described, { message: { more: 1 } }],
  ["only JSON taken", described, { headers: { accept: "application/json" } }],
  ["only events taken", described, { headers: { accept: "text/event-stream" } }],
  ["nothing named that is taken", described, { headers: { accept: null } }],
  ["a charset", described, { headers: { "content-type": "application/json; charset=utf-8" } }],
])("a call with %s is answered as the SDK does", async (_, params, changes) => {
  const bySdk = await answerOfSdk(params, changes);
  expect(await answerOf(warm, params, changes)).toEqual(bySdk);
  // What the SDK refuses is not remembered as right.
  expect(await answerOf(warm, params, changes)).toEqual(bySdk);
});

test("a client whose words are new is answered too, after more clients than are remembered", async () => {
  for (let at = 0; at < 120; at++) {
    const client = { name: `client ${at}`, version: "1" };
    const params = withMeta({ "io.modelcontextprotocol/clientInfo": client });
    expect((await answerOf(warm, params))[0]).toBe(200);
  }
  expect(await answerOf(warm, described)).toEqual(await answerOfSdk(described));
});
