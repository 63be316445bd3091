import { type Database, holdLease, type Leases, openLeaseOwner, openLeases } from "../base/database/index.ts";
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
  /** The counts of the last or the running sync; null before the first. */
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
type PastSync = {
  readonly startedAt: number;
  readonly endedAt: number;
  /** Null for a failed sync. */
  readonly counts: SyncCounts | null;
  readonly error: FailureRecord | null;
};

/** The number of syncs that a record keeps. */
const MAX_HISTORY = 50;

/** A history with one more sync. */
export const withPast = (history: readonly PastSync[], sync: PastSync): PastSync[] =>
  [...history, sync].slice(-MAX_HISTORY);

/** A record as it is read. */
export type TenantRecord = SyncRecord & {
  /** Whether some process, possibly a command, works on the tenant now. */
  readonly isTaken: boolean;
};

/**
 * The records of all tenants, which every process of a server and commands beside it share. One process at a
 * time works on a tenant, and holds its lease. Tenants are named by `Place.key`, since deployments that know nothing
 * of each other may share a book.
 */
export interface SyncBook extends LeaseHolder {
  /** Reads the records of tenants, in the order of their keys. */
  read(keys: readonly string[]): Promise<readonly TenantRecord[]>;
  /** Writes some fields and keeps the others. */
  write(key: string, change: Partial<SyncRecord>): Promise<void>;
  /** Requests a sync from whichever process leads. */
  request(key: string): Promise<void>;
  /** Returns those of the keys for which a sync was requested since the last call of any process. */
  takeRequests(keys: readonly string[]): Promise<readonly string[]>;
  /** Starts this process's work on a tenant; null while another process works on it. */
  begin(key: string): Promise<TenantWork | null>;
  /** Gives a tenant the record that it had under another key; does nothing when it has synced. */
  inherit(former: string, key: string): Promise<void>;
}

/** This process as one that takes leases. */
export interface LeaseHolder {
  /** Leases for work that only one process does at a time. */
  readonly leases: Leases;
  /** The owner name of this process in leases. */
  readonly owner: string;
  /** Called when a lease could not be renewed just now. */
  readonly onLeaseError: (error: unknown) => void;
}

/** Work on a tenant; dispose of it when the work is done. */
export type TenantWork = AsyncDisposable & {
  /** Aborts when another process has taken over the tenant because this one slept too long. */
  readonly lost: AbortSignal;
  /** As `SyncBook.write`, in the order of the calls; changes nothing once another process has taken over the tenant. */
  write(change: Partial<SyncRecord>): Promise<void>;
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
  const self = openLeaseOwner(database);
  const leases = openLeases(database, { hasDied: self.hasDied });
  database.run("CREATE TABLE IF NOT EXISTS syncs (codename TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT");
  database.run("CREATE TABLE IF NOT EXISTS sync_requests (codename TEXT PRIMARY KEY) STRICT");
  const select = database.prepare<{ record: string }, [string]>(
    "SELECT record FROM syncs WHERE codename = ?",
  );
  const put = database.prepare<never, [string, string]>("INSERT OR REPLACE INTO syncs VALUES (?, ?)");
  const forget = database.prepare<never, [string]>("DELETE FROM syncs WHERE codename = ?");
  const ask = database.prepare<never, [string]>("INSERT OR IGNORE INTO sync_requests VALUES (?)");
  const isAsked = database.prepare<{ codename: string }, [string]>(
    "SELECT codename FROM sync_requests WHERE codename = ?",
  );
  const take = database.prepare<{ codename: string }, [string]>(
    "DELETE FROM sync_requests WHERE codename IN (SELECT value FROM json_each(?)) RETURNING codename",
  );
  const isHeld = database.prepare<{ name: string }, [string, number]>(
    "SELECT name FROM leases WHERE name = ? AND fence = ?",
  );
  const stored = (codename: string): Partial<SyncRecord> =>
    JSON.parse(select.get(codename)?.record ?? "{}") as Partial<SyncRecord>; // as it was written
  const merge = (codename: string, change: Partial<SyncRecord>): void =>
    void put.run(codename, JSON.stringify({ ...stored(codename), ...change }));
  const onLeaseError = warnsOf(log);
  return {
    leases,
    // From its first use on, others look whether its process lives.
    get owner() {
      return self.name;
    },
    onLeaseError,
    read: async (codenames) =>
      codenames.map((codename) =>
        recordOf(stored(codename), {
          isAsked: isAsked.get(codename) !== null,
          isTaken: leases.holderNow(leaseOf(codename)) !== null,
        }),
      ),
    write: async (codename, change) => database.transaction(() => merge(codename, change)),
    request: async (codename) => void ask.run(codename),
    takeRequests: async (codenames) => take.all(JSON.stringify(codenames)).map(({ codename }) => codename),
    inherit: async (former, key) =>
      database.transaction(() => {
        if (stored(key).history) return;
        merge(key, { history: [], ...stored(former) });
        forget.run(former);
      }),
    begin: (codename) =>
      beginWork(codename, { leases, owner: self.name, onLeaseError }, async (change, fence) =>
        database.transaction(() => {
          if (isHeld.get(leaseOf(codename), fence)) merge(codename, change);
        }),
      ),
  };
}

/** Adds what is missing to a record; it may have been written by a neighbouring version during an upgrade. */
export function recordOf(
  stored: Partial<SyncRecord>,
  { isAsked, isTaken }: { readonly isAsked: boolean; readonly isTaken: boolean },
): TenantRecord {
  const record = { ...NOTHING_YET, ...stored, isTaken };
  if (record.state === "idle") return isAsked ? { ...record, state: "queued" } : record;
  // Work of a killed process is not under way any more.
  return isTaken ? record : { ...record, state: "idle" };
}

/** Logs that a lease could not be renewed. */
const warnsOf =
  (log: Log) =>
  (error: unknown): void =>
    log.warning("lease not renewed", { error: error instanceof Error ? error.message : String(error) });

/** Begins work under the lease of a tenant; its changes are written one after the other. */
async function beginWork(
  codename: string,
  { leases, owner, onLeaseError: onError }: LeaseHolder,
  write: (change: Partial<SyncRecord>, fence: number) => Promise<void>,
): Promise<TenantWork | null> {
  const lost = new AbortController();
  const lease = { leases, name: leaseOf(codename), owner, ttlMs: WORK_LEASE_MS, onError };
  const held = await holdLease({ ...lease, onLost: () => lost.abort() });
  if (!held) return null;
  let last = Promise.resolve();
  return {
    lost: lost.signal,
    write(change) {
      const written = last.then(() => write(change, held.fence));
      last = written.catch(() => {}); // the next is written all the same
      return written;
    },
    async [Symbol.asyncDispose]() {
      await last;
      await held[Symbol.asyncDispose]();
    },
  };
}

/** The time between two records of a sync's progress, in ms. */
const PROGRESS_EVERY_MS = 500;

/** Writes a sync's progress now and then. */
export function progressWriter(write: TenantWork["write"]): (counts: SyncCounts) => void {
  let writtenAt = 0;
  return (counts) => {
    if (performance.now() - writtenAt < PROGRESS_EVERY_MS) return;
    writtenAt = performance.now();
    write({ counts }).catch(() => {}); // what cannot be written shows with the sync's result
  };
}

/** The name of the lease of whoever works on a tenant; another source is the same work, since its place may be. */
export const leaseOf = (key: string): string => `tenant:${key.replace(/-[\da-f]{12}$/, "")}`;

const FAULTS: Readonly<Record<string, string>> = {
  index_corrupt: "its file is damaged",
  index_outdated: "it was built by another version",
};

/**
 * Says what keeps a tenant from being searched, and what to do about it.
 * @param isLed whether some process, a server, builds indexes by itself
 */
export function describeIndexFailure(
  error: Failure,
  { codename, allowIndexBuilds }: TenantSettings,
  { state, lastError, isTaken }: TenantRecord,
  isLed: boolean,
): Failure {
  const what = `Tenant '${codename}' has no search index`;
  const isBuiltByItself = isLed && allowIndexBuilds;
  // A request that no process takes has no effect.
  const isComing = isTaken || (isLed && state !== "idle") || (isBuiltByItself && lastError === null);
  if (isComing)
    return new Failure(error.code, `${what} yet: it is being built, try again in a moment`, { cause: error });
  const why = error.code === "index_missing" ? "" : ` that can be used (${FAULTS[error.code] ?? error.code})`;
  const how = isBuiltByItself
    ? "its documents could not be read; see its sync status"
    : `build it with: article-extractor index ${codename}`;
  return new Failure(error.code, `${what}${why}; ${how}`, { cause: error });
}
