import type { TenantSettings } from "../../tenants/index.ts";
import type { PageUrl } from "../../urls/index.ts";
import type { DeploymentFile } from "./schema.ts";

/** A checked `deployment.json` (docs/tenants.md). */
export type Deployment = {
  readonly infrastructure: InfrastructureSettings;
  /** The same fields as the file names them, with the defaults of those that it leaves out. */
  readonly infrastructureFields: DeploymentFile["infrastructure"];
  readonly tenants: readonly TenantSettings[];
  /** Values that are allowed but probably not meant, one line each. */
  readonly warnings: readonly string[];
};

export type InfrastructureSettings = {
  readonly host: string;
  readonly port: number;
  readonly defaultClientModel: string | null;
  readonly maxConcurrentRequests: number;
  readonly workers: number;
  /** The maximum number of simultaneous requests. */
  readonly maxConnections: number;
  readonly logLevel: DeploymentFile["infrastructure"]["log_level"];
  /** Whether the tenant is offline: it makes no outbound connection at all. */
  readonly isOffline: boolean;
  readonly httpTimeoutMs: number;
  readonly searchTimeoutMs: number;
  readonly includeStats: boolean;
  readonly fetchMode: "full" | "surrounding";
  readonly fetchSurroundingChars: number;
  readonly preferBrowser: boolean;
  /** Whether models may read any page through the server. */
  readonly allowPageFetches: boolean;
  /** Whether the transport of MCP's first revision is served too. */
  readonly allowSse: boolean;
  /** For how many days it is counted what people search for; 0 counts nothing. */
  readonly queryLogDays: number;
  /** The absolute path of the file with the keys of callers; null without one. */
  readonly keysFile: string | null;
  /** Whose tokens callers may send; null where none are taken. */
  readonly oauth: OauthSettings | null;
  /** Null when the fallback is switched off. */
  readonly fallback: FallbackSettings | null;
};

export type OauthSettings = {
  readonly issuer: string;
  readonly audience: string;
  /** Null asks the issuer where its keys are. */
  readonly jwksUrl: string | null;
  /** The claim that names the tenants of a token; null gives every token all of them. */
  readonly tenantsClaim: string | null;
};

export type FallbackSettings = {
  readonly endpoint: PageUrl;
  readonly timeoutMs: number;
  readonly batchSize: number;
  readonly maxRetries: number;
  /** The name of the environment variable that holds the bearer token. */
  readonly apiKeyVariable: string | null;
};
