import type { Metrics } from "../../../base/metrics.ts";
import { subscriberNetwork } from "../../../fetching/index.ts";
import type { Exchange, Handler } from "../../middleware/exchange.ts";
import { callerOf } from "../callers.ts";
import { type ApiOperation, z } from "../openapi.ts";
import { problem } from "../problems.ts";
import type { McpOptions } from "./offer.ts";
import { createMcpEndpoint } from "./protocol.ts";

const JsonRpc = z.record(z.string(), z.unknown()).openapi("JsonRpc", {
  description: "A message of JSON-RPC 2.0, as the Model Context Protocol defines them",
});

/** The operation `POST /mcp` of either server. */
export function mcpOperation(options: McpOptions & { readonly hasApiKey: boolean }): ApiOperation {
  const answer = createMcpEndpoint(options);
  return {
    method: "post",
    path: "/mcp",
    tag: "mcp",
    summary: "The MCP endpoint: Streamable HTTP without sessions, with JSON replies",
    body: JsonRpc,
    answers: {
      200: { description: "The reply", content: { "application/json": JsonRpc } },
      202: { description: "A notification was taken" },
      408: problem("The request took too long"),
      413: problem("The body is over 2 MiB"),
      429: problem("More requests of one client at once than the server takes"),
    },
    handle: ({ exchange }) => {
      exchange.keepOpen();
      const { request, body } = exchange;
      return answer({ request, body, call: toolCallOf(exchange, options.hasApiKey) });
    },
  };
}

/** Counts the calls of tools. */
export const countCalls =
  (metrics: Metrics): McpOptions["onCall"] =>
  (tool, outcome, durationMs) => {
    metrics.count(`mcp.${tool}.${outcome}`);
    metrics.time(`mcp.${tool}`, durationMs);
  };

const toolCallOf = (exchange: Exchange, hasApiKey: boolean) => ({
  signal: exchange.signal,
  caller: () => callerOf(exchange, hasApiKey),
  client: () => subscriberNetwork(exchange.client.address),
});

/** Answers at `/mcp/` as at `/mcp`: many clients are given the endpoint's address with a trailing slash. */
export const withMcpSlash =
  (handle: Handler): Handler =>
  (exchange) =>
    handle(exchange.path === "/mcp/" ? { ...exchange, path: "/mcp" } : exchange);
