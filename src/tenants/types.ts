import type { FailureRecord } from "../base/failure.ts";
import type { SearchHit, SnippetStyle } from "../search/index.ts";
import type { TenantSettings } from "./settings.ts";
import type { SyncCounts } from "./source/source.ts";
import type { SyncRecord } from "./sync-book.ts";

/** How indexes are built. */
export type IndexBuilding = {
  /** The worker's module. */
  readonly workerUrl: string | URL;
  readonly memoryBytes: number;
  readonly documentLimitMs: number;
  /** Waits for a turn to build: not all tenants at once. */
  readonly turn: <T>(work: () => Promise<T>) => Promise<T>;
};

export type TenantSearchOptions = {
  /** Results at most, 1 to 100. */
  readonly size: number;
  /** Only words as typed. */
  readonly wordMatch: boolean;
  readonly timeoutMs: number;
  /** Instead of the tenant's. */
  readonly snippetStyle?: SnippetStyle | undefined;
};

export type SearchAnswer = {
  readonly hits: readonly SearchHit[];
  readonly documentCount: number;
  readonly queryMs: number;
};

/** How a tenant is. */
export type TenantStatus = {
  readonly codename: string;
  readonly source: TenantSettings["source"];
  readonly state: "idle" | "queued" | "running";
  readonly lastStartedAt: Date | null;
  readonly lastCompletedAt: Date | null;
  readonly nextRunAt: Date | null;
  readonly lastError: FailureRecord | null;
  /** What keeps it from being up to date: the last error, or why there is no index to search; null when all is well. */
  readonly problem: FailureRecord | null;
  /** Null before the index was opened. */
  readonly documentCount: number | null;
  /** When the index was written; null where there is none. */
  readonly builtAt: Date | null;
  readonly isSearchEnabled: boolean;
  readonly isBuilding: boolean;
  /** Of the last sync, or of the one that runs; null before the first. */
  readonly counts: SyncCounts | null;
  /** The last syncs, the newest last. */
  readonly history: SyncRecord["history"];
  /** Files of the last build that were left out. */
  readonly skippedFiles: number;
  /** Of the example queries, after the last build. */
  readonly testQueries: readonly { readonly query: string; readonly hits: number }[];
};
