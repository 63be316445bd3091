import {
  createMcpHandler,
  type McpRequestContext,
  Server,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

import { answerMethod, capabilitiesOf, isAnswered, type Revision } from "./methods.ts";
import type { McpOptions, McpRequest } from "./offer.ts";
import type { ToolCall } from "./tool.ts";

export type { Transport };

/**
 * Makes what answers requests of revision 2026-07-28 over HTTP, which needs no `initialize`: each request names its
 * revision and its client's capabilities. The SDK checks these, the headers that repeat them, and the shape of
 * answers.
 */
export function createModernEndpoint(
  options: McpOptions,
): (asked: McpRequest, message: unknown) => Promise<Response> {
  const calls = new WeakMap<Request, ToolCall>();
  const unknown = new WeakSet<Request>();
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const call = requestInfo && calls.get(requestInfo);
      if (!call) throw new Error("a request that did not come through the endpoint");
      const server = createServer(options, { revision: "modern", callOf: () => call });
      // Only what the SDK itself finds missing is answered with 404, as the revision wants it.
      if (unknown.has(requestInfo)) delete server.fallbackRequestHandler;
      return server;
    },
    // Nothing here changes while a process runs, so a client that listens for changes waits for nothing.
    { legacy: "reject", maxSubscriptions: MAX_SUBSCRIPTIONS },
  );
  return async ({ request, call }, parsedBody) => {
    calls.set(request, call);
    const { method } = parsedBody as { readonly method?: unknown }; // it is a message, which is an object
    if (typeof method === "string" && !isAnswered(method, { ...options, revision: "modern" }))
      unknown.add(request);
    return await handler.fetch(request, { parsedBody });
  };
}

const MAX_SUBSCRIPTIONS = 100;

/**
 * Answers one client of any revision over a connection; the first message decides between the revisions with
 * `initialize` and the one without.
 */
export function connectClient(
  options: McpOptions,
  transport: Transport,
  callOf: (signal: AbortSignal) => ToolCall,
): { readonly close: () => Promise<void> } {
  const create = ({ era }: McpRequestContext): Server => createServer(options, { revision: era, callOf });
  return serveStdio(create, { transport });
}

function createServer(
  options: McpOptions,
  { revision, callOf }: { readonly revision: Revision; readonly callOf: (signal: AbortSignal) => ToolCall },
): Server {
  const { name, version, instructions } = options;
  const server = new Server({ name, version }, { capabilities: capabilitiesOf(options), instructions });
  server.fallbackRequestHandler = (request, { mcpReq }) =>
    answerMethod(options, { ...request, revision }, callOf(mcpReq.signal));
  return server;
}
