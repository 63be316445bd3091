import { Failure } from "../base/failure.ts";
import type { TenantSettings } from "./settings.ts";
import type { SyncRecord } from "./sync-book.ts";

const FAULTS: Readonly<Record<string, string>> = {
  index_corrupt: "its file is damaged",
  index_outdated: "it was built by another version",
};

export type IndexWork = Pick<SyncRecord, "state" | "lastError"> & {
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
