import { contendForLead } from "../base/database/index.ts";
import { Failure } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import { IndexGroup, type SearchIndex } from "../search/index.ts";
import type { OpenIndexes } from "./live-index.ts";
import type { SyncBook } from "./sync-book.ts";
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
      // A search of each tenant alone could read other parts of its file than the search of all.
      const whole = usable.filter(({ tenant }) => isIntact(tenant, failures));
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
      usable.push({ tenant, index: tenant.withIndex((index) => index) });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failures.push(error);
    }
  }
  return { usable, failures };
}

function isIntact(tenant: Tenant, failures: Failure[]): boolean {
  try {
    tenant.withIndex(({ reader }) => reader.verifyAll());
    return true;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    failures.push(error);
    return false;
  }
}

/** How long the other processes wait for a silent leader, in ms. */
const LEAD_MS = 4_000;
/** How soon a request from another process is noticed, in ms. */
const REQUESTS_EVERY_MS = 250;

/** How often the schedules are checked, in ms. */
const SCHEDULES_EVERY_MS = 1000;

type LeadParts = {
  readonly book: SyncBook;
  /** See `RegistryOptions`. */
  readonly deployment: string;
  readonly isOffline: boolean;
  readonly log: Log;
};

/** The name of the lease of whoever leads. */
export const leadOf = (deployment: string): string => `scheduler:${deployment}`;

/** The tenants that this process looks after while it leads. */
export type Lead = AsyncDisposable & {
  /** @param isNew whether its documents have to be fetched soon, whatever its schedule says */
  take(tenant: Tenant, isNew: boolean): void;
  dismiss(tenant: Tenant): void;
};

/** Runs watches, schedules and builds of the tenants while this process leads. */
export function leadTenants(first: readonly Tenant[], { book, deployment, log, isOffline }: LeadParts): Lead {
  const tenants = new Map(first.map((tenant) => [tenant.detail.codename, tenant]));
  let isLeading = false;
  let timer: ReturnType<typeof setInterval> | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const takeRequests = (): void => {
    for (const codename of book.takeRequests([...tenants.keys()])) tenants.get(codename)?.syncSoon();
    if (isOffline || performance.now() - lookedAt < SCHEDULES_EVERY_MS) return;
    lookedAt = performance.now();
    for (const tenant of tenants.values()) tenant.syncWhenDue(Date.now());
  };
  let isTroubled = false;
  // State that cannot be read or written just now (a full disk, another process's long write) must not end a
  // server that can still answer.
  const guarded = (work: () => void): void => {
    try {
      work();
      isTroubled = false;
    } catch (error) {
      if (!isTroubled) log.error("syncs are not looked after", { error: String(error) });
      isTroubled = true;
    }
  };
  const follow = (): void => {
    isLeading = false;
    clearInterval(timer);
    for (const tenant of tenants.values()) tenant.follow();
  };
  const contention = contendForLead({
    leases: book.leases,
    name: leadOf(deployment),
    owner: book.owner,
    ttlMs: LEAD_MS,
    onGained: () => {
      isLeading = true;
      log.info("this process builds and syncs");
      timer = setInterval(() => guarded(takeRequests), REQUESTS_EVERY_MS);
      timer.unref?.();
      for (const tenant of tenants.values()) guarded(() => tenant.lead());
    },
    onLost: () => {
      log.warning("another process builds and syncs now");
      follow();
    },
    onError: book.onLeaseError,
  });
  return {
    take(tenant, isNew) {
      const { codename, source } = tenant.settings;
      tenants.set(codename, tenant);
      if (!isLeading) return;
      guarded(() => tenant.lead());
      if (isNew && !isOffline && source !== "filesystem") tenant.syncSoon();
    },
    dismiss(tenant) {
      if (tenants.get(tenant.detail.codename) === tenant) tenants.delete(tenant.detail.codename);
    },
    async [Symbol.asyncDispose]() {
      follow();
      await contention[Symbol.asyncDispose]();
    },
  };
}
