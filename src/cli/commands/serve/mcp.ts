import { resolve } from "node:path";
import {
  type App,
  openApp,
  openTenants,
  type PlacedDeployment,
  type Program,
  sourceProblems,
  stateDirectoryOf,
} from "../../../app/index.ts";
import type { Log } from "../../../base/log.ts";
import { VERSION } from "../../../base/version.ts";
import {
  clientConfiguration,
  countCalls,
  crawls,
  directoryPlaces,
  documentation,
  JobNews,
  JobRunner,
  joinOffers,
  MCP_CLIENTS,
  type McpClient,
  type McpOffer,
  pages,
  serveMcpStdio,
} from "../../../server/index.ts";
import { openOptionalDeployment } from "../../deployment.ts";
import { optionValue } from "../../option-values.ts";
import type { CommandParts } from "../../program.ts";
import { type Run, requireNoArguments, type ServerParts } from "../../shell.ts";
import { crawlPlaceOf, openLocalQueue, outputRootOf } from "./jobs.ts";
import { watchDeployment } from "./reload.ts";
import { defaultsOf, toolOptions, warnOfMissingIndexes } from "./settings.ts";

const NAME = "article-extractor";

/** Pages are fetched with the rights of the user who started the program, as on the command line. */
const CALLER = { kind: "cli" } as const;

/** Runs `mcp`: serves one client over stdin and stdout until it closes stdin. */
export const mcp: Run = async (shell) => {
  requireNoArguments(shell.typed);
  const client = optionValue.choice(shell.typed, "print-config", MCP_CLIENTS);
  return client === null
    ? await serveClient({ ...shell, notices: shell.openServerNotices() })
    : await printConfiguration(client, shell);
};

async function printConfiguration(client: McpClient, parts: CommandParts): Promise<number> {
  const { io, typed, notices } = parts;
  const { deployment } = await openOptionalDeployment(parts);
  const found = deployment === null || typed.has("config") ? [] : ["--config", deployment.path];
  const [command = "", ...words] = io.command;
  const { text } = clientConfiguration(client, {
    kind: "program",
    name: NAME,
    command,
    args: [...words, "mcp", ...found, ...passedOn(typed)],
  });
  await io.stdout.write(`${text}\n`);
  if (io.stderr.isTerminal)
    notices.tell(
      `"${NAME} skill" prints a skill for agents that run commands themselves, which costs no tokens of tools`,
    );
  return 0;
}

/** The options that the client's server gets too; its current directory is another one. */
const passedOn = (typed: CommandParts["typed"]): readonly string[] =>
  typed.command.flags.flatMap(({ name, placeholder, isPath }) => {
    const value = typed.one(name);
    if (value === null || name === "print-config") return [];
    if (placeholder === undefined) return [`--${name}`];
    return [`--${name}`, isPath ? resolve(value) : value];
  });

async function serveClient(parts: ServerParts): Promise<number> {
  const { io, notices } = parts;
  const { program, deployment } = await openOptionalDeployment(parts);
  // Searches are answered on the main thread; what extracts and builds is in no hurry.
  if (deployment) io.letWorkersGiveWay();
  const log = program.openLog(deployment?.infrastructure.logLevel ?? "info");
  notices.become(log);
  const isOffline = deployment?.infrastructure.isOffline ?? false;
  await using app = openApp(program, { shell: "server", caller: CALLER, isOffline, log });
  await using documents = deployment && (await openDocumentation(parts, { program, deployment, app, log }));
  await using jobs = openJobs(program, app, log);
  if (io.stdin.isTerminal)
    notices.warn("this waits for an MCP client on stdin; --print-config prints how a client starts it");
  const reading = [pages({ app, extraction: defaultsOf(program.settings).extraction }), jobs.offer];
  await serveMcpStdio(
    {
      name: NAME,
      version: VERSION,
      onCall: countCalls(app.metrics),
      ...joinOffers([...(documents ? [documents.offer] : []), ...(isOffline ? [] : reading)]),
    },
    { signal: io.signal, write: io.stdout.write, caller: CALLER, log },
  );
  return 0;
}

type Opened = AsyncDisposable & { readonly offer: McpOffer };

async function openDocumentation(
  { io, notices }: CommandParts,
  parts: {
    readonly program: Program;
    readonly deployment: PlacedDeployment;
    readonly app: App;
    readonly log: Log;
  },
): Promise<Opened> {
  const { program, deployment, app } = parts;
  const tenants = openTenants(program, parts);
  const { registry } = tenants;
  const { refused, unset } = sourceProblems(deployment, program);
  for (const warning of [...deployment.warnings, ...refused, ...unset]) notices.warn(warning);
  await warnOfMissingIndexes(deployment, { registry, notices });
  registry.start();
  // A fault that keeps tenants from being synced is only a warning, at the start as later.
  const watched = watchDeployment({ ...parts, io, registry, isLenient: true });
  return {
    offer: documentation({ ...toolOptions(deployment, { ...tenants, app, ...program }), pages: null }),
    [Symbol.asyncDispose]: async () => {
      watched[Symbol.dispose]();
      await tenants[Symbol.asyncDispose]();
    },
  };
}

/** Crawls of the client; most clients start none, so the queue is opened by the first call. */
function openJobs(program: Program, app: App, log: Log): Opened {
  const stateDirectory = stateDirectoryOf(program, "extractor");
  let open: {
    readonly queue: ReturnType<typeof openLocalQueue>;
    readonly news: JobNews;
    readonly runner: JobRunner;
  } | null = null;
  const jobs = () => {
    if (open) return open;
    const queue = openLocalQueue(program.settings, stateDirectory, log);
    open = { queue, news: new JobNews(queue), runner: new JobRunner({ app, queue, places, log }) };
    return open;
  };
  const root = outputRootOf(program.settings, stateDirectory);
  const { path } = crawlPlaceOf(program.settings, root);
  const places = directoryPlaces({ root }, { path, shown: path });
  return {
    offer: crawls({
      get queue() {
        return jobs().queue;
      },
      get news() {
        return jobs().news;
      },
      runner: { wake: () => jobs().runner.wake() },
      defaults: defaultsOf(program.settings),
      places,
    }),
    async [Symbol.asyncDispose]() {
      await open?.runner[Symbol.asyncDispose]();
      open?.news[Symbol.dispose]();
      await open?.queue[Symbol.asyncDispose]();
    },
  };
}
