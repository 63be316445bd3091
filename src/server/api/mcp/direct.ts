import { isRecord } from "../../../base/json.ts";
import type { RawArguments } from "./arguments.ts";

/** A tool call in the body of a request. */
export type DirectCall = {
  readonly id: string | number;
  readonly name: string;
  readonly arguments: RawArguments;
};

const JSON_TYPE = /^application\/json(?:;\s*charset="?utf-8"?)?$/i;

/**
 * Whether the headers of a request are such that only its body matters.
 * @param versions the accepted revisions of the protocol
 */
export function mayBeDirect({ method, headers }: Request, versions: readonly string[]): boolean {
  const accept = headers.get("accept") ?? "";
  const version = headers.get("mcp-protocol-version");
  return (
    method === "POST" &&
    accept.includes("application/json") &&
    accept.includes("text/event-stream") &&
    JSON_TYPE.test(headers.get("content-type") ?? "") &&
    (version === null || versions.includes(version))
  );
}

/**
 * Reads a plain tool call, as nearly all requests are. It returns null for everything else, and for anything
 * unusual in a call: then the SDK's schemas decide what it means, which takes ten times as long.
 */
export function directCall(message: unknown): DirectCall | null {
  if (!isRecord(message) || !hasOnly(message, ["jsonrpc", "id", "method", "params"])) return null;
  const { jsonrpc, id, method, params } = message;
  if (jsonrpc !== "2.0" || method !== "tools/call" || !isId(id)) return null;
  if (!isRecord(params) || !hasOnly(params, ["name", "arguments", "_meta"])) return null;
  const { name, arguments: given = {}, _meta: meta = {} } = params;
  if (typeof name !== "string" || !isRecord(given) || !isRecord(meta) || !isPlainMeta(meta)) return null;
  return { id, name, arguments: given };
}

const hasOnly = (record: object, names: readonly string[]): boolean =>
  Object.keys(record).every((key) => names.includes(key));

const isId = (id: unknown): id is string | number => typeof id === "string" || Number.isSafeInteger(id);

// Of the protocol's own fields only the progress token has no effect on a call that ends at once.
const isPlainMeta = (meta: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(meta).every((key) => !key.startsWith("io.modelcontextprotocol/")) &&
  (meta.progressToken === undefined || isId(meta.progressToken));

/**
 * The answer to a call, byte for byte as the SDK writes it.
 * @param text the result as JSON
 */
export function directAnswer(id: string | number, text: string, isError: boolean): Response {
  const content = `[{"type":"text","text":${JSON.stringify(text)}}]`;
  const result = `{"content":${content},"structuredContent":${text}${isError ? ',"isError":true' : ""}}`;
  return new Response(`{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`, {
    headers: { "content-type": "application/json" },
  });
}
