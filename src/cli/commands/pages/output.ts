import { randomUUID } from "node:crypto";
import { constants, existsSync, type Stats } from "node:fs";
import { access, mkdir, open, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { articleFields, type FetchedArticle } from "../../../articles/index.ts";
import { Failure } from "../../../base/failure.ts";
import { isMissing, systemReason } from "../../../base/system-error.ts";
import { composeHtml, composeMarkdown, composeText } from "../../../extraction/index.ts";
import { type FileIdentity, type Io, untilAborted, wrongUsage } from "../../io.ts";
import { OUTPUT_FORMS, type OutputFormName } from "../../output-forms.ts";
import { decodePath, directoryOf, hasRawBytes, pathBytes } from "../../words.ts";
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

/** The destination of a command's results: stdout, or a file that appears complete at the end. */
export interface Sink extends AsyncDisposable {
  write(text: string): Promise<void>;
  /** Makes the file appear; without this call nothing is left behind. */
  finish(): Promise<void>;
}

/** Opens the sink; throws `Failure` `unwritable_output` when the file cannot be made. */
export async function openSink(outputFile: string | null, io: Io): Promise<Sink> {
  const target = outputFile === null ? STDOUT : await attempt(outputFile, () => findTarget(outputFile, io));
  if (outputFile === null || target.kind === "stdout") {
    return {
      write: (text) => io.stdout.write(text),
      finish: async () => {},
      [Symbol.asyncDispose]: async () => {},
    };
  }
  const aside = target.kind === "file" ? asideOf(target.path) : null;
  const file = await attempt(outputFile, () =>
    aside === null
      ? untilAborted(open(pathBytes(target.path), "a"), io.signal) // a pipe opens when somebody reads it
      : open(pathBytes(aside), "wx", target.mode ?? undefined),
  );
  return {
    write: (text) => attempt(outputFile, () => file.writeFile(text)),
    finish: () =>
      attempt(outputFile, async () => {
        if (aside === null) return;
        if (target.mode !== null) await file.chmod(target.mode); // past the umask, which made it narrower
        await file.sync();
        await file.close();
        await rename(pathBytes(aside), pathBytes(target.path));
      }),
    [Symbol.asyncDispose]: async () => {
      await file.close().catch(() => {}); // closed already when finished
      if (aside !== null) await rm(pathBytes(aside), { force: true });
    },
  };
}

// The temporary file is in the same directory, because a rename cannot cross disks. Its name is random, and it is
// opened exclusively, so that in a shared directory nobody can have put a link there. The name is short, whatever the
// target's.
const asideOf = (path: string): string => `${directoryOf(path)}/.article-extractor-${randomUUID()}.tmp`;

type Target =
  | { readonly kind: "stdout" }
  /** It is written in place: a device, a pipe, or the file that stderr goes to. */
  | { readonly kind: "stream"; readonly path: string; readonly mode: null }
  /** It is replaced or created; `mode` is that of the replaced file. */
  | { readonly kind: "file"; readonly path: string; readonly mode: number | null };

const STDOUT: Target = { kind: "stdout" };

// Anything but a regular file must never be replaced by a rename: as root, `-o /dev/stdout` into a pipe would replace
// the machine's /dev/stdout. Only stat sees through the links in /proc to a pipe; realpath does not.
async function findTarget(path: string, io: Io): Promise<Target> {
  const stats = await statOrNull(path);
  if (stats === null) return { kind: "file", path: await followDangling(path), mode: null };
  if (stats.isDirectory()) throw new Failure("unwritable_output", `${path} is a directory, not a file`);
  if (isSameFile(stats, io.stdout.identity)) return STDOUT;
  if (!stats.isFile() || isSameFile(stats, io.stderr.identity)) return { kind: "stream", path, mode: null };
  await access(pathBytes(path), constants.W_OK); // renaming would get around a file's write protection
  return { kind: "file", path: await realPath(path), mode: stats.mode & 0o777 };
}

const isSameFile = (stats: Stats, other: FileIdentity | null): boolean =>
  other !== null && stats.dev === other.dev && stats.ino === other.ino;

async function statOrNull(path: string): Promise<Stats | null> {
  try {
    return await stat(pathBytes(path));
  } catch (cause) {
    if (isMissing(cause)) return null;
    throw cause;
  }
}

/** Keeps a link that points to nothing yet, and creates the file that it names. */
async function followDangling(path: string): Promise<string> {
  const link = await readlink(pathBytes(path), { encoding: "buffer" }).catch(() => null); // no link, or nothing there
  if (link === null) return path;
  const target = decodePath(link);
  return followDangling(isAbsolute(target) ? target : `${await realPath(directoryOf(path))}/${target}`);
}

const realPath = async (path: string): Promise<string> =>
  decodePath(await realpath(pathBytes(path), { encoding: "buffer" }));

/** Translates the system's errors about writing the file. */
export async function attempt<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    const reason = isMissing(cause) ? "there is no such directory" : systemReason(cause);
    throw new Failure("unwritable_output", `${path} cannot be written: ${reason}`, { cause });
  }
}

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
