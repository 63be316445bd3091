import type { Failure, FailureRecord } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import type { MatchCounts, SearchHit, SearchWish } from "../search/index.ts";
import type { DeploymentId } from "./place.ts";
import type { TenantSettings } from "./settings.ts";
import type { SourceParts } from "./source/open-source.ts";
import type { SyncBook, SyncRecord } from "./sync-book.ts";

/** How indexes are built. */
type IndexBuilding = {
  /** The URL of the worker's module. */
  readonly workerUrl: string | URL;
  readonly memoryBytes: number;
  readonly documentLimitMs: number;
  /** Waits for a turn to build, so that not all tenants build at once. */
  readonly turn: <T>(work: () => Promise<T>) => Promise<T>;
};

/** A sync or a build that has begun. */
export type Work = {
  readonly signal: AbortSignal;
  /** Its clock, which is not set meanwhile; ms since 1970. */
  readonly now: () => number;
  /** Called when it has begun, and does not wait any more. */
  readonly onRunning: () => Promise<void>;
  /** See `TenantWork`. */
  readonly write: (change: Partial<SyncRecord>) => Promise<void>;
};

export type TenantSearchOptions = SearchWish & {
  /** The most results of each tenant, where several are searched; by default any number. */
  readonly perTenant?: number | undefined;
  /** Whether to count all that the query finds. */
  readonly isCounted?: boolean;
  /** Whether hits explain how their scores came about. */
  readonly explain?: boolean;
  readonly timeoutMs: number;
};

export type SearchAnswer = {
  readonly hits: readonly (SearchHit & { readonly tenant: string })[];
  /** How many documents the query finds; null when nobody asked. */
  readonly counts: MatchCounts | null;
  /** The tenants that were searched, in the order of `counts.totals`. */
  readonly tenants: readonly string[];
  readonly documentCount: number;
  readonly queryMs: number;
  /** The tenants that were not searched, and why. */
  readonly failures: readonly { readonly tenant: string; readonly failure: Failure }[];
};

/** The status of a tenant. */
export type TenantStatus = Pick<
  SyncRecord,
  "state" | "lastError" | "isBuilding" | "counts" | "history" | "skippedFiles" | "leftOut" | "testQueries"
> & {
  readonly codename: string;
  /** Its name for people. */
  readonly displayName: string;
  readonly description: string;
  readonly source: TenantSettings["source"];
  readonly lastStartedAt: Date | null;
  readonly lastCompletedAt: Date | null;
  readonly nextRunAt: Date | null;
  /** Why the tenant is not up to date: the last error, or why there is no index to search; null when all is well. */
  readonly problem: FailureRecord | null;
  /** Null before the index was opened. */
  readonly documentCount: number | null;
  /** When the index was written; null when there is none. */
  readonly builtAt: Date | null;
  /** The size of the index in bytes; null when there is none. */
  readonly indexBytes: number | null;
  readonly isSearchEnabled: boolean;
};

/** Parts that all tenants of a deployment share. */
export type TenantParts = SourceParts & {
  /** An absolute path; indexes without a place beside their documents are kept there. */
  readonly stateDirectory: string;
  /** The records that all processes which serve the same tenants share. */
  readonly book: SyncBook;
  /** Of all processes of one deployment, one builds and syncs. */
  readonly deployment: DeploymentId;
  readonly building: IndexBuilding;
  /** Whether schedules and outbound connections are off. */
  readonly isOffline: boolean;
  readonly onSynced: OnSynced;
  readonly log: Log;
};

/** Is told of each sync that ended, cancelled ones left out. */
export type OnSynced = (codename: string, outcome: "success" | "failure") => void;
