import { join } from "node:path";
import { type App, type ArticleSession, stateDirectoryOf } from "../../../app/index.ts";
import { articleFields, type FetchedArticle, RenderingHistory } from "../../../articles/index.ts";
import { FAILURE_OUTCOMES, Failure, type FailureRecord } from "../../../base/failure.ts";
import type { Metrics } from "../../../base/metrics.ts";
import { quoteForShell } from "../../../base/text.ts";
import { extractionDefaults } from "../../../settings/index.ts";
import { withoutCredentials } from "../../../urls/index.ts";
import { readDocument, readStdin, readText } from "../../input.ts";
import type { Io } from "../../io.ts";
import { OUTPUT_FORMS } from "../../output-forms.ts";
import { noteMissingBrowser, openCommandApp } from "../../program.ts";
import { canRedraw, type Run } from "../../shell.ts";
import { openSink, type Sink } from "../../sink.ts";
import { type Notices, pageCount } from "../../terminal/notices.ts";
import { formatListProgress, openScreen, Pace, REDRAW_MS, type Screen } from "../../terminal/screen.ts";
import { formatRow } from "./csv.ts";
import {
  type ExtractCommand,
  type ExtractInput,
  type PageInput,
  readExtractCommand,
  readExtraction,
  requireSelectors,
  requireUrl,
} from "./extract-options.ts";
import { createListReport, type ListReport } from "./list-report.ts";
import { formatArticle, headerOf, warningsToTell } from "./output.ts";
import type { SavePictures } from "./pictures.ts";
import { openResumed, type Resumed } from "./resume.ts";

type ListSources = Extract<ExtractInput, { kind: "list" }>["sources"];

type ListParts = {
  readonly screen: Screen;
  readonly notices: Notices;
  readonly session: ArticleSession;
  /** Extracts one page. */
  readonly read: (page: PageInput) => Promise<FetchedArticle>;
  readonly renderingHistory: RenderingHistory;
  /** The directory for the locks of files that are continued. */
  readonly locks: string;
};

/** Extracts several pages and writes their outcomes in their order; returns the exit code. */
async function extractList(sources: ListSources, command: ExtractCommand, parts: ListParts): Promise<number> {
  const { io } = parts.screen;
  const place = command.directory ?? command.resumeFile;
  await using folder = await openListFolder(command);
  await using resumed = folder ?? (await openLines(command, parts.locks));
  await using sink = resumed?.sink ?? (await openSink(command.outputFile, io));
  await requireSelectors(command.extraction, { session: parts.session, signal: io.signal });
  const listed = command.retriesFailed
    ? (resumed?.failed() ?? []).map(failedEntry)
    : (await Promise.all(sources.map((source) => readSource(source, parts)))).flat();
  const { entries, failedBefore } = resumed ? leftOf(listed, resumed) : { entries: listed, failedBefore: 0 };
  if (resumed && entries.length < listed.length)
    parts.notices.tell(`${pageCount(listed.length - entries.length)} of ${listed.length} done before`);
  using progress = createListProgress(parts.screen, { total: listed.length, todo: entries.length });
  const report = createListReport(parts.notices);
  const again = place === null ? null : `article-extractor --retry-failed ${quoteForShell(place)}`;
  let written = 0;
  try {
    written = await writeOutcomes(entries, { command, parts, sink, progress, report, folder });
  } finally {
    progress[Symbol.dispose]();
    report.tell({ total: entries.length, written, folder: command.directory, again });
  }
  const left = entries.length - written;
  // When nothing was done, the output of an earlier run is not replaced.
  if (left === 0 || written > 0) await sink.finish();
  if (failedBefore > 0)
    parts.notices.error(`${pageCount(failedBefore)} failed before; ${again} tries only those again`);
  if (left === 0) return report.failed + failedBefore === 0 ? 0 : 1;
  parts.notices.error(`interrupted; ${left} of ${pageCount(listed.length)} left${howToGoOn(command)}`);
  return FAILURE_OUTCOMES.cancelled.exitCode;
}

// The packages for YAML and for crawls are loaded here.
const openListFolder = async ({ directory, retriesFailed }: ExtractCommand) =>
  directory === null ? null : await (await import("./folder.ts")).openFolder(directory, retriesFailed);

const openLines = async (
  { resumeFile, retriesFailed }: ExtractCommand,
  locks: string,
): Promise<Resumed | null> =>
  resumeFile === null ? null : await openResumed(resumeFile, { retriesFailed, locks });

function howToGoOn({ format, outputFile, resumeFile, directory }: ExtractCommand): string {
  if (resumeFile !== null || directory !== null) return "; the same command continues from here";
  if (format !== "json") return "";
  return outputFile === null
    ? "; --resume continues with a file that holds the lines"
    : `; --resume ${outputFile} continues from here`;
}

type Entry = {
  /** Identifies its line among the lines of the list. */
  readonly address: { readonly url: string } | { readonly file: string };
  /** The prefix of its messages, such as `urls.txt:7: `; empty for typed URLs. */
  readonly place: string;
  /** The page, or the reason why the entry is not a page. */
  readonly page: PageInput | Failure;
};

async function readSource(source: ListSources[number], parts: ListParts): Promise<readonly Entry[]> {
  if (source.kind === "list-file") return await readList(source.path, parts);
  const address =
    source.kind === "url" ? { url: source.url } : { file: source.kind === "file" ? source.path : "-" };
  return [{ address, place: "", page: source }];
}

const MAX_LIST_BYTES = 64 * 1024 * 1024;

async function readList(path: string, { screen }: ListParts): Promise<readonly Entry[]> {
  const text = await readText(path, screen.io, MAX_LIST_BYTES);
  if (text.includes("\0"))
    throw new Failure("unreadable_input", `${path} is not text, so it is not a list of URLs`);
  const lines = text
    .split(/\r?\n/)
    .map((line, index) => ({ written: line.trim(), place: `${path}:${index + 1}: ` }))
    .filter(({ written }) => written !== "" && !written.startsWith("#"));
  if (lines.length === 0) throw new Failure("unreadable_input", `${path} lists no URLs`);
  return lines.map(({ written, place }) => ({ place, ...readUrl(written) }));
}

function failedEntry(address: Entry["address"]): Entry {
  if ("url" in address) return { place: "", ...readUrl(address.url) };
  const { file } = address;
  const page: PageInput =
    file === "-" ? { kind: "stdin", url: null } : { kind: "file", path: file, url: null };
  return { address, place: "", page };
}

function readUrl(written: string): Pick<Entry, "address" | "page"> {
  try {
    const page = { kind: "url", ...requireUrl(written) } as const;
    return { address: { url: page.url }, page };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { address: { url: withoutCredentials(written) }, page: error };
  }
}

/** Returns the entries without a line, and how many of the others failed. */
function leftOf(listed: readonly Entry[], resumed: Resumed) {
  let failedBefore = 0;
  const entries = listed.filter(({ address }) => {
    const before = resumed.take(nameOf(address));
    if (before === "failed") failedBefore++;
    return before === null;
  });
  return { entries, failedBefore };
}

const nameOf = (address: Entry["address"]): string => ("url" in address ? address.url : address.file);

/** The number of pages under way at once. For a host's whole site a crawl is the right tool. */
const LIST_CONCURRENCY = 4;

type ListWork = {
  readonly command: ExtractCommand;
  readonly parts: ListParts;
  readonly sink: Sink;
  readonly progress: ReturnType<typeof createListProgress>;
  readonly report: ListReport;
  /** Takes the pages instead of the sink, which gets a line about each. */
  readonly folder: Awaited<ReturnType<typeof openListFolder>>;
};

type Outcome = { readonly fetched: FetchedArticle } | { readonly failure: Failure };

/** An entry that has begun; its outcome is null until it is known, and when the work was interrupted. */
type Started = { readonly entry: Entry; readonly ended: Promise<Outcome | null> };

/**
 * After an interruption, finished pages are still written, even if others before them are not.
 * @returns how many outcomes were written
 */
async function writeOutcomes(entries: readonly Entry[], work: ListWork): Promise<number> {
  const { signal } = work.parts.screen.io;
  const underWay: Started[] = [];
  await work.sink.write(headerOf(work.command));
  let written = 0;
  let next = 0;
  while (true) {
    const { renderingHistory } = work.parts;
    const isRoom = (): boolean => underWay.length < LIST_CONCURRENCY + renderingHistory.waiting;
    while (!signal.aborted && next < entries.length && isRoom())
      underWay.push(start(entries[next++] as Entry, work));
    const [first] = underWay;
    if (!first) return written;
    // A page that waits for others to be compared makes room for them.
    const isOver = await Promise.race([
      first.ended.then(() => true),
      renderingHistory.nextWait().then(() => false),
    ]);
    if (!isOver) continue;
    underWay.shift();
    const outcome = await first.ended;
    if (outcome === null) continue;
    try {
      await work.sink.write(
        await formatListed(outcome, first.entry, { ...work, isFirst: written === work.report.failed }),
      );
    } catch (error) {
      // Nobody reads the output, and the interruption ends the work.
      if (signal.aborted && error instanceof Failure) return written;
      throw error;
    }
    written++;
  }
}

function start(entry: Entry, { parts, progress }: ListWork): Started {
  const work = async (): Promise<Outcome | null> => {
    try {
      if (entry.page instanceof Failure) throw entry.page;
      const fetched = await parts.read(entry.page);
      progress.add("done");
      return { fetched };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (parts.screen.io.signal.aborted) return null;
      progress.add("failed");
      return { failure: error };
    }
  };
  const ended = work();
  // An error that ends the list ends the later entries too, and is reported once.
  ended.catch(() => {});
  return { entry, ended };
}

/** @param work.isFirst true while no page before it had an article */
async function formatListed(
  outcome: Outcome,
  entry: Entry,
  work: ListWork & { readonly isFirst: boolean },
): Promise<string> {
  if ("failure" in outcome) return await formatFailed(outcome.failure, entry, work);
  const { command, report, folder, isFirst } = work;
  const { address, place } = entry;
  const name = nameOf(address);
  const { fetched } = outcome;
  for (const warning of warningsToTell(fetched, command)) report.warn(`${place}${name}`, warning);
  if (folder) return await folder.put(name, fetched);
  if (command.format === "json" && command.tables === null)
    return `${JSON.stringify({ ...("file" in address ? address : {}), ...articleFields(fetched, command.fields) })}\n`;
  const formatted = await formatArticle(fetched, command);
  return isFirst ? formatted : separatorOf(command) + formatted;
}

async function formatFailed(
  failure: Failure,
  { address, place }: Entry,
  { command: { format, fields, tables }, report, folder }: ListWork,
): Promise<string> {
  const name = nameOf(address);
  report.fail(failure, `${place}${describeFailure(name, failure)}`);
  if (folder) return await folder.put(name, failure);
  const line = { ...address, success: false, http_status: failure.targetStatus, error: failure.toRecord() };
  if (format === "csv" && tables === null) return formatRow(line, fields);
  return format === "json" || format === "chunks" ? `${JSON.stringify(line)}\n` : "";
}

/** An empty line separates tables, and front matter separates documents without a rule. */
function separatorOf({ format, tables, hasFrontmatter }: ExtractCommand): string {
  if (tables !== null) return tables === "csv" ? "\r\n" : "";
  return hasFrontmatter ? "" : OUTPUT_FORMS[format].separator;
}

// Most messages already name the page.
const describeFailure = (name: string, { code, message }: Omit<FailureRecord, "block">): string =>
  code === "invalid_url" || message.includes(name) ? message : `${name}: ${message}`;

/** The progress line of a list. @param pages.todo those of the total that are not done before */
function createListProgress(
  screen: Screen,
  { total, todo }: { readonly total: number; readonly todo: number },
) {
  const pace = new Pace();
  const count = { done: total - todo, failed: 0 };
  const draw = (): void => {
    const now = performance.now();
    pace.mark(now, count.done + count.failed);
    screen.show(formatListProgress({ ...count, total }, pace.pagesPerSecond(now), screen.columns));
  };
  if (screen.isLive) draw();
  const timer = screen.isLive ? setInterval(draw, REDRAW_MS) : null;
  return {
    /** Counts a finished page. */
    add(end: "done" | "failed"): void {
      count[end]++;
    },
    [Symbol.dispose](): void {
      if (timer) clearInterval(timer);
      screen[Symbol.dispose]();
    },
  };
}

export const extract: Run = async (shell) => {
  const { typed, io } = shell;
  const command = readExtractCommand(typed, () => io.stdin.isTerminal);
  const isList = command.input.kind === "list";
  const isToFile = command.outputFile !== null || command.resumeFile !== null;
  using screen = openScreen(io, {
    isLive: isList && canRedraw(shell) && (isToFile || !io.stdout.isTerminal),
  });
  const notices = shell.openNotices(screen.io);
  if (command.input.kind === "stdin" && io.stdin.isTerminal)
    notices.warn(
      `reading the page from the terminal${typed.has("url") ? "; leave --url out to fetch it" : ""}`,
    );
  const parts = { typed, io: screen.io, notices };
  const { app, program } = await openCommandApp(parts, { extractsOnePage: !isList });
  await using _ = app;
  if (command.input.kind === "url" || isList) noteMissingBrowser(command.network, { app, program, notices });
  // The kind of command decides how the application opens, and only then are the settings read.
  const extraction = readExtraction(
    typed,
    command.extraction.renderings,
    extractionDefaults(program.settings),
  );
  const locks = join(stateDirectoryOf(program, "extractor"), "lists");
  return await runExtract({ ...command, extraction }, { app, screen, notices, locks });
};

type ExtractParts = { readonly app: App } & Pick<ListParts, "screen" | "notices" | "locks">;

/** Returns the exit code. Throws the `Failure` of a single page. */
async function runExtract(command: ExtractCommand, parts: ExtractParts): Promise<number> {
  const { io } = parts.screen;
  const { metrics } = parts.app;
  await using session = parts.app.openSession(command.network);
  const { input } = command;
  const one = {
    session,
    io,
    metrics,
    savePictures: await openPictures(command, { session, signal: io.signal }),
  };
  if (input.kind === "list") {
    const renderingHistory = new RenderingHistory();
    const read = (page: PageInput) => extractOne(page, command, { ...one, renderingHistory });
    return await extractList(input.sources, command, { ...parts, session, read, renderingHistory });
  }
  await using sink = await openSink(command.outputFile, io);
  await requireSelectors(command.extraction, { session, signal: io.signal });
  const fetched = await extractOne(input, command, one);
  for (const warning of warningsToTell(fetched, command)) parts.notices.warn(warning);
  await sink.write(headerOf(command) + (await formatArticle(fetched, command)));
  await sink.finish();
  return 0;
}

// What stores pages is loaded here.
const openPictures = async (
  command: ExtractCommand,
  parts: Pick<OneParts, "session"> & { signal: AbortSignal },
) => (command.savesPictures ? await (await import("./pictures.ts")).openPictureSaver(command, parts) : null);

type OneParts = {
  readonly session: ArticleSession;
  readonly io: Io;
  readonly metrics: Metrics;
  readonly savePictures: SavePictures | null;
  readonly renderingHistory?: RenderingHistory;
};

async function extractOne(
  input: PageInput,
  command: ExtractCommand,
  parts: OneParts,
): Promise<FetchedArticle> {
  let outcome = "failure";
  try {
    const whole = await fetchOne(input, command, parts);
    // What searches need is loaded here.
    const fetched =
      command.question.query === null
        ? whole
        : await (await import("../../../question.ts")).partsFor(whole, command.question);
    if (command.tables !== null) (await import("./tables.ts")).requireTables(fetched);
    const saved = (await parts.savePictures?.(fetched, input)) ?? fetched;
    outcome = "success";
    return saved;
  } finally {
    parts.metrics.count("cli_extractions", { outcome });
  }
}

async function fetchOne(
  input: PageInput,
  { extraction: wanted, savesPictures }: ExtractCommand,
  { session, io, renderingHistory }: OneParts,
): Promise<FetchedArticle> {
  const extraction = { ...wanted, keepsDataPictures: savesPictures };
  if (input.kind === "url") {
    const learned = renderingHistory && { renderingHistory };
    return session.fromUrl({ ...input, options: extraction, signal: io.signal, ...learned });
  }
  const limits = { url: input.url, maxBytes: session.maxBytes, signal: io.signal };
  const document =
    input.kind === "file" ? await readDocument(input.path, limits) : await readStdin(io, limits);
  return session.fromDocument(document, extraction, io.signal);
}
