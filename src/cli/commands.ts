import { didYouMean } from "../base/nearest.ts";
import type { Settings } from "../settings/index.ts";
import { type Flag, type FlagTable, flagsOf, GENERAL_FLAGS } from "./flags/flag.ts";
import { CRAWL_FLAGS, EXTRACT_FLAGS, MAP_FLAGS } from "./flags/pages.ts";
import { wrongUsage } from "./io.ts";

const DEFAULT_CONFIG = "(default DEPLOYMENT_CONFIG, then ./deployment.json)";
const CONFIG: FlagTable = { "--config FILE": `Deployment file of the tenants ${DEFAULT_CONFIG}` };
const DIR: FlagTable = { "--dir DIR": "The folder of documents, such as a crawl writes" };
const INDEX_FILE: FlagTable = {
  "--index-file FILE": "The index's file of --dir (default DIR/.article-extractor/search.index)",
};
const JSON_OUTPUT: FlagTable = { "--json": "One JSON document instead of text" };

/** A command's options and arguments. */
type About = {
  /** Arguments as the help shows them. */
  readonly usage: string;
  readonly help: string;
  /** Why most people want the command, in at most 50 characters; the others are only named to newcomers. */
  readonly brief?: string;
  /** The words that the command takes as its first argument, where it takes only a few. */
  readonly actions?: readonly string[];
  /** Whether the command works for seconds, or until it is stopped. */
  readonly isLong?: boolean;
  readonly flags: readonly Flag[];
};

const TABLE = {
  extract: {
    usage: "[URL ... | -] [options]",
    help: "Extract one page, or several (the command may be left out)",
    brief: "one page, or every page of a list",
    flags: EXTRACT_FLAGS,
  },
  crawl: {
    usage: "URL ... --output-dir DIR [options]",
    isLong: true,
    help: "Extract a whole site into Markdown files and a manifest",
    brief: "a whole site, as Markdown files",
    flags: CRAWL_FLAGS,
  },
  map: {
    usage: "URL ... [options]",
    help: "List the addresses of a site, from its sitemaps and the links of the page, and fetch no other page",
    brief: "the addresses of a site",
    flags: MAP_FLAGS,
  },
  index: {
    usage: "TENANT ... | --all | --dir DIR | export FILE [TENANT] | import FILE [options]",
    isLong: true,
    help: "Build or update the search indexes of tenants or of a folder, or pack its documents into one file",
    brief: "make documentation searchable",
    flags: flagsOf({
      Input: { ...CONFIG, "--all": "Every tenant of the deployment", ...DIR },
      Search: {
        ...INDEX_FILE,
        "--profile PROFILE": {
          choices: ["default", "aggressive-stem", "code-friendly"],
          help: "Text analysis for --dir: default, aggressive-stem, or code-friendly (code is not stemmed)",
        },
      },
      Output: {
        "--name NAME": "export: what the documents are called (default: the tenant's, or the folder's name)",
        "--library-version VERSION": "export: the version that they document; --version VERSION is the same",
        "--licence TEXT": "export: their licence, such as CC-BY-4.0",
        "--source TEXT": "export: where they come from (default: the tenant's source)",
        "--yes": "import: unpack and index without asking",
        ...JSON_OUTPUT,
      },
    }),
  },
  search: {
    usage: "TENANT QUERY | --all QUERY | --library NAME[@VERSION] QUERY | --dir DIR QUERY [options]",
    help: "Search tenants of documentation, or a folder that was indexed",
    brief: "find passages of it",
    flags: flagsOf({
      Input: {
        ...CONFIG,
        "--all": "Search every tenant of the deployment",
        "--library NAME[@VERSION]":
          "Search the tenants of a library, in the nearest version that is not newer (default: the newest)",
        "--from-lockfile FILE":
          "Search the libraries that a package-lock.json, bun.lock, Cargo.lock, go.sum or requirements.txt lists, in these versions",
        ...DIR,
      },
      Search: {
        ...INDEX_FILE,
        "--size N": "Most hits to show, 1 to 100 (default 10)",
        "--offset N": "Hits to skip, 0 to 900 (default 0)",
        "--filter FILTER ...":
          "Only documents with kind:, path:, version: or language:, tenants of group: ('kind:guide path:api/**'; repeatable)",
        "--facets": "Count all hits, and those of each kind, language and version",
        "--word-match": "Match words exactly as typed, without their other forms",
        "--explain": "Show how each hit got its score",
      },
      Output: JSON_OUTPUT,
    }),
  },
  fetch: {
    usage: "TENANT URI [options]",
    help: "Print a document of a tenant as Markdown; with #anchor, a section of it",
    flags: flagsOf({ Input: CONFIG, Output: JSON_OUTPUT }),
  },
  serve: {
    usage: "extractor | search [options]",
    isLong: true,
    help: "Serve extraction and crawls over HTTP, or documentation search over MCP and HTTP",
    brief: "pages over HTTP, documentation over MCP",
    actions: ["extractor", "search"],
    flags: flagsOf({
      Input: { "--config FILE": `search: deployment file ${DEFAULT_CONFIG}` },
      Serving: {
        "--host ADDRESS": "Address to bind; wins over HOST and mcp_host",
        "--port N": "Port; wins over PORT and mcp_port; 0: any free one",
        "--role ROLE": {
          choices: ["all", "api", "worker"] satisfies Settings["role"][],
          help: "extractor: all (default), api (takes jobs and runs none) or worker (only runs them)",
        },
        "--stdio": "search: serve one MCP client over stdin and stdout instead of HTTP",
        "--lenient": "search: start even if a token is not set or the fallback extractor does not answer",
      },
      Fetching: {
        "--egress POLICY":
          "extractor: addresses that pages may be fetched from: auto (default), open, public, or a list",
      },
    }),
  },
  mcp: {
    usage: "[--config FILE] [options]",
    isLong: true,
    help: "Serve one MCP client over stdin and stdout: pages, crawls, and documentation if there is a deployment file",
    brief: "all of it for one MCP client, over stdio",
    flags: flagsOf({
      Input: {
        "--config FILE":
          "Deployment file of documentation (default DEPLOYMENT_CONFIG, then ./deployment.json, else none)",
      },
      Output: {
        "--print-config CLIENT": {
          choices: ["claude-code", "claude-desktop", "cursor", "vscode", "zed", "codex", "generic"],
          help: "Print the configuration with which a client starts this server, and exit",
        },
      },
      Fetching: {
        "--egress POLICY":
          "Addresses that pages may be fetched from: auto (default), open, public, or a list",
      },
    }),
  },
  skill: {
    usage: "",
    help: "Print a skill (SKILL.md) that tells an agent when to use which command, and what each costs",
    flags: GENERAL_FLAGS,
  },
  tenants: {
    usage:
      "add URL|REPOSITORY|FOLDER | list | why URL [QUERY] | set CODENAME | rename CODENAME NEW | remove CODENAME [options]",
    help: "Add websites, repositories and folders to the deployment file, list, change or remove them, or find out why a page is missing",
    brief: "add, change and remove documentation",
    actions: ["add", "list", "why", "set", "rename", "remove"],
    flags: flagsOf({
      Input: {
        "--config FILE": `Deployment file; add makes it ${DEFAULT_CONFIG}`,
        "--codename NAME": "add: the tenant's name (default: from the host, the repository or the folder)",
        "--name NAME": "add, set: display name of the documentation",
        "--library NAME": "add, set: the library that is documented, as its package manager names it",
        "--library-version VERSION": "add, set: the library's version; --version VERSION is the same",
      },
      Scope: {
        "--max-pages N": "add, set: most pages of a website, 1 to 1000000 (default 10000)",
        "--exclude PATTERN ...":
          "add, set: leave out paths of a website, such as /blog/, or files, such as drafts/ and *.draft.md (repeatable)",
      },
      Pace: {
        "--schedule CRON": "add, set: when to sync, as five cron fields in UTC: '15 3 * * *'",
      },
      Output: {
        "--dry-run": "add: show what would be indexed first, and change nothing",
        "--yes": "add: do not ask for confirmation",
        ...JSON_OUTPUT,
      },
    }),
  },
  keys: {
    usage: "add NAME | list | revoke NAME [options]",
    help: "Create, list or revoke the API keys of a server, which applies changes within two seconds",
    actions: ["add", "list", "revoke", "remove"],
    flags: flagsOf({
      Input: CONFIG,
      Serving: {
        "--service SERVICE": {
          choices: ["search", "extractor"],
          help: "search (default): keys_file of the deployment file; extractor: ARTICLE_EXTRACTOR_KEYS_FILE",
        },
        "--tenants LIST": "add: tenants that the key may use, separated by commas (default: all)",
      },
      Output: JSON_OUTPUT,
    }),
  },
  queries: {
    usage: "[options]",
    help: "Show what people searched for at serve search, and what they did not find",
    flags: flagsOf({
      Input: CONFIG,
      Output: {
        "--days N": "Only the last N days (default: all that are kept)",
        "--size N": "Most queries per list, 1 to 1000 (default 20)",
        ...JSON_OUTPUT,
      },
    }),
  },
  sync: {
    usage: "TENANT ... | --all | --retry-failed TENANT [options]",
    isLong: true,
    help: "Update documentation and its indexes, beside a server or instead of its schedule",
    flags: flagsOf({
      Input: {
        ...CONFIG,
        "--all": "Every tenant",
        "--retry-failed TENANT ...": "Only the pages of a website that failed in its last sync (repeatable)",
      },
    }),
  },
  validate: {
    usage: "FILE",
    help: "Check a deployment.json of documentation search",
    flags: GENERAL_FLAGS,
  },
  schema: { usage: "", help: "Print the JSON Schema of deployment.json", flags: GENERAL_FLAGS },
  database: {
    usage: "migrate | status [options]",
    help: "Create or update the schema of the shared database, or show its version",
    actions: ["migrate", "status"],
    flags: flagsOf({ Output: JSON_OUTPUT }),
  },
  doctor: {
    usage: "[--json] [--config FILE]",
    help: "Check this machine (browser, display, proxy, disk, state, git), the shared state and the tenants",
    brief: "what this machine has, and what is missing",
    flags: flagsOf({
      Input: CONFIG,
      Output: { "--json": "Print the findings as JSON" },
    }),
  },
  completions: {
    usage: "bash | zsh | fish",
    help: "Print a completion script for a shell",
    flags: GENERAL_FLAGS,
  },
  man: { usage: "", help: "Print the manual page of all commands, in roff", flags: GENERAL_FLAGS },
  licenses: { usage: "", help: "Print the licences of the software inside", flags: GENERAL_FLAGS },
  help: {
    usage: "[COMMAND]",
    help: "Print the help of a command, or of the program",
    flags: GENERAL_FLAGS,
  },
  version: { usage: "", help: "Print the version", flags: GENERAL_FLAGS },
} satisfies Record<string, About>;

export type CommandName = keyof typeof TABLE;

/** A command of the program. */
export type Command = About & { readonly name: CommandName };

/** All commands, in the order of the help. */
export const COMMANDS: readonly Command[] = Object.entries<About>(TABLE).map(([name, about]) => ({
  name: name as CommandName,
  ...about,
}));

export const COMMAND_NAMES: readonly string[] = Object.keys(TABLE);

/** @throws Failure `invalid_usage` that names the nearest command */
export function requireCommand(name: string): Command {
  const command = COMMANDS.find((known) => known.name === name);
  if (command) return command;
  throw wrongUsage(`unknown command ${JSON.stringify(name)}${didYouMean(name, COMMAND_NAMES)}`);
}

export const EXTRACT_COMMAND = requireCommand("extract");
export const CRAWL_COMMAND = requireCommand("crawl");
