import { cac } from "cac";
import { FAILURE_OUTCOMES, Failure } from "../base/failure.ts";
import { VERSION } from "../base/version.ts";
import { parseArguments } from "./arguments.ts";
import type { CommandName } from "./commands.ts";
import { type Io, OutputClosed, wrongUsage } from "./io.ts";
import type { Run, ServerParts, Shell } from "./shell.ts";
import { createNotices, createPaint, createServerNotices, type Notices } from "./terminal/notices.ts";

const INTERRUPTED = 130;

/**
 * The program as a function from the typed words to its exit code: 0 means done, 1 that the work failed, 2 wrong
 * usage or configuration, 130 interrupted. Data goes to stdout, everything else to stderr.
 */
export async function runCli(words: readonly string[], io: Io): Promise<number> {
  // Invalid options may still ask for no colours.
  let hasColors = () => !words.includes("--no-color") && allowsColors(io);
  const openNotices = (isQuiet: boolean, at: Io = io): Notices =>
    createNotices({ io: at, paint: () => createPaint(hasColors() && io.stderr.isTerminal), isQuiet });
  let server: Notices | null = null;
  try {
    const typed = parseArguments(words);
    hasColors = () => !typed.has("no-color") && allowsColors(io);
    return await dispatch({
      typed,
      io,
      isBare: words.length === 0 && io.stdin.isTerminal,
      notices: openNotices(typed.has("quiet")),
      openNotices: (at) => openNotices(typed.has("quiet"), at),
      openServerNotices: () => {
        const notices = createServerNotices(openNotices(typed.has("quiet")), typed.has("quiet"));
        server = notices;
        return notices;
      },
      paint: () => createPaint(hasColors() && io.stdout.isTerminal),
    });
  } catch (error) {
    return reportError(firstError(error), io, server ?? openNotices(false));
  }
}

const allowsColors = ({ environment }: Io): boolean => !environment.NO_COLOR && environment.TERM !== "dumb";

/** Returns the first error, when cleaning up failed after it. */
const firstError = (error: unknown): unknown =>
  error instanceof SuppressedError ? firstError(error.suppressed) : error;

function reportError(error: unknown, io: Io, notices: Notices): number {
  // The reader has closed the output: nothing is wrong, and nobody is left to tell.
  if (error instanceof OutputClosed) return 0;
  if (io.signal.aborted) {
    notices.error("interrupted");
    return INTERRUPTED;
  }
  if (error instanceof Failure) {
    // Wrong settings are reported together; any other line break comes from typed or fetched text.
    const lines = error.code === "invalid_settings" ? error.message.split("\n") : [error.message];
    const isLost = error.code === "unknown_tenant" && !error.message.includes("did you mean");
    for (const line of lines)
      notices.error(isLost ? `${line}; article-extractor tenants list names those that exist` : line);
    return FAILURE_OUTCOMES[error.code].exitCode;
  }
  const name = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  notices.error(`a fault of article-extractor ${VERSION}, please report it: ${name}`);
  return FAILURE_OUTCOMES.internal.exitCode;
}

// Each command is loaded when it is needed, so that --version and --help start at once.
const COMMANDS: Readonly<Record<CommandName, () => Promise<Run>>> = {
  extract: async () => (await import("./commands/pages/extract.ts")).extract,
  crawl: async () => (await import("./commands/pages/crawl.ts")).crawl,
  map: async () => (await import("./commands/pages/map.ts")).map,
  index: async () => (await import("./commands/documents/commands.ts")).index,
  search: async () => (await import("./commands/documents/commands.ts")).search,
  fetch: async () => (await import("./commands/documents/commands.ts")).fetchDocument,
  serve: async () => async (shell) => {
    const parts: ServerParts = { ...shell, notices: shell.openServerNotices() };
    return shell.typed.positionals[0] === "extractor"
      ? (await import("./commands/serve/extractor.ts")).serveExtractor(parts)
      : (await import("./commands/serve/search.ts")).serveSearch(parts);
  },
  mcp: async () => (await import("./commands/serve/mcp.ts")).mcp,
  skill: async () => (await import("./commands/about.ts")).skill,
  tenants: async () => (await import("./commands/tenants/tenants.ts")).tenants,
  keys: async () => (await import("./commands/serve/keys.ts")).keys,
  queries: async () => (await import("./commands/documents/queries.ts")).queries,
  sync: async () => (await import("./commands/documents/sync.ts")).sync,
  validate: async () => (await import("./commands/documents/validate.ts")).validate,
  schema: async () => (await import("./commands/about.ts")).schema,
  database: async () => (await import("./commands/database.ts")).database,
  doctor: async () => (await import("./commands/doctor.ts")).doctor,
  completions: async () => (await import("./commands/about.ts")).completions,
  man: async () => (await import("./commands/about.ts")).man,
  licenses: async () => (await import("./commands/about.ts")).licenses,
  help: async () => (await import("./commands/about.ts")).help,
  version: async () => (await import("./commands/about.ts")).version,
};

async function dispatch(shell: Shell): Promise<number> {
  const { typed, isBare, io } = shell;
  if (typed.has("version")) {
    if (typed.command.name === "search" && typed.positionals.length > 0)
      throw wrongUsage(
        "--version prints the program's version; --library NAME@4 or --filter version:4 searches one of the documentation",
      );
    await io.stdout.write(`article-extractor ${VERSION}\n`);
    return 0;
  }
  const isAboutUs = typed.asksForHelp || isBare;
  if (isAboutUs) return (await import("./commands/about.ts")).printHelp(isBare ? null : typed.command, shell);
  const program = cac("article-extractor");
  for (const [name, load] of Object.entries(COMMANDS))
    program.command(name).action(async () => await (await load())(shell));
  program.parse(["", "", typed.command.name], { run: false });
  return await program.runMatchedCommand();
}
