import { Failure } from "../failure.ts";
import type { Log } from "../log.ts";
import { didYouMeanAny } from "../nearest.ts";
import type { StoredDocument } from "../search/index.ts";
import { parseDocumentUrl } from "../urls/index.ts";
import { describeTenant, type TenantDetail } from "./describe.ts";
import { createTenantFinder } from "./find.ts";
import type { TenantSettings } from "./settings.ts";
import type { SourceParts } from "./source/open-source.ts";
import { type IndexBuilding, type SearchAnswer, Tenant, type TenantStatus } from "./tenant.ts";

export type RegistryOptions = SourceParts & {
  readonly tenants: readonly TenantSettings[];
  /** Absolute; where indexes are kept that have no place beside their documents. */
  readonly stateDirectory: string;
  readonly building: IndexBuilding;
  readonly log: Log;
};

export type TenantSearchOptions = {
  /** Results at most, 1 to 100. */
  readonly size: number;
  /** Only words as typed. */
  readonly wordMatch: boolean;
  readonly timeoutMs: number;
};

/** All tenants of a deployment: what MCP, HTTP and the terminal show of them. */
export interface TenantRegistry extends AsyncDisposable {
  /** In the order of the deployment file. */
  list(): readonly TenantDetail[];
  /** See `TenantFinder`. */
  find(query: string): readonly TenantDetail[];
  /** @throws Failure `unknown_tenant` naming the nearest codenames */
  describe(codename: string): TenantDetail;
  /**
   * @throws Failure `unknown_tenant`, `search_disabled`, `index_missing`, `index_outdated`, `index_corrupt`,
   *   `timeout`
   */
  search(codename: string, query: string, options: TenantSearchOptions): SearchAnswer;
  /**
   * An indexed document by its address; a fragment does not count.
   * @throws Failure as `search`, and `unknown_document`
   */
  fetch(codename: string, uri: string): StoredDocument;
  /** @throws Failure `unknown_tenant` */
  status(codename: string): TenantStatus;
  /** Begins to look after the folders and to build indexes that are out of date, where that is allowed. */
  start(): void;
  /** Builds the index of a tenant now, changed documents only. @throws Failure of the build, `unknown_tenant` */
  build(codename: string): Promise<TenantStatus>;
  /** Has a tenant's folder read again soon. @returns false while that is under way */
  rescan(codename: string): boolean;
}

/** Opens the tenants; nothing is read before the first question. */
export function createTenantRegistry(options: RegistryOptions): TenantRegistry {
  const tenants = new Map(
    options.tenants.map((settings) => [settings.codename, new Tenant(settings, options)]),
  );
  const details = options.tenants.map(describeTenant);
  const finder = createTenantFinder(details);
  const tenantOf = (codename: string): Tenant => {
    const tenant = tenants.get(codename);
    if (tenant) return tenant;
    const near = didYouMeanAny(codename, [...tenants.keys()]);
    throw new Failure("unknown_tenant", `Tenant '${codename.slice(0, MAX_SHOWN)}' not found${near}`);
  };
  return {
    list: () => details,
    find: finder.find,
    describe: (codename) => tenantOf(codename).detail,
    search: (codename, query, search) => tenantOf(codename).search(query, search),
    fetch: (codename, uri) => {
      const tenant = tenantOf(codename);
      const url = parseDocumentUrl(uri);
      const found = url === null ? null : tenant.fetch(url);
      if (found) return found;
      throw new Failure(
        "unknown_document",
        `Tenant '${codename}' has no document ${JSON.stringify(uri.slice(0, MAX_SHOWN))}; take uri from the results of a search`,
      );
    },
    status: (codename) => tenantOf(codename).status,
    start: () => {
      for (const tenant of tenants.values()) tenant.start();
    },
    build: async (codename) => {
      const tenant = tenantOf(codename);
      await tenant.build();
      return tenant.status;
    },
    rescan: (codename) => tenantOf(codename).rescan(),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...tenants.values()].map((tenant) => tenant[Symbol.asyncDispose]()));
    },
  };
}

const MAX_SHOWN = 200;
