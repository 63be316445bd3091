import { isRecord } from "../../../base/json.ts";
import { traced } from "../../../base/tracing.ts";
import { logFault } from "../../middleware/problem.ts";
import { RPC, type RpcId } from "./messages.ts";
import type { McpOptions } from "./offer.ts";
import type { RawArguments, Tool, ToolCall, ToolResult } from "./tool.ts";

/** Revisions with `initialize`, and the one without. */
export type Revision = "legacy" | "modern";

/** An error of the protocol, in contrast to a tool's. Both SDKs write its code, message and data as they are. */
class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: object | undefined;

  constructor(code: number, message: string, data?: object) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** A request, as far as its answer depends on it. */
type McpMessage = { readonly method: string; readonly params?: unknown; readonly id?: RpcId };

type Params = Readonly<Record<string, unknown>>;
type Method = (options: McpOptions, params: Params, call: ToolCall) => object | Promise<object>;

/** The announced capabilities: tools, but neither resources nor prompts. */
export const CAPABILITIES = { tools: {} } as const;

/**
 * Answers a method other than those of the connection itself, which the SDKs answer.
 * @throws RpcError; what a bug throws is logged and replaced, because the SDKs would send its message to the client
 */
export async function answerMethod(
  options: McpOptions,
  request: McpMessage & { readonly revision: Revision },
  call: ToolCall,
): Promise<Record<string, unknown>> {
  const { revision } = request;
  const params = request.params ?? {};
  const method = METHODS[request.method];
  if (!method || !isAnswered(request.method, revision))
    throw new RpcError(RPC.methodNotFound, "Method not found");
  if (!isRecord(params)) throw invalidParams("params must be an object");
  try {
    const hints = revision === "modern" ? cacheHints(request.method) : {};
    return { ...(await method(options, params, call)), ...hints };
  } catch (error) {
    if (error instanceof RpcError) throw error;
    logFault(call.log, error, { method: request.method, rpc_id: request.id });
    throw new RpcError(RPC.internalError, "a fault inside the server; its log has the rest");
  }
}

/** Whether there is a method. In revisions without `initialize` it must also be advertised. */
export const isAnswered = (method: string, revision: Revision): boolean =>
  Object.hasOwn(METHODS, method) && (revision === "legacy" || method.startsWith("tools/"));

/** How long clients may keep the list of tools, in ms: the program has the same for as long as it runs. */
const FIXED_MS = 3_600_000;

/** Hints on caching; results are private to a client, because keys may see different tenants. */
const cacheHints = (method: string): object =>
  method === "tools/call" ? {} : { ttlMs: FIXED_MS, cacheScope: "private" };

const METHODS: Readonly<Record<string, Method>> = {
  "tools/list": ({ tools }, params) => {
    requireNoCursor(params);
    return { tools: tools.map(({ call: _, ...rest }) => rest) };
  },
  "tools/call": async (options, params, call) => {
    const { name, arguments: sent } = params;
    if (typeof name !== "string") throw invalidParams("name must be a string");
    const raw = sent ?? {};
    if (!isRecord(raw)) throw invalidParams("arguments must be an object");
    return toContent(await callObserved(toolNamed(name, options.tools), raw, call, options.onCall));
  },
  // Some clients of older revisions ask for these whatever is declared, and take an error for a broken server.
  "resources/list": (_, params) => emptyList("resources", params),
  "resources/templates/list": (_, params) => emptyList("resourceTemplates", params),
  "prompts/list": (_, params) => emptyList("prompts", params),
};

function emptyList(name: string, params: Params): object {
  requireNoCursor(params);
  return { [name]: [] };
}

/** @throws RpcError that names what there is */
function toolNamed(name: string, all: readonly Tool[]): Tool {
  const found = all.find((one) => one.name === name);
  if (found) return found;
  const known = all.length === 0 ? "there are none" : `there are ${all.map((one) => one.name).join(", ")}`;
  throw invalidParams(`Unknown tool: ${name.slice(0, 100)}; ${known}`);
}

/** Calls a tool, and reports the call. */
async function callObserved(
  tool: Tool,
  raw: RawArguments,
  call: ToolCall,
  onCall: McpOptions["onCall"],
): Promise<ToolResult> {
  const started = performance.now();
  let isSuccess = false;
  try {
    const outcome = await traced({ name: `call ${tool.name}` }, async () => tool.call(raw, call));
    isSuccess = outcome.error === null;
    return outcome;
  } finally {
    onCall(tool.name, isSuccess ? "success" : "error", performance.now() - started);
  }
}

/**
 * A result in the form of the protocol: as data, and as the same JSON in a text block. One with an `error` is a
 * normal result too, since an official client throws away the fields of a result that is marked with `isError`.
 */
const toContent = (result: ToolResult) => ({
  content: [{ type: "text", text: JSON.stringify(result) }],
  structuredContent: result,
});

/** Refuses a cursor where all fits on one page, so that none was ever given. */
function requireNoCursor({ cursor }: Params): void {
  if (cursor !== undefined && cursor !== null) throw invalidParams("cursor is not one of an earlier page");
}

const invalidParams = (message: string): RpcError => new RpcError(RPC.invalidParams, message);
