import { existsSync } from "node:fs";
import { type OpenTenants, openTenantApp, openTenants } from "../app/index.ts";
import { Failure } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import { VERSION } from "../base/version.ts";
import { createPrometheusSink, type Metrics } from "../metrics.ts";
import {
  type McpOptions,
  openProcessBoard,
  reservePort,
  serveMcpStdio,
  startSearchServer,
  superviseProcesses,
  urlOf,
} from "../server/index.ts";
import type { TenantRegistry } from "../tenants/index.ts";
import type { Typed } from "./arguments.ts";
import { SERVERS } from "./commands.ts";
import { type DeployedProgram, openDeployment } from "./deployment.ts";
import type { CommandParts } from "./program.ts";
import { aborted, entriesOf, readApiKey, readProxySettings, warnWithoutKey } from "./server-settings.ts";
import { optionValue } from "./values.ts";

/** `serve search`, ready to run; null where the deployment file decides. */
export type ServeCommand = {
  readonly config: string | null;
  readonly host: string | null;
  readonly port: number | null;
  readonly isStdio: boolean;
  /** Whether to serve although some tenants cannot be synced. */
  readonly isLenient: boolean;
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
    isLenient: typed.has("lenient"),
  };
}

/**
 * Serves until the program is told to end; returns the exit code 0.
 * @throws Failure `invalid_settings`, `invalid_usage` (the address cannot be bound), `unreadable_input`
 */
export async function runServeSearch(command: ServeCommand, parts: CommandParts): Promise<number> {
  const { io, notices } = parts;
  // Searches are answered on the main thread; what extracts and builds is in no hurry.
  io.letWorkersGiveWay();
  const deployed = await openDeployment(parts, command.config);
  const { program, deployment } = deployed;
  if (io.supervisor === null) for (const warning of deployment.warnings) notices.warn(warning);
  const log = program.openLog(deployment.infrastructure.logLevel);
  const serving: Serving = { command, ...parts, ...deployed, log };
  if (command.isStdio) return await serveStdio(serving);
  if (io.supervisor === null) warnWithoutKey(await networkOf(serving), "DOCS_SEARCH_API_KEY", notices);
  const isSeveral = deployment.infrastructure.workers > 1 && io.supervisor === null;
  return isSeveral ? await serveFromSeveral(serving) : await serveFromThis(serving);
}

type Serving = CommandParts & DeployedProgram & { readonly command: ServeCommand; readonly log: Log };

async function serveStdio(serving: Serving): Promise<number> {
  const { deployment, log } = serving;
  await using app = openTenantApp(serving.program, { deployment, log });
  await using tenants = openTenants(serving.program, { ...serving, app });
  await checkSources(serving, tenants);
  tenants.registry.start();
  const { signal, stdout } = serving.io;
  await serveMcpStdio(mcpOptions(serving, tenants.registry, app.metrics), { signal, write: stdout.write });
  return 0;
}

async function serveFromSeveral(serving: Serving): Promise<number> {
  const { io, log, deployment } = serving;
  const { host, port } = await networkOf(serving);
  {
    // Once, and not by each of the processes.
    await using app = openTenantApp(serving.program, { deployment, log });
    await using tenants = openTenants(serving.program, { ...serving, app });
    await checkSources(serving, tenants);
  }
  const shared = await reservePort(host, port);
  return await superviseProcesses({
    count: deployment.infrastructure.workers,
    startCopy: io.startCopy,
    run: crypto.randomUUID(),
    port: shared,
    signal: io.signal,
    onReady: () => announce(serving, urlOf(host, shared)),
    log,
  });
}

/** As the only process, or as one of several. */
async function serveFromThis(serving: Serving): Promise<number> {
  const { io, log, deployment } = serving;
  const { supervisor } = io;
  const network = await networkOf(serving);
  const prometheus = createPrometheusSink(serving.program.settings.metricsNamespace);
  await using app = openTenantApp(serving.program, { deployment, log, sinks: [prometheus.sink] });
  const { metrics } = app;
  await using tenants = openTenants(serving.program, { ...serving, app });
  if (supervisor !== null && !tenants.state.isShared)
    throw new Failure(
      "invalid_settings",
      "infrastructure.uvicorn_workers: several processes need a state directory that can be written; name one in DOCS_SEARCH_STATE_DIR, or use 1",
    );
  await checkSources(serving, tenants);
  using board = openProcessBoard({
    database: tenants.state.database,
    run: supervisor?.run ?? crypto.randomUUID(),
    pid: process.pid,
    snapshot: prometheus.snapshot,
    log,
  });
  tenants.registry.start();
  await using server = startSearchServer({
    ...mcpOptions(serving, tenants.registry, metrics),
    ...network,
    port: supervisor?.port ?? network.port,
    sharesPort: supervisor !== null,
    isOffline: deployment.infrastructure.isOffline,
    defaultClientModel: deployment.infrastructure.defaultClientModel,
    renderMetrics: () => prometheus.render(board.otherMetrics()),
    processes: { configured: deployment.infrastructure.workers, alive: () => board.alive().length },
    log,
    metrics,
    timesDatabase: tenants.state.database,
  });
  if (supervisor === null) announce(serving, server.url);
  else supervisor.announceReady();
  await aborted(io.signal);
  return 0;
}

function announce({ io, deployment }: Serving, url: string): void {
  const { length } = deployment.tenants;
  const { workers } = deployment.infrastructure;
  const from = workers > 1 ? `, from ${workers} processes` : "";
  io.stderr.write(`serving ${length} ${length === 1 ? "tenant" : "tenants"} at ${url}/mcp${from}\n`);
}

function mcpOptions({ deployment }: Serving, registry: TenantRegistry, metrics: Metrics): McpOptions {
  const { infrastructure } = deployment;
  return {
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
}

/**
 * Says what keeps tenants from being synced.
 * @throws Failure `invalid_settings` unless that is to be tolerated
 */
async function checkSources(serving: Serving, { sources, registry }: OpenTenants): Promise<void> {
  const { command, notices, io } = serving;
  if (io.supervisor !== null) return;
  const problems = await sources.problems(io.signal);
  if (problems.length > 0 && !command.isLenient) throw new Failure("invalid_settings", problems.join("\n"));
  for (const problem of problems) notices.warn(problem);
  warnOfMissingIndexes(serving, registry);
}

/** Such a tenant answers no search until somebody builds its index, and nothing here will. */
function warnOfMissingIndexes({ deployment, notices }: Serving, registry: TenantRegistry): void {
  const waiting = deployment.tenants.filter(
    ({ codename, allowIndexBuilds, search }) =>
      search.isEnabled && !allowIndexBuilds && registry.status(codename).builtAt === null,
  );
  if (waiting.length === 0) return;
  const names = waiting.map(({ codename, rootDir, source }) =>
    // The others make theirs when they are synced.
    source === "filesystem" && !existsSync(rootDir)
      ? `${codename} (docs_root_dir ${rootDir} does not exist)`
      : codename,
  );
  const codenames = waiting.map(({ codename }) => codename).join(" ");
  notices.warn(
    `no search index, and this server may not build one (allow_index_builds is false): ${names.join(", ")}; build with: article-extractor index ${codenames}`,
  );
}

async function networkOf({ command, program, deployment, io }: Serving) {
  const { settings } = program;
  const { infrastructure } = deployment;
  const { searchApiKey: key, searchApiKeyFile: file } = settings;
  return {
    host: command.host ?? infrastructure.host,
    port: command.port ?? infrastructure.port,
    ...readProxySettings(settings),
    allowedHosts: entriesOf(settings.searchAllowedHosts),
    apiKey: await readApiKey({ key, file, variable: "DOCS_SEARCH_API_KEY" }, io),
    maxConcurrentRequests: infrastructure.maxConcurrentRequests,
    maxPerClient: settings.searchMaxPerClient,
    maxConnections: infrastructure.maxConnections,
    httpTimeoutMs: infrastructure.httpTimeoutMs,
  };
}
