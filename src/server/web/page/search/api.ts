import type { z } from "../../../api/openapi.ts";
import type * as schemas from "../../../api/search/schemas.ts";
import { parametersOf, requestJson } from "../http.ts";
import type { Place } from "./place.ts";

/** A page of hits, as `GET /search` gives it. */
export type SearchPage = z.infer<typeof schemas.SearchAnswer>;
export type Hit = SearchPage["hits"][number];

export type FoundDocument = z.infer<typeof schemas.Document>;
export type TenantRecord = z.infer<typeof schemas.Tenant>;

export type SearchWish = {
  readonly size: number;
  readonly offset: number;
  /** The most hits of each tenant; by default any number. */
  readonly perTenant?: number | undefined;
  /** Whether nobody typed this search, so that it does not count. */
  readonly isTry?: boolean;
  readonly signal?: AbortSignal;
};

/** Searches what a place says. @throws RequestFailed */
export function searchTenants(place: Place, wish: SearchWish): Promise<SearchPage> {
  const { size, offset, perTenant, isTry, signal } = wish;
  const parameters = parametersOf({
    q: place.query,
    tenant: place.tenant || undefined,
    filter: place.filter || undefined,
    word_match: place.isExact ? "true" : undefined,
    preview: isTry ? "true" : undefined,
    size,
    offset,
    per_tenant: perTenant,
    facets: "*",
    snippet_style: "rich",
  });
  return requestJson<SearchPage>(`search?${parameters}`, { signal });
}

/** Reads a whole document. @param uri a fragment is left out @throws RequestFailed */
export const fetchDocument = (tenant: string, uri: string, signal?: AbortSignal): Promise<FoundDocument> =>
  requestJson<FoundDocument>(`document?${new URLSearchParams({ uri: uri.replace(/#.*$/s, ""), tenant })}`, {
    signal,
  });

/** Reads the beginning of a section, which does not count as opened. @throws RequestFailed */
export const fetchPreview = (
  { tenant, uri }: { readonly tenant: string; readonly uri: string },
  signal: AbortSignal,
): Promise<FoundDocument> => {
  const wish = { uri, tenant, max_chars: "5000", preview: "true" };
  return requestJson<FoundDocument>(`document?${new URLSearchParams(wish)}`, { signal });
};

export const listTenants = async (): Promise<readonly TenantRecord[]> =>
  (await requestJson<z.infer<typeof schemas.Tenants>>("tenants/status")).tenants;
