/**
 * Keeps the tables of the documentation equal to what the program declares: `sh scripts/bun
 * scripts/readme.ts` rewrites everything between `<!-- NAME -->` and `<!-- /NAME -->`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FAILURE_OUTCOMES } from "../src/base/failure.ts";
import { METRICS } from "../src/base/metrics.ts";
import { CRAWL_ONLY_FLAGS, EXTRACT_FLAGS, FLAG_GROUPS, type Flag } from "../src/cli/testing.ts";
import { VARIABLES } from "../src/settings/index.ts";
import { apiReference, openApiOf } from "./docs/api.ts";

const ROOT = join(import.meta.dir, "..");

/** The documents that contain tables, and the tables of each. */
const DOCUMENTS: Readonly<Record<string, Readonly<Record<string, () => string | Promise<string>>>>> = {
  "docs/reference.md": {
    options: () => optionsTable(EXTRACT_FLAGS),
    settings: settingsTable,
    failures: failuresTable,
  },
  "docs/operations.md": { metrics: metricsTable },
  "docs/api.md": { extractor: () => apiOf("extractor"), search: () => apiOf("search") },
  "docs/crawl.md": { "crawl-options": () => optionsTable(CRAWL_ONLY_FLAGS) },
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

async function apiOf(server: "extractor" | "search"): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "article-extractor-api-"));
  try {
    return apiReference(await openApiOf(server, directory));
  } finally {
    await rm(directory, { recursive: true });
  }
}

function optionsTable(all: readonly Flag[]): string {
  const flags = all;
  const rows = FLAG_GROUPS.flatMap((group) =>
    flags.filter((flag) => flag.group === group).map((flag) => [code(spelling(flag)), flag.help]),
  );
  return table(["Option", "Meaning"], rows);
}

const spelling = ({ name, short, placeholder }: Flag): string =>
  `${short ? `-${short}, ` : ""}--${name}${placeholder ? ` ${placeholder}` : ""}`;

function settingsTable(): string {
  const rows = Object.values(VARIABLES).map(({ variable, fallback, meaning }) => [
    code(variable),
    fallback === null ? "unset" : code(String(fallback)),
    meaning,
  ]);
  return table(["Variable", "Default", "Meaning"], rows);
}

function failuresTable(): string {
  const rows = Object.entries(FAILURE_OUTCOMES).map(([name, { exitCode, meaning }]) => [
    code(name),
    String(exitCode),
    meaning,
  ]);
  return table(["Code", "Exit code", "Meaning"], rows);
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
