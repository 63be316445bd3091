import type { z } from "../../../api/openapi.ts";
import type * as schemas from "../../../api/search/schemas.ts";
import { RequestFailed, requestJson } from "../http.ts";

/** A page of hits, as `GET /search` gives it. */
export type SearchPage = z.infer<typeof schemas.SearchAnswer>;
export type Hit = SearchPage["hits"][number];

export type FoundDocument = {
  readonly url: string;
  readonly title: string;
  readonly content: string;
  readonly total_chars: number;
};

type RpcAnswer = {
  readonly result?: { readonly structuredContent?: { readonly error: string | null } };
  readonly error?: { readonly message?: string };
};

let calls = 0;

/**
 * Calls one of the server's tools, as any MCP client does.
 * @throws RequestFailed for an HTTP error, and with status 422 for what the tool has to say
 */
async function callTool<T>(name: string, parameters: object, signal?: AbortSignal): Promise<T> {
  const answer = await requestJson<RpcAnswer>("mcp", {
    method: "POST",
    headers: { accept: "application/json, text/event-stream" },
    body: { jsonrpc: "2.0", id: ++calls, method: "tools/call", params: { name, arguments: parameters } },
    signal,
  });
  const content = answer.result?.structuredContent;
  if (!content) throw new RequestFailed(0, answer.error?.message ?? "The server gave no answer to the call.");
  if (content.error !== null) throw new RequestFailed(422, content.error);
  // Each tool's answer has the form that the server declares in its output schema.
  return content as T;
}

export type SearchWish = {
  /** Empty for all. */
  readonly tenant: string;
  readonly query: string;
  readonly filter: string;
  readonly isExact: boolean;
  readonly size: number;
  readonly offset: number;
  readonly signal: AbortSignal;
};

/** @throws RequestFailed */
export function searchTenants(wish: SearchWish): Promise<SearchPage> {
  const { tenant, query, filter, isExact, size, offset, signal } = wish;
  const parameters = new URLSearchParams({
    q: query,
    ...(tenant !== "" && { tenant }),
    ...(filter !== "" && { filter }),
    ...(isExact && { word_match: "true" }),
    size: String(size),
    offset: String(offset),
    facets: "*",
    snippet_style: "html",
  });
  return requestJson<SearchPage>(`search?${parameters}`, { signal });
}

export const fetchDocument = (tenant: string, uri: string, signal?: AbortSignal): Promise<FoundDocument> =>
  callTool("root_fetch", { tenant_codename: tenant, uri: uri.replace(/#.*$/s, "") }, signal);

export type TenantSummary = { readonly codename: string; readonly description: string };

export const listTenants = async (): Promise<readonly TenantSummary[]> =>
  (await callTool<{ readonly tenants: readonly TenantSummary[] }>("list_tenants", {})).tenants;
