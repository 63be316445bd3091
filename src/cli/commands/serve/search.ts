import {
  type OpenTenants,
  openIssuer,
  openTenantApp,
  openTenants,
  queryLogOf,
  stateDirectoryOf,
} from "../../../app/index.ts";
import { Failure } from "../../../base/failure.ts";
import type { Log } from "../../../base/log.ts";
import { didYouMean } from "../../../base/nearest.ts";
import {
  createTokenVerifier,
  documentation,
  openKeyFile,
  type ServingPart,
  serveMcpStdio,
  serveProcesses,
  startSearchServer,
} from "../../../server/index.ts";
import type { Typed } from "../../arguments.ts";
import { type DeployedProgram, openDeployment } from "../../deployment.ts";
import { wrongUsage } from "../../io.ts";
import { optionValue } from "../../option-values.ts";
import type { ServerParts } from "../../shell.ts";
import { watchProblems } from "./problems.ts";
import { watchDeployment } from "./reload.ts";
import {
  entriesOf,
  readApiKey,
  readFrameSettings,
  readOrigins,
  toolOptions,
  warnOfMissingIndexes,
  warnWithoutKey,
} from "./settings.ts";

/** Reads the typed options; null means that the deployment file decides. @throws Failure `invalid_usage` */
function readServeCommand(typed: Typed) {
  const [server = "", ...rest] = typed.positionals;
  const { actions = [] } = typed.command;
  if (!actions.includes(server) || rest.length > 0)
    throw wrongUsage(`serve takes what to serve: ${actions.join(", ")}${didYouMean(server, actions)}`);
  if (typed.has("role")) throw wrongUsage("--role goes with serve extractor");
  return {
    host: optionValue.text(typed, "host"),
    port: optionValue.integer(typed, "port", { min: 0, max: 65_535 }),
    isStdio: typed.has("stdio"),
    /** Whether to serve although some tenants cannot be synced. */
    isLenient: typed.has("lenient"),
  };
}

/** Serves until told to end; returns 0. @throws Failure `invalid_settings`, `invalid_usage` (no such address), … */
export async function serveSearch(parts: ServerParts): Promise<number> {
  const { io, notices } = parts;
  const command = readServeCommand(parts.typed);
  // A hangup during the start must not end the program; the file is read anyway.
  using _ = io.onReload(() => {});
  // Searches run on the main thread; extracting and building can wait.
  io.letWorkersGiveWay();
  const deployed = await openDeployment(parts);
  const { program, deployment } = deployed;
  if (io.supervisor === null) for (const warning of deployment.warnings) notices.warn(warning);
  const log = program.openLog(deployment.infrastructure.logLevel);
  const serving: Serving = { command, ...parts, ...deployed, log };
  if (command.isStdio) {
    notices.become(log);
    return await serveStdio(serving);
  }
  const network = await networkOf(serving);
  notices.become(log);
  if (io.supervisor === null)
    warnWithoutKey(
      { ...network, hasTokens: deployment.infrastructure.oauth !== null },
      "DOCS_SEARCH_API_KEY",
      notices,
    );
  return await serveProcesses(
    {
      ...network,
      count: deployment.infrastructure.workers,
      metricsNamespace: program.settings.metricsNamespace,
      log,
      announce: (url, processes) =>
        log.info("serving documentation", {
          url: `${url}/mcp`,
          tenants: deployment.tenants.length,
          processes,
        }),
      prepare: async () => {
        await using app = openTenantApp(program, { deployment, log });
        await using tenants = openTenants(program, { deployment, app, log });
        await checkSources(serving, tenants);
      },
      run: (process) => runServer(serving, network, process),
    },
    io,
  );
}

type Serving = ServerParts &
  DeployedProgram & { readonly command: ReturnType<typeof readServeCommand>; readonly log: Log };

async function serveStdio(serving: Serving): Promise<number> {
  const { program, deployment, log } = serving;
  await using app = openTenantApp(program, { deployment, log });
  await using tenants = openTenants(program, { ...serving, app });
  await checkSources(serving, tenants);
  const { registry } = tenants;
  registry.start();
  using watched = watchDeployment({ ...serving, isLenient: serving.command.isLenient, registry });
  using _ = serving.io.onReload(watched.readAgain);
  const { signal, stdout } = serving.io;
  const options = toolOptions(deployment, { ...tenants, app, ...program });
  await serveMcpStdio(
    { ...options, ...documentation(options) },
    { signal, write: stdout.write, caller: { kind: "cli" }, log },
  );
  return 0;
}

async function runServer(
  serving: Serving,
  network: Awaited<ReturnType<typeof networkOf>>,
  process: ServingPart,
): Promise<void> {
  const { program, deployment, log } = serving;
  const { isOffline, defaultClientModel, queryLogDays: days } = deployment.infrastructure;
  await using app = openTenantApp(program, { deployment, log, sinks: [process.sink] });
  await using tenants = openTenants(program, { deployment, app, log });
  const { database, isShared } = tenants.state;
  if (process.sharesPort && !isShared)
    throw new Failure(
      "invalid_settings",
      "infrastructure.uvicorn_workers: several processes need a state directory that can be written; name one in DOCS_SEARCH_STATE_DIR, or use 1",
    );
  await checkSources(serving, tenants);
  using joined = process.join(database);
  const { registry } = tenants;
  registry.start();
  const { isLenient } = serving.command;
  using watched = watchDeployment({ ...serving, isLenient, registry });
  using _ = serving.io.onReload(watched.readAgain);
  const { oauth } = deployment.infrastructure;
  await using issuer =
    oauth && openIssuer(app, [oauth.issuer, ...(oauth.jwksUrl === null ? [] : [oauth.jwksUrl])]);
  const tokens =
    oauth && issuer
      ? { ...oauth, ...createTokenVerifier(oauth, { read: issuer.read, now: Date.now, log }) }
      : null;
  await using server = startSearchServer({
    ...toolOptions(deployment, { ...tenants, app, ...program }),
    ...network,
    tokens,
    ...process,
    ...joined,
    isOffline,
    deploymentState: watched.state,
    defaultClientModel,
    log,
    metrics: app.metrics,
    problems: watchProblems({ stateDirectory: stateDirectoryOf(program, "search") }),
    queries: days === 0 ? null : { path: queryLogOf(program, deployment), days },
  });
  await process.untilEnd(server.url);
}

/** Reports what keeps tenants from being synced. @throws Failure `invalid_settings` unless that is to be tolerated */
async function checkSources(serving: Serving, { sources, registry }: OpenTenants): Promise<void> {
  const { command, notices, io } = serving;
  if (io.supervisor !== null) return;
  const problems = await sources.problems(io.signal);
  if (problems.length > 0 && !command.isLenient) throw new Failure("invalid_settings", problems.join("\n"));
  for (const problem of problems) notices.warn(problem);
  await warnOfMissingIndexes(serving.deployment, { registry, notices });
}

async function networkOf({ command, program, deployment, io, log }: Serving) {
  const { settings } = program;
  const { infrastructure } = deployment;
  const { searchApiKey: key, searchApiKeyFile: file } = settings;
  return {
    host: command.host ?? infrastructure.host,
    port: command.port ?? infrastructure.port,
    ...readFrameSettings(settings),
    allowedHosts: entriesOf(settings.searchAllowedHosts),
    corsOrigins: readOrigins("DOCS_SEARCH_CORS_ORIGINS", settings.searchCorsOrigins),
    apiKey: await readApiKey({ key, file, variable: "DOCS_SEARCH_API_KEY" }, io),
    maxConcurrentRequests: infrastructure.maxConcurrentRequests,
    maxPerClient: settings.searchMaxPerClient,
    maxConnections: infrastructure.maxConnections,
    httpTimeoutMs: infrastructure.httpTimeoutMs,
    keys: infrastructure.keysFile === null ? null : openKeyFile(infrastructure.keysFile, log),
  };
}
