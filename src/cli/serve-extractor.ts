import { mkdirSync, realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { DEFAULT_NETWORK, openApp, type Program, preferenceOf, stateDirectoryOf } from "../app/index.ts";
import { type Database, openSharedState } from "../base/database/index.ts";
import { Failure } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import { systemCode } from "../base/system-error.ts";
import { VERSION } from "../base/version.ts";
import {
  createHostSlots,
  createSharedHostSlots,
  type HostSlots,
  type JobQueue,
  openJobQueue,
} from "../crawler/index.ts";
import { systemClock } from "../fetching/index.ts";
import { createPrometheusSink } from "../metrics.ts";
import {
  type CrawlSpec,
  type ExtractorServerOptions,
  openProcessBoard,
  reservePort,
  startExtractorServer,
  superviseProcesses,
  urlOf,
} from "../server/index.ts";
import { DEFAULT_CRAWL, extractionDefaults, type Settings } from "../settings/index.ts";
import type { Typed } from "./arguments.ts";
import type { Io } from "./io.ts";
import { type CommandParts, openProgram } from "./program.ts";
import { aborted, entriesOf, readApiKey, readProxySettings, warnWithoutKey } from "./server-settings.ts";
import { optionValue } from "./values.ts";

/** `serve extractor`, ready to run; null where the settings decide. */
export type ServeExtractorCommand = {
  readonly host: string | null;
  readonly port: number | null;
};

/** @throws Failure `invalid_usage` */
export function readServeExtractorCommand(typed: Typed): ServeExtractorCommand {
  if (typed.positionals.length > 1) throw new Failure("invalid_usage", "serve extractor takes no arguments");
  for (const name of ["config", "stdio"])
    if (typed.has(name)) throw new Failure("invalid_usage", `--${name} goes with serve search`);
  return {
    host: optionValue.text(typed, "host"),
    port: optionValue.integer(typed, "port", 0, 65_535),
  };
}

/** After so long without a word of its process a job is taken over, in ms. */
const LEASE_MS = 15_000;

/**
 * Serves until the program is told to end; returns the exit code 0.
 * @throws Failure `invalid_settings`, `invalid_usage` (the address cannot be bound), `unwritable_output`
 */
export async function runServeExtractor(
  command: ServeExtractorCommand,
  parts: CommandParts,
): Promise<number> {
  const { io, notices } = parts;
  const program = openProgram(parts);
  const network = await readNetworkSettings(command, program.settings, io);
  const stateDirectory = stateDirectoryOf(program, "extractor");
  const serving: Serving = { program, network, stateDirectory, log: program.openLog("info"), io };
  if (io.supervisor === null) warnWithoutKey(network, "ARTICLE_EXTRACTOR_API_KEY", notices);
  if (io.supervisor === null && network.paths.root === null)
    notices.warn(
      network.apiKey === null
        ? "crawls may write where this user may: set ARTICLE_EXTRACTOR_OUTPUT_ROOT to confine them"
        : "crawls are refused: set ARTICLE_EXTRACTOR_OUTPUT_ROOT to the directory that they may write to",
    );
  const isSeveral = processCount(serving) > 1 && io.supervisor === null;
  return isSeveral ? await serveFromSeveral(serving) : await serveFromThis(serving);
}

type Serving = {
  readonly program: Program;
  readonly network: Awaited<ReturnType<typeof readNetworkSettings>>;
  readonly stateDirectory: string;
  readonly log: Log;
  readonly io: Io;
};

const processCount = ({ program }: Serving): number => program.settings.webConcurrency ?? 1;

async function serveFromSeveral(serving: Serving): Promise<number> {
  const { io, log, network } = serving;
  const { host } = network;
  // Made before the processes start: what is wrong with the directory is told once, and ends the program.
  openQueue(serving)[Symbol.dispose]();
  openSharedState(serving.stateDirectory, log).database.close();
  const port = await reservePort(host, network.port);
  return await superviseProcesses({
    count: processCount(serving),
    startCopy: io.startCopy,
    run: crypto.randomUUID(),
    port,
    signal: io.signal,
    onReady: () => announce(serving, urlOf(host, port)),
    log,
  });
}

/** As the only process, or as one of several. */
async function serveFromThis(serving: Serving): Promise<number> {
  const { io, log, program, network, stateDirectory } = serving;
  const { settings } = program;
  const { supervisor } = io;
  using queue = openQueue(serving);
  const { database } = openSharedState(stateDirectory, log);
  using _ = { [Symbol.dispose]: () => database.close() };
  const prometheus = createPrometheusSink(settings.metricsNamespace);
  using board = openProcessBoard({
    database,
    run: supervisor?.run ?? crypto.randomUUID(),
    pid: process.pid,
    snapshot: prometheus.snapshot,
    log,
  });
  await using app = openApp(program, {
    shell: "server",
    // Each session says for whom it is; one that did not would reach public addresses only.
    caller: { kind: "remote_request" },
    sinks: [prometheus.sink],
    log,
    ...(supervisor === null ? {} : { hostSlots: sharedSlots(database) }),
  });
  await using server = startExtractorServer({
    ...network,
    port: supervisor?.port ?? network.port,
    sharesPort: supervisor !== null,
    name: "article-extractor",
    version: VERSION,
    app,
    queue,
    defaults: defaultsOf(settings),
    processes: { configured: processCount(serving), alive: () => board.alive().length },
    renderMetrics: () => prometheus.render(board.otherMetrics()),
    log,
  });
  if (supervisor === null) announce(serving, server.url);
  else supervisor.announceReady();
  await aborted(io.signal);
  return 0;
}

const openQueue = ({ program, stateDirectory }: Serving): JobQueue<CrawlSpec> =>
  openJobQueue({
    directory: stateDirectory,
    maxQueued: program.settings.maxQueuedJobs,
    maxRunning: program.settings.maxRunningJobs,
    leaseMs: LEASE_MS,
    now: Date.now,
  });

const sharedSlots = (database: Database): HostSlots =>
  createSharedHostSlots({ local: createHostSlots(systemClock), database, clock: systemClock });

function announce(serving: Serving, url: string): void {
  const count = processCount(serving);
  const from = count > 1 ? `, from ${count} processes` : "";
  serving.io.stderr.write(`serving extraction at ${url}${serving.network.basePath}${from}\n`);
}

const defaultsOf = (settings: Settings): ExtractorServerOptions["defaults"] => ({
  extraction: extractionDefaults(settings),
  preference: preferenceOf(DEFAULT_NETWORK, settings),
  maxPages: settings.crawlerMaxPages,
  maxDepth: DEFAULT_CRAWL.maxDepth,
  concurrency: settings.crawlerConcurrency,
  hostDelayMs: Math.round(settings.crawlerRateLimit * 1000),
});

async function readNetworkSettings(command: ServeExtractorCommand, settings: Settings, io: Io) {
  const { apiKey: key, apiKeyFile: file } = settings;
  const apiKey = await readApiKey({ key, file, variable: "ARTICLE_EXTRACTOR_API_KEY" }, io);
  return {
    host: command.host ?? settings.host,
    port: command.port ?? settings.port,
    ...readProxySettings(settings),
    allowedHosts: entriesOf(settings.allowedHosts),
    corsOrigins: readOrigins(settings),
    apiKey,
    paths: { root: openRoot(settings.outputRoot), workingDirectory: process.cwd() },
    maxConcurrentRequests: settings.maxConcurrentRequests,
    maxPerClient: settings.maxPerClient,
  };
}

function readOrigins({ corsOrigins }: Settings): string[] {
  const origins = entriesOf(corsOrigins) ?? [];
  for (const origin of origins)
    if (origin !== "*" && URL.parse(origin)?.origin !== origin)
      throw new Failure(
        "invalid_settings",
        `ARTICLE_EXTRACTOR_CORS_ORIGINS: ${JSON.stringify(origin.slice(0, 100))} is no origin such as https://app.example`,
      );
  return origins;
}

function openRoot(written: string | null): string | null {
  if (written === null) return null;
  const path = resolve(written);
  try {
    mkdirSync(path, { recursive: true });
    if (statSync(path).isDirectory()) return realpathSync(path);
  } catch (cause) {
    const code = systemCode(cause) ?? String(cause);
    throw new Failure("invalid_settings", `ARTICLE_EXTRACTOR_OUTPUT_ROOT ${path}: ${code}`, { cause });
  }
  throw new Failure("invalid_settings", `ARTICLE_EXTRACTOR_OUTPUT_ROOT ${path} is not a directory`);
}
