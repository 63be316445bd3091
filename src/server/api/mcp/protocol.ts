import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { batchProblem, isModern, NO_JSON, readMessage, withoutNullParams } from "./messages.ts";
import { answerMethod, CAPABILITIES } from "./methods.ts";
import type { McpOptions, McpRequest } from "./offer.ts";

/**
 * Makes what answers HTTP requests: Streamable HTTP without sessions, so any process may answer any request, with
 * JSON replies. The first SDK answers the revisions with `initialize`, the second the one without.
 */
export function createMcpEndpoint(options: McpOptions): (asked: McpRequest) => Promise<Response> {
  let modern: Promise<(asked: McpRequest, message: unknown) => Promise<Response>> | null = null;
  const answerOne = async (asked: McpRequest, sent: unknown): Promise<Response> => {
    const message = withoutNullParams(sent);
    if (!isModern(message, revisionOf(asked))) return await answerLegacy(asked, message, options);
    // Few clients speak it yet; a server that they never reach does not pay for its SDK.
    modern ??= import("./modern.ts").then(({ createModernEndpoint }) => createModernEndpoint(options));
    return await (await modern)(asked, message);
  };
  return async (given) => {
    const asked = takingBoth(given);
    // The SDK says of another type that it is not taken.
    if (!isJson(asked.request)) return await answerLegacy(asked, null, options);
    const message = parseJson(asked.body);
    const refusal = problemOf(message, revisionOf(asked));
    if (refusal) return Response.json(refusal, { status: 400 });
    if (!Array.isArray(message)) return await answerOne(asked, message);
    return await answerBatch(message, (one) => answerOne(asked, one));
  };
}

/** A client that accepts JSON can read every answer, but the SDKs would refuse it unless it accepts events too. */
function takingBoth(asked: McpRequest): McpRequest {
  const { url, method, headers, signal } = asked.request;
  const accept = headers.get("accept") ?? "*/*";
  const isTaken = /application\/(?:json|[*])|[*]\/[*]/i.test(accept);
  if (!isTaken) return asked;
  const allowing = new Headers(headers);
  allowing.set("accept", "application/json, text/event-stream");
  return { ...asked, request: new Request(url, { method, headers: allowing, signal }) };
}

function problemOf(message: unknown, revision: string | null): object | null {
  if (message === undefined) return NO_JSON;
  if (Array.isArray(message)) return batchProblem(message, revision);
  const read = readMessage(message);
  return read.kind === "invalid" ? read.answer : null;
}

const revisionOf = ({ request }: McpRequest): string | null => request.headers.get("mcp-protocol-version");

const isJson = ({ headers }: Request): boolean =>
  /^application\/json\s*(?:;|$)/i.test(headers.get("content-type") ?? "");

/** Answers the messages of a batch one after the other; only requests have answers. */
async function answerBatch(
  messages: readonly unknown[],
  answer: (message: unknown) => Promise<Response>,
): Promise<Response> {
  const answers: unknown[] = [];
  for (const message of messages) {
    const read = readMessage(message);
    const response = read.kind === "invalid" ? Response.json(read.answer) : await answer(message);
    // The headers are at fault, and would be with every message.
    if (!response.ok) return response;
    if (response.status === 200) answers.push(await response.json());
  }
  return answers.length === 0 ? new Response(null, { status: 202 }) : Response.json(answers);
}

/**
 * No client is asked for input, so nothing is validated. Without this, every server, and so every request, would make
 * an instance of Ajv, which takes 0.15 ms of the 0.22 ms of a call.
 */
const NO_VALIDATION = {
  getValidator: (): never => {
    throw new Error("no client is asked for input");
  },
};

async function answerLegacy(
  { request, call }: McpRequest,
  message: unknown,
  options: McpOptions,
): Promise<Response> {
  const { name, version, instructions } = options;
  const server = new Server(
    { name, version },
    { capabilities: CAPABILITIES, instructions, jsonSchemaValidator: NO_VALIDATION },
  );
  server.fallbackRequestHandler = (asked) => answerMethod(options, { ...asked, revision: "legacy" }, call);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  return await transport.handleRequest(request, { parsedBody: message });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
