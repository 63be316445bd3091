import { isRecord, parseJson } from "../../../base/json.ts";

/** The codes of JSON-RPC 2.0, section 5.1. */
export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
} as const;

export type RpcId = string | number;

/** A client's message by kind; `invalid` carries the answer to it. */
export type Message =
  | { readonly kind: "request"; readonly id: RpcId; readonly method: string }
  | { readonly kind: "notification"; readonly method: string }
  | { readonly kind: "response" }
  | { readonly kind: "invalid"; readonly answer: object };

/** An error in the form of JSON-RPC; the id is null where the request had none that can be repeated. */
const errorAnswer = (id: RpcId | null, code: number, message: string): object => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});

/** The answer to what is no valid request. */
export const refusal = (id: RpcId | null, reason: string): object =>
  errorAnswer(id, RPC.invalidRequest, `Invalid Request: ${reason}`);

export const NO_JSON = errorAnswer(null, RPC.parseError, "Parse error: the message is not JSON");

/** The most messages of a batch, which are answered one after the other. */
export const MAX_BATCH = 100;

/** Revisions with batches; later ones have none. Without a revision a client speaks the second. */
const WITH_BATCHES = ["2024-11-05", "2025-03-26"];

/** Returns the error that keeps a batch from being answered; null without one. */
export function batchProblem(batch: readonly unknown[], revision: string | null): object | null {
  if (revision !== null && !WITH_BATCHES.includes(revision))
    return refusal(null, `revision ${revision} has no batches`);
  if (batch.length === 0) return refusal(null, "an empty batch");
  if (batch.length > MAX_BATCH) return refusal(null, `a batch of more than ${MAX_BATCH} messages`);
  return null;
}

/** The names of what the messages in a body call, of which a batch has several. */
export const namesCalled = (body: string): readonly unknown[] =>
  [parseJson(body)].flat().map((one) => (isRecord(one) && isRecord(one.params) ? one.params.name : null));

/** Serializers write null for params that are left out, which the SDKs refuse. */
export const withoutNullParams = (message: unknown): unknown =>
  isRecord(message) && message.params === null ? { ...message, params: undefined } : message;

/** Reads one message, as the SDKs would not all take it, nor say what is wrong. */
export function readMessage(message: unknown): Message {
  if (!isRecord(message)) return invalid(null, "a message is an object");
  const { jsonrpc, id, method, params } = message;
  const known = isId(id) ? id : null;
  if (jsonrpc !== "2.0") return invalid(known, 'jsonrpc must be "2.0"');
  if (method === undefined && (message.result !== undefined || message.error !== undefined))
    return isId(id) ? { kind: "response" } : invalid(null, BAD_ID);
  if (typeof method !== "string") return invalid(known, "method must be a string");
  if (params !== undefined && params !== null && !isRecord(params))
    return invalid(known, "params must be an object");
  if (!Object.hasOwn(message, "id")) return { kind: "notification", method };
  return isId(id) ? { kind: "request", id, method } : invalid(null, BAD_ID);
}

const BAD_ID = "id must be a string or a whole number";

const invalid = (id: RpcId | null, reason: string): Message => ({
  kind: "invalid",
  answer: refusal(id, reason),
});

const isId = (id: unknown): id is RpcId => typeof id === "string" || Number.isSafeInteger(id);

/** The field of `_meta` with the revision of a message. */
const REVISION_KEY = "io.modelcontextprotocol/protocolVersion";
/** The first revision without `initialize`. */
const FIRST_MODERN = "2026-07-28";

/**
 * Whether a message is of a revision without `initialize`: each names its revision, in itself or in a header.
 * @param revision of the header `MCP-Protocol-Version`
 */
export function isModern(message: unknown, revision: string | null): boolean {
  const params = isRecord(message) && isRecord(message.params) ? message.params : {};
  if (isRecord(params._meta) && params._meta[REVISION_KEY] !== undefined) return true;
  return revision !== null && /^\d{4}-\d\d-\d\d$/.test(revision) && revision >= FIRST_MODERN;
}
