import { Failure } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import { HOME_PAGE, VERSION } from "../base/version.ts";
import type { EgressCaller } from "../fetching/index.ts";
import type { Metrics } from "../metrics.ts";
import {
  DEFAULT_EXTRACTION,
  type Deployment,
  type Environment,
  type FallbackSettings,
  type Settings,
} from "../settings/index.ts";
import {
  type GitAccess,
  type RemoteExtractor,
  requireAllowedUrl,
  requireReachable,
  type WebAccess,
} from "../tenants/index.ts";
import { type App, type BrowserMachine, createApp, readAppEnvironment } from "./app.ts";
import { DEFAULT_NETWORK } from "./network.ts";

export type SourcesOptions = {
  readonly deployment: Deployment;
  readonly environment: Environment;
  /** Of extraction. */
  readonly workerUrl: string | URL;
  /** What this machine has for browsers; absent: none is ever started. */
  readonly machine?: BrowserMachine;
  readonly log: Log;
  readonly metrics: Metrics;
};

/** How the tenants' websites and repositories are reached; dispose of it after the tenants. */
export type Sources = AsyncDisposable & {
  readonly git: GitAccess;
  readonly web: WebAccess;
  /**
   * What keeps tenants from being synced, one line each: a scheme that is not allowed, a token's variable that is not
   * set, a fallback extractor where nobody answers. Nothing offline, where nobody syncs.
   */
  problems(signal: AbortSignal): Promise<readonly string[]>;
};

/**
 * Puts together what syncs need, from the settings and the deployment file; nothing is connected to yet.
 * @throws Failure `invalid_settings` for wrong variables
 */
export function openSources(options: SourcesOptions): Sources {
  const { deployment, environment, log } = options;
  const { infrastructure } = deployment;
  const { settings, proxyEnvironment } = readAppEnvironment(environment);
  const app = createApp({
    settings,
    proxyEnvironment,
    caller: hostsOf([]),
    isOffline: infrastructure.isOffline,
    product: { version: VERSION, homePage: HOME_PAGE },
    shell: "server",
    workerUrl: options.workerUrl,
    ...(options.machine ? { machine: options.machine } : {}),
    log,
    metrics: options.metrics,
  });
  const network = { ...DEFAULT_NETWORK, requestTimeoutMs: infrastructure.httpTimeoutMs };
  const git: GitAccess = {
    environment: gitEnvironment(environment),
    protocols: gitProtocolsOf(settings),
    openProxy: (host) => app.openProxy(hostsOf([host]), network),
    readVariable: (name) => environment[name] ?? null,
    certificateFile: environment.GIT_SSL_CAINFO ?? environment.SSL_CERT_FILE ?? null,
    silenceLimitMs: infrastructure.httpTimeoutMs,
  };
  const fallback = infrastructure.fallback && openFallback(infrastructure.fallback, { app, environment });
  const web: WebAccess = {
    politeness: {
      concurrency: settings.crawlerConcurrency,
      hostDelayMs: Math.round(settings.crawlerRateLimit * 1000),
      preferBrowser: infrastructure.preferBrowser,
      extraction: { ...DEFAULT_EXTRACTION, favor: settings.favor },
    },
    openCrawler: (hosts, { acceptMarkdown }) => app.openSession(network, hostsOf(hosts), { acceptMarkdown }),
    fallback,
  };
  return {
    git,
    web,
    problems: async (signal) => {
      if (infrastructure.isOffline) return [];
      const isTokenMissing = infrastructure.fallback?.apiKeyVariable != null && fallback?.token === null;
      const { refused, unset } = sourceProblems(deployment, { settings, environment });
      return [
        ...refused,
        ...unset,
        ...(fallback && !isTokenMissing ? await problemOf(requireReachable(fallback, signal)) : []),
      ];
    },
    [Symbol.asyncDispose]: async () => {
      await fallback?.[Symbol.asyncDispose]();
      await app[Symbol.asyncDispose]();
    },
  };
}

/** What keeps tenants from being synced, one line each. */
export type SourceProblems = {
  /** Schemes of repositories that are not allowed. */
  readonly refused: readonly string[];
  /** Variables that hold a token and are not set. */
  readonly unset: readonly string[];
};

/** Looks for what can be told without a connection; nothing offline, where nobody syncs. */
export function sourceProblems(
  { tenants, infrastructure }: Deployment,
  { settings, environment }: { readonly settings: Settings; readonly environment: Environment },
): SourceProblems {
  if (infrastructure.isOffline) return { refused: [], unset: [] };
  const protocols = gitProtocolsOf(settings);
  const refused: string[] = [];
  const unset: string[] = [];
  const requireVariable = (place: string, name: string | null): void => {
    if (name !== null && !environment[name]?.trim()) unset.push(`${place}: the variable ${name} is not set`);
  };
  for (const tenant of tenants) {
    if (tenant.source !== "git") continue;
    try {
      requireAllowedUrl(tenant, protocols);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      refused.push(error.message);
    }
    requireVariable(`Tenant '${tenant.codename}'`, tenant.tokenVariable);
  }
  requireVariable(`${FALLBACK}.api_key_env`, infrastructure.fallback?.apiKeyVariable ?? null);
  return { refused, unset };
}

const gitProtocolsOf = ({ gitProtocols }: Settings): string[] =>
  gitProtocols.split(/[\s,]+/).filter((name) => name !== "");

/** What the operator has named may be on an inner network; what it leads to may not. */
const hostsOf = (hosts: readonly string[]): EgressCaller => ({ kind: "configured_source", hosts });

/** Where git finds its parts and the system its certificates; nothing that configures git. */
const GIT_VARIABLES = [
  "PATH",
  "TMPDIR",
  "TEMP",
  "TMP",
  "SystemRoot",
  "SSL_CERT_DIR",
  "LD_LIBRARY_PATH",
] as const;

const gitEnvironment = (environment: Environment): Record<string, string> =>
  Object.fromEntries(GIT_VARIABLES.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));

async function problemOf(check: Promise<void>): Promise<string[]> {
  try {
    await check;
    return [];
  } catch (error) {
    if (error instanceof Failure && error.code === "invalid_settings") return [error.message];
    throw error;
  }
}

const FALLBACK = "infrastructure.article_extractor_fallback";

function openFallback(
  settings: FallbackSettings,
  { app, environment }: { readonly app: App; readonly environment: Environment },
): RemoteExtractor & AsyncDisposable {
  const { endpoint, timeoutMs, maxRetries, apiKeyVariable } = settings;
  const token = apiKeyVariable === null ? null : environment[apiKeyVariable]?.trim() || null;
  const session = app.openSession(
    { ...DEFAULT_NETWORK, requestTimeoutMs: timeoutMs },
    hostsOf([new URL(endpoint).hostname]),
  );
  return {
    endpoint,
    timeoutMs,
    maxRetries,
    token,
    poster: session.http,
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}
