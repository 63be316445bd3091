import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { createExtractor, type Extractor } from "../extraction/index.ts";
import { Failure } from "../failure.ts";
import { parseAddressSet } from "../fetching/index.ts";
import { createLog, LOG_FORMATS, LOG_LEVELS, type Log } from "../log.ts";
import { createMetrics, createPrometheusSink, logSink } from "../metrics.ts";
import { type McpOptions, normalBasePath, serveMcpStdio, startSearchServer } from "../server/index.ts";
import {
  DEFAULT_EXTRACTION,
  type Deployment,
  type Environment,
  INDEX_BUILD,
  readSettings,
  type Settings,
} from "../settings/index.ts";
import { createTenantRegistry, type ExtractHtmlFile, type TenantRegistry } from "../tenants/index.ts";
import { VERSION } from "../version.ts";
import type { Typed } from "./arguments.ts";
import { loadDeployment } from "./deployment.ts";
import { SERVERS } from "./flags.ts";
import { readText } from "./input.ts";
import type { Io } from "./io.ts";
import type { Notices } from "./notices.ts";
import { optionValue } from "./values.ts";

/** `serve search`, ready to run; null where the deployment file decides. */
export type ServeCommand = {
  readonly config: string | null;
  readonly host: string | null;
  readonly port: number | null;
  readonly isStdio: boolean;
};

/** @throws Failure `invalid_usage` */
export function readServeCommand(typed: Typed): ServeCommand {
  const [server, ...rest] = typed.positionals;
  if (server === undefined || rest.length > 0 || !SERVERS.some((name) => name === server))
    throw new Failure("invalid_usage", `serve takes what to serve: ${SERVERS.join(", ")}`);
  return {
    config: optionValue.text(typed, "config"),
    host: optionValue.text(typed, "host"),
    port: optionValue.integer(typed, "port", 0, 65_535),
    isStdio: typed.has("stdio"),
  };
}

type ServeParts = {
  readonly environment: Environment;
  readonly typed: Typed;
  readonly io: Io;
  readonly notices: Notices;
};

/**
 * Serves until the program is told to end; returns the exit code 0.
 * @throws Failure `invalid_settings`, `invalid_usage` (the address cannot be bound), `unreadable_input`
 */
export async function runServeSearch(command: ServeCommand, parts: ServeParts): Promise<number> {
  const { io, notices, environment } = parts;
  const settings = readSettings(environment);
  const deployment = await loadDeployment(
    command.config ?? settings.deploymentConfig ?? "deployment.json",
    io,
  );
  for (const warning of deployment.warnings) notices.warn(warning);
  refuseAwaited(deployment);
  const log = openLog(deployment, settings, parts);
  await using extractor = createExtractor({
    workers: 1,
    workerUrl: io.workerUrl,
    timeLimitMs: EXTRACTION_LIMIT_MS,
  });
  await using registry = openRegistry(deployment, { settings, environment, io, log, extractor });
  registry.start();
  const prometheus = createPrometheusSink(settings.metricsNamespace);
  const toLog = logSink(settings.metricsNamespace, (metric, kind, value) =>
    log.info("metric", { metric, kind, value }),
  );
  const metrics = createMetrics([prometheus.sink, ...(settings.metricsEnabled ? [toLog] : [])]);
  const { infrastructure } = deployment;
  const mcp: McpOptions = {
    name: "article-extractor",
    version: VERSION,
    registry,
    searchTimeoutMs: infrastructure.searchTimeoutMs,
    includeStats: infrastructure.includeStats,
    fetchMode: infrastructure.fetchMode,
    fetchSurroundingChars: infrastructure.fetchSurroundingChars,
    onCall: (tool, outcome, durationMs) => {
      metrics.count(`mcp.${tool}.${outcome}`);
      metrics.time(`mcp.${tool}`, durationMs);
    },
  };
  if (command.isStdio) {
    await serveMcpStdio(mcp, io.signal);
    return 0;
  }
  await using server = startSearchServer({
    ...mcp,
    ...(await networkOf(command, { settings, deployment, io })),
    isOffline: infrastructure.isOffline,
    defaultClientModel: infrastructure.defaultClientModel,
    renderMetrics: prometheus.render,
    log,
    metrics,
  });
  io.stderr.write(`serving ${deployment.tenants.length} tenants at ${server.url}/mcp\n`);
  await aborted(io.signal);
  return 0;
}

// What these ask for does not exist yet, and asking must not be met with silence.
function refuseAwaited({ infrastructure, tenants }: Deployment): void {
  const lines = tenants
    .filter(({ source }) => source !== "filesystem")
    .map(({ codename, source }) => `Tenant '${codename}': this version does not sync ${source} sources yet`);
  if (infrastructure.workers > 1)
    lines.push("infrastructure.uvicorn_workers: this version serves from one process; use 1");
  if (infrastructure.fallback)
    lines.push("infrastructure.article_extractor_fallback: this version does not sync websites yet");
  if (lines.length > 0) throw new Failure("invalid_settings", lines.join("\n"));
}

function openLog({ infrastructure }: Deployment, settings: Settings, { typed, io }: ServeParts): Log {
  return createLog({
    level:
      optionValue.choice(typed, "log-level", LOG_LEVELS) ??
      (typed.has("verbose") ? "info" : null) ??
      settings.logLevel ??
      infrastructure.logLevel,
    format: optionValue.choice(typed, "log-format", LOG_FORMATS) ?? settings.logFormat,
    write: io.stderr.write,
  });
}

/** A document that takes longer to read is left out. */
const EXTRACTION_LIMIT_MS = 60_000;

type RegistryParts = {
  readonly extractor: Extractor;
  readonly settings: Settings;
  readonly environment: Environment;
  readonly io: Io;
  readonly log: Log;
};

function openRegistry({ tenants }: Deployment, parts: RegistryParts): TenantRegistry {
  const { settings, environment, io, log, extractor } = parts;
  let tail: Promise<unknown> = Promise.resolve();
  return createTenantRegistry({
    tenants,
    stateDirectory: resolve(settings.searchStateDir ?? stateHome(environment)),
    building: {
      workerUrl: io.indexWorkerUrl,
      ...INDEX_BUILD,
      // One build at a time leaves the other cores to searches.
      turn: (work) => {
        const result = tail.then(work, work);
        tail = result.catch(() => {});
        return result;
      },
    },
    extractHtml: htmlReader(extractor),
    log,
  });
}

/** The XDG state directory of the program (XDG Base Directory Specification 0.8). */
const stateHome = ({ XDG_STATE_HOME }: Environment): string =>
  join(XDG_STATE_HOME || join(homedir(), ".local/state"), "article-extractor", "search");

function htmlReader(extractor: Extractor): ExtractHtmlFile {
  const options = { ...DEFAULT_EXTRACTION, renderings: ["markdown" as const] };
  return async (html) => {
    try {
      const { article } = await extractor.extract({ kind: "html", body: html, url: null, options });
      return article && { title: article.title ?? "", markdown: article.markdown ?? "" };
    } catch (error) {
      // One file that cannot be read must not cost the index of the others.
      if (error instanceof Failure && error.code !== "cancelled") return null;
      throw error;
    }
  };
}

type NetworkParts = { readonly settings: Settings; readonly deployment: Deployment; readonly io: Io };

async function networkOf(command: ServeCommand, { settings, deployment, io }: NetworkParts) {
  const { infrastructure } = deployment;
  const basePath = normalBasePath(settings.basePath ?? "");
  if (basePath === null)
    throw new Failure("invalid_settings", "ARTICLE_EXTRACTOR_BASE_PATH must be a path such as /docs");
  return {
    host: command.host ?? infrastructure.host,
    port: command.port ?? infrastructure.port,
    basePath,
    trustedProxies: readTrustedProxies(settings.trustedProxies ?? ""),
    allowedHosts: settings.searchAllowedHosts?.split(/[\s,]+/).filter((name) => name !== "") ?? null,
    apiKey: await readApiKey(settings, io),
    maxConcurrentRequests: infrastructure.maxConcurrentRequests,
    maxConnections: infrastructure.maxConnections,
    httpTimeoutMs: infrastructure.httpTimeoutMs,
    sharesPort: false,
  };
}

function readTrustedProxies(text: string): ReturnType<typeof parseAddressSet> {
  try {
    return parseAddressSet(text);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    throw new Failure("invalid_settings", `ARTICLE_EXTRACTOR_TRUSTED_PROXIES: ${cause.message}`, { cause });
  }
}

const MAX_KEY_FILE_BYTES = 64 * 1024;

async function readApiKey({ searchApiKey, searchApiKeyFile }: Settings, io: Io): Promise<string | null> {
  const key =
    searchApiKeyFile === null
      ? searchApiKey
      : (await readText(searchApiKeyFile, io, MAX_KEY_FILE_BYTES)).trim();
  if (key === null || /^[\x21-\x7e]+$/.test(key)) return key;
  throw new Failure(
    "invalid_settings",
    "DOCS_SEARCH_API_KEY must be visible ASCII characters without spaces",
  );
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((done) => {
    if (signal.aborted) done();
    else signal.addEventListener("abort", () => done(), { once: true });
  });
