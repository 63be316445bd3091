import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { openSharedState } from "../base/database/index.ts";
import { createTurns } from "../base/event-loop.ts";
import { Failure } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import { wordsIn } from "../base/text.ts";
import type { EgressCaller } from "../fetching/index.ts";
import {
  type Deployment,
  type Environment,
  extractionDefaults,
  type FallbackSettings,
  INDEX_BUILD,
  type Settings,
} from "../settings/index.ts";
import {
  createTenantRegistry,
  deploymentKey,
  type GitAccess,
  type GitPermissions,
  openSyncBook,
  Place,
  type RemoteExtractor,
  realPathOf,
  requireAllowedUrl,
  requireReachable,
  type TenantRegistry,
  type WebAccess,
} from "../tenants/index.ts";
import type { App } from "./app.ts";
import { htmlReader } from "./html-reader.ts";
import { DEFAULT_NETWORK } from "./network.ts";
import { type AppChoice, openApp, type Program, stateDirectoryOf } from "./open.ts";

/**
 * Opens the app for syncing the tenants of a deployment. Hosts that the operator has named may be in an inner
 * network, but not the hosts to which they lead.
 */
export const openTenantApp = (
  program: Program,
  {
    deployment,
    ...choice
  }: Omit<AppChoice, "shell" | "caller" | "isOffline"> & { readonly deployment: Deployment },
): App =>
  openApp(program, {
    ...choice,
    shell: "server",
    caller: hostsOf([]),
    isOffline: deployment.infrastructure.isOffline,
  });

/** A deployment, and the absolute path and the text of its file. */
export type PlacedDeployment = Deployment & { readonly path: string; readonly text: string };

/** The tenants of a deployment with the store of their state. */
export type OpenTenants = AsyncDisposable & {
  readonly registry: TenantRegistry;
  readonly sources: Sources;
  readonly state: ReturnType<typeof openSharedState>;
};

/**
 * Opens the tenants; dispose of them after use, and then of the app.
 * @param parts.app fetches for syncs, and extracts the HTML documents
 */
export function openTenants(
  program: Program,
  parts: { readonly deployment: PlacedDeployment; readonly app: App; readonly log: Log },
): OpenTenants {
  const { deployment, app, log } = parts;
  const stateDirectory = stateDirectoryOf(program, "search");
  const state = openSharedState(stateDirectory, log);
  const sources = openSources(program, parts);
  const registry = createTenantRegistry({
    tenants: deployment.tenants,
    stateDirectory,
    // The one place where what processes of a deployment share is chosen.
    book: openSyncBook(state.database, log),
    deployment: identityOf(deployment),
    // Building one index at a time leaves the other cores to searches.
    building: { workerUrl: program.host.indexWorkerUrl, ...INDEX_BUILD, turn: createTurns() },
    extractHtml: htmlReader(app.extractor, program.settings),
    access: sources,
    isOffline: deployment.infrastructure.isOffline,
    onSynced: (tenant, outcome) => app.metrics.count("tenant_syncs", { tenant, outcome }),
    log,
  });
  return {
    registry,
    sources,
    state,
    async [Symbol.asyncDispose]() {
      await registry[Symbol.asyncDispose]();
      await sources[Symbol.asyncDispose]();
      state.database.close();
    },
  };
}

// A pipe's real path has the number of a process.
const identityOf = ({ name, path }: PlacedDeployment) => ({
  name,
  file: statSync(path, { throwIfNoEntry: false })?.isFile() ? realPathOf(path) : path,
});

/** Says which tenants find state of somebody else in their place, one line each. */
export const foreignStates = (program: Program, deployment: PlacedDeployment): readonly string[] =>
  deployment.tenants.flatMap((tenant) => {
    const stateDirectory = stateDirectoryOf(program, "search");
    const place = new Place(tenant, { deployment: identityOf(deployment), stateDirectory });
    return place.refusal()?.message ?? [];
  });

/** The file with the queries of a deployment's server. */
export const queryLogOf = (program: Program, deployment: PlacedDeployment): string =>
  join(stateDirectoryOf(program, "search"), `queries@${deploymentKey(identityOf(deployment))}.sqlite`);

/** Access to the tenants' websites and repositories; dispose of it after the tenants. */
export type Sources = AsyncDisposable & {
  readonly git: GitAccess;
  readonly web: WebAccess;
  /**
   * Reports what keeps tenants from being synced, one line each: a scheme that is not allowed, a token's
   * variable that is not set, a key's file that is not there, a fallback extractor that takes no connection. Empty offline, where nobody syncs.
   */
  problems(signal: AbortSignal): Promise<readonly string[]>;
};

/** Assembles what syncs need from the settings and the deployment file, without connecting to anything. */
export function openSources(
  { settings, environment }: Program,
  { deployment, app }: { readonly deployment: Deployment; readonly app: App },
): Sources {
  const { infrastructure } = deployment;
  const network = { ...DEFAULT_NETWORK, requestTimeoutMs: infrastructure.httpTimeoutMs };
  const git: GitAccess = {
    environment: gitEnvironment(environment),
    ...gitPermissionsOf(settings),
    resolveHost: (host) => app.resolveHost(host, hostsOf([host])),
    openProxy: (host) => app.openProxy(hostsOf([host]), network),
    readVariable: (name) => environment[name] ?? null,
    certificateFile: environment.GIT_SSL_CAINFO ?? environment.SSL_CERT_FILE ?? null,
    silenceLimitMs: infrastructure.httpTimeoutMs,
  };
  const fallback = infrastructure.fallback && openFallback(infrastructure.fallback, { app, environment });
  const web: WebAccess = {
    politeness: {
      concurrency: settings.concurrency,
      hostDelayMs: settings.hostDelayMs,
      preferBrowser: infrastructure.preferBrowser,
      extraction: extractionDefaults(settings),
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
      const isAsked = fallback !== null && !isTokenMissing;
      return [...refused, ...unset, ...(isAsked ? await problemOf(requireReachable(fallback, signal)) : [])];
    },
    [Symbol.asyncDispose]: async () => {
      await fallback?.[Symbol.asyncDispose]();
    },
  };
}

/**
 * Finds what prevents tenants from being synced and shows without a connection; nothing offline, where nobody syncs.
 * @returns a line for each repository whose scheme is not allowed (`refused`), and for each variable of a token and file
 *   with a key that is not there (`unset`)
 */
export function sourceProblems(
  { tenants, infrastructure }: Deployment,
  { settings, environment }: Pick<Program, "settings" | "environment">,
) {
  if (infrastructure.isOffline) return { refused: [], unset: [] };
  const permissions = gitPermissionsOf(settings);
  const refused: string[] = [];
  const unset: string[] = [];
  const requireVariable = (place: string, name: string | null): void => {
    if (name !== null && !environment[name]?.trim()) unset.push(`${place}: the variable ${name} is not set`);
  };
  const requireFile = (place: string, path: string | null): void => {
    if (path !== null && !existsSync(path)) unset.push(`${place}: there is no file ${path}`);
  };
  for (const tenant of tenants) {
    if (tenant.source !== "git") continue;
    try {
      requireAllowedUrl(tenant, permissions);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      refused.push(error.message);
    }
    requireVariable(`Tenant '${tenant.codename}'`, tenant.tokenVariable);
    requireFile(`Tenant '${tenant.codename}': git_ssh_key_file`, tenant.sshKeyFile);
    if (tenant.sshKeyFile !== null) requireFile("DOCS_SEARCH_GIT_KNOWN_HOSTS", permissions.knownHostsFile);
  }
  requireVariable(`${FALLBACK}.api_key_env`, infrastructure.fallback?.apiKeyVariable ?? null);
  return { refused, unset: [...new Set(unset)] };
}

const gitPermissionsOf = ({ gitProtocols, gitKnownHosts }: Settings): GitPermissions => ({
  protocols: gitProtocols.split(/[\s,]+/).filter((name) => name !== ""),
  knownHostsFile: gitKnownHosts === null ? null : resolve(gitKnownHosts),
});

const hostsOf = (hosts: readonly string[]): EgressCaller => ({ kind: "configured_source", hosts });

/** The variables that git and its certificates need, without any that configure git. */
const GIT_VARIABLES = wordsIn("PATH TMPDIR TEMP TMP SystemRoot SSL_CERT_DIR LD_LIBRARY_PATH");

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
