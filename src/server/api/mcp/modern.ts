import { createMcpHandler, Server, type Transport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

import { answerMethod, CAPABILITIES, isAnswered, type Revision } from "./methods.ts";
import type { McpOptions, McpRequest } from "./offer.ts";
import type { ToolCall } from "./tool.ts";

export type { Transport };

/**
 * Makes what answers requests of revision 2026-07-28 over HTTP, which needs no `initialize`: each request names its
 * revision and its client's capabilities. The SDK checks these, the headers that repeat them, and the shape of answers.
 */
export function createModernEndpoint(
  options: McpOptions,
): (asked: McpRequest, message: unknown) => Promise<Response> {
  type Asked = { readonly call: ToolCall; readonly isUnknown: boolean };
  const underWay = new WeakMap<Request, Asked>();
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const asked = requestInfo && underWay.get(requestInfo);
      if (!asked) throw new Error("a request that did not come through the endpoint");
      const server = createServer(options, { revision: "modern", callOf: () => asked.call });
      // Only what the SDK itself finds missing is answered with 404, as the revision wants it.
      if (asked.isUnknown) delete server.fallbackRequestHandler;
      return server;
    },
    // Nothing here changes while a process runs, so a client that listens for changes waits for nothing.
    { legacy: "reject", maxSubscriptions: 100 },
  );
  return async ({ request, call }, message) => {
    const { method } = message as { readonly method?: unknown }; // it is a message, which is an object
    const isUnknown = typeof method === "string" && !isAnswered(method, "modern");
    underWay.set(request, { call, isUnknown });
    return await handler.fetch(request, { parsedBody: message });
  };
}

/** Answers one client of any revision over a connection; its first message tells whether it uses `initialize`. */
export function connectClient(
  options: McpOptions,
  transport: Transport,
  callOf: (signal: AbortSignal) => ToolCall,
): { readonly close: () => Promise<void> } {
  return serveStdio(({ era }) => createServer(options, { revision: era, callOf }), { transport });
}

function createServer(
  options: McpOptions,
  { revision, callOf }: { readonly revision: Revision; readonly callOf: (signal: AbortSignal) => ToolCall },
): Server {
  const { name, version, instructions } = options;
  const server = new Server({ name, version }, { capabilities: CAPABILITIES, instructions });
  server.fallbackRequestHandler = (request, { mcpReq }) =>
    answerMethod(options, { ...request, revision }, callOf(mcpReq.signal));
  return server;
}
