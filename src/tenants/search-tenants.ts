import { Failure } from "../base/failure.ts";
import { IndexGroup, type SearchIndex } from "../search/index.ts";
import type { OpenIndexes } from "./live-index.ts";
import type { Tenant } from "./tenant.ts";
import type { SearchAnswer, TenantSearchOptions } from "./types.ts";

type Usable = { readonly tenant: Tenant; readonly index: SearchIndex };

/** Searches several tenants as if their documents were in one index. */
export class TenantSearcher {
  readonly #openIndexes: OpenIndexes;
  /** The group of the last search, whose tables the next one of the same indexes needs. */
  #group: IndexGroup | null = null;

  constructor(openIndexes: OpenIndexes) {
    this.#openIndexes = openIndexes;
  }

  /**
   * Tenants that cannot be searched are left out, and named in `failures`.
   * @throws Failure `timeout`; `invalid_usage` for a value of a filter that no document has
   */
  search(tenants: readonly Tenant[], query: string, options: TenantSearchOptions): SearchAnswer {
    const started = performance.now();
    return this.#openIndexes.together(() => {
      const { usable, failures } = openAll(tenants);
      try {
        return { ...this.#search(usable, query, { ...options, started }), failures };
      } catch (error) {
        if (!(error instanceof Failure) || error.code !== "index_corrupt") throw error;
      }
      // Each tenant finds out for itself whether its file is the damaged one.
      const whole = usable.filter(({ tenant }) => isSearchable(tenant, { query, options, failures }));
      return { ...this.#search(whole, query, { ...options, started }), failures };
    });
  }

  #search(
    usable: readonly Usable[],
    query: string,
    { timeoutMs, started, isCounted = false, ...wish }: TenantSearchOptions & { readonly started: number },
  ): Omit<SearchAnswer, "failures"> {
    const group = this.#groupOf(usable.map(({ index }) => index));
    const search = { ...wish, explain: false, deadline: started + timeoutMs };
    const tenants = usable.map(({ tenant }) => tenant.detail.codename);
    return {
      hits: group.search(query, search).map(({ index, ...hit }) => ({ ...hit, tenant: tenants[index]! })),
      counts: isCounted ? group.count(query, search) : null,
      tenants,
      documentCount: usable.reduce((sum, { index }) => sum + index.pageCount, 0),
      queryMs: performance.now() - started,
    };
  }

  #groupOf(indexes: readonly SearchIndex[]): IndexGroup {
    const before = this.#group?.indexes;
    const isSame =
      before?.length === indexes.length && before.every((index, place) => index === indexes[place]);
    if (!isSame || this.#group === null) this.#group = new IndexGroup(indexes);
    return this.#group;
  }
}

function openAll(tenants: readonly Tenant[]): {
  readonly usable: readonly Usable[];
  readonly failures: Failure[];
} {
  const usable: Usable[] = [];
  const failures: Failure[] = [];
  for (const tenant of tenants) {
    try {
      usable.push({ tenant, index: tenant.openIndex() });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failures.push(error);
    }
  }
  return { usable, failures };
}

type Attempt = {
  readonly query: string;
  readonly options: TenantSearchOptions;
  readonly failures: Failure[];
};

function isSearchable(tenant: Tenant, { query, options, failures }: Attempt): boolean {
  try {
    // What the filter names may be in another tenant.
    tenant.search(query, { ...options, filter: undefined });
    return true;
  } catch (error) {
    if (!(error instanceof Failure) || error.code === "timeout") throw error;
    failures.push(error);
    return false;
  }
}
