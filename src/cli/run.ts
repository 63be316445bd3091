import { FAILURE_OUTCOMES, Failure } from "../base/failure.ts";
import { VERSION } from "../base/version.ts";
import { parseArguments, type Typed } from "./arguments.ts";
import { type Command, type CommandName, EXTRACT_COMMAND, requireCommand } from "./commands.ts";
import { type Io, OutputClosed } from "./io.ts";
import { createNotices, type Notices } from "./terminal/notices.ts";
import { createPaint, type Paint } from "./terminal/paint.ts";

const INTERRUPTED = 130;

/**
 * The program as a function from the typed words to its exit code: 0 means done, 1 that the work failed, 2 wrong
 * usage or configuration, 130 interrupted. Data goes to stdout, everything else to stderr.
 */
export async function runCli(words: readonly string[], io: Io): Promise<number> {
  // Options that cannot be read may still ask for no colours.
  let hasColors = () => !words.includes("--no-color") && allowsColors(io);
  const openNotices = (isQuiet: boolean, at: Io = io): Notices =>
    createNotices({ io: at, paint: () => createPaint(hasColors() && io.stderr.isTerminal), isQuiet });
  try {
    const typed = parseArguments(words);
    hasColors = () => !typed.has("no-color") && allowsColors(io);
    return await dispatch({
      typed,
      io,
      isBare: words.length === 0 && io.stdin.isTerminal,
      openNotices: (at) => openNotices(typed.has("quiet"), at),
      paint: () => createPaint(hasColors() && io.stdout.isTerminal),
    });
  } catch (error) {
    return reportError(firstError(error), io, openNotices(false));
  }
}

const allowsColors = ({ environment }: Io): boolean => !environment.NO_COLOR && environment.TERM !== "dumb";

/** What went wrong first, where cleaning up went wrong after it. */
const firstError = (error: unknown): unknown =>
  error instanceof SuppressedError ? firstError(error.suppressed) : error;

function reportError(error: unknown, io: Io, notices: Notices): number {
  // The reader has seen enough: nothing is wrong, and nobody is left to tell.
  if (error instanceof OutputClosed) return 0;
  if (io.signal.aborted) {
    notices.error("interrupted");
    return INTERRUPTED;
  }
  if (error instanceof Failure) {
    // Wrong settings are told together; any other line break comes out of what was typed or fetched.
    const lines = error.code === "invalid_settings" ? error.message.split("\n") : [error.message];
    for (const line of lines) notices.error(line);
    return FAILURE_OUTCOMES[error.code].exitCode;
  }
  const name = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  notices.error(`a fault of article-extractor ${VERSION}, please report it: ${name}`);
  return FAILURE_OUTCOMES.internal.exitCode;
}

type Shell = {
  readonly typed: Typed;
  readonly io: Io;
  /** Notices on the stderr of this `Io`. */
  readonly openNotices: (at: Io) => Notices;
  /** For stdout. */
  readonly paint: () => Paint;
  /** Whether somebody at a terminal typed the program's name and nothing else. */
  readonly isBare: boolean;
};

// Everything heavy is imported by the command that needs it: --version and --help start in no time.
const RUNNERS: Readonly<Record<CommandName, (shell: Shell) => Promise<number>>> = {
  extract,
  crawl,
  index,
  search,
  fetch: fetchDocument,
  serve,
  sync,
  validate,
  schema,
  doctor,
  completions,
  man,
  licenses,
  help,
  version,
};

async function dispatch(shell: Shell): Promise<number> {
  const { typed, isBare } = shell;
  if (typed.has("version")) return printVersion(shell);
  if (typed.asksForHelp) return printHelp(typed.command, shell);
  return isBare ? printOverview(shell) : RUNNERS[typed.command.name](shell);
}

async function printVersion({ io }: Shell): Promise<number> {
  await io.stdout.write(`article-extractor ${VERSION}\n`);
  return 0;
}

const MAX_HELP_WIDTH = 100;

async function printHelp(command: Command, { io, paint }: Shell): Promise<number> {
  const { formatHelp } = await import("./help.ts");
  const width = Math.min(MAX_HELP_WIDTH, io.stdout.columns);
  await io.stdout.write(formatHelp(command, { width, paint: paint() }));
  return 0;
}

async function printOverview({ io, paint }: Shell): Promise<number> {
  const { formatOverview } = await import("./help.ts");
  const width = Math.min(MAX_HELP_WIDTH, io.stdout.columns);
  await io.stdout.write(formatOverview({ width, paint: paint() }));
  return 0;
}

async function help(shell: Shell): Promise<number> {
  const [name, ...more] = shell.typed.positionals;
  if (more.length > 0) throw new Failure("invalid_usage", "help takes one command");
  return printHelp(name === undefined ? EXTRACT_COMMAND : requireCommand(name), shell);
}

async function version(shell: Shell): Promise<number> {
  requireNoArguments(shell.typed);
  return printVersion(shell);
}

async function man({ typed, io }: Shell): Promise<number> {
  requireNoArguments(typed);
  const { formatManual } = await import("./manual.ts");
  await io.stdout.write(formatManual());
  return 0;
}

function requireNoArguments({ command, positionals }: Typed): void {
  if (positionals.length > 0) throw new Failure("invalid_usage", `${command.name} takes no arguments`);
}

async function extract({ typed, io, openNotices }: Shell): Promise<number> {
  const { noteMissingBrowser, openCommandApp } = await import("./program.ts");
  const { readExtractCommand } = await import("./commands/pages/extract-options.ts");
  const { readExtraction } = await import("./commands/pages/page-options.ts");
  const { runExtract } = await import("./commands/pages/extract.ts");
  const { openScreen } = await import("./terminal/screen.ts");
  const command = readExtractCommand(typed, () => io.stdin.isTerminal);
  const isList = command.input.kind === "list";
  const isToFile = command.outputFile !== null || command.resumeFile !== null;
  using screen = openScreen(io, {
    isLive: isList && canRedraw(typed, io) && (isToFile || !io.stdout.isTerminal),
  });
  const notices = openNotices(screen.io);
  if (command.input.kind === "stdin" && io.stdin.isTerminal)
    notices.warn("reading the page from the terminal");
  const parts = { typed, io: screen.io, notices };
  const { app, program } = openCommandApp(parts, { extractsOnePage: !isList });
  await using _ = app;
  if (command.input.kind === "url" || isList) noteMissingBrowser(command.network, { app, program, notices });
  // Which command it is decides how the application opens, and only then are the settings read.
  const extraction = readExtraction(typed, command.extraction.renderings, program.settings);
  return await runExtract({ ...command, extraction }, { app, screen, notices, now: () => new Date() });
}

/** A line that is written over and over has no place in a log, or where nothing can be erased. */
const canRedraw = (typed: Typed, io: Io): boolean =>
  io.stderr.isTerminal && io.environment.TERM !== "dumb" && !typed.has("quiet");

async function crawl({ typed, io, openNotices }: Shell): Promise<number> {
  const { noteMissingBrowser, openCommandApp } = await import("./program.ts");
  const { readCrawlCommand } = await import("./commands/pages/crawl-options.ts");
  const { runCrawl } = await import("./commands/pages/crawl.ts");
  const { openScreen } = await import("./terminal/screen.ts");
  const isLive =
    canRedraw(typed, io) && !typed.has("dry-run") && !(typed.has("jsonl") && io.stdout.isTerminal);
  using screen = openScreen(io, { isLive });
  const notices = openNotices(screen.io);
  const { app, program, log } = openCommandApp({ typed, io: screen.io, notices });
  await using _ = app;
  const command = readCrawlCommand(typed, program.settings, {
    directory: process.cwd(),
    hasPerson: () => io.stdin.isTerminal,
  });
  noteMissingBrowser(command.network, { app, program, notices });
  return await runCrawl(command, { app, screen, notices, log });
}

async function index(shell: Shell): Promise<number> {
  const { typed, io, openNotices } = shell;
  const { readIndexCommand } = await import("./commands/documents/options.ts");
  const command = readIndexCommand(typed);
  if (command.kind === "folder") {
    const { runIndex } = await import("./commands/documents/index-folder.ts");
    return await runIndex(command, { io, notices: openNotices(io), isQuiet: typed.has("quiet") });
  }
  const { runTenantIndex } = await import("./commands/documents/tenants.ts");
  return await runTenantIndex(command, tenantParts(shell));
}

async function search(shell: Shell): Promise<number> {
  const { readSearchCommand } = await import("./commands/documents/options.ts");
  const command = readSearchCommand(shell.typed);
  const parts = tenantParts(shell);
  if (command.kind === "folder") {
    const { runSearch } = await import("./commands/documents/folder.ts");
    return await runSearch(command, parts);
  }
  const { runTenantSearch } = await import("./commands/documents/tenants.ts");
  return await runTenantSearch(command, parts);
}

async function fetchDocument(shell: Shell): Promise<number> {
  const { readFetchCommand } = await import("./commands/documents/options.ts");
  const { runTenantFetch } = await import("./commands/documents/tenants.ts");
  return await runTenantFetch(readFetchCommand(shell.typed), tenantParts(shell));
}

const tenantParts = ({ typed, io, openNotices, paint }: Shell) => ({
  typed,
  io,
  notices: openNotices(io),
  paint: paint(),
});

async function serve(shell: Shell): Promise<number> {
  const { typed, io, openNotices } = shell;
  if (typed.positionals[0] === "extractor") return serveExtractor(shell);
  const { readServeCommand, runServeSearch } = await import("./commands/serve/search.ts");
  return await runServeSearch(readServeCommand(typed), { typed, io, notices: openNotices(io) });
}

async function serveExtractor({ typed, io, openNotices }: Shell): Promise<number> {
  const { readServeExtractorCommand, runServeExtractor } = await import("./commands/serve/extractor.ts");
  return await runServeExtractor(readServeExtractorCommand(typed), { typed, io, notices: openNotices(io) });
}

async function sync({ typed, io, openNotices }: Shell): Promise<number> {
  const { readSyncCommand, runSync } = await import("./commands/documents/sync.ts");
  const command = readSyncCommand(typed);
  return await runSync(command, { typed, io, notices: openNotices(io) });
}

async function validate({ typed, io, openNotices }: Shell): Promise<number> {
  const { runValidate } = await import("./commands/documents/validate.ts");
  return await runValidate({ typed, io, notices: openNotices(io) });
}

async function doctor({ typed, io, openNotices, paint }: Shell): Promise<number> {
  requireNoArguments(typed);
  const { openCommandApp } = await import("./program.ts");
  const { runDoctor } = await import("./commands/doctor.ts");
  const { app, program, log } = openCommandApp({ typed, io, notices: openNotices(io) });
  await using _ = app;
  const config = typed.one("config") ?? null;
  const isJson = typed.has("json");
  return await runDoctor({ app, program, io, paint: paint(), isJson, config, log });
}

async function schema({ typed, io }: Shell): Promise<number> {
  requireNoArguments(typed);
  const { deploymentJsonSchema } = await import("../settings/index.ts");
  await io.stdout.write(`${JSON.stringify(deploymentJsonSchema(), null, 2)}\n`);
  return 0;
}

async function completions(shell: Shell): Promise<number> {
  const { io, typed } = shell;
  const { positionals } = typed;
  // The scripts ask for them at each tabulator.
  if (positionals.length === 1 && positionals[0] === "tenants") return await tenants(shell);
  const { formatCompletions, SHELLS } = await import("./completions.ts");
  if (positionals.length !== 1) {
    throw new Failure("invalid_usage", `completions takes one shell: ${SHELLS.join(", ")}`);
  }
  await io.stdout.write(formatCompletions(positionals[0] ?? ""));
  return 0;
}

async function tenants({ typed, io, openNotices }: Shell): Promise<number> {
  const { openDeployment } = await import("./deployment.ts");
  const { deployment } = await openDeployment({ typed, io, notices: openNotices(io) }, null);
  await io.stdout.write(deployment.tenants.map(({ codename }) => `${codename}\n`).join(""));
  return 0;
}

async function licenses({ typed, io }: Shell): Promise<number> {
  requireNoArguments(typed);
  const { readLicenses } = await import("./commands/licenses.ts");
  await io.stdout.write(await readLicenses());
  return 0;
}
