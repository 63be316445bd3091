import { type App, createApp } from "../app.ts";
import { Failure } from "../failure.ts";
import { forgetProxyVariables, readProxyEnvironment } from "../fetching/index.ts";
import { createLog, LOG_FORMATS, LOG_LEVELS } from "../log.ts";
import { readSettings, type Settings, withDotenv } from "../settings/index.ts";
import { HOME_PAGE, VERSION } from "../version.ts";
import type { Typed } from "./arguments.ts";
import type { Io } from "./io.ts";
import { optionValue } from "./values.ts";

/**
 * The application as a command sees it: flag, then environment, then `.env`, then default.
 * @throws Failure `invalid_settings`, `invalid_usage`
 */
export function openCommandApp(typed: Typed, io: Io): App {
  const environment = withDotenv(io.environment, {
    executablePath: io.executablePath,
    envFile: typed.one("env-file"),
  });
  const proxyEnvironment = readProxyEnvironment({ ...environment });
  // Bun's fetch would act on them at every request, past the egress policy.
  forgetProxyVariables(io.environment);
  const settings = readSettings(environment);
  refuseAwaitedSettings(settings);
  const log = createLog({
    level:
      optionValue.choice(typed, "log-level", LOG_LEVELS) ??
      (typed.has("verbose") ? "info" : (settings.logLevel ?? "critical")),
    format: optionValue.choice(typed, "log-format", LOG_FORMATS) ?? settings.logFormat,
    write: io.stderr.write,
  });
  return createApp({
    settings: { ...settings, egress: typed.one("egress") ?? settings.egress },
    proxyEnvironment,
    caller: { kind: "cli" },
    product: { version: VERSION, homePage: HOME_PAGE },
    shell: "cli",
    workerUrl: io.workerUrl,
    log,
  });
}

// What these ask for does not exist yet, and asking must not be met with silence.
function refuseAwaitedSettings({ preferBrowser, storageStateFile }: Settings): void {
  const asked = [
    preferBrowser === true && "ARTICLE_EXTRACTOR_PREFER_BROWSER",
    storageStateFile !== null && "ARTICLE_EXTRACTOR_STORAGE_STATE_FILE",
  ].filter((name) => name !== false);
  if (asked.length > 0) {
    throw new Failure(
      "invalid_settings",
      `${asked.join(" and ")} need the browser fetcher, which this version does not have yet`,
    );
  }
}
