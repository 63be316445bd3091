import { resolve } from "node:path";
import { openApp, openReadyDatabase, type Program, stateDirectoryOf } from "../../../app/index.ts";
import { type Database, openSharedState } from "../../../base/database/index.ts";
import type { Log } from "../../../base/log.ts";
import { noMetrics } from "../../../base/metrics.ts";
import { VERSION } from "../../../base/version.ts";
import { createHostSlots, createSharedHostSlots, type HostSlots } from "../../../crawler/index.ts";
import { systemClock } from "../../../fetching/index.ts";
import {
  type ExtractorServerOptions,
  openKeyFile,
  type ServingPart,
  serveProcesses,
  startExtractorServer,
} from "../../../server/index.ts";
import { SERVER_ROLES, type Settings } from "../../../settings/index.ts";
import type { Typed } from "../../arguments.ts";
import { type Io, wrongUsage } from "../../io.ts";
import { optionValue } from "../../option-values.ts";
import { openProgram } from "../../program.ts";
import type { ServerParts } from "../../shell.ts";
import { openJobs, openLocalQueue, outputRootOf, requireSharedParts } from "./jobs.ts";
import {
  defaultsOf,
  entriesOf,
  readApiKey,
  readFrameSettings,
  readOrigins,
  warnWithoutKey,
} from "./settings.ts";

/** Reads the typed options; null means that the settings decide. @throws Failure `invalid_usage` */
function readServeExtractorCommand(typed: Typed) {
  if (typed.positionals.length > 1) throw wrongUsage("serve extractor takes no arguments");
  for (const name of ["config", "stdio"])
    if (typed.has(name)) throw wrongUsage(`--${name} goes with serve search`);
  return {
    role: optionValue.choice(typed, "role", SERVER_ROLES),
    host: optionValue.text(typed, "host"),
    port: optionValue.integer(typed, "port", { min: 0, max: 65_535 }),
  };
}

/** Serves until told to end; returns 0. @throws Failure `invalid_usage` (no such address), `unwritable_output`, … */
export async function serveExtractor(parts: ServerParts): Promise<number> {
  const { io, notices } = parts;
  const command = readServeExtractorCommand(parts.typed);
  const program = withRole(await openProgram(parts), command.role);
  requireSharedParts(program.settings);
  const stateDirectory = stateDirectoryOf(program, "extractor");
  const network = {
    ...(await readNetworkSettings(command, program, io)),
    paths: { root: outputRootOf(program.settings, stateDirectory) },
  };
  const serving: Serving = { program, network, stateDirectory, log: program.openLog("info") };
  notices.become(serving.log);
  if (io.supervisor === null) warnWithoutKey(network, "ARTICLE_EXTRACTOR_API_KEY", notices);
  return await serveProcesses(
    {
      ...network,
      count: program.settings.webConcurrency ?? 1,
      metricsNamespace: program.settings.metricsNamespace,
      log: serving.log,
      announce: (url, processes) =>
        serving.log.info("serving extraction", { url: url + network.basePath, processes }),
      // Problems with the directory and with the database are found here.
      prepare: async () => {
        const { settings } = program;
        await (settings.databaseUrl === null
          ? openLocalQueue(settings, stateDirectory, serving.log)
          : await openReadyDatabase({ settings, log: serving.log, metrics: noMetrics, signal: io.signal }))[
          Symbol.asyncDispose
        ]();
        openSharedState(stateDirectory, serving.log).database.close();
      },
      run: (process) => runServer(serving, process, io.signal),
    },
    io,
  );
}

const withRole = (program: Program, role: Settings["role"] | null): Program =>
  role === null ? program : { ...program, settings: { ...program.settings, role } };

type Serving = {
  readonly program: Program;
  readonly network: Awaited<ReturnType<typeof readNetworkSettings>> & Pick<ExtractorServerOptions, "paths">;
  readonly stateDirectory: string;
  readonly log: Log;
};

async function runServer(serving: Serving, process: ServingPart, signal: AbortSignal): Promise<void> {
  const { log, program, network, stateDirectory } = serving;
  await using localQueue =
    program.settings.databaseUrl === null ? openLocalQueue(program.settings, stateDirectory, log) : null;
  const { database } = openSharedState(stateDirectory, log);
  using _ = { [Symbol.dispose]: () => database.close() };
  using joined = process.join(database);
  await using app = openApp(program, {
    shell: "server",
    // Each session names its caller; without one it would reach public addresses only.
    caller: { kind: "remote_request" },
    sinks: [process.sink],
    log,
    signal,
    ...(process.sharesPort ? { hostSlots: sharedSlots(database) } : {}),
  });
  await using jobs = await openJobs({ ...serving, app, localQueue, paths: network.paths });
  await using server = startExtractorServer({
    ...network,
    ...process,
    ...joined,
    ...jobs,
    role: program.settings.role,
    name: "article-extractor",
    version: VERSION,
    app,
    database,
    defaults: defaultsOf(program.settings),
    log,
  });
  await process.untilEnd(server.url);
}

const sharedSlots = (database: Database): HostSlots =>
  createSharedHostSlots({ local: createHostSlots(systemClock), database });

type Command = ReturnType<typeof readServeExtractorCommand>;

async function readNetworkSettings(command: Command, program: Program, io: Io) {
  const { settings } = program;
  const { apiKey: key, apiKeyFile: file } = settings;
  const apiKey = await readApiKey({ key, file, variable: "ARTICLE_EXTRACTOR_API_KEY" }, io);
  return {
    host: command.host ?? settings.host,
    port: command.port ?? settings.port,
    ...readFrameSettings(settings),
    allowedHosts: entriesOf(settings.allowedHosts),
    corsOrigins: readOrigins("ARTICLE_EXTRACTOR_CORS_ORIGINS", settings.corsOrigins),
    apiKey,
    keys:
      settings.keysFile === null ? null : openKeyFile(resolve(settings.keysFile), program.openLog("info")),
    maxConcurrentRequests: settings.maxConcurrentRequests,
    maxPerClient: settings.maxPerClient,
  };
}
