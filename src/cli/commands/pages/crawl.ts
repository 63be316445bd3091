import { existsSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import {
  type ArticleSession,
  crawlStateDirectoryOf,
  openStore,
  type Program,
  preferenceOf,
  storeOutput,
} from "../../../app/index.ts";
import { renderingsFor } from "../../../articles/index.ts";
import { onAbort } from "../../../base/abort.ts";
import { Failure, type FailureRecord } from "../../../base/failure.ts";
import { isStoreUrl, type ObjectStore, parseStoreUrl, type StoreLocation } from "../../../base/objects.ts";
import { quoteForShell } from "../../../base/text.ts";
import {
  type CrawlJobOptions,
  type CrawlOutput,
  type CrawlSummary,
  createCrawlPlan,
  LAST,
  lastCrawl,
  parseSitemapSource,
} from "../../../crawler/index.ts";
import { type Rendering, withStored } from "../../../extraction/index.ts";
import { CHUNKS, CRAWL, defaultsOf, QUESTION } from "../../../options/index.ts";
import type { Question } from "../../../question.ts";
import { crawlDefaults, extractionDefaults, type Settings } from "../../../settings/index.ts";
import { parseUrlPrefix, splitCredentials } from "../../../urls/index.ts";
import type { Typed } from "../../arguments.ts";
import { type Io, OutputClosed, wrongUsage } from "../../io.ts";
import { optionValue, readOptions } from "../../option-values.ts";
import { type CommandApp, noteMissingBrowser, openCommandApp } from "../../program.ts";
import { canRedraw, type Run } from "../../shell.ts";
import { attempt, openSink, type Sink } from "../../sink.ts";
import { type Notices, pageCount } from "../../terminal/notices.ts";
import { openScreen, type Screen } from "../../terminal/screen.ts";
import { hasRawBytes, pathBytes } from "../../words.ts";
import {
  type CrawlLimits,
  type CrawlReport,
  createCrawlReport,
  createLineOutput,
  exitCodeOf,
  type LineOutput,
  limitsOf,
  NOTHING_STORED,
  readAllowance,
  showAllowance,
} from "./crawl-report.ts";
import {
  guessUrl,
  readExtraction,
  readFields,
  readJoin,
  readNetwork,
  requireSelectors,
  requireUrl,
  showUrl,
} from "./extract-options.ts";
import { askForDirectory, openOutputDirectory } from "./output.ts";
import { retriedCrawl } from "./retried-crawl.ts";

export const crawl: Run = async (shell) => {
  const { io } = shell;
  const retried = optionValue.path(shell.typed, "retry-failed");
  const typed = retried === null ? shell.typed : await retriedCrawl(retried, shell.typed);
  const isLive = canRedraw(shell) && !typed.has("dry-run") && !(typed.has("jsonl") && io.stdout.isTerminal);
  using screen = openScreen(io, { isLive });
  const notices = shell.openNotices(screen.io);
  const opened = await openCommandApp({ typed, io: screen.io, notices });
  await using _ = opened.app;
  const command = readCrawlCommand(typed, opened.program.settings, {
    directory: process.cwd(),
    hasPerson: () => io.stdin.isTerminal,
  });
  noteMissingBrowser(command.network, { ...opened, notices });
  const limits = limitsOf(command.plan, typed, opened.program.environment);
  return await runCrawl(command, { ...opened, screen, notices, limits });
};

type CrawlParts = CommandApp & {
  readonly screen: Screen;
  readonly notices: Notices;
  readonly limits: CrawlLimits;
};

/** Returns the exit code. Throws the `Failure` of a crawl that cannot begin. */
async function runCrawl(command: CrawlCommand, parts: CrawlParts): Promise<number> {
  const { io } = parts.screen;
  const isAsked = command.makes === "files" && command.directory === null;
  const directory = isAsked ? await askForDirectory(io, suggestDirectory(command)) : command.directory;
  const isDirectory = directory !== null && !isStoreUrl(directory);
  const location = readStore(directory, command);
  // Any other problem is reported by the crawl when it creates the directory.
  if (isDirectory && (await stat(pathBytes(directory)).catch(() => null))?.isDirectory() === false)
    throw new Failure("unwritable_output", `${directory} is a file, not a directory`);
  await using session = parts.app.openSession(command.network);
  await requireSelectors(command.plan.extraction, { session, signal: io.signal });
  if (command.makes === "list") return await listPages(command, { ...parts, session });

  const { metrics } = parts.app;
  await using store = location && (await openStore(parts.program, location, { metrics, log: parts.waits }));
  await using output = directory === null || store ? null : await openOutputDirectory(directory);
  const place = store?.url ?? output?.path ?? null;
  await using changes = await openChanges(command.changedLines, isDirectory ? directory : null, io);
  return await crawlInto({ directory, place, store, changes }, command, { ...parts, session });
}

/** The destination of a crawl's pages. */
type Destination = {
  /** As it was typed. */
  readonly directory: string | null;
  /** A path that leads there, or the store's URL; null where nothing is kept. */
  readonly place: string | null;
  readonly store: ObjectStore | null;
  /** Takes the lines of --changed-jsonl. */
  readonly changes: Sink | null;
};

async function crawlInto(
  destination: Destination,
  command: CrawlCommand,
  parts: CrawlParts & { readonly session: ArticleSession },
): Promise<number> {
  const { notices } = parts;
  const { io } = parts.screen;
  const { directory, place } = destination;
  const { fields, chunks, question, join, allowance } = command;
  const reader = new AbortController();
  const stop = (): void => reader.abort();
  const lines =
    command.makes === "lines"
      ? createLineOutput(io, { fields, chunks, question, directory: place, stop })
      : null;
  const report = createCrawlReport({
    ...parts,
    destination: lines ? "written to stdout" : `stored in ${directory}`,
    resumedBy: directory === null ? null : `the same command${command.isFresh ? " without --fresh" : ""}`,
    repeatedBy: join === null ? null : "--run with another name",
    retriedBy: retryOf(command, destination),
    excluded: command.plan.extraction.exclude,
  });
  const leave = AbortSignal.any([io.signal, reader.signal]);
  const options: CrawlJobOptions = {
    ...jobOptionsOf(command, destination),
    output: lines?.output ?? outputOf(destination, command, parts.program),
    // Nobody at a terminal ends the crawl for the other processes.
    shared: join && { canLead: true, leave },
  };
  using interrupt = onAbort(io.signal, () => notices.warn("stopping; interrupt again to end at once"));
  const cancel = join === null ? leave : new AbortController().signal;
  const summary = await follow(parts.session.crawl(command.plan, options, cancel), report, lines);
  interrupt[Symbol.dispose]();
  const shown = directory?.replace(/\/$/, "") ?? "";
  const manifestPath = summary.manifestPath?.replace(place ?? "", () => shown) ?? null;
  for (const line of report.summarise({ ...summary, manifestPath })) notices.tell(line);
  const { firstFailure } = report;
  const { isDefault } = parts.limits;
  return exitCodeOf(summary, { allowance, lines, notices, firstFailure, hasDefaultLimit: isDefault });
}

/** Returns the start of a sentence: how to retry the failed pages; null if the crawl leaves no state behind. */
function retryOf({ makes, join }: CrawlCommand, { directory, store }: Destination): string | null {
  if (directory === null) return null;
  // The fields of lines are not in the manifest.
  const isKnown = makes === "files" && join === null && store === null;
  return isKnown
    ? `article-extractor crawl --retry-failed ${quoteForShell(directory)}`
    : "the same command with more --retries";
}

const jobOptionsOf = (command: CrawlCommand, { directory, changes }: Destination) => ({
  changes: changes && {
    write: (text: string) => changes.write(text).catch(asFailure),
    finish: () => changes.finish(),
  },
  jobId: command.join?.run ?? null,
  isFresh: command.isFresh,
  retriesFailed: command.retriesFailed,
  shellSettings: {
    output_dir: directory,
    jsonl: command.makes === "lines",
    changed_jsonl: command.changedLines,
    max_failures: showAllowance(command.allowance),
  },
  authorizations: command.authorizations,
});

function outputOf({ store, place }: Destination, { join }: CrawlCommand, program: Program): CrawlOutput {
  if (store === null) return { kind: "directory", path: place ?? "" };
  // A frontier that processes share is in the database, and needs no directory here.
  return storeOutput(store, join === null ? crawlStateDirectoryOf(program, store.url) : null);
}

/** The store of --output-dir, also a directory where processes share it; null for one of this process. */
function readStore(directory: string | null, { makes, join }: CrawlCommand): StoreLocation | null {
  if (directory === null) return null;
  if (isStoreUrl(directory)) return parseStoreUrl(directory);
  if (join === null || makes === "lines") return null;
  if (!hasRawBytes(directory)) return { kind: "directory", path: resolve(directory) };
  throw wrongUsage("--join needs a directory whose name is UTF-8");
}

/** Opens the file of --changed-jsonl, which may be in the directory that the crawl makes only later. */
async function openChanges(file: string | null, directory: string | null, io: Io): Promise<Sink | null> {
  if (file === null) return null;
  if (file === "-") return await openSink(null, io);
  if (directory !== null && resolve(dirname(file)) === resolve(directory))
    await attempt(directory, () => mkdir(pathBytes(directory), { recursive: true }));
  return await openSink(file, io);
}

/** Suggests the name of the site, which the person may accept or not. */
function suggestDirectory({ plan }: CrawlCommand): string {
  const [url = plan.sitemaps.find((sitemap) => URL.canParse(sitemap))] = plan.seeds;
  return url === undefined ? "pages" : new URL(url).hostname.replace(/[^\w.-]/g, "_");
}

async function follow(
  events: ReturnType<ArticleSession["crawl"]>,
  report: CrawlReport,
  lines: LineOutput | null,
): Promise<CrawlSummary> {
  using _ = report; // the progress line goes before the summary comes
  for await (const event of events) {
    report.take(event);
    if (event.kind === "finished") return event.summary;
    if (event.kind !== "page" || event.outcome.status !== "failed") continue;
    // Each of several processes writes the lines of its own pages.
    if (event.isOwn && lines && !lines.isClosed)
      await lines.writeFailed(event.outcome).catch(ignoreCancelled);
  }
  throw new Failure("internal", "the crawl ended without a result");
}

// The reader has not read all changes, so the next crawl reports them again.
function asFailure(error: unknown): never {
  if (!(error instanceof OutputClosed)) throw error;
  throw new Failure("unwritable_output", "the reader of the changes has gone", { cause: error });
}

// The signal stops the crawl itself, which ends in order.
function ignoreCancelled(error: unknown): void {
  if (!(error instanceof Failure && error.code === "cancelled")) throw error;
}

/** Lists the start URLs of a crawl on stdout, and the URLs that it would skip on stderr. */
async function listPages(
  { plan, authorizations }: CrawlCommand,
  { screen, notices, log, session }: CrawlParts & { readonly session: ArticleSession },
): Promise<number> {
  const listed = new Set<string>();
  const refused = new Map<string, number>();
  const failures = new Set<string>();
  const onSitemapFailure = ({ message }: FailureRecord): void => {
    notices.warn(`a sitemap is left out: ${message}`);
  };
  const options = { authorizations, onSitemapFailure };
  for await (const page of session.previewCrawl(plan, options, screen.io.signal)) {
    const { url } = page;
    if (listed.has(url)) continue;
    const refusal = page.refusal ?? (listed.size < plan.maxPages ? null : "max_pages");
    if (refusal === null) {
      listed.add(url);
      await screen.io.stdout.write(`${url}\n`);
    } else {
      const reason = typeof refusal === "string" ? refusal : refusal.code;
      refused.set(reason, (refused.get(reason) ?? 0) + 1);
      log.info("page skipped", { url, reason });
      if (typeof refusal !== "string") failures.add(refusal.message);
    }
  }
  for (const message of failures) notices.warn(message);
  const counts = [...refused].map(([reason, count]) => `, ${count} left out as ${reason}`).join("");
  notices.tell(`would begin with ${pageCount(listed.size)}${counts}`);
  return listed.size === 0 ? NOTHING_STORED : 0;
}

/** The meaning of a crawl command. */
type CrawlCommand = Readonly<ReturnType<typeof readCrawlCommand>>;

/** The output: files in the directory, lines on stdout, or a list of what would be fetched. */
type Makes = "files" | "lines" | "list";

/**
 * Interprets the words of a crawl command.
 * @param place.directory what relative paths start from
 * @param place.hasPerson whether somebody is there to press Enter
 * @throws Failure `invalid_usage` or `invalid_url` for values and combinations that mean nothing
 */
export function readCrawlCommand(
  typed: Typed,
  settings: Settings,
  place: { readonly directory: string; readonly hasPerson: () => boolean },
) {
  const makes = readMakes(typed);
  const directory = optionValue.path(typed, "output-dir");
  if (directory !== null && isStoreUrl(directory) && makes === "lines")
    throw wrongUsage("--jsonl goes with a directory as --output-dir, not with a bucket");
  const fields = readFields(typed);
  const chunks = typed.has("chunks") ? readOptions(typed, CHUNKS, defaultsOf(CHUNKS)) : null;
  const question: Question = readOptions(typed, QUESTION, defaultsOf(QUESTION));
  const network = readNetwork(typed, place.hasPerson);
  const authorizations = new Map<string, string>();
  const seeds = [...typed.positionals, ...optionValue.texts(typed, "seed")].map((written) => {
    const { url, authorization } = requireUrl(written, "--sitemap reads a local list of URLs");
    if (authorization !== null) addAuthorization(authorizations, url, authorization);
    return url;
  });
  const sitemaps = optionValue
    .texts(typed, "sitemap")
    .map((written) => readSitemap(written, place.directory, authorizations));
  if (seeds.length === 0 && sitemaps.length === 0)
    throw wrongUsage(`${typed.command.name} needs at least one URL to start from, or a --sitemap`);
  const wanted = makes === "lines" && chunks === null ? renderingsFor(fields) : null;
  const options = readOptions(typed, CRAWL, crawlDefaults(settings));
  const plan = createCrawlPlan({
    ...options,
    ...(options.since === LAST && { lastCrawlAt: readLast(directory, typed.has("fresh")) }),
    seeds,
    sitemaps,
    allowPrefixes: readPrefixes(typed, "allow-prefix", [...seeds, ...sitemaps]),
    denyPrefixes: readPrefixes(typed, "deny-prefix", [...seeds, ...sitemaps]),
    preference: preferenceOf(network, settings),
    extraction: readExtraction(typed, storedWith(wanted, question), extractionDefaults(settings)),
  });
  return {
    plan,
    network,
    /** The values of Authorization headers by origin, from the typed URLs. */
    authorizations,
    makes,
    /** Those of the JSON lines. */
    fields,
    /** How long the chunks are that are written instead of pages; null writes pages. */
    chunks,
    /** What of the pages on stdout is wanted; all of them without a query. */
    question,
    /** The file for lines about new, changed and gone pages; `-` for stdout, null for none. */
    changedLines: readChangedLines(typed, makes),
    /** The output directory, or the URL of a store; null when none was given. */
    directory,
    isFresh: typed.has("fresh"),
    /** Whether only the pages are wanted that failed in the crawl of the directory. */
    retriesFailed: typed.has("retry-failed"),
    /** Null crawls without other processes. */
    join: readJoin(typed, settings),
    allowance: readAllowance(typed.one("max-failures")),
  };
}

/** What is rendered of pages, for these fields of lines or else for files. */
const storedWith = (wanted: readonly Rendering[] | null, { query }: Question): readonly Rendering[] =>
  wanted !== null && query === null
    ? [...new Set(["markdown" as const, ...wanted])]
    : withStored(wanted ?? []);

/** The date for `--since last`; null before the first crawl into the directory, and for one that begins anew. */
function readLast(directory: string | null, isFresh: boolean): string | null {
  if (directory === null || isStoreUrl(directory))
    throw wrongUsage("--since last goes with --output-dir DIR, which knows when the last crawl began");
  return isFresh ? null : lastCrawl(pathBytes(`${directory}/manifest.json`));
}

/** Reads the kinds of output of a crawl, and checks that its options go together. */
function readMakes(typed: Typed): Makes {
  const makes = typed.has("dry-run") ? "list" : typed.has("jsonl") ? "lines" : "files";
  for (const name of ["jsonl", "join"])
    if (makes === "list" && typed.has(name)) throw wrongUsage(`--${name} and --dry-run exclude each other`);
  if (makes === "lines" && typed.has("save-images"))
    throw wrongUsage("--save-images goes with files, beside which pictures are saved; leave out --jsonl");
  for (const name of ["fields", "chunks", "query"])
    if (typed.has(name) && makes !== "lines") throw wrongUsage(`--${name} goes with --jsonl`);
  for (const [name, other] of PARTNERS)
    if (typed.has(name) && !typed.has(other)) throw wrongUsage(`--${name} goes with --${other}`);
  return makes;
}

/** Options that mean nothing without another. */
const PARTNERS = [
  ["chunk-tokens", "chunks"],
  ["chunk-overlap", "chunks"],
  ["max-tokens", "query"],
] as const;

function readChangedLines(typed: Typed, makes: Makes): string | null {
  const target = optionValue.text(typed, "changed-jsonl");
  if (target === null) return null;
  if (makes === "list") throw wrongUsage("--changed-jsonl and --dry-run exclude each other");
  if (makes === "lines" && target === "-")
    throw wrongUsage("--jsonl and --changed-jsonl - both write to stdout: name a file");
  return target;
}

/** Reads prefixes; a path such as `/docs/` stands for that path on each site where the crawl starts. */
function readPrefixes(typed: Typed, name: string, starts: readonly string[]): string[] {
  const origins = new Set(
    starts.filter((start) => URL.canParse(start)).map((start) => new URL(start).origin),
  );
  return optionValue.texts(typed, name).flatMap((written) => {
    if (parseUrlPrefix(written) !== null) return written;
    if (/^\/(?!\/)/.test(written) && origins.size > 0) return [...origins].map((origin) => origin + written);
    const what = `--${name} must be the beginning of an http or https URL, not ${showUrl(written)}`;
    throw wrongUsage(`${what}${guessUrl(written)}`);
  });
}

function readSitemap(written: string, directory: string, authorizations: Map<string, string>): string {
  const source = parseSitemapSource(written.trim() === "-" ? "/dev/stdin" : written, directory);
  if (!source) {
    const what = `--sitemap must be an http or https URL or a file, not ${showUrl(written)}`;
    throw wrongUsage(`${what}${guessUrl(written)}`);
  }
  const meant = source.kind === "file" && !existsSync(source.path) ? guessUrl(written) : "";
  if (meant !== "") throw wrongUsage(`--sitemap: there is no file ${showUrl(written)}${meant}`);
  if (source.kind === "file") return source.path;
  const authorization = splitCredentials(written)?.authorization ?? null;
  if (authorization !== null) addAuthorization(authorizations, source.url, authorization);
  return source.url;
}

function addAuthorization(authorizations: Map<string, string>, url: string, authorization: string): void {
  const { origin } = new URL(url);
  const known = authorizations.get(origin);
  if (known !== undefined && known !== authorization)
    throw wrongUsage(`two different credentials are given for ${origin}`);
  authorizations.set(origin, authorization);
}
