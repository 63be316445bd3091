import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { silentLog } from "../../src/base/silent-log.ts";

type Headers = Readonly<Record<string, string>>;

/** The headers that every message over HTTP has. */
export const MCP_HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

/** The revision without `initialize`, and what each of its messages says of itself. */
export const MODERN = "2026-07-28";
export const META = {
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A call of a tool by this machine, whose result somebody waits for. */
export const CALL = {
  signal: () => new AbortController().signal,
  caller: () => ({ kind: "loopback_request" }) as const,
  client: () => "",
  log: silentLog,
};

/** Posts one message to the endpoint below a URL. */
export const postMcp = (url: string, message: object, headers: Headers = {}): Promise<Response> =>
  fetch(`${url}/mcp`, {
    method: "POST",
    headers: { ...MCP_HEADERS, ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
  });

/** Calls a tool by hand and gives its structured result. */
export async function callMcp<Result>(
  url: string,
  name: string,
  args: object,
  headers: Headers = {},
): Promise<Result> {
  const response = await postMcp(url, { method: "tools/call", params: { name, arguments: args } }, headers);
  const { result } = (await response.json()) as { result: { structuredContent: Result } };
  return result.structuredContent;
}

/** The SDK's client of an endpoint; dispose of it to close it. */
export async function connectMcp(endpoint: string, headers: Headers = {}): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(endpoint), { requestInit: { headers } });
  await client.connect(transport as never);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}
