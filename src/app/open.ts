import { createHash } from "node:crypto";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { checkSchema, parseDatabaseUrl } from "../base/database-url.ts";
import { Failure } from "../base/failure.ts";
import { createLog, type Log, type LogFormat, type LogLevel } from "../base/log.ts";
import { createMetrics, logSink, type MetricsSink, statsdSink } from "../base/metrics.ts";
import { parseStoreUrl } from "../base/objects.ts";
import {
  chooseProxy,
  deleteProxyVariables,
  type ProxyEnvironment,
  parseEgressPolicy,
  readProxyEnvironment,
} from "../fetching/index.ts";
import {
  type Environment,
  readSettings,
  type SettingChecks,
  type Settings,
  withDotenv,
} from "../settings/index.ts";
import { parsePageUrl, parseServiceUrl } from "../urls/index.ts";
import { type App, type AppOptions, type BrowserMachine, createApp } from "./app.ts";
import { DEFAULT_NETWORK } from "./network.ts";
import { openStatsd } from "./statsd.ts";
import { openTracing } from "./tracing.ts";

/** The process, as the entry of the program sees it. */
export type Host = {
  /** The process's own variables; the proxy variables are removed once they have been read. */
  readonly environment: Record<string, string | undefined>;
  /** The path of the program itself; an `.env` may be beside it. */
  readonly executablePath: string;
  /** The URL of the extraction workers' module. */
  readonly workerUrl: string | URL;
  /** The URL of the module of the worker that builds search indexes. */
  readonly indexWorkerUrl: string | URL;
  /** Makes this process and its child processes keep temporary files in a directory. */
  readonly useTemporaryDirectory: (directory: string) => void;
  readonly stderr: { write(text: string): void };
};

/** Options that were typed and override the environment; null when they were not. */
export type Overrides = {
  readonly logLevel: LogLevel | null;
  readonly logFormat: LogFormat | null;
  /** Whether to raise the level of the environment. */
  readonly isVerbose: boolean;
  readonly egress: string | null;
};

/** The program before anything is opened: its variables and the typed options. */
export type Program = {
  readonly host: Host;
  /** The process's variables, on top of those of the `.env` file. */
  readonly environment: Environment;
  readonly settings: Settings;
  readonly proxyEnvironment: ProxyEnvironment;
  /**
   * Opens the log on stderr, at the level of the options, else of the environment.
   * @param usual the level when neither names one
   */
  openLog(usual: LogLevel): Log;
};

/**
 * Reads the process's variables, which override the variables of the `.env` file.
 * @param envFile replaces the `.env` beside the program; null uses that one
 * @throws Failure `invalid_settings` when the file cannot be read
 */
export const readEnvironment = (host: Host, envFile: string | null): Promise<Environment> =>
  withDotenv(host.environment, { executablePath: host.executablePath, envFile });

/**
 * Reads the settings and the proxy variables without changing the variables.
 * @throws Failure `invalid_settings` with a line for every wrong variable
 */
export function readProgram(host: Host, environment: Environment, overrides: Overrides): Program {
  const problems: string[] = [];
  const collect = <T>(read: () => T): T | null => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      problems.push(error.message);
      return null;
    }
  };
  const settings = collect(() => readSettings(environment, SETTING_CHECKS));
  const proxyEnvironment = collect(() => readProxyEnvironment({ ...environment }));
  if (settings === null || proxyEnvironment === null)
    throw new Failure("invalid_settings", problems.join("\n"));
  const { logLevel, logFormat, isVerbose, egress } = overrides;
  return {
    host,
    environment,
    settings: { ...settings, egress: egress ?? settings.egress },
    proxyEnvironment,
    openLog: (usual) => {
      const level = settings.logLevel ?? usual;
      return createLog({
        level: logLevel ?? (isVerbose ? raise(level) : level),
        format: logFormat ?? settings.logFormat,
        write: host.stderr.write,
      });
    },
  };
}

const SETTING_CHECKS: SettingChecks = {
  databaseUrl: (value) => void parseDatabaseUrl(value),
  databaseSchema: checkSchema,
  storeUrl: (value) => parseStoreUrl(value),
  s3Endpoint: (value) => {
    if (!parseServiceUrl(value))
      throw new Failure("invalid_settings", "must be an http or https URL without credentials or query");
  },
  egress: (value) => parseEgressPolicy(value),
  proxy: (value) =>
    chooseProxy({
      explicit: value,
      explicitSource: "operator",
      bypass: [],
      environment: { http: null, https: null, bypass: [] },
    }),
};

// Servers log their work already, so "verbose" means details for them.
const raise = (level: LogLevel): LogLevel => (level === "info" || level === "debug" ? "debug" : "info");

export type AppChoice = Omit<
  AppOptions,
  "settings" | "proxyEnvironment" | "workerUrl" | "metrics" | "machine"
> & {
  /** More sinks besides the one that the settings name. */
  readonly sinks?: readonly MetricsSink[];
  /** The machine that runs browsers, by default this one; null starts no browser. */
  readonly machine?: BrowserMachine | null;
};

/** Assembles the modules of the program. Disposing of the app also waits until its metrics and traces have been sent. */
export function openApp(program: Program, { sinks = [], ...choice }: AppChoice): App {
  const { host, environment, settings, proxyEnvironment } = program;
  // Otherwise Bun's fetch would use them at every request, bypassing the egress policy.
  deleteProxyVariables(host.environment);
  const own = openSink(settings, choice.log);
  const metrics = createMetrics([...sinks, ...own.sinks]);
  const tracing = openTracing({ settings, log: choice.log, metrics });
  const app = createApp({
    ...choice,
    settings,
    proxyEnvironment,
    workerUrl: host.workerUrl,
    machine: choice.machine === undefined ? machineOf(environment, host) : choice.machine,
    metrics,
  });
  return {
    ...app,
    [Symbol.asyncDispose]: async () => {
      await app[Symbol.asyncDispose]();
      await tracing[Symbol.asyncDispose]();
      await own.socket?.[Symbol.asyncDispose]();
    },
  };
}

/** Opens the sink that the settings name; disposing of its socket waits until everything has been sent. */
function openSink(settings: Settings, log: Log): { sinks: readonly MetricsSink[]; socket?: AsyncDisposable } {
  const { metricsNamespace, metricsStatsdHost: host, metricsStatsdPort: port } = settings;
  if (!settings.metricsEnabled) return { sinks: [] };
  if (settings.metricsSink === "log") {
    // A setting asks for these lines explicitly, so they are written at any log level.
    const write = (metric: string, kind: string, value: number): void =>
      log.always("info", "metric", { metric, kind, value });
    return { sinks: [logSink(metricsNamespace, write)] };
  }
  const socket = openStatsd(host, port, (reason) =>
    log.always("warning", `metrics do not reach the StatsD server: ${reason}`, { host, port }),
  );
  return { sinks: [statsdSink(metricsNamespace, socket.send)], socket };
}

/** Describes this machine's means to run browsers. */
function machineOf(environment: Environment, host: Host): BrowserMachine {
  const user = process.getuid?.();
  return {
    searchPath: environment.PATH ?? "",
    platform: process.platform,
    home: homedir(),
    temporaryBase: temporaryBase(`article-extractor${user === undefined ? "" : `-${user}`}`),
    useTemporaryDirectory: host.useTemporaryDirectory,
    environment: host.environment,
    pid: process.pid,
    isRoot: user === 0,
    hasDisplay: hasDisplay(environment, process.platform),
  };
}

/**
 * The longest base directory. Chromium makes a socket in its directory for temporary files, and macOS allows 103 bytes
 * for a socket's path; `browser-<pid>/org.chromium.Chromium.XXXXXX/SingletonSocket` leaves this many.
 */
const MAX_BASE_BYTES = 40;

// Each user has a directory that no other may read, so its parent may be shared by all.
function temporaryBase(name: string): string {
  const usual = join(tmpdir(), name);
  const isTooLong = process.platform !== "win32" && Buffer.byteLength(usual) > MAX_BASE_BYTES;
  return isTooLong ? join("/tmp", name) : usual;
}

/** Whether a window can be shown. Except on X11 and Wayland there is always a desktop. */
export const hasDisplay = ({ DISPLAY, WAYLAND_DISPLAY }: Environment, platform: string): boolean =>
  platform === "darwin" || platform === "win32" || Boolean(DISPLAY || WAYLAND_DISPLAY);

/** The directory of a server's state: the one in the settings, else one in the XDG state directory. */
export function stateDirectoryOf(program: Program, server: "extractor" | "search"): string {
  const { stateDir, searchStateDir } = program.settings;
  return resolve((server === "extractor" ? stateDir : searchStateDir) ?? join(stateHomeOf(program), server));
}

/** The directory for the frontier of a crawl into a store; each store has its own. */
export function crawlStateDirectoryOf(program: Program, storeUrl: string): string {
  const hash = createHash("sha256").update(storeUrl).digest("hex").slice(0, 16);
  const readable = storeUrl.replace(/^\w+:\/+/, "").replace(/[^\w.-]+/g, "_");
  return resolve(stateHomeOf(program), "crawls", `${readable.slice(0, 100)}-${hash}`);
}

/** The program's part of the XDG state directory (XDG Base Directory 0.8). */
const stateHomeOf = ({ environment }: Program): string =>
  join(environment.XDG_STATE_HOME || join(homedir(), ".local/state"), "article-extractor");

/** How long the issuer may take to answer, in ms; callers wait for it. */
const TIMEOUT_MS = 10_000;

/** Reads small texts from a named issuer of tokens, which may have a private address. */
export function openIssuer(
  app: App,
  urls: readonly string[],
): { readonly read: (url: string) => Promise<string> } & AsyncDisposable {
  const hosts = urls.map((url) => new URL(url).hostname);
  const session = app.openSession(
    { ...DEFAULT_NETWORK, requestTimeoutMs: TIMEOUT_MS },
    { kind: "configured_source", hosts },
  );
  return {
    read: async (written) => {
      const url = parsePageUrl(written);
      if (url === null) throw new Failure("invalid_url", `${written.slice(0, 200)} is not a URL`);
      const options = { purpose: "robots", deadlineMs: TIMEOUT_MS, tries: 1 } as const;
      const { status, body } = await session.http.fetchStream(url, options);
      const text = await new Response(body).text();
      if (status !== 200) throw new Failure("http_status", `GET ${url} was answered with ${status}`);
      return text;
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}
