import { Failure } from "../base/failure.ts";
import { didYouMean } from "../base/nearest.ts";
import type { Flag } from "./flags/flag.ts";
import { CRAWL_FLAGS, EXTRACT_FLAGS, GENERAL_FLAGS } from "./flags/pages.ts";
import {
  DOCTOR_ONLY_FLAGS,
  FETCH_ONLY_FLAGS,
  INDEX_ONLY_FLAGS,
  SEARCH_ONLY_FLAGS,
  SYNC_ONLY_FLAGS,
} from "./flags/search.ts";
import { SERVE_ONLY_FLAGS } from "./flags/serve.ts";

export type CommandName =
  | "extract"
  | "crawl"
  | "index"
  | "search"
  | "fetch"
  | "serve"
  | "sync"
  | "validate"
  | "schema"
  | "doctor"
  | "completions"
  | "man"
  | "licenses"
  | "help"
  | "version";

/** A command of the program and what can be typed after it. */
export type Command = {
  readonly name: CommandName;
  /** Arguments as the help shows them. */
  readonly usage: string;
  readonly help: string;
  /** Why most people want the command, in at most 50 characters; the others are only named to newcomers. */
  readonly brief?: string;
  readonly flags: readonly Flag[];
};

export const EXTRACT_COMMAND: Command = {
  name: "extract",
  usage: "[URL ... | -] [options]",
  help: "Extract one page, or several (the command may be left out)",
  brief: "one page, or every page of a list",
  flags: EXTRACT_FLAGS,
};

export const CRAWL_COMMAND: Command = {
  name: "crawl",
  usage: "URL ... --output-dir DIR [options]",
  help: "Extract a whole site into Markdown files and a manifest",
  brief: "a whole site, as Markdown files",
  flags: CRAWL_FLAGS,
};

/** What can be served. */
export const SERVERS = ["extractor", "search"] as const;

export const SERVE_COMMAND: Command = {
  name: "serve",
  usage: "extractor | search [options]",
  help: "Serve extraction and crawls over HTTP, or documentation search over MCP and HTTP",
  brief: "pages over HTTP, documentation over MCP",
  flags: [...SERVE_ONLY_FLAGS, ...GENERAL_FLAGS],
};

export const COMMANDS: readonly Command[] = [
  EXTRACT_COMMAND,
  CRAWL_COMMAND,
  {
    name: "index",
    usage: "TENANT ... | --all | --dir DIR [options]",
    help: "Build search indexes of tenants or of a folder, or bring them up to date",
    brief: "make documentation searchable",
    flags: [...INDEX_ONLY_FLAGS, ...GENERAL_FLAGS],
  },
  {
    name: "search",
    usage: "TENANT QUERY | --all QUERY | --dir DIR QUERY [options]",
    help: "Search tenants of documentation, or a folder that was indexed",
    brief: "find passages of it",
    flags: [...SEARCH_ONLY_FLAGS, ...GENERAL_FLAGS],
  },
  {
    name: "fetch",
    usage: "TENANT URI [options]",
    help: "Print a document of a tenant as Markdown; with #anchor, a section of it",
    flags: [...FETCH_ONLY_FLAGS, ...GENERAL_FLAGS],
  },
  SERVE_COMMAND,
  {
    name: "sync",
    usage: "TENANT ... | --all [options]",
    help: "Bring documentation up to date and index it, beside a server or instead of its schedule",
    flags: [...SYNC_ONLY_FLAGS, ...GENERAL_FLAGS],
  },
  {
    name: "validate",
    usage: "FILE",
    help: "Check a deployment.json of documentation search",
    flags: GENERAL_FLAGS,
  },
  {
    name: "schema",
    usage: "",
    help: "Print the JSON Schema of deployment.json",
    flags: GENERAL_FLAGS,
  },
  {
    name: "doctor",
    usage: "[--json] [--config FILE]",
    help: "Look at what this machine has (browser, display, proxy, disk, state, git) and at the tenants",
    brief: "what this machine has, and what is missing",
    flags: [...DOCTOR_ONLY_FLAGS, ...GENERAL_FLAGS],
  },
  {
    name: "completions",
    usage: "bash | zsh | fish",
    help: "Print a completion script for a shell",
    flags: GENERAL_FLAGS,
  },
  {
    name: "man",
    usage: "",
    help: "Print the manual page of all commands, in roff",
    flags: GENERAL_FLAGS,
  },
  {
    name: "licenses",
    usage: "",
    help: "Print the licences of the software inside",
    flags: GENERAL_FLAGS,
  },
  {
    name: "help",
    usage: "[COMMAND]",
    help: "Print the help of a command, or of the program",
    flags: GENERAL_FLAGS,
  },
  { name: "version", usage: "", help: "Print the version", flags: GENERAL_FLAGS },
];

/** @throws Failure `invalid_usage` that names the nearest command */
export function requireCommand(name: string): Command {
  const command = COMMANDS.find((known) => known.name === name);
  if (command) return command;
  throw new Failure(
    "invalid_usage",
    `unknown command ${JSON.stringify(name)}${didYouMean(name, COMMAND_NAMES)}`,
  );
}

export const COMMAND_NAMES: readonly string[] = COMMANDS.map(({ name }) => name);
