import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/sdk/types.js";
import { isRecord } from "../../../base/json.ts";
import {
  createEnvelopes,
  type DirectCall,
  directAnswer,
  envelopeOf,
  legacyCall,
  modernCall,
} from "./direct.ts";
import { batchProblem, errorAnswer, isModern, NO_JSON, readMessage } from "./messages.ts";
import { answerMethod, callObserved, capabilitiesOf, faultOf } from "./methods.ts";
import type { McpOptions, McpRequest } from "./offer.ts";

/** Answers one HTTP request to the MCP endpoint. */
export type McpEndpoint = (asked: McpRequest) => Promise<Response>;

/**
 * Makes what answers HTTP requests: Streamable HTTP without sessions, so any process may answer any request, with
 * JSON replies, in every revision. Plain calls of tools are answered here, the rest by the SDK, which would do
 * the same with them (the tests compare), at ten times the cost.
 */
export function createMcpEndpoint(options: McpOptions): McpEndpoint {
  let modern: Promise<(asked: McpRequest, message: unknown) => Promise<Response>> | null = null;
  const envelopes = createEnvelopes();
  const answerModern = async (asked: McpRequest, message: unknown): Promise<Response> => {
    // Few clients speak it yet; a server that they never reach does not pay for its SDK.
    modern ??= import("./modern.ts").then(({ createModernEndpoint }) =>
      createModernEndpoint(options, (taken) => envelopes.add(envelopeOf(metaOf(taken)))),
    );
    return await (await modern)(asked, message);
  };
  const modernTail = JSON.stringify(modernMembers(options)).slice(1, -1);
  const answerOne = async (asked: McpRequest, message: unknown): Promise<Response> => {
    const { request, call } = asked;
    const isNew = isModern(message, revisionOf(asked));
    const direct = isNew
      ? modernCall(request, message, envelopes.has)
      : legacyCall(request, message, SUPPORTED_PROTOCOL_VERSIONS);
    const more = isNew ? `,${modernTail}` : "";
    return (
      (direct && (await answerDirectly(direct, { call, options, more }))) ??
      (await (isNew ? answerModern(asked, message) : answerThroughSdk(asked, message, options)))
    );
  };
  return async (given) => {
    const asked = takingBoth(given);
    // The SDK says of another type that it is not taken.
    if (!isJson(asked.request)) return await answerThroughSdk(asked, undefined, options);
    const message = parseJson(asked.body);
    const refusal = problemOf(message, revisionOf(asked));
    if (refusal) return Response.json(refusal, { status: 400 });
    if (!Array.isArray(message)) return await answerOne(asked, message);
    return await answerBatch(message, (one) => answerOne(asked, one));
  };
}

const BOTH = "application/json, text/event-stream";

/** Who takes JSON can read every answer; the SDKs would refuse a client that does not take events too. */
function takingBoth(asked: McpRequest): McpRequest {
  const { url, method, headers, signal } = asked.request;
  const accept = headers.get("accept") ?? "*/*";
  const isTaken = !accept.includes("text/event-stream") && /application\/json|[*]\/[*]/.test(accept);
  if (!isTaken) return asked;
  const allowing = new Headers(headers);
  allowing.set("accept", BOTH);
  return { ...asked, request: new Request(url, { method, headers: allowing, body: asked.body, signal }) };
}

const metaOf = (message: unknown): unknown =>
  isRecord(message) && isRecord(message.params) ? message.params._meta : undefined;

/** The members that every result of 2026-07-28 has besides its own. */
const modernMembers = ({ name, version }: McpOptions) => ({
  resultType: "complete",
  _meta: { "io.modelcontextprotocol/serverInfo": { name, version } },
});

function problemOf(message: unknown, revision: string | null): object | null {
  if (message === undefined) return NO_JSON;
  if (Array.isArray(message)) return batchProblem(message, revision);
  const read = readMessage(message);
  return read.kind === "invalid" ? read.answer : null;
}

const revisionOf = ({ request }: McpRequest): string | null => request.headers.get("mcp-protocol-version");

const isJson = ({ headers }: Request): boolean =>
  /^application\/json\s*(?:;|$)/i.test(headers.get("content-type") ?? "");

async function answerDirectly(
  { id, name, arguments: raw }: DirectCall,
  { call, options, more }: Pick<McpRequest, "call"> & { readonly options: McpOptions; readonly more: string },
): Promise<Response | null> {
  const tool = options.tools.find((one) => one.name === name);
  if (!tool) return null;
  try {
    const result = await callObserved({ tool, raw, call }, options);
    return directAnswer(id, { text: JSON.stringify(result), more });
  } catch (error) {
    const { code, message } = faultOf(error, { method: "tools/call", id }, call);
    return Response.json(errorAnswer(id, code, message));
  }
}

/** Answers the messages of a batch one after the other; those that are no requests have no answer. */
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

async function answerThroughSdk(
  { request, call, body }: McpRequest,
  message: unknown,
  options: McpOptions,
): Promise<Response> {
  const { name, version, instructions } = options;
  const server = new Server({ name, version }, { capabilities: capabilitiesOf(options), instructions });
  server.fallbackRequestHandler = (asked) => answerMethod(options, { ...asked, revision: "legacy" }, call);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  if (message === undefined) return await transport.handleRequest(new Request(request, { body }));
  return await transport.handleRequest(request, { parsedBody: message });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
