import { contendForLead } from "../base/database/index.ts";
import type { Log } from "../base/log.ts";
import type { SyncBook } from "./sync-book.ts";
import type { Tenant } from "./tenant.ts";

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
export type Lead = Disposable & {
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
    [Symbol.dispose]() {
      follow();
      contention[Symbol.dispose]();
    },
  };
}
