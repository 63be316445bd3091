import {
  type App,
  type AppOptions,
  browserMachine,
  createApp,
  type NetworkOptions,
  openMetrics,
  readAppEnvironment,
} from "../app/index.ts";
import { Failure } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import { HOME_PAGE, VERSION } from "../base/version.ts";
import { forgetProxyVariables, parseEgressPolicy } from "../fetching/index.ts";
import type { Environment, Settings } from "../settings/index.ts";
import type { Typed } from "./arguments.ts";
import { openLog, readEnvironment, warnOfMisspelt } from "./environment.ts";
import type { Io } from "./io.ts";
import type { Notices } from "./notices.ts";
import { createPerson } from "./person.ts";
import { optionValue } from "./values.ts";

/** The application as a command sees it; dispose of `app` after use. */
export type CommandApp = {
  readonly app: App;
  readonly settings: Settings;
  /** The process's variables over those of the `.env` file. */
  readonly environment: Environment;
  readonly log: Log;
};

type CommandParts = { readonly typed: Typed; readonly io: Io; readonly notices: Notices };

/**
 * Opens the application: flag, then environment, then `.env`, then default.
 * @throws Failure `invalid_settings`, `invalid_usage`
 */
export function openCommandApp(
  { typed, io, notices }: CommandParts,
  { extractsOnePage = false }: Pick<AppOptions, "extractsOnePage"> = {},
): CommandApp {
  const environment = readEnvironment(typed, io);
  warnOfMisspelt(environment, { io, notices, deployment: null });
  const { settings, proxyEnvironment } = readAppEnvironment(environment);
  // Bun's fetch would act on them at every request, past the egress policy.
  forgetProxyVariables(io.environment);
  const log = openLog(settings, { typed, io, usual: "critical" });
  const open = openMetrics(settings, { log });
  const app = createApp({
    settings: { ...settings, egress: readEgress(typed) ?? settings.egress },
    proxyEnvironment,
    caller: { kind: "cli" },
    product: { version: VERSION, homePage: HOME_PAGE },
    shell: "cli",
    extractsOnePage,
    workerUrl: io.workerUrl,
    machine: browserMachine(environment, io),
    person: createPerson(io),
    log,
    metrics: open.metrics,
  });
  const ending = {
    [Symbol.asyncDispose]: async () => {
      await app[Symbol.asyncDispose]();
      await open[Symbol.asyncDispose]();
    },
  };
  return { app: { ...app, ...ending }, settings, environment, log };
}

/** Says that the browser somebody asked for is not there; without being asked for nobody misses it. */
export function noteMissingBrowser(
  { preference }: NetworkOptions,
  { app, settings, notices }: Pick<CommandApp, "app" | "settings"> & { readonly notices: Notices },
): void {
  const isAsked = preference === "browser" || (preference === null && settings.preferBrowser === true);
  if (isAsked && app.browserPath() === null)
    notices.warn("no Chromium, Chrome or Edge was found: pages are fetched over plain HTTP");
}

function readEgress(typed: Typed): string | null {
  const written = optionValue.text(typed, "egress");
  if (written === null) return null;
  try {
    parseEgressPolicy(written);
    return written;
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    throw new Failure("invalid_usage", `--egress: ${cause.message}`, { cause });
  }
}
