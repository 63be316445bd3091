import { stripVTControlCharacters } from "node:util";
import { COMMAND_NAMES, COMMANDS, type Command, type CommandName, EXTRACT_COMMAND } from "./commands.ts";
import { FLAG_GROUPS, type Flag } from "./flags/flag.ts";
import { type Paint, wrap } from "./terminal/notices.ts";

/** A command, and what it does if that is not obvious. */
type Example = readonly [command: string, meaning: string];

/** Examples of each command, the simplest first. */
export const EXAMPLES: Readonly<Record<CommandName, readonly Example[]>> = {
  extract: [
    ["article-extractor https://example.org/post --output markdown", "one page as Markdown"],
    ["article-extractor --file page.html --url https://example.org/ -o page.json", "a saved page"],
    ["curl -s https://example.org/ | article-extractor - --output text", "a page from a pipe"],
    ["article-extractor --input-file urls.txt > pages.jsonl", "many pages, one JSON line each"],
  ],
  crawl: [
    ["article-extractor crawl https://docs.example.org/ --output-dir docs", "a site, a page a second"],
    [
      "article-extractor crawl --sitemap https://example.org/sitemap.xml --no-follow-links --output-dir out",
      "the pages of a sitemap",
    ],
    [
      "article-extractor crawl https://example.org/guide/ --allow-prefix https://example.org/guide/ --jsonl",
      "a part of a site as JSON lines",
    ],
  ],
  map: [
    [
      "article-extractor map https://docs.example.org/ > urls.txt",
      "what its sitemaps and its start page name",
    ],
    [
      "article-extractor map https://docs.example.org/ --include-url '/guide/**' --json",
      "with title and lastmod",
    ],
  ],
  index: [
    ["article-extractor index handbook --config docs.json", "a tenant; a server picks the new index up"],
    ["article-extractor index --dir docs", "again after a change: only what changed is read anew"],
    [
      "article-extractor index export docs.jsonl.gz --dir docs",
      "its documents in one file, for somebody else",
    ],
  ],
  search: [
    ["article-extractor search handbook how to rotate keys", "a tenant of ./deployment.json"],
    ["article-extractor search --all 'connection refused' --size 3", "all of them"],
    ["article-extractor search --library react@18.2 useEffect", "in the nearest version that is not newer"],
    ["article-extractor search --dir docs how to rotate keys", ""],
    ["article-extractor search --dir docs '\"access token\" expired' --size 3", "a phrase"],
    ["article-extractor search --dir docs parse_url --json", "for a program"],
  ],
  fetch: [
    ["article-extractor fetch handbook docs://handbook/keys.md", "a document that a search has named"],
    ["article-extractor fetch handbook docs://handbook/keys.md#rotating-keys", "a section of it"],
  ],
  serve: [
    ["article-extractor serve extractor --host 127.0.0.1", "the HTTP API, documented at /docs"],
    ["article-extractor serve search", "the tenants of ./deployment.json, at http://HOST:PORT/mcp"],
    ["article-extractor serve search --config docs.json --stdio", "for a client that starts its servers"],
  ],
  mcp: [
    ["article-extractor mcp --print-config claude-code", "configuration that adds the server to a client"],
    ["article-extractor mcp --config docs.json", "how a client starts it, with documentation"],
  ],
  skill: [
    [
      "article-extractor skill > .claude/skills/article-extractor/SKILL.md",
      "for Claude Code; other agents have folders of their own",
    ],
  ],
  tenants: [
    ["article-extractor tenants add https://docs.example.org/en/ --dry-run", "what would be indexed first"],
    ["article-extractor tenants add https://github.com/owner/project --yes", "its documentation, from git"],
    ["article-extractor tenants add docs --codename handbook", "a folder; a running server picks it up"],
    [
      "article-extractor tenants set react --version 19.1 --exclude /blog/",
      "an empty value removes a setting",
    ],
    [
      "article-extractor tenants why https://docs.example.org/en/keys rotate",
      "never listed, refused, failed, or found",
    ],
    ["article-extractor tenants rename handbook manual", ""],
    ["article-extractor tenants remove handbook", "keeps its documents and its index on the disk"],
  ],
  keys: [
    ["article-extractor keys add ci --tenants handbook,api", "a key for two tenants, shown this once"],
    ["article-extractor keys list", "names, tenants and ages; no keys"],
    ["article-extractor keys revoke ci", "a running server refuses it within two seconds"],
    ["article-extractor keys add ci --service extractor", "for ARTICLE_EXTRACTOR_KEYS_FILE"],
  ],
  queries: [
    ["article-extractor queries", "what is asked most, finds nothing, or is not opened"],
    ["article-extractor queries --days 7 --json", "the last week, for a program"],
  ],
  sync: [
    ["article-extractor sync handbook", "a tenant of ./deployment.json"],
    ["article-extractor sync --all --config docs.json", "all of them, from cron for example"],
  ],
  validate: [["article-extractor validate deployment.json && echo fine", ""]],
  schema: [
    ["article-extractor schema > deployment.schema.json", 'for the "$schema" field, which editors read'],
  ],
  database: [
    ["article-extractor database migrate", "once, and after each upgrade, before servers and crawls start"],
    ["article-extractor database status || article-extractor database migrate", "only where it is needed"],
  ],
  doctor: [
    ["article-extractor doctor --config docs.json", "with the tenants of a deployment file"],
    ["article-extractor doctor --json", "for a program"],
  ],
  completions: [
    ["article-extractor completions bash > ~/.local/share/bash-completion/completions/article-extractor", ""],
  ],
  man: [
    ["article-extractor man | man -l -", "read it"],
    [
      "article-extractor man > ~/.local/share/man/man1/article-extractor.1",
      "install it, for `man article-extractor`",
    ],
  ],
  licenses: [["article-extractor licenses | less", ""]],
  help: [["article-extractor help crawl", "the same as `article-extractor crawl --help`"]],
  version: [["article-extractor version", "the same as `article-extractor --version`"]],
};

type HelpOptions = {
  /** The number of columns of the terminal. */
  readonly width: number;
  readonly paint: Paint;
};

/** Formats the help of a command: examples first, then what it takes. */
export function formatHelp(command: Command, { width, paint }: HelpOptions): string {
  const sections = [
    `${paint.bold("Usage:")} article-extractor ${usageOf(command)}`,
    section("Examples", examplesOf(command, width), paint),
  ];
  if (command === EXTRACT_COMMAND) {
    const rows = COMMANDS.map(({ name, help }) => [name, help] as const);
    sections.push(section("Commands", formatRows(rows, width), paint));
  }
  for (const group of FLAG_GROUPS) {
    const flags = command.flags.filter((flag) => flag.group === group);
    const rows = flags.map((flag) => [spelling(flag), flag.help] as const);
    if (rows.length > 0) sections.push(section(group, formatRows(rows, width), paint));
  }
  return `${sections.join("\n\n")}\n`;
}

const SCREEN_ROWS = 22; // of 24: a prompt stands before and behind

/** Formats what fits of the overview on a screen of 24 lines; everything else is in the help. */
export function formatOverview({ width, paint }: HelpOptions): string {
  const usage = `${paint.bold("Usage:")} article-extractor URL [options]`;
  const named = "       article-extractor COMMAND [options]";
  const examples = [EXAMPLES.extract, EXAMPLES.crawl, EXAMPLES.serve].map(([first]) => `  ${first?.[0]}`);
  const rows = COMMANDS.flatMap(({ name, brief }) => (brief ? [[name, brief] as const] : []));
  const others = COMMANDS.filter(({ brief }) => !brief).map(({ name }) => name);
  const commands = (names: readonly string[], title: string) =>
    wrap(`${title}: ${names.join(", ")}`, width).join("\n");
  const more = wrap(
    "Every option: article-extractor --help, or article-extractor COMMAND --help",
    width,
  ).join("\n");
  const all = commands(COMMAND_NAMES, "Commands");
  const versions = [
    [
      usage,
      named,
      "",
      ...examples,
      "",
      section("Commands", formatRows(rows, width), paint),
      commands(others, "Also"),
      "",
      more,
    ],
    [usage, named, "", ...examples, "", all, "", more],
    [usage, named, all, more],
    [usage, more],
  ];
  const texts = versions.map((lines) => `${lines.join("\n")}\n`);
  return texts.find((text) => rowsOf(text, width) <= SCREEN_ROWS) ?? texts.at(-1) ?? "";
}

/** Counts the rows that a text takes on a terminal that breaks long lines. */
const rowsOf = (text: string, width: number): number =>
  stripVTControlCharacters(text.trimEnd())
    .split("\n")
    .reduce((rows, line) => rows + Math.max(1, Math.ceil(line.length / width)), 0);

/** Returns what is typed after the program's name. */
export const usageOf = ({ name, usage }: Command): string =>
  (name === EXTRACT_COMMAND.name ? usage : `${name} ${usage}`).trim();

const section = (title: string, body: string, paint: Paint): string => `${paint.bold(`${title}:`)}\n${body}`;

function examplesOf({ name }: Command, width: number): string {
  const lines = EXAMPLES[name].flatMap(([command, meaning]) =>
    meaning === ""
      ? [`  ${command}`]
      : [...wrap(`# ${meaning}`, width - 2).map((l) => `  ${l}`), `  ${command}`],
  );
  return lines.join("\n");
}

/** Formats an option for the help: `-o, --output-file FILE`. */
export function spelling({ name, short, placeholder, isRepeatable }: Flag): string {
  const long = `--${name}${placeholder ? ` ${placeholder}` : ""}${isRepeatable ? " ..." : ""}`;
  return short ? `-${short}, ${long}` : `    ${long}`;
}

const MAX_COLUMN = 32;

/** Formats two columns; in a narrow terminal the second one goes below the first. */
function formatRows(rows: readonly (readonly [string, string])[], width: number): string {
  const column = Math.min(MAX_COLUMN, Math.max(...rows.map(([left]) => left.length)));
  const isNarrow = width < column + 30;
  return rows
    .flatMap(([left, right]) => {
      const indent = isNarrow ? 6 : column + 4;
      const wrapped = wrap(right, width - indent);
      const isBelow = isNarrow || left.length > column;
      const [first = "", ...rest] = isBelow ? ["", ...wrapped] : wrapped;
      const head = isBelow ? `  ${left}` : `  ${left.padEnd(column)}  ${first}`;
      return [head, ...rest.map((line) => " ".repeat(indent) + line)];
    })
    .join("\n");
}
