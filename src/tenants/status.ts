import type { Failure } from "../base/failure.ts";
import type { TenantSettings } from "./settings.ts";
import type { SyncRecord } from "./sync-book.ts";
import type { TenantStatus } from "./types.ts";

/** The state of a tenant's index. */
export type IndexState = {
  readonly builtAt: Date | null;
  readonly documentCount: number | null;
  /** Why the newest file cannot be used. */
  readonly failure: Failure | null;
  /** Why there is nothing to search; null where there is, or where nobody may search. */
  readonly missing: Failure | null;
};

/** The status of a tenant, from the record of its syncs and the state of its index. */
export function statusOf(
  { codename, source, search }: TenantSettings,
  record: SyncRecord,
  { builtAt, documentCount, failure, missing }: IndexState,
): TenantStatus {
  const lastError = record.lastError ?? failure?.toRecord() ?? null;
  return {
    codename,
    source,
    state: record.state,
    lastStartedAt: dateOf(record.lastStartedAt),
    lastCompletedAt: dateOf(record.lastCompletedAt),
    nextRunAt: dateOf(record.nextRunAt),
    lastError,
    problem: lastError ?? missing?.toRecord() ?? null,
    counts: record.counts,
    history: record.history,
    documentCount: documentCount ?? record.documents,
    builtAt,
    isSearchEnabled: search.isEnabled,
    isBuilding: record.state === "running" && record.isBuilding,
    skippedFiles: record.skippedFiles,
    leftOut: record.leftOut,
    testQueries: record.testQueries,
  };
}

const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));
