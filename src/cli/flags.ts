import { INDEX_ONLY_FLAGS, SEARCH_ONLY_FLAGS } from "./search-flags.ts";

/** Headings of the help, in its order. */
export const FLAG_GROUPS = ["Input", "Output", "Extraction", "Fetching", "Search", "General"] as const;
export type FlagGroup = (typeof FLAG_GROUPS)[number];

/**
 * One option, declared once: parsing, help, completions and the reference come from it. A flag without
 * a placeholder is a switch.
 */
export type Flag = {
  readonly name: string;
  readonly short?: string;
  /** Stands for the value in the help, and says that there is one. */
  readonly placeholder?: string;
  /** May be given several times. */
  readonly isRepeatable?: true;
  /** The only values there are; completions offer them. */
  readonly choices?: readonly string[];
  /** The value is a path on this machine; completions offer files. */
  readonly isPath?: true;
  readonly group: FlagGroup;
  readonly help: string;
  /** Machinery that this version lacks: the option is refused and the help leaves it out. */
  readonly awaits?: string;
};

export const OUTPUT_FORMATS = ["json", "markdown", "text"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

const BROWSER = "the browser fetcher";

const GENERAL_FLAGS: readonly Flag[] = [
  {
    name: "env-file",
    placeholder: "PATH",
    isPath: true,
    group: "General",
    help: "Read settings from this file instead of the .env beside the program",
  },
  {
    name: "log-level",
    placeholder: "LEVEL",
    choices: ["debug", "info", "warning", "error", "critical"],
    group: "General",
    help: "Least severe level logged to stderr (default critical)",
  },
  {
    name: "log-format",
    placeholder: "FORMAT",
    choices: ["json", "text"],
    group: "General",
    help: "Form of a log line (default json)",
  },
  { name: "quiet", short: "q", group: "General", help: "No notices on stderr, only errors" },
  { name: "verbose", short: "v", group: "General", help: "Log what is done (level info)" },
  { name: "no-color", group: "General", help: "No colours on stderr; NO_COLOR does the same" },
  { name: "version", short: "V", group: "General", help: "Print the version" },
  { name: "help", short: "h", group: "General", help: "Print this help" },
];

const FETCHING_FLAGS: readonly Flag[] = [
  {
    name: "user-agent",
    placeholder: "TEXT",
    group: "Fetching",
    help: "User agent to send; wins over --random-user-agent",
  },
  { name: "random-user-agent", group: "Fetching", help: "Send a current desktop browser's user agent" },
  {
    name: "header",
    placeholder: '"NAME: VALUE"',
    isRepeatable: true,
    group: "Fetching",
    help: "Send this header too; it stays with the page's own origin (repeatable)",
  },
  {
    name: "proxy",
    placeholder: "URL",
    group: "Fetching",
    help: "HTTP proxy; wins over HTTPS_PROXY, HTTP_PROXY and ALL_PROXY",
  },
  {
    name: "proxy-bypass",
    placeholder: "HOST",
    isRepeatable: true,
    group: "Fetching",
    help: "Host that skips the proxy, as in NO_PROXY (repeatable)",
  },
  {
    name: "timeout",
    placeholder: "SECONDS",
    group: "Fetching",
    help: "Longest wait for one request (default 30); a page with its retries gets 60, or this if longer",
  },
  {
    name: "retries",
    placeholder: "N",
    group: "Fetching",
    help: "Further tries after a failed connection, 408, 425, 429 or 5xx (default 3)",
  },
  {
    name: "max-bytes",
    placeholder: "SIZE",
    group: "Fetching",
    help: "Largest page, decompressed (default 20M)",
  },
  {
    name: "egress",
    placeholder: "POLICY",
    group: "Fetching",
    help: "Addresses that may be reached: auto (default), open, public, or a list of hosts and networks",
  },
  { name: "prefer-http", group: "Fetching", help: "Fetch with the plain HTTP client first" },
  { name: "no-browser", group: "Fetching", help: "Never start a browser" },
  { name: "prefer-browser", group: "Fetching", help: "Fetch with the browser first", awaits: BROWSER },
  { name: "headed", group: "Fetching", help: "Show the browser, to log in by hand", awaits: BROWSER },
  {
    name: "storage-state",
    placeholder: "PATH",
    isPath: true,
    group: "Fetching",
    help: "File that keeps cookies and sessions",
    awaits: BROWSER,
  },
  {
    name: "user-interaction-timeout",
    placeholder: "SECONDS",
    group: "Fetching",
    help: "How long a headed browser waits for you",
    awaits: BROWSER,
  },
];

export const EXTRACT_FLAGS: readonly Flag[] = [
  {
    name: "file",
    placeholder: "PATH",
    isPath: true,
    group: "Input",
    help: "Extract from a local HTML, Markdown or text file",
  },
  {
    name: "input-file",
    placeholder: "LIST",
    isPath: true,
    group: "Input",
    help: "Extract every URL of a list, one a line ('-': standard input)",
  },
  {
    name: "url",
    placeholder: "URL",
    group: "Input",
    help: "Address of the page in --file or on stdin, for its links",
  },
  {
    name: "output",
    placeholder: "FORMAT",
    choices: OUTPUT_FORMATS,
    group: "Output",
    help: "json (default), markdown or text",
  },
  {
    name: "output-file",
    short: "o",
    placeholder: "FILE",
    isPath: true,
    group: "Output",
    help: "Write to this file instead of stdout, whole or not at all",
  },
  { name: "frontmatter", group: "Output", help: "Start Markdown with YAML front matter" },
  {
    name: "min-words",
    placeholder: "N",
    group: "Extraction",
    help: "Warn when the content has fewer words (default 150)",
  },
  { name: "no-images", group: "Extraction", help: "Leave images out" },
  { name: "no-code", group: "Extraction", help: "Leave code blocks out" },
  {
    name: "select",
    placeholder: "CSS",
    group: "Extraction",
    help: "The content is in the elements that match",
  },
  {
    name: "exclude",
    placeholder: "CSS",
    isRepeatable: true,
    group: "Extraction",
    help: "Leave out elements that match (repeatable)",
  },
  ...FETCHING_FLAGS,
  ...GENERAL_FLAGS,
];

/** A command of the program and what can be typed after it. */
export type Command = {
  readonly name: string;
  /** Arguments as the help shows them. */
  readonly usage: string;
  readonly help: string;
  readonly flags: readonly Flag[];
};

export const EXTRACT_COMMAND: Command = {
  name: "extract",
  usage: "[URL | -] [options]",
  help: "Extract one page, or every page of a list (the command may be left out)",
  flags: EXTRACT_FLAGS,
};

export const COMMANDS: readonly Command[] = [
  EXTRACT_COMMAND,
  {
    name: "index",
    usage: "--dir DIR [options]",
    help: "Build the search index of a folder of Markdown files, or bring it up to date",
    flags: [...INDEX_ONLY_FLAGS, ...GENERAL_FLAGS],
  },
  {
    name: "search",
    usage: "--dir DIR QUERY [options]",
    help: "Search a folder that was indexed",
    flags: [...SEARCH_ONLY_FLAGS, ...GENERAL_FLAGS],
  },
  {
    name: "completions",
    usage: "bash | zsh | fish",
    help: "Print a completion script for a shell",
    flags: GENERAL_FLAGS,
  },
  {
    name: "licenses",
    usage: "",
    help: "Print the licences of the software inside",
    flags: GENERAL_FLAGS,
  },
];
