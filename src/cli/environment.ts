import { createLog, LOG_FORMATS, LOG_LEVELS, type Log, type LogLevel } from "../base/log.ts";
import {
  type Deployment,
  type Environment,
  misspeltVariables,
  type Settings,
  withDotenv,
} from "../settings/index.ts";
import type { Typed } from "./arguments.ts";
import type { Io } from "./io.ts";
import type { Notices } from "./notices.ts";
import { optionValue } from "./values.ts";

/**
 * The process's variables over those of the `.env` file.
 * @throws Failure `invalid_settings` when that file cannot be read
 */
export const readEnvironment = (typed: Typed, io: Io): Environment =>
  withDotenv(io.environment, { executablePath: io.executablePath, envFile: typed.one("env-file") });

type WarningParts = {
  readonly io: Io;
  readonly notices: Notices;
  /** Null for commands without one. */
  readonly deployment: Deployment | null;
};

/** Warns of variables that nobody reads because they are misspelt. */
export function warnOfMisspelt(environment: Environment, { io, notices, deployment }: WarningParts): void {
  // Of several processes the first one has warned.
  if (io.supervisor !== null) return;
  const named = deployment === null ? [] : tokenVariables(deployment);
  for (const { name, meant } of misspeltVariables(environment, new Set(named)))
    notices.warn(`the variable ${name} is no setting; did you mean ${meant}?`);
}

const tokenVariables = ({ tenants, infrastructure }: Deployment): readonly string[] =>
  [
    infrastructure.fallback?.apiKeyVariable ?? null,
    ...tenants.map((tenant) => (tenant.source === "git" ? tenant.tokenVariable : null)),
  ].filter((name) => name !== null);

type LogParts = {
  readonly typed: Typed;
  readonly io: Io;
  /** The level where neither an option nor the environment names one. */
  readonly usual: LogLevel;
};

/** The log on stderr, at the level of the options, then of the environment. */
export function openLog({ logLevel, logFormat }: Settings, { typed, io, usual }: LogParts): Log {
  const level = logLevel ?? usual;
  const raised = typed.has("verbose") ? raise(level) : level;
  return createLog({
    level: optionValue.choice(typed, "log-level", LOG_LEVELS) ?? raised,
    format: optionValue.choice(typed, "log-format", LOG_FORMATS) ?? logFormat,
    write: io.stderr.write,
  });
}

// Servers say what they do already; what is left for them to say is the details.
const raise = (level: LogLevel): LogLevel => (level === "info" || level === "debug" ? "debug" : "info");
