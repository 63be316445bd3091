import { existsSync } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { articleFields, type FetchedArticle } from "../../../articles/index.ts";
import { composeHtml, composeMarkdown, composeText } from "../../../extraction/index.ts";
import { type Io, wrongUsage } from "../../io.ts";
import { OUTPUT_FORMS, type OutputFormName } from "../../output-forms.ts";
import { attempt } from "../../sink.ts";
import { hasRawBytes, pathBytes } from "../../words.ts";
import { formatCsv, formatRow } from "./csv.ts";
import type { ExtractCommand } from "./extract-options.ts";

type Writer = (fetched: FetchedArticle, command: ExtractCommand) => string | Promise<string>;

/** Writes an article in each form, with a line break at the end. */
const writers: Readonly<Record<OutputFormName, Writer>> = {
  json: (fetched, { fields, isCompact }) =>
    `${JSON.stringify(articleFields(fetched, fields), null, isCompact ? 0 : 2)}\n`,
  markdown: async (fetched, { hasFrontmatter }) => {
    const body = `${composeMarkdown(fetched.article.title, fetched.article.markdown ?? "")}\n`;
    if (!hasFrontmatter) return body;
    // The package for YAML is loaded here: 72 modules.
    const { frontMatterOf } = await import("./front-matter.ts");
    return `${frontMatterOf(fetched, new Date())}\n${body}`;
  },
  text: ({ article }) => `${composeText(article)}\n`,
  html: ({ article }) => `${composeHtml(article)}\n`,
  // Loaded with the search that cuts texts.
  chunks: async (fetched, { chunks }) => {
    const { chunksOfArticle } = await import("../../../chunks.ts");
    return chunksOfArticle(fetched, chunks)
      .map((chunk) => `${JSON.stringify(chunk)}\n`)
      .join("");
  },
  csv: (fetched, { fields }) => formatRow(articleFields(fetched, fields), fields),
};

/** Formats one article in the requested form, ending with a line break. */
export async function formatArticle(fetched: FetchedArticle, command: ExtractCommand): Promise<string> {
  if (command.tables !== null) return (await import("./tables.ts")).formatTables(fetched, command.tables);
  return await writers[command.format](fetched, command);
}

/** Returns the text before the first page: the names of the columns in CSV, nothing in other forms. */
export const headerOf = ({ format, fields, tables }: ExtractCommand): string =>
  format === "csv" && tables === null ? formatCsv([fields]) : "";

/** Returns the warnings to print on stderr: none if the output has fields for them, all in other forms. */
export const warningsToTell = (
  { warnings }: FetchedArticle,
  { format, fields, tables }: ExtractCommand,
): readonly string[] =>
  tables === null && OUTPUT_FORMS[format].content === "fields" && fields.includes("warnings") ? [] : warnings;

/**
 * Asks the person at the terminal for the output directory; an empty answer accepts the suggestion.
 * @throws Failure `invalid_usage` where nobody can be asked or the answer does not come
 */
export async function askForDirectory(io: Io, suggestion: string): Promise<string> {
  const missing = wrongUsage(
    "crawl needs --output-dir DIR for its files, or --jsonl to write pages to stdout",
  );
  if (!io.stdin.isTerminal || !io.stderr.isTerminal) throw missing;
  io.stderr.write(`Directory for the pages [${suggestion}]: `);
  const answer = await io.stdin.readLine();
  if (answer === null) {
    io.stderr.write("\n");
    throw missing;
  }
  return expandHome(answer.trim() || suggestion);
}

// The shell does this for a word that is typed after an option.
const expandHome = (path: string): string =>
  path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;

/** A directory for output, and a path in text that leads there as long as it is open. */
type OutputDirectory = AsyncDisposable & { readonly path: string };

/**
 * Opens a directory whose name may not be UTF-8. Such a name does not fit into a string, and most code that writes
 * files takes strings as paths, so they go through the open directory's entry in /proc.
 * @throws Failure `unwritable_output`; `invalid_usage` where the system has no /proc
 */
export async function openOutputDirectory(directory: string): Promise<OutputDirectory> {
  if (!hasRawBytes(directory)) return { path: directory, [Symbol.asyncDispose]: async () => {} };
  if (!existsSync(DESCRIPTORS))
    throw wrongUsage("--output-dir is not UTF-8, which this system has no way to write to");
  const handle = await attempt(directory, async () => {
    await mkdir(pathBytes(directory), { recursive: true });
    return await open(pathBytes(directory), "r");
  });
  return { path: `${DESCRIPTORS}/${handle.fd}`, [Symbol.asyncDispose]: () => handle.close() };
}

const DESCRIPTORS = "/proc/self/fd";
