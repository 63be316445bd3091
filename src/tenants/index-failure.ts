import { Failure } from "../failure.ts";
import type { TenantSettings } from "./settings.ts";

const FAULTS: Readonly<Record<string, string>> = {
  index_corrupt: "its file is damaged",
  index_outdated: "it was built by another version",
};

/** What keeps a tenant from being searched, and what to do about it. @param isComing an index is being built */
export function describeIndexFailure(
  error: Failure,
  { codename, allowIndexBuilds }: TenantSettings,
  isComing: boolean,
): Failure {
  const what = `Tenant '${codename}' has no search index`;
  if (isComing)
    return new Failure(error.code, `${what} yet: it is being built, try again in a moment`, { cause: error });
  const why = error.code === "index_missing" ? "" : ` that can be used (${FAULTS[error.code] ?? error.code})`;
  const how = allowIndexBuilds
    ? "its documents could not be read; see its sync status"
    : `build it with: article-extractor index ${codename}`;
  return new Failure(error.code, `${what}${why}; ${how}`, { cause: error });
}
