/**
 * Keeps the tables of the documentation equal to what the program declares: `sh scripts/bun
 * scripts/readme.ts` rewrites everything between `<!-- NAME -->` and `<!-- /NAME -->`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FAILURE_OUTCOMES } from "../src/base/failure.ts";
import { METRICS } from "../src/base/metrics.ts";
import { COMMANDS, CRAWL_COMMAND, EXTRACT_COMMAND } from "../src/cli/commands.ts";
import { FLAG_GROUPS, type Flag } from "../src/cli/flags/flag.ts";
import { CRAWL_ONLY_FLAGS, EXTRACT_FLAGS } from "../src/cli/flags/pages.ts";
import { VARIABLES } from "../src/settings/index.ts";
import type { Variable } from "../src/settings/values.ts";
import { apiReferences, openApiOf } from "./docs/api.ts";

const ROOT = join(import.meta.dir, "..");

/** The documents that contain tables, and the tables of each. */
const DOCUMENTS: Readonly<Record<string, Readonly<Record<string, () => string | Promise<string>>>>> = {
  "docs/reference.md": {
    options: () => optionsTable(EXTRACT_FLAGS),
    settings: settingsTable,
    failures: failuresTable,
  },
  "docs/operations.md": { metrics: metricsTable },
  "docs/api.md": {
    both: () => apiOf("both"),
    extractor: () => apiOf("extractor"),
    search: () => apiOf("search"),
  },
  "docs/commands.md": { commands: commandsText },
  "docs/crawl.md": { "crawl-options": crawlOptions },
};

/** Paths of the documents that contain tables. */
export const TABLE_DOCUMENTS: readonly string[] = Object.keys(DOCUMENTS);

/** Returns a document's text with all its tables rewritten. */
export async function withTables(path: string, text: string): Promise<string> {
  let document = text;
  for (const [name, table] of Object.entries(DOCUMENTS[path] ?? {})) {
    const block = new RegExp(`(<!-- ${name} -->\\n)[\\s\\S]*?(<!-- /${name} -->)`);
    if (!block.test(document)) throw new Error(`${path} has no place for the table "${name}"`);
    const written = await table();
    document = document.replace(block, (_, start, end) => `${start}\n${written}\n\n${end}`);
  }
  return document;
}

let references: Promise<ReturnType<typeof apiReferences>> | undefined;

/** One part of the reference; both servers are started once for all parts. */
async function apiOf(part: "both" | "extractor" | "search"): Promise<string> {
  references ??= readReferences();
  return (await references)[part];
}

async function readReferences(): Promise<ReturnType<typeof apiReferences>> {
  const directory = await mkdtemp(join(tmpdir(), "article-extractor-api-"));
  try {
    return apiReferences(await openApiOf("extractor", directory), await openApiOf("search", directory));
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Each command with its arguments and its own options; an option that stands in a table before is only named. */
function commandsText(): string {
  const shown: Shown = new Map();
  for (const flag of CRAWL_ONLY_FLAGS) shown.set(identityOf(flag), "For [a crawl](crawl.md#options)");
  for (const flag of EXTRACT_FLAGS) shown.set(identityOf(flag), "For [a single page](reference.md#options)");
  const texts = COMMANDS.map((command) => {
    const { name, usage, help, flags } = command;
    const own = flags.filter(({ group }) => group !== "General");
    const options = OPTIONS_ELSEWHERE.get(command) ?? optionsOf(name, own, shown);
    const line = `article-extractor ${name} ${usage}`.trimEnd();
    return `## ${name}\n\n${help}.\n\n\`\`\`\n${line}\n\`\`\`\n\n${options}`.trimEnd();
  });
  return texts.join("\n\n");
}

/** Where an option was explained first, by its spelling and its meaning. */
type Shown = Map<string, string>;

const identityOf = (flag: Flag): string => `${spelling(flag)}: ${flag.help}`;

/** The options of one command: those that are new in a table, the others by name after where they are explained. */
function optionsOf(command: string, flags: readonly Flag[], shown: Shown): string {
  const fresh = flags.filter((flag) => !shown.has(identityOf(flag)));
  const known = Map.groupBy(
    flags.filter((flag) => shown.has(identityOf(flag))),
    (flag) => shown.get(identityOf(flag)) ?? "",
  );
  for (const flag of fresh) shown.set(identityOf(flag), `For [${command}](#${command})`);
  const lines = [...known].map(
    ([place, same]) => `- ${place}: ${same.map(({ name }) => code(`--${name}`)).join(", ")}`,
  );
  return [
    fresh.length > 0 ? optionsTable(fresh) : "",
    lines.length > 0 ? `Explained elsewhere:\n\n${lines.join("\n")}` : "",
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** Commands whose options have a page of their own. */
const OPTIONS_ELSEWHERE: ReadonlyMap<unknown, string> = new Map([
  [EXTRACT_COMMAND, "Its options are [those for single pages](reference.md#options)."],
  [CRAWL_COMMAND, "Its options are [those of a crawl](crawl.md#options), and those for single pages."],
]);

/** The options of a crawl that a single page does not have in the same meaning. */
function crawlOptions(): string {
  const ofPages = new Set(EXTRACT_FLAGS.map(identityOf));
  return optionsTable(CRAWL_ONLY_FLAGS.filter((flag) => !ofPages.has(identityOf(flag))));
}

function optionsTable(flags: readonly Flag[]): string {
  const rows = FLAG_GROUPS.flatMap((group) =>
    flags.filter((flag) => flag.group === group).map((flag) => [code(spelling(flag)), flag.help]),
  );
  return table(["Option", "Meaning"], rows);
}

const spelling = ({ name, short, placeholder }: Flag): string =>
  `${short ? `-${short}, ` : ""}--${name}${placeholder ? ` ${placeholder}` : ""}`;

function settingsTable(): string {
  const rows = Object.values(VARIABLES).map(({ variable, fallback, meaning, shown }: Variable<unknown>) => [
    code(variable),
    fallback === null ? "unset" : code(shown ?? String(fallback)),
    meaningOf(meaning),
  ]);
  return table(["Variable", "Default", "Meaning"], rows);
}

/** What a setting means; the option that means the same where there is one, since its table stands above. */
function meaningOf(meaning: string): string {
  const same = [...EXTRACT_FLAGS, ...CRAWL_ONLY_FLAGS].find(
    ({ help }) => help.replace(/ \(default .*\)$/, "").toLowerCase() === meaning.toLowerCase(),
  );
  return same ? `as ${code(`--${same.name}`)}` : meaning;
}

function failuresTable(): string {
  const rows = Object.entries(FAILURE_OUTCOMES).map(([name, outcome]) => [
    code(name),
    String(outcome.exitCode),
    String(outcome.httpStatus),
    outcome.meaning,
  ]);
  return table(["Code", "Exit code", "HTTP", "Meaning"], rows);
}

function metricsTable(): string {
  const rows = Object.entries(METRICS).map(([name, { kind, labels, help }]) => [
    code(name),
    kind,
    labels.map(code).join(", "),
    help,
  ]);
  return table(["Name", "Kind", "Labels", "Meaning"], rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

const code = (text: string): string => `\`${text}\``;
const escapeCell = (text: string): string => text.replaceAll("|", "\\|");

if (import.meta.main) {
  for (const path of TABLE_DOCUMENTS) {
    const file = Bun.file(join(ROOT, path));
    await Bun.write(file, await withTables(path, await file.text()));
  }
}
