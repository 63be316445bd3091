import { isRecord } from "../../../base/json.ts";
import { isId, REVISION_KEY, type RpcId } from "./messages.ts";
import type { RawArguments } from "./tool.ts";

/** A tool call in the body of a request. */
export type DirectCall = {
  readonly id: RpcId;
  readonly name: string;
  readonly arguments: RawArguments;
};

const JSON_TYPE = /^application\/json(?:;\s*charset="?utf-8"?)?$/i;

/**
 * Reads a plain tool call of a revision with `initialize`, as nearly all requests are. It returns null for everything
 * else, and for anything unusual in a call: then the SDK's schemas decide what it means, which takes ten times as long.
 * @param versions the accepted revisions with `initialize`
 */
export const legacyCall = (
  request: Request,
  message: unknown,
  versions: readonly string[],
): DirectCall | null => {
  if (!isPlainLegacyRequest(request, versions)) return null;
  const { call, meta } = plainCall(message) ?? {};
  return call && Object.keys(meta ?? {}).every(isForeignKey) ? call : null;
};

/**
 * The same for 2026-07-28, in which headers repeat what the body says, and each body says who the client is.
 * @param isKnown whether the SDK has taken these words about a client before
 */
export function modernCall(
  { method, headers }: Request,
  message: unknown,
  isKnown: (envelope: string) => boolean,
): DirectCall | null {
  const { call, meta } = plainCall(message) ?? {};
  const isPlain =
    method === "POST" &&
    JSON_TYPE.test(headers.get("content-type") ?? "") &&
    headers.get("mcp-method") === "tools/call" &&
    headers.get("mcp-name") === call?.name &&
    headers.get("mcp-protocol-version") === meta?.[REVISION_KEY];
  return isPlain && call && isKnown(envelopeOf(meta)) ? call : null;
}

/** What a body of 2026-07-28 says about its client, as a text. */
export function envelopeOf(meta: unknown): string {
  const { progressToken: _, ...envelope } = isRecord(meta) ? meta : {};
  return JSON.stringify(envelope);
}

/** More, or longer ones, are read by the SDK each time. */
const MAX_ENVELOPES = 100;
const MAX_ENVELOPE = 2000;

/** Remembers what the SDK has taken, so that it need not check again what a client says in each of its requests. */
export function createEnvelopes() {
  const taken = new Set<string>();
  return {
    has: (envelope: string): boolean => taken.has(envelope),
    add: (envelope: string): void => {
      if (envelope.length > MAX_ENVELOPE) return;
      // Clients that have left must not keep out those that come.
      if (taken.size >= MAX_ENVELOPES) taken.clear();
      taken.add(envelope);
    },
  };
}

/** Whether the headers of a request are such that only its body matters. */
function isPlainLegacyRequest({ method, headers }: Request, versions: readonly string[]): boolean {
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

type Meta = Readonly<Record<string, unknown>>;

function plainCall(message: unknown): { readonly call: DirectCall; readonly meta: Meta } | null {
  if (!isRecord(message) || !hasOnly(message, ["jsonrpc", "id", "method", "params"])) return null;
  const { jsonrpc, id, method, params } = message;
  if (jsonrpc !== "2.0" || method !== "tools/call" || !isId(id)) return null;
  if (!isRecord(params) || !hasOnly(params, ["name", "arguments", "_meta"])) return null;
  const { name, arguments: given = {}, _meta: meta = {} } = params;
  if (typeof name !== "string" || !isRecord(given) || !isRecord(meta)) return null;
  // A call that ends at once reports no progress.
  if (meta.progressToken !== undefined && !isId(meta.progressToken)) return null;
  return { call: { id, name, arguments: given }, meta };
}

const hasOnly = (record: object, names: readonly string[]): boolean =>
  Object.keys(record).every((key) => names.includes(key));

// The protocol's own fields may change what a call means.
const isForeignKey = (key: string): boolean => !key.startsWith("io.modelcontextprotocol/");

/**
 * The answer to a call, byte for byte as the SDK writes it.
 * @param result.text the result as JSON
 * @param result.more members after it, each with its comma before
 */
export function directAnswer(
  id: RpcId,
  { text, more }: { readonly text: string; readonly more: string },
): Response {
  const content = `[{"type":"text","text":${JSON.stringify(text)}}]`;
  const result = `{"content":${content},"structuredContent":${text}${more}}`;
  return new Response(`{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`, {
    headers: { "content-type": "application/json" },
  });
}
