import { isDeepStrictEqual } from "node:util";
import type { Language, PathRules, SearchSettings } from "../search/index.ts";
import type { PageUrl } from "../urls/index.ts";

type CommonTenant = {
  /** The name that routes to the tenant: 2 to 64 lower-case letters, digits, `_` and `-`. */
  readonly codename: string;
  /** The name for people. */
  readonly docsName: string;
  /** The name by which it is searched together with others; null for none. */
  readonly group: string | null;
  /** Subject of the documentation; null generates it from the other settings. */
  readonly description: string | null;
  /** The library that is documented, as its package manager names it; null for no single one. */
  readonly library: string | null;
  /** The version of the library, which begins with a number or `v`; null for no version in particular. */
  readonly version: string | null;
  /** An absolute path. */
  readonly rootDir: string;
  /** The tenant's own setting, else that of the infrastructure. */
  readonly allowIndexBuilds: boolean;
  /** The share of pages or files that a sync may lose before the tenant is in trouble, in percent. */
  readonly maxFailedPercent: number;
  /** Queries that are run after each build of the index and shown to clients as examples. */
  readonly testQueries: {
    readonly natural: readonly string[];
    readonly phrases: readonly string[];
    readonly words: readonly string[];
  };
  readonly search: TenantSearch;
};

export type TenantSearch = Omit<SearchSettings, "language"> & {
  readonly isEnabled: boolean;
  /** The documents' language; null finds it out. */
  readonly language: Language | null;
};

export type OnlineTenant = CommonTenant & {
  readonly source: "online";
  readonly sitemapUrls: readonly PageUrl[];
  readonly entryUrls: readonly PageUrl[];
  readonly allowPrefixes: readonly string[];
  readonly denyPrefixes: readonly string[];
  readonly followLinks: boolean;
  readonly maxPages: number;
  /** Five fields, in UTC. */
  readonly schedule: string | null;
};

export type GitTenant = CommonTenant & {
  readonly source: "git";
  readonly repositoryUrl: string;
  /** A branch, a tag or a commit. */
  readonly revision: string;
  readonly subpaths: readonly string[];
  readonly rules: PathRules;
  readonly stripPrefix: string | null;
  readonly tokenVariable: string | null;
  /** An absolute path: the private key for a repository that is reached over ssh. */
  readonly sshKeyFile: string | null;
  readonly schedule: string | null;
  /** Takes precedence over the schedule. */
  readonly syncIntervalMinutes: number | null;
};

export type FilesystemTenant = CommonTenant & {
  readonly source: "filesystem";
  readonly rules: PathRules;
};

export type TenantSettings = OnlineTenant | GitTenant | FilesystemTenant;

/** Whether the documents of both tenants come from the same place, chosen in the same way. */
export const haveSameSource = (one: TenantSettings, other: TenantSettings): boolean =>
  isDeepStrictEqual(sourceOf(one), sourceOf(other));

/** Returns the settings that choose the documents, without names, search settings and schedules. */
function sourceOf(settings: TenantSettings): object {
  const same = {
    docsName: null,
    group: null,
    description: null,
    library: null,
    version: null,
    testQueries: null,
    search: null,
  };
  return {
    ...settings,
    ...same,
    allowIndexBuilds: null,
    maxFailedPercent: null,
    schedule: null,
    syncIntervalMinutes: null,
  };
}
