import { createMcpEndpoint } from "../../src/server/api/mcp/protocol.ts";
import { documentation } from "../../src/server/index.ts";
import { CALL } from "./mcp.ts";
import { folderTenant, openIndexed } from "./search-server.ts";

const call = (name: string, given: object): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name, arguments: given, _meta: { progressToken: 2 } },
  });

/** Bodies of requests that clients send. */
export const MCP_BODIES: readonly string[] = [
  call("root_search", { tenant_codename: "quay", query: '"moor a boat" -crane', size: 5, word_match: true }),
  call("root_fetch", { tenant_codename: "quay", uri: "docs://quay/boats.md", offset: 3, max_chars: 9 }),
  call("find_tenant", { query: "quays" }),
  call("describe_tenant", { codename: "quay" }),
  '{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}',
  '[{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"ping"}]',
];

const registry = await openIndexed(
  folderTenant("quay", { "boats.md": "# Boats\n\nHow to moor a boat at the quay.\n" }),
);

const answer = createMcpEndpoint({
  name: "article-extractor",
  version: "0.0.0",
  ...documentation({
    registry,
    searchTimeoutMs: 1000,
    includeStats: true,
    fetchMode: "surrounding",
    fetchSurroundingChars: 1000,
    maxFetchChars: 400_000,
    queryLog: null,
    onSearched: () => {},
    pages: null,
  }),
  onCall: () => {},
});

/** What the server says of its own faults; the SDK gives requests without what their method needs the same code. */
const OWN_FAULT = "a fault inside the server";

/** Answers a body as the server does. @throws when that is no answer of the protocol, or tells of a fault of ours */
export async function answerMcpBody(body: string): Promise<void> {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const request = new Request("http://127.0.0.1/mcp", { method: "POST", headers });
  const response = await answer({ request, body, call: CALL });
  const text = await response.text();
  if (response.status === 202 && text === "") return;
  if (response.status !== 200 && response.status !== 400) throw new Error(`status ${response.status}`);
  for (const answer of [JSON.parse(text)].flat()) requireAnswer(answer);
}

type Answer = {
  readonly jsonrpc?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown };
};

function requireAnswer({ jsonrpc, result, error }: Answer): void {
  if (jsonrpc !== "2.0" || (result === undefined) === (error === undefined))
    throw new Error("no answer of the protocol");
  if (error !== undefined && (!Number.isSafeInteger(error.code) || error.message === OWN_FAULT))
    throw new Error(`a fault: ${JSON.stringify(error).slice(0, 100)}`);
}
