import type { Metrics } from "../../../base/metrics.ts";
import { subscriberNetwork } from "../../../fetching/index.ts";
import type { Grant, Handler } from "../../middleware/exchange.ts";
import { callerOf } from "../../middleware/origin.ts";
import { type ApiOperation, answerOf, parseWith, problem, z } from "../openapi.ts";
import { clientConfiguration, MCP_CLIENTS } from "./client-configuration.ts";
import type { McpOffer, McpProgram } from "./offer.ts";
import { createMcpEndpoint } from "./protocol.ts";

const JsonRpc = z.record(z.string(), z.unknown()).openapi("JsonRpc", {
  description: "A message of JSON-RPC 2.0, as the Model Context Protocol defines them",
});
const Messages = z.union([JsonRpc, z.array(JsonRpc)]);

/** The operation `POST /mcp` of either server. */
export function mcpOperation(
  options: McpProgram & {
    readonly hasApiKey: boolean;
    /** Returns the offer for callers that may use these tenants; null stands for all tenants. */
    readonly offerTo: (tenants: Grant["tenants"]) => McpOffer;
    /** Gives another value once callers are offered something else. */
    readonly versionOf?: () => unknown;
  },
): ApiOperation {
  const { name, version, onCall } = options;
  const endpointFor = forEachGrant((tenants) => {
    const { tools, instructions } = options.offerTo(tenants);
    return createMcpEndpoint({ name, version, onCall, tools, instructions });
  }, options.versionOf);
  return {
    method: "post",
    path: "/mcp",
    tag: "mcp",
    summary: "The MCP endpoint: Streamable HTTP without sessions, with JSON replies",
    body: { schema: Messages, example: { jsonrpc: "2.0", id: 1, method: "tools/list" } },
    answers: {
      200: answerOf("The reply", Messages),
      202: { description: "A notification was taken" },
      400: answerOf("The body is no such message, or of a revision that there is not", JsonRpc),
      404: answerOf("There is no such method", JsonRpc),
      406: answerOf("The client takes no JSON", JsonRpc),
      415: answerOf("The body is not JSON", JsonRpc),
      408: problem("The request took too long"),
      413: problem("The body is over 2 MiB"),
    },
    handle: ({ exchange }) => {
      exchange.keepOpen();
      const { request, body } = exchange;
      const call = {
        signal: exchange.signal,
        caller: () => callerOf(exchange, options.hasApiKey),
        client: () => subscriberNetwork(exchange.client.address),
        log: exchange.log,
      };
      return endpointFor(exchange.grant)({ request, body, call });
    },
  };
}

const ClientConfiguration = z.record(z.string(), z.unknown()).openapi("ClientConfiguration", {
  description: "`mcpServers` with `type` and `url`, as most clients read it, or the named client's own form",
});

const ConfigurationQuery = z.object({
  client: z.enum(MCP_CLIENTS).optional().openapi({ description: "In the form of this client" }),
});

/** The operation `GET /mcp.json` of either server. */
export const configurationOperation = (options: {
  readonly name: string;
  readonly hasApiKey: boolean;
  readonly defaultClientModel: string | null;
}): ApiOperation => ({
  method: "get",
  path: "/mcp.json",
  tag: "mcp",
  summary: "A configuration for MCP clients, with the address that the client sees",
  query: ConfigurationQuery,
  answers: {
    200: {
      description: "It",
      content: {
        "application/json": ClientConfiguration,
        "application/toml": z.string(),
        "text/plain": z.string().openapi({ description: "A command that adds the server to the client" }),
      },
    },
    422: problem("There is no form for this client; `errors` names those that exist"),
  },
  handle: async ({ exchange: { client, basePath }, query }) => {
    const { client: asked = "generic" } = parseWith(ConfigurationQuery, query, "query");
    const { name, hasApiKey, defaultClientModel: defaultModel } = options;
    const url = `${client.scheme}://${client.host}${basePath}/mcp`;
    const { type, text } = clientConfiguration(asked, { kind: "address", name, url, needsKey: hasApiKey });
    const body = asked === "generic" ? JSON.stringify({ defaultModel, ...JSON.parse(text) }) : `${text}\n`;
    return new Response(body, { headers: { "content-type": type } });
  },
});

/** The most offers to keep; a server rarely has more groups of callers. */
const MAX_KEPT = 100;

/** Makes something once for callers with the same tenants (null: all), anew once `versionOf` gives another value. */
export function forEachGrant<T>(
  make: (tenants: Grant["tenants"]) => T,
  versionOf: () => unknown = () => null,
): (grant: Grant | null) => T {
  const made = new Map<string, T>();
  let all = make(null);
  let version = versionOf();
  return (grant) => {
    if (versionOf() !== version) {
      version = versionOf();
      all = make(null);
      made.clear();
    }
    if (!grant?.tenants) return all;
    // A token may name what is no codename, so blanks would not keep names apart.
    const key = JSON.stringify(grant.tenants);
    const value = made.get(key) ?? make(grant.tenants);
    if (made.size < MAX_KEPT) made.set(key, value);
    return value;
  };
}

export const countCalls =
  (metrics: Metrics): McpProgram["onCall"] =>
  (tool, outcome, durationMs) => {
    metrics.count("mcp_calls", { tool, outcome });
    metrics.time("mcp_call_duration", { tool }, durationMs);
  };

export const countSearches =
  (metrics: Metrics) =>
  (codenames: readonly string[]): void => {
    for (const tenant of codenames) metrics.count("tenant_searches", { tenant });
  };

/** Answers at `/mcp/` as at `/mcp`: many clients are given the endpoint's address with a trailing slash. */
export const withMcpSlash =
  (handle: Handler): Handler =>
  (exchange) =>
    handle(exchange.path === "/mcp/" ? { ...exchange, path: "/mcp" } : exchange);
