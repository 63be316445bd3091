import {
  type App,
  type NetworkOptions,
  type Overrides,
  openApp,
  type Person,
  type Program,
  readEnvironment,
  readProgram,
} from "../app/index.ts";
import { Failure } from "../base/failure.ts";
import { LOG_FORMATS, LOG_LEVELS, type Log } from "../base/log.ts";
import { silentLog } from "../base/silent-log.ts";
import { parseEgressPolicy } from "../fetching/index.ts";
import { type Deployment, type Environment, misspeltVariables } from "../settings/index.ts";
import type { Typed } from "./arguments.ts";
import { type Io, untilAborted, wrongUsage } from "./io.ts";
import { optionValue } from "./option-values.ts";
import type { Notices } from "./terminal/notices.ts";

/** The parts that every command gets that opens the program. */
export type CommandParts = { readonly typed: Typed; readonly io: Io; readonly notices: Notices };

/** Reads the program: option, environment, `.env`, default. @throws Failure `invalid_settings`, `invalid_usage` */
export async function openProgram(parts: CommandParts): Promise<Program> {
  const environment = await environmentOf(parts);
  warnOfMisspelt(environment, null, parts);
  return readProgram(parts.io, environment, overridesOf(parts.typed));
}

/** Does the same without a warning, which a deployment file may make needless. */
export const readCommandProgram = async (parts: CommandParts): Promise<Program> =>
  readProgram(parts.io, await environmentOf(parts), overridesOf(parts.typed));

/** The variables of the process and its `.env` file. @throws Failure `invalid_settings`, and the signal's reason */
const environmentOf = ({ typed, io }: CommandParts): Promise<Environment> =>
  untilAborted(readEnvironment(io, typed.one("env-file")), io.signal);

/** Returns the typed settings, which override the environment. */
function overridesOf(typed: Typed): Overrides {
  return {
    logLevel: optionValue.choice(typed, "log-level", LOG_LEVELS),
    logFormat: optionValue.choice(typed, "log-format", LOG_FORMATS),
    isVerbose: typed.has("verbose"),
    egress: readEgress(typed),
  };
}

function readEgress(typed: Typed): string | null {
  const written = optionValue.text(typed, "egress");
  if (written === null) return null;
  try {
    parseEgressPolicy(written);
    return written;
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    throw wrongUsage(`--egress: ${cause.message}`, { cause });
  }
}

/** The application as a command sees it; dispose of `app` after use. */
export type CommandApp = {
  readonly app: App;
  readonly program: Program;
  readonly log: Log;
  /** Tells the user that a database or a store cannot be reached, whatever the log's level is. */
  readonly waits: Log;
};

/** Opens the application for the person who runs the program. @throws Failure `invalid_settings`, `invalid_usage` */
export async function openCommandApp(
  parts: CommandParts,
  { extractsOnePage = false }: { readonly extractsOnePage?: boolean } = {},
): Promise<CommandApp> {
  const program = await openProgram(parts);
  const log = program.openLog("critical");
  const person = createPerson(parts.io);
  // Commands log nothing of their own accord, but a person has to know what their crawl waits for.
  const waits: Log = {
    ...silentLog,
    warning: (message, { error, reason = error } = {}) =>
      parts.notices.warn(reason ? `${message}: ${reason}` : message),
  };
  const { signal } = parts.io;
  const caller = { kind: "cli" } as const;
  const app = openApp(program, { shell: "cli", caller, extractsOnePage, person, log, waits, signal });
  return { app, program, log, waits };
}

/** The person at the terminal, or whoever writes into the pipe instead; a line break means "done". */
const createPerson = (io: Io): Person => ({
  async ask(message, signal) {
    // This is not a notice: even with --quiet, somebody has to know what the window is waiting for.
    io.stderr.write(`${message}\n`);
    const line = await io.stdin.readLine();
    // Nobody is there, so only the time limit or closing the window ends the wait.
    if (line === null && !signal.aborted) await new Promise(() => {});
  },
});

/** Warns that a requested browser is missing; without a request nobody needs it. */
export function noteMissingBrowser(
  { preference }: NetworkOptions,
  { app, program, notices }: Pick<CommandApp, "app" | "program"> & { readonly notices: Notices },
): void {
  const isAsked =
    preference === "browser" || (preference === null && program.settings.preferBrowser === true);
  if (isAsked && app.browserPath() === null)
    notices.warn("no Chromium, Chrome or Edge was found: pages are fetched over plain HTTP");
}

/** Warns about variables that are not read because they are misspelt. */
export function warnOfMisspelt(
  environment: Environment,
  deployment: Deployment | null,
  { io, notices }: CommandParts,
): void {
  // The first of several processes has already warned.
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
