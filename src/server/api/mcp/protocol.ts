import { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/sdk/types.js";
import { onAbort } from "../../../base/abort.ts";
import type { EgressCaller } from "../../../fetching/index.ts";
import { directAnswer, directCall, mayBeDirect } from "./direct.ts";
import { answerMethod, callObserved, capabilitiesOf } from "./methods.ts";
import type { McpOptions } from "./offer.ts";
import type { Tool, ToolCall, ToolResult } from "./tool.ts";

/** A request to the endpoint. */
export type McpRequest = {
  readonly request: Request;
  /** The body of the request, whose own has been read. */
  readonly body: string;
  readonly call: ToolCall;
};

/**
 * Answers one HTTP request to the MCP endpoint: Streamable HTTP without sessions, so any process may answer
 * any request, with JSON replies. Plain calls of tools are answered here, the rest by the SDK, which would do
 * the same with them (the tests compare), at ten times the cost.
 */
export async function answerMcp(asked: McpRequest, options: McpOptions): Promise<Response> {
  const { request, body, call } = asked;
  const unread = () => ({ request: new Request(request, { body }), call });
  if (!mayBeDirect(request, SUPPORTED_PROTOCOL_VERSIONS)) return await answerThroughSdk(unread(), options);
  const message = parseJson(body);
  const direct = directCall(message);
  const tool = direct && options.tools.find(({ name }) => name === direct.name);
  if (tool) {
    const result = await callObserved({ tool, raw: direct.arguments, call }, options);
    return directAnswer(direct.id, JSON.stringify(result), result.error !== null);
  }
  // What is no JSON is for the SDK to say.
  if (message !== undefined) return await answerThroughSdk(asked, options, message);
  return await answerThroughSdk(unread(), options);
}

async function answerThroughSdk(
  { request, call }: Pick<McpRequest, "request" | "call">,
  options: McpOptions,
  parsedBody?: unknown,
): Promise<Response> {
  const server = createServer(options, () => call);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  return await transport.handleRequest(request, { parsedBody });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One client that started the server itself. */
export type StdioClient = {
  /** Writes to stdout; rejects when the client cannot be reached any more. */
  readonly write: (text: string) => Promise<void>;
  /** Ends the service. */
  readonly signal: AbortSignal;
};

/** How long calls may take after the client has closed stdin, in ms. */
const GRACE_MS = 8_000;

/**
 * Serves one client over stdin and stdout until it closes stdin; the answers of calls under way are still
 * written. Throws what `client.write` throws.
 */
export async function serveMcpStdio(
  options: McpOptions,
  client: StdioClient & { readonly caller: EgressCaller },
): Promise<void> {
  const { caller } = client;
  const tracked = trackCalls(options.tools);
  const server = createServer({ ...options, tools: tracked.tools }, (signal) => ({
    signal: () => signal,
    caller: () => caller,
    client: () => "",
  }));
  const closed = Promise.withResolvers<void>();
  server.onclose = closed.resolve;
  onAbort(client.signal, () => void server.close());
  process.stdin.once("end", async () => {
    await Promise.race([tracked.idle(), Bun.sleep(GRACE_MS)]);
    await server.close();
  });
  const output = new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => void client.write(text).then(() => done(), done),
  });
  output.once("error", closed.reject);
  await server.connect(new StdioServerTransport(process.stdin, output));
  await closed.promise;
  output.end();
  await finished(output);
}

/** Tools that know when none of their calls is under way. */
function trackCalls(tools: readonly Tool[]): {
  readonly tools: readonly Tool[];
  readonly idle: () => Promise<void>;
} {
  const underWay = new Set<Promise<unknown>>();
  const track = async (result: ToolResult | Promise<ToolResult>): Promise<ToolResult> => {
    const ended = Promise.withResolvers<void>();
    underWay.add(ended.promise);
    try {
      return await result;
    } finally {
      underWay.delete(ended.promise);
      ended.resolve();
    }
  };
  return {
    tools: tools.map((tool) => ({ ...tool, call: (raw, call) => track(tool.call(raw, call)) })),
    async idle() {
      // A call that has just arrived has not begun, and the answer of one that has just ended is not written.
      do {
        await setImmediate();
        await Promise.all(underWay);
      } while (underWay.size > 0);
      await setImmediate();
    },
  };
}

function createServer(options: McpOptions, callOf: (signal: AbortSignal) => ToolCall): Server {
  const { name, version, instructions } = options;
  const server = new Server({ name, version }, { capabilities: capabilitiesOf(options), instructions });
  server.fallbackRequestHandler = (request, { signal }) => answerMethod(options, request, callOf(signal));
  return server;
}
