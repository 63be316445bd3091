import { type Database, holdLease, type Leases, openLeaseOwner, openLeases } from "../base/database/index.ts";
import type { FailureRecord } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import type { SyncCounts } from "./source/source.ts";

/** What is known of a tenant's syncs and builds; times in ms since 1970. */
export type SyncRecord = {
  readonly state: "idle" | "queued" | "running";
  readonly lastStartedAt: number | null;
  readonly lastCompletedAt: number | null;
  /** When the schedule runs it next; null without one. */
  readonly nextRunAt: number | null;
  readonly lastError: FailureRecord | null;
  /** When the last sync that succeeded began. */
  readonly syncedAt: number | null;
  /** Syncs that failed since then, and when the last of them did. */
  readonly failures: number;
  readonly failedAt: number | null;
  /** Whether what runs is the building of the index. */
  readonly isBuilding: boolean;
  /** Whether documents may have changed since the index was built. */
  readonly needsBuild: boolean;
  /** The last syncs, the newest last. */
  readonly history: readonly PastSync[];
  readonly counts: SyncCounts | null;
  /** Documents in the index of the last build; null before the first. */
  readonly documents: number | null;
  /** Documents that the last build left out. */
  readonly skippedFiles: number;
  /** Of the example queries, after the last build. */
  readonly testQueries: readonly { readonly query: string; readonly hits: number }[];
};

/** A sync that is over. */
export type PastSync = {
  readonly startedAt: number;
  readonly endedAt: number;
  /** Null for one that failed. */
  readonly counts: SyncCounts | null;
  readonly error: FailureRecord | null;
};

/**
 * The records of all tenants, seen by every process of a server and by commands beside it. Work on a tenant is
 * done by one process at a time, which holds its lease.
 */
export interface SyncBook {
  read(codename: string): SyncRecord;
  /** Writes some fields, the others stay. */
  write(codename: string, change: Partial<SyncRecord>): void;
  /** Asks whichever process leads for a sync. */
  request(codename: string): void;
  /** Those of the codenames that were asked for since the last time. */
  takeRequests(codenames: readonly string[]): readonly string[];
  /** Whether some process works on a tenant. */
  isTaken(codename: string): boolean;
  /** Has this process work on a tenant; null while another does. */
  begin(codename: string): TenantWork | null;
  /** For what one process at a time does. */
  readonly leases: Leases;
  /** This process, in leases. */
  readonly owner: string;
  /** Says that a lease could not be renewed just now. */
  readonly onLeaseError: (error: unknown) => void;
}

/** Work on a tenant; disposed of when it is over. */
export type TenantWork = Disposable & {
  /** Aborts when another process has taken the tenant over: this one was asleep for too long. */
  readonly lost: AbortSignal;
};

const NOTHING_YET: SyncRecord = {
  state: "idle",
  lastStartedAt: null,
  lastCompletedAt: null,
  nextRunAt: null,
  lastError: null,
  syncedAt: null,
  failures: 0,
  failedAt: null,
  isBuilding: false,
  needsBuild: true,
  history: [],
  counts: null,
  documents: null,
  skippedFiles: 0,
  testQueries: [],
};

/** A process that says nothing for so long does no longer work on its tenant, ms. */
const WORK_LEASE_MS = 15_000;

/** @param database see `openSharedState` */
export function openSyncBook(database: Database, log: Log): SyncBook {
  const onLeaseError = (error: unknown): void =>
    log.warning("lease not renewed", { error: error instanceof Error ? error.message : String(error) });
  const self = openLeaseOwner(database);
  const leases = openLeases(database, { hasDied: self.hasDied });
  database.run("CREATE TABLE IF NOT EXISTS syncs (codename TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT");
  database.run("CREATE TABLE IF NOT EXISTS sync_requests (codename TEXT PRIMARY KEY) STRICT");
  const select = database.prepare<{ record: string }, [string]>(
    "SELECT record FROM syncs WHERE codename = ?",
  );
  const put = database.prepare<never, [string, string]>("INSERT OR REPLACE INTO syncs VALUES (?, ?)");
  const ask = database.prepare<never, [string]>("INSERT OR IGNORE INTO sync_requests VALUES (?)");
  const isAsked = database.prepare<{ codename: string }, [string]>(
    "SELECT codename FROM sync_requests WHERE codename = ?",
  );
  const take = database.prepare<{ codename: string }, [string]>(
    "DELETE FROM sync_requests WHERE codename IN (SELECT value FROM json_each(?)) RETURNING codename",
  );
  // Written by this version or, during an upgrade, by a neighbouring one: unknown fields do no harm.
  const stored = (codename: string): SyncRecord => ({
    ...NOTHING_YET,
    ...(JSON.parse(select.get(codename)?.record ?? "{}") as Partial<SyncRecord>),
  });
  return {
    leases,
    get owner() {
      return self.name;
    },
    onLeaseError,
    read(codename) {
      const record = stored(codename);
      if (record.state === "idle" && isAsked.get(codename)) return { ...record, state: "queued" };
      // What a killed process was at is not under way.
      if (record.state === "idle" || leases.holder(leaseOf(codename)) !== null) return record;
      return { ...record, state: "idle" };
    },
    write: (codename, change) =>
      database.transaction(() => void put.run(codename, JSON.stringify({ ...stored(codename), ...change }))),
    request: (codename) => void ask.run(codename),
    takeRequests: (codenames) => take.all(JSON.stringify(codenames)).map(({ codename }) => codename),
    isTaken: (codename) => leases.holder(leaseOf(codename)) !== null,
    begin(codename) {
      const lost = new AbortController();
      const held = holdLease({
        leases,
        name: leaseOf(codename),
        owner: self.name,
        ttlMs: WORK_LEASE_MS,
        onLost: () => lost.abort(),
        onError: onLeaseError,
      });
      return held && { lost: lost.signal, [Symbol.dispose]: () => held[Symbol.dispose]() };
    },
  };
}

const leaseOf = (codename: string): string => `tenant:${codename}`;
