import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Failure } from "../base/failure.ts";
import { createLog, type Log, type LogFormat, type LogLevel } from "../base/log.ts";
import {
  chooseProxy,
  deleteProxyVariables,
  type ProxyEnvironment,
  parseEgressPolicy,
  readProxyEnvironment,
} from "../fetching/index.ts";
import { createMetrics, logSink, type MetricsSink, statsdSink } from "../metrics.ts";
import {
  type Environment,
  readSettings,
  type SettingChecks,
  type Settings,
  withDotenv,
} from "../settings/index.ts";
import { type App, type AppOptions, type BrowserMachine, createApp } from "./app.ts";
import { openStatsd } from "./statsd.ts";

/** What the entry of the program knows of its process. */
export type Host = {
  /** The process's own variables; the proxy variables are taken out when they have been read. */
  readonly environment: Record<string, string | undefined>;
  /** The program's own file, beside which a `.env` may stand. */
  readonly executablePath: string;
  /** The module of the extraction workers. */
  readonly workerUrl: string | URL;
  /** The module of the worker that builds search indexes. */
  readonly indexWorkerUrl: string | URL;
  /** Makes this process, and what it starts, keep temporary files in a directory. */
  readonly useTemporaryDirectory: (directory: string) => void;
  readonly stderr: { write(text: string): void };
};

/** What was typed and goes before the environment; null where nothing was. */
export type Overrides = {
  readonly logLevel: LogLevel | null;
  readonly logFormat: LogFormat | null;
  /** Raises the level of the environment. */
  readonly isVerbose: boolean;
  readonly egress: string | null;
};

/** The program before anything is opened: what its variables say, and what was typed. */
export type Program = {
  readonly host: Host;
  /** The process's variables over those of the `.env` file. */
  readonly environment: Environment;
  readonly settings: Settings;
  readonly proxyEnvironment: ProxyEnvironment;
  /**
   * Opens the log on stderr, at the level of the options, then of the environment.
   * @param usual the level where neither names one
   */
  openLog(usual: LogLevel): Log;
};

/**
 * The process's variables over those of the `.env` file.
 * @param envFile stands in for the `.env` beside the program; null for that one
 * @throws Failure `invalid_settings` when the file cannot be read
 */
export const readEnvironment = (host: Host, envFile: string | null): Environment =>
  withDotenv(host.environment, { executablePath: host.executablePath, envFile });

/**
 * Reads the settings and the proxy variables; the variables themselves stay as they are.
 * @throws Failure `invalid_settings` that names every wrong variable, one line each
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
  egress: (value) => parseEgressPolicy(value),
  proxy: (value) =>
    chooseProxy({
      explicit: value,
      explicitSource: "operator",
      bypass: [],
      environment: { http: null, https: null, bypass: [] },
    }),
};

// Servers say what they do already; what is left for them to say is the details.
const raise = (level: LogLevel): LogLevel => (level === "info" || level === "debug" ? "debug" : "info");

export type AppChoice = Omit<
  AppOptions,
  "settings" | "proxyEnvironment" | "workerUrl" | "metrics" | "machine"
> & {
  /** Take measurements besides the sink that the settings name. */
  readonly sinks?: readonly MetricsSink[];
  /** Absent: this machine; null: no browser is ever started. */
  readonly machine?: BrowserMachine | null;
};

/** Puts the modules of the program together; dispose of the app after use, and what it has counted has left. */
export function openApp(program: Program, { sinks = [], ...choice }: AppChoice): App {
  const { host, environment, settings, proxyEnvironment } = program;
  // Bun's fetch would act on them at every request, past the egress policy.
  deleteProxyVariables(host.environment);
  const own = openSink(settings, choice.log);
  const app = createApp({
    ...choice,
    settings,
    proxyEnvironment,
    workerUrl: host.workerUrl,
    machine: choice.machine === undefined ? machineOf(environment, host) : choice.machine,
    metrics: createMetrics([...sinks, ...own.sinks]),
  });
  return {
    ...app,
    [Symbol.asyncDispose]: async () => {
      await app[Symbol.asyncDispose]();
      await own.close();
    },
  };
}

type OpenSink = { readonly sinks: readonly MetricsSink[]; readonly close: () => Promise<void> };

/** The sink that the settings name; closing it waits until what it was given has left. */
function openSink(settings: Settings, log: Log): OpenSink {
  const { metricsNamespace, metricsStatsdHost: host, metricsStatsdPort: port } = settings;
  if (!settings.metricsEnabled) return { sinks: [], close: async () => {} };
  if (settings.metricsSink === "log") {
    // The lines are asked for by name, so they are written whatever the log's level.
    const write = (metric: string, kind: string, value: number): void =>
      log.always("info", "metric", { metric, kind, value });
    return { sinks: [logSink(metricsNamespace, write)], close: async () => {} };
  }
  const statsd = openStatsd({
    host,
    port,
    onTrouble: (reason) =>
      log.always("warning", `metrics do not reach the StatsD server: ${reason}`, { host, port }),
  });
  return {
    sinks: [statsdSink(metricsNamespace, statsd.send)],
    close: async () => await statsd[Symbol.asyncDispose](),
  };
}

/** What this machine has for browsers. */
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
 * Chromium makes a socket in its directory for temporary files, and macOS allows a socket's path 103 bytes:
 * these are left when the names below the base, `browser-<pid>/org.chromium.Chromium.XXXXXX/SingletonSocket`,
 * are taken away.
 */
const MAX_BASE_BYTES = 40;

// Each user has a directory that no other may look into, so it may stand in one that all share.
function temporaryBase(name: string): string {
  const usual = join(tmpdir(), name);
  const isTooLong = process.platform !== "win32" && Buffer.byteLength(usual) > MAX_BASE_BYTES;
  return isTooLong ? join("/tmp", name) : usual;
}

/** Whether a window can be shown: elsewhere than on X11 and Wayland there is always a desktop. */
export const hasDisplay = ({ DISPLAY, WAYLAND_DISPLAY }: Environment, platform: string): boolean =>
  platform === "darwin" || platform === "win32" || Boolean(DISPLAY || WAYLAND_DISPLAY);

/** Where a server keeps its state: what the settings name, else in the XDG state directory (XDG Base Directory 0.8). */
export function stateDirectoryOf({ settings, environment }: Program, server: "extractor" | "search"): string {
  const named = server === "extractor" ? settings.stateDir : settings.searchStateDir;
  const home = environment.XDG_STATE_HOME || join(homedir(), ".local/state");
  return resolve(named ?? join(home, "article-extractor", server));
}
