import { Failure } from "../base/failure.ts";
import type { TenantSettings } from "./settings.ts";
import type { SyncRecord } from "./sync-book.ts";

const FAULTS: Readonly<Record<string, string>> = {
  index_corrupt: "its file is damaged",
  index_outdated: "it was built by another version",
};

export type IndexWork = Pick<SyncRecord, "state" | "lastError"> & {
  /** Some process works on the tenant now: a command, too. */
  readonly isTaken: boolean;
  /** Some process builds by itself what may be built: a server. */
  readonly isLed: boolean;
};

/** What keeps a tenant from being searched, and what to do about it. */
export function describeIndexFailure(
  error: Failure,
  { codename, allowIndexBuilds }: TenantSettings,
  { state, lastError, isTaken, isLed }: IndexWork,
): Failure {
  const what = `Tenant '${codename}' has no search index`;
  const isBuiltByItself = isLed && allowIndexBuilds;
  // A request that nobody takes is no work.
  const isComing = isTaken || (isLed && state !== "idle") || (isBuiltByItself && lastError === null);
  if (isComing)
    return new Failure(error.code, `${what} yet: it is being built, try again in a moment`, { cause: error });
  const why = error.code === "index_missing" ? "" : ` that can be used (${FAULTS[error.code] ?? error.code})`;
  const how = isBuiltByItself
    ? "its documents could not be read; see its sync status"
    : `build it with: article-extractor index ${codename}`;
  return new Failure(error.code, `${what}${why}; ${how}`, { cause: error });
}
