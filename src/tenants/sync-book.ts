import {
  type Database,
  type FileLeases,
  holdLease,
  openLeaseOwner,
  openLeases,
} from "../base/database/index.ts";
import { Failure, type FailureRecord } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import type { LeftOutCounts } from "./left-out.ts";
import type { TenantSettings } from "./settings.ts";
import type { SyncCounts } from "./source/source.ts";

/** The record of a tenant's syncs and builds; times are in ms since 1970. */
export type SyncRecord = {
  readonly state: "idle" | "queued" | "running";
  readonly lastStartedAt: number | null;
  readonly lastCompletedAt: number | null;
  /** The next run of the schedule; null without one. */
  readonly nextRunAt: number | null;
  readonly lastError: FailureRecord | null;
  /** The start of the last successful sync. */
  readonly syncedAt: number | null;
  /** The number of failed syncs since then. */
  readonly failures: number;
  readonly failedAt: number | null;
  /** Whether the running work is the building of the index. */
  readonly isBuilding: boolean;
  /** Whether documents may have changed since the index was built. */
  readonly needsBuild: boolean;
  /** The last syncs, newest last. */
  readonly history: readonly PastSync[];
  readonly counts: SyncCounts | null;
  /** The number of documents in the last built index; null before the first build. */
  readonly documents: number | null;
  /** The number of files that the last build left out although they should be documents. */
  readonly skippedFiles: number;
  /** All files that the last build left out. */
  readonly leftOut: LeftOutCounts;
  /** Hits of the example queries after the last build. */
  readonly testQueries: readonly { readonly query: string; readonly hits: number }[];
};

/** A finished sync. */
export type PastSync = {
  readonly startedAt: number;
  readonly endedAt: number;
  /** Null for a failed sync. */
  readonly counts: SyncCounts | null;
  readonly error: FailureRecord | null;
};

/**
 * The records of all tenants, which every process of a server and commands beside it share. One process at a
 * time works on a tenant, and holds its lease.
 */
export interface SyncBook {
  read(codename: string): SyncRecord;
  /** Writes some fields and keeps the others. */
  write(codename: string, change: Partial<SyncRecord>): void;
  /** Requests a sync from whichever process leads. */
  request(codename: string): void;
  /** Returns those of the codenames for which a sync was requested since the last call. */
  takeRequests(codenames: readonly string[]): readonly string[];
  /** Whether some process works on a tenant. */
  isTaken(codename: string): boolean;
  /** Starts this process's work on a tenant; null while another process works on it. */
  begin(codename: string): Promise<TenantWork | null>;
  /** Leases for work that one process at a time does. */
  readonly leases: FileLeases;
  /** The owner name of this process in leases. */
  readonly owner: string;
  /** Called when a lease could not be renewed just now. */
  readonly onLeaseError: (error: unknown) => void;
}

/** Work on a tenant; dispose of it when the work is done. */
export type TenantWork = AsyncDisposable & {
  /** Aborts when another process has taken over the tenant because this one slept too long. */
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
  leftOut: {},
  testQueries: [],
};

/** A process that is silent for this long, in ms, no longer works on its tenant. */
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
  // A neighbouring version may have written this during an upgrade; unknown fields do no harm.
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
      // Work of a killed process is not under way any more.
      if (record.state === "idle" || leases.holderNow(leaseOf(codename)) !== null) return record;
      return { ...record, state: "idle" };
    },
    write: (codename, change) =>
      database.transaction(() => void put.run(codename, JSON.stringify({ ...stored(codename), ...change }))),
    request: (codename) => void ask.run(codename),
    takeRequests: (codenames) => take.all(JSON.stringify(codenames)).map(({ codename }) => codename),
    isTaken: (codename) => leases.holderNow(leaseOf(codename)) !== null,
    async begin(codename) {
      const lost = new AbortController();
      const held = await holdLease({
        leases,
        name: leaseOf(codename),
        owner: self.name,
        ttlMs: WORK_LEASE_MS,
        onLost: () => lost.abort(),
        onError: onLeaseError,
      });
      return held && { lost: lost.signal, [Symbol.asyncDispose]: () => held[Symbol.asyncDispose]() };
    },
  };
}

const leaseOf = (codename: string): string => `tenant:${codename}`;

const FAULTS: Readonly<Record<string, string>> = {
  index_corrupt: "its file is damaged",
  index_outdated: "it was built by another version",
};

type IndexWork = Pick<SyncRecord, "state" | "lastError"> & {
  /** Whether some process, possibly a command, works on the tenant now. */
  readonly isTaken: boolean;
  /** Whether some process, a server, builds indexes by itself. */
  readonly isLed: boolean;
};

/** Says what keeps a tenant from being searched, and what to do about it. */
export function describeIndexFailure(
  error: Failure,
  { codename, allowIndexBuilds }: TenantSettings,
  { state, lastError, isTaken, isLed }: IndexWork,
): Failure {
  const what = `Tenant '${codename}' has no search index`;
  const isBuiltByItself = isLed && allowIndexBuilds;
  // A request that no process takes up leads to nothing.
  const isComing = isTaken || (isLed && state !== "idle") || (isBuiltByItself && lastError === null);
  if (isComing)
    return new Failure(error.code, `${what} yet: it is being built, try again in a moment`, { cause: error });
  const why = error.code === "index_missing" ? "" : ` that can be used (${FAULTS[error.code] ?? error.code})`;
  const how = isBuiltByItself
    ? "its documents could not be read; see its sync status"
    : `build it with: article-extractor index ${codename}`;
  return new Failure(error.code, `${what}${why}; ${how}`, { cause: error });
}
