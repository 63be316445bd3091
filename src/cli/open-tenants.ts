import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { browserMachine, openSources, type Sources, stateHome } from "../app/index.ts";
import { openSharedState } from "../base/database/index.ts";
import { Failure } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import { composeMarkdown, createExtractor, type Extractor } from "../extraction/index.ts";
import { forgetProxyVariables } from "../fetching/index.ts";
import type { Metrics } from "../metrics.ts";
import type { DocumentExtractor } from "../search/index.ts";
import {
  DEFAULT_EXTRACTION,
  type Deployment,
  type Environment,
  EXTRACTION_LIMITS,
  INDEX_BUILD,
  type Settings,
} from "../settings/index.ts";
import { createTenantRegistry, type TenantRegistry } from "../tenants/index.ts";
import { loadDeployment } from "./deployment.ts";
import type { Io } from "./io.ts";

export type DeploymentChoice = {
  /** What `--config` says; null: the environment's, then `./deployment.json`. */
  readonly config: string | null;
  readonly settings: Settings;
  readonly io: Io;
};

/** Where it is looked for when nothing names one. */
export const DEFAULT_CONFIG = "deployment.json";

/** A deployment and where it was read. */
export type ChosenDeployment = Deployment & { readonly path: string };

/**
 * Reads the deployment file that was asked for.
 * @throws Failure `unreadable_input`; `invalid_settings` with a line for each problem
 */
export async function chooseDeployment({
  config,
  settings,
  io,
}: DeploymentChoice): Promise<ChosenDeployment> {
  const named = config ?? settings.deploymentConfig;
  if (named === null && !existsSync(DEFAULT_CONFIG))
    throw new Failure(
      "invalid_usage",
      `there is no ${DEFAULT_CONFIG} here: name a deployment file with --config, or in DEPLOYMENT_CONFIG`,
    );
  const path = named ?? DEFAULT_CONFIG;
  return { ...(await loadDeployment(path, io)), path: resolve(path) };
}

export type OpenTenantsOptions = {
  readonly deployment: ChosenDeployment;
  readonly settings: Settings;
  readonly environment: Environment;
  readonly io: Io;
  readonly log: Log;
  /** Counts what syncs do. */
  readonly metrics: Metrics;
};

/** The tenants of a deployment with what their state is kept in. */
export type OpenTenants = AsyncDisposable & {
  readonly registry: TenantRegistry;
  readonly sources: Sources;
  readonly state: ReturnType<typeof openSharedState>;
};

/** Opens the tenants; dispose of them after use. */
export function openTenants(options: OpenTenantsOptions): OpenTenants {
  const { deployment, settings, environment, io, log, metrics } = options;
  const stateDirectory = resolve(settings.searchStateDir ?? stateHome(environment, "search"));
  const state = openSharedState(stateDirectory, log);
  const extractor = createExtractor({
    workers: 1,
    workerUrl: io.workerUrl,
    ...EXTRACTION_LIMITS,
  });
  // Bun's fetch would act on them at every request, past the egress policy.
  const sources = openSources({
    deployment,
    environment,
    workerUrl: io.workerUrl,
    machine: browserMachine(environment, io),
    log,
    metrics,
  });
  forgetProxyVariables(io.environment);
  const registry = createTenantRegistry({
    tenants: deployment.tenants,
    stateDirectory,
    database: state.database,
    deployment: deployment.path,
    building: { workerUrl: io.indexWorkerUrl, ...INDEX_BUILD, turn: oneAtATime() },
    extractHtml: htmlReader(extractor),
    access: sources,
    isOffline: deployment.infrastructure.isOffline,
    log,
  });
  return {
    registry,
    sources,
    state,
    async [Symbol.asyncDispose]() {
      await registry[Symbol.asyncDispose]();
      await sources[Symbol.asyncDispose]();
      await extractor[Symbol.asyncDispose]();
      state.database.close();
    },
  };
}

// One build at a time leaves the other cores to searches.
function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let tail: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = tail.then(work, work);
    tail = result.catch(() => {});
    return result;
  };
}

function htmlReader(extractor: Extractor): DocumentExtractor {
  const options = { ...DEFAULT_EXTRACTION, renderings: ["markdown" as const] };
  return async (html) => {
    try {
      const { article } = await extractor.extract({ kind: "html", body: html, url: null, options });
      // A title that is no heading could not be named as a section, nor be seen in what is fetched.
      return (
        article && {
          title: article.title ?? "",
          markdown: composeMarkdown(article.title, article.markdown ?? ""),
        }
      );
    } catch (error) {
      // One file that cannot be read must not cost the index of the others.
      if (error instanceof Failure && error.code !== "cancelled") return { reason: error.message };
      throw error;
    }
  };
}
