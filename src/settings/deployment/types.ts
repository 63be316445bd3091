import type { PageUrl } from "../../urls/index.ts";
import type { DeploymentFile, TenantFile } from "./schema.ts";

type SearchFile = TenantFile["search"];

/** A checked `deployment.json`. Fields that the specification names keep its meaning and unit. */
export type Deployment = {
  readonly infrastructure: InfrastructureSettings;
  readonly tenants: readonly TenantSettings[];
  /** What is allowed but probably not meant, one line each. */
  readonly warnings: readonly string[];
};

export type InfrastructureSettings = {
  readonly host: string;
  readonly port: number;
  readonly defaultClientModel: string | null;
  readonly maxConcurrentRequests: number;
  readonly workers: number;
  /** Connections at once. */
  readonly maxConnections: number;
  readonly logLevel: DeploymentFile["infrastructure"]["log_level"];
  /** Offline: no outbound connection at all. */
  readonly isOffline: boolean;
  readonly httpTimeoutMs: number;
  readonly searchTimeoutMs: number;
  readonly includeStats: boolean;
  readonly fetchMode: "full" | "surrounding";
  readonly fetchSurroundingChars: number;
  readonly preferBrowser: boolean;
  /** Null when it is switched off. */
  readonly fallback: FallbackSettings | null;
};

export type FallbackSettings = {
  readonly endpoint: PageUrl;
  readonly timeoutMs: number;
  readonly batchSize: number;
  readonly maxRetries: number;
  /** Name of the environment variable that holds the bearer token. */
  readonly apiKeyVariable: string | null;
};

type CommonTenant = {
  readonly codename: string;
  readonly docsName: string;
  readonly description: string | null;
  /** Absolute. */
  readonly rootDir: string;
  /** The tenant's own setting, else that of the infrastructure. */
  readonly allowIndexBuilds: boolean;
  readonly testQueries: { readonly natural: string[]; readonly phrases: string[]; readonly words: string[] };
  readonly search: TenantSearch;
};

export type TenantSearch = {
  readonly isEnabled: boolean;
  readonly profile: SearchFile["analyzer_profile"];
  readonly ranking: { readonly k1: number; readonly b: number; readonly boosts: SearchFile["boosts"] };
  readonly snippet: {
    readonly style: "plain" | "html";
    readonly fragmentChars: number;
    readonly maxFragments: number;
    readonly contextChars: number;
  };
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
  readonly stripPrefix: string | null;
  readonly tokenVariable: string | null;
  readonly schedule: string | null;
  /** Goes before the schedule. */
  readonly syncIntervalMinutes: number | null;
};

export type FilesystemTenant = CommonTenant & { readonly source: "filesystem" };

export type TenantSettings = OnlineTenant | GitTenant | FilesystemTenant;
