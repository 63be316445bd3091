import { join } from "node:path";
import { type ArticleField, articleFields } from "../../../articles/index.ts";
import { FAILURE_OUTCOMES, Failure } from "../../../base/failure.ts";
import type { Log } from "../../../base/log.ts";
import type { ChunkOptions } from "../../../chunks.ts";
import {
  type CrawlEvent,
  type CrawledPage,
  type CrawlNotice,
  type CrawlPlan,
  type CrawlProgress,
  type CrawlSummary,
  type PageOutcome,
  type PauseReason,
  warningOf,
} from "../../../crawler/index.ts";
import { unmatchedExclusion } from "../../../extraction/index.ts";
import { CRAWL } from "../../../options/index.ts";
import type { Question } from "../../../question.ts";
import type { Typed } from "../../arguments.ts";
import { type Io, OutputClosed, wrongUsage } from "../../io.ts";
import { type Notices, pageCount } from "../../terminal/notices.ts";
import { formatDuration, formatProgress, Pace, REDRAW_MS, type Screen } from "../../terminal/screen.ts";

/** The limits of a crawl, for its first line. */
export type CrawlLimits = ReturnType<typeof limitsOf>;

/** Says what limits a crawl and from where each limit comes: an option, a variable, or nobody. */
export function limitsOf(
  { maxPages, maxDepth, followsLinks }: CrawlPlan,
  typed: Pick<Typed, "has">,
  environment: Readonly<Record<string, string | undefined>>,
) {
  const isSet = (environment[MAX_PAGES_VARIABLE] ?? "").trim() !== "";
  const isDefault = !typed.has("max-pages") && !isSet;
  const byWhom = typed.has("max-pages") ? "--max-pages" : isSet ? MAX_PAGES_VARIABLE : "default; --max-pages";
  const depth = `depth ${maxDepth} (${typed.has("max-depth") ? "--max-depth" : "default"})`;
  const links = followsLinks ? depth : "no links (--no-follow-links)";
  return {
    text: `at most ${pageCount(maxPages)} (${byWhom}), ${links}`,
    /** Whether nobody has set the number of pages. */
    isDefault,
  };
}

const MAX_PAGES_VARIABLE = CRAWL.maxPages.variable;

type CrawlReportParts = {
  readonly screen: Screen;
  readonly notices: Notices;
  readonly log: Log;
  readonly limits: CrawlLimits;
  /** The fate of the pages: `stored in out`, `written to stdout`. */
  readonly destination: string;
  /** The command that would continue this crawl, as the start of a sentence; null when none would. */
  readonly resumedBy: string | null;
  /** The start of a sentence: how to repeat a finished crawl; null if the same command repeats it. */
  readonly repeatedBy: string | null;
  /** The start of a sentence: how to retry the failed pages; null if they cannot be retried. */
  readonly retriedBy: string | null;
  /** The selectors of --exclude. */
  readonly excluded: readonly string[];
};

/** Reports a crawl to a person: the progress line, notices, a log line for each event, the summary. */
export type CrawlReport = ReturnType<typeof createCrawlReport>;

export function createCrawlReport(parts: CrawlReportParts) {
  const { screen, log } = parts;
  const startedAt = performance.now();
  const pace = new Pace();
  const failed: FailedPages = { examples: new Map(), addresses: [] };
  const told: string[] = [];
  const waiting = new Set<string>();
  let unmatched: readonly string[] | null = null;
  let doneBefore = 0;
  let sitemapUrls = 0;
  let hasPages = false;
  let draw = (): void => {};
  const timer = screen.isLive ? setInterval(() => draw(), REDRAW_MS) : null;
  return {
    take(event: CrawlEvent): void {
      if (event.kind === "started" || event.kind === "page") {
        const { progress } = event;
        pace.mark(performance.now(), progress.progress);
        draw = () =>
          screen.show(formatProgress(progress, pace.pagesPerSecond(performance.now()), screen.columns));
      }
      if (event.kind === "started") doneBefore = tellStart(event.progress, parts);
      if (event.kind === "page") {
        hasPages = true;
        if (isReadAnew(event.outcome)) unmatched = unmatchedOn(event.outcome, unmatched ?? parts.excluded);
        keepFailure(failed, event.outcome);
      }
      if (event.kind === "notice") {
        tellNotice(event.notice, waiting, parts);
        const warning = warningOf(event.notice);
        if (warning !== null) told.push(warning);
        // Large sitemaps take a while, and no page is fetched until they are read.
        if (event.notice.kind === "sitemap_read" && !hasPages) {
          sitemapUrls += event.notice.pageCount;
          draw = () => screen.show(`sitemaps: ${sitemapUrls} URLs`.slice(0, screen.columns));
        }
      }
      logEvent(event, log);
    },
    /** The closing lines. */
    summarise: (summary: CrawlSummary): readonly string[] =>
      formatSummary(summary, {
        ...parts,
        elapsedMs: performance.now() - startedAt,
        failed,
        told,
        unmatched: unmatched ?? [],
        doneBefore,
        hasPages,
      }),
    /** The message of the first failed page; null while none has failed. */
    get firstFailure(): string | null {
      return [...failed.examples.values()][0] ?? null;
    },
    [Symbol.dispose](): void {
      if (timer) clearInterval(timer);
      screen[Symbol.dispose]();
    },
  };
}

/** @returns how many pages were done before */
function tellStart(progress: CrawlProgress, { notices, limits }: CrawlReportParts): number {
  notices.tell(limits.text);
  return triedPages(progress);
}

/** The report on failed pages. */
type FailedPages = {
  /** One message for each failure code. */
  readonly examples: Map<string, string>;
  /** The first of them. */
  readonly addresses: string[];
};

/** The most addresses that the summary names of the pages that failed. */
const NAMED_FAILURES = 5;

function keepFailure({ examples, addresses }: FailedPages, { url, error }: PageOutcome): void {
  if (!error) return;
  if (!examples.has(error.code)) examples.set(error.code, error.message);
  if (addresses.length < NAMED_FAILURES) addresses.push(url);
}

/** Whether a page says anything about selectors: one that was not read again does not. */
const isReadAnew = ({ status, change }: PageOutcome): boolean =>
  status === "success" && change !== "unchanged";

/** Those of the selectors that match nothing on a page either, which is normal for one page. */
const unmatchedOn = ({ warnings }: PageOutcome, selectors: readonly string[]): readonly string[] =>
  selectors.filter((selector) => warnings.includes(unmatchedExclusion(selector)));

/** After this time a person wonders why nothing happens. */
const LONG_PAUSE_S = 10;

const PAUSES: Readonly<Record<PauseReason, string>> = {
  retry_after: "it asks to be left alone",
  errors: "it answers with errors or asked to be left alone",
  crawl_delay: "its robots.txt asks for this Crawl-delay between requests",
  rate_limit: "requests to a host are this far apart",
};

function tellNotice(notice: CrawlNotice, waiting: Set<string>, { notices }: CrawlReportParts): void {
  if (notice.kind === "low_disk") {
    const megabytes = Math.floor(notice.freeBytes / 1_000_000);
    notices.warn(`only ${megabytes} MB are free in ${notice.directory}`);
  } else if (notice.kind === "robots_ignored") {
    notices.warn("robots.txt is ignored");
  } else if (notice.kind === "host_paused") {
    const seconds = Math.round((notice.untilMs - Date.now()) / 1000);
    if (seconds < LONG_PAUSE_S || waiting.has(notice.host)) return;
    waiting.add(notice.host);
    notices.warn(`${notice.host} waits ${seconds} s: ${PAUSES[notice.reason]}`);
  } else if (notice.kind === "sitemap_failed") {
    notices.warn(`a sitemap is left out: ${notice.failure.message}`);
  }
}

// The crawl itself logs its pages and notices.
function logEvent(event: CrawlEvent, log: Log): void {
  if (event.kind === "started")
    log.info("crawl started", { job_id: event.jobId, mode: event.mode, known: event.progress.total });
  if (event.kind !== "finished") return;
  const { jobId, state, progress, error } = event.summary;
  log.info("crawl finished", {
    job_id: jobId,
    state,
    successful: progress.successful,
    failed: progress.failed,
    skipped: progress.skipped,
    ...(error ? { code: error.code, reason: error.message } : {}),
  });
}

type SummaryParts = CrawlReportParts & {
  readonly elapsedMs: number;
  readonly failed: FailedPages;
  /** The messages that notices have already given. */
  readonly told: readonly string[];
  /** The selectors of --exclude that have matched nothing. */
  readonly unmatched: readonly string[];
  /** The number of pages that were done when a resumed crawl continued. */
  readonly doneBefore: number;
  /** Whether any page has ended since. */
  readonly hasPages: boolean;
};

function formatSummary(summary: CrawlSummary, parts: SummaryParts): string[] {
  const { progress, skips, skippedLinks, changes, transient404, manifestPath } = summary;
  const lines = [headline(summary, parts), ...failureLines(summary, parts)];
  if (progress.skipped > 0) lines.push(`skipped: ${formatCounts(skips)}`);
  const links = formatCounts(skippedLinks);
  if (links !== "") lines.push(`links not followed: ${links}`);
  const { changed = 0, unchanged = 0, gone = 0 } = changes;
  // All pages of a first crawl are new.
  if (changed + unchanged + gone > 0)
    lines.push(
      `since the last crawl: ${changes.new ?? 0} new, ${changed} changed, ${unchanged} unchanged, ${gone} gone`,
    );
  if (transient404 > 0) lines.push(`extracted after HTTP 404 or 410 (transient_404): ${transient404}`);
  const isCut = (skips.max_pages ?? 0) + (skippedLinks.max_pages ?? 0) > 0;
  const how =
    parts.resumedBy !== null ? "a larger --max-pages continues from here" : "--max-pages sets another";
  if (isCut) lines.push(`the limit of ${progress.fetched} pages was reached; ${how}`);
  for (const warning of summary.warnings)
    if (!parts.told.includes(warning)) lines.push(`warning: ${warning}`);
  for (const selector of parts.unmatched)
    lines.push(`warning: on no page an element matches the excluded selector ${JSON.stringify(selector)}`);
  if (manifestPath !== null) lines.push(`every page and its outcome: ${manifestPath}`);
  return lines.map((line, index) => (index === 0 ? line : `  ${line}`));
}

function failureLines({ state, progress, failures }: CrawlSummary, parts: SummaryParts) {
  const { repeatedBy, retriedBy, hasPages } = parts;
  const { examples, addresses: pages } = parts.failed;
  const lines =
    state === "completed" && repeatedBy !== null && !hasPages
      ? [`nothing was left to do; ${repeatedBy} crawls it again`]
      : [];
  const told = { counts: failures, examples: Object.fromEntries(examples), pages };
  lines.push(...describeFailed(told, progress.failed));
  if (progress.failed > 0 && state === "completed" && retriedBy !== null)
    lines.push(`${retriedBy} tries only those again`);
  return lines;
}

/** Lines about pages that failed: each kind with its number, and the first addresses. */
export function describeFailed({ counts, examples, pages }: ToldFailures, failed: number): readonly string[] {
  const kinds = Object.entries(counts).sort(([, a], [, b]) => b - a);
  const lines = kinds.map(([code, count]) => {
    const example = examples[code];
    return `failed: ${count} ${code}${example === undefined ? "" : `, for example ${example}`}`;
  });
  const more = failed - pages.length;
  const named = `failed pages: ${pages.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return pages.length > 0 ? [...lines, named] : lines;
}

type ToldFailures = {
  readonly counts: Readonly<Record<string, number>>;
  readonly examples: Readonly<Record<string, string>>;
  readonly pages: readonly string[];
};

function headline({ state, progress, error }: CrawlSummary, parts: SummaryParts): string {
  const { successful, failed, skipped, total } = progress;
  const time = formatDuration(parts.elapsedMs);
  const left = skipped > 0 ? `; ${skipped} skipped` : "";
  const counts = `${successful} ${parts.destination}, ${failed} failed${left}`;
  const before = parts.doneBefore > 0 ? ` (${parts.doneBefore} of them before)` : "";
  if (state === "completed")
    return `crawled ${pageCount(triedPages(progress))}${before} in ${time}: ${counts}`;
  const rest = parts.resumedBy !== null && goesOn(error) ? `; ${parts.resumedBy} continues from here` : "";
  return `stopped after ${time} at ${progress.progress} of ${pageCount(total)}: ${counts}${rest}`;
}

// Any other failure would end the next crawl too.
const goesOn = (error: CrawlSummary["error"]): boolean =>
  error?.code === "cancelled" || error?.code === "unwritable_output";

// Skipped pages were never tried: a sitemap may name a million pages more than --max-pages allows.
const triedPages = ({ successful, failed }: CrawlProgress): number => successful + failed;

/** Formats counts, the largest first: `2 robots, 1 trap`. */
const formatCounts = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");

/** Writes pages as JSON lines to stdout. */
export type LineOutput = ReturnType<typeof createLineOutput>;

/**
 * @param options.directory keeps the frontier and the manifest; null keeps neither
 * @param options.stop called when nobody reads any more
 */
export function createLineOutput(
  io: Io,
  options: {
    readonly fields: readonly ArticleField[];
    /** How long the chunks are that are written instead of pages; null writes pages. */
    readonly chunks: ChunkOptions | null;
    /** Of the articles only the parts that answer it, where it is one. */
    readonly question: Question;
    readonly directory: string | null;
    readonly stop: () => void;
  },
) {
  const { fields, chunks, question, directory, stop } = options;
  let isClosed = false;
  const write = async (value: unknown): Promise<void> => {
    try {
      await io.stdout.write(`${JSON.stringify(value)}\n`);
    } catch (error) {
      if (!(error instanceof OutputClosed)) throw error;
      isClosed = true;
      stop();
      throw new Failure("cancelled", "the reader of the output has gone", { cause: error });
    }
  };
  const put = async ({ article: whole, depth, parent }: CrawledPage): Promise<null> => {
    // What searches need is loaded here.
    const article =
      question.query === null
        ? whole
        : await (await import("../../../question.ts")).partsFor(whole, question);
    const lines = chunks
      ? (await import("../../../chunks.ts")).chunksOfArticle(article, chunks)
      : [{ ...articleFields(article, fields), depth, parent }];
    for (const line of lines) await write(line);
    return null;
  };
  return {
    output: {
      kind: "sink" as const,
      // A written line cannot be reused, so a page that has not changed is written again.
      sink: { put, has: async () => false, retire: async () => null },
      stateDirectory: directory === null ? null : join(directory, ".article-extractor"),
      manifestPath: directory === null ? null : join(directory, "manifest.json"),
    },
    /** Writes the line of a page that failed; the others are written by the crawl. */
    writeFailed: ({ url, httpStatus, error, depth, parent }: PageOutcome): Promise<void> =>
      write({ url, success: false, http_status: httpStatus, error, depth, parent }),
    /** Whether the reader has closed the output, as `head` does when it has enough. */
    get isClosed(): boolean {
      return isClosed;
    },
  };
}

/** The tolerated number or share of failed pages. */
export type FailureAllowance = { readonly value: number; readonly isPercent: boolean };

/** Tells whether this many failures out of the tried pages are tolerated. */
export const isWithin = ({ value, isPercent }: FailureAllowance, failed: number, tried: number): boolean =>
  isPercent ? failed * 100 <= value * tried : failed <= value;

/** @throws Failure `invalid_usage` */
export function readAllowance(written: string | null): FailureAllowance {
  if (written === null) return { value: 0, isPercent: false };
  const match = /^(\d{1,9})$|^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(written.trim());
  const value = Number(match?.[1] ?? match?.[2]);
  const isPercent = match?.[2] !== undefined;
  if (match && !(isPercent && value > 100)) return { value, isPercent };
  throw wrongUsage(
    `--max-failures must be a number of pages or a percentage such as 5%, not ${JSON.stringify(written.slice(0, 100))}`,
  );
}

/** The text that `readAllowance` reads. */
export const showAllowance = ({ value, isPercent }: FailureAllowance): string =>
  `${value}${isPercent ? "%" : ""}`;

/** The exit code of a crawl that finished with more failed pages than allowed, or cut by a limit that nobody set. */
const INCOMPLETE = 3;

type CrawlEnd = {
  readonly allowance: FailureAllowance;
  readonly lines: LineOutput | null;
  readonly notices: Notices;
  /** The message of the first page that failed. */
  readonly firstFailure: string | null;
  /** Whether nobody has set the number of pages. */
  readonly hasDefaultLimit: boolean;
};

/** The exit code of a crawl that ended in order without storing a page. */
export const NOTHING_STORED = 1;

function whyNothing({ progress, skips }: CrawlSummary, firstFailure: string | null): string {
  const { failed, skipped } = progress;
  if (failed > 0)
    return `${pageCount(failed)} failed${firstFailure === null ? "" : `, the first with: ${firstFailure}`}`;
  return skipped > 0 ? `${pageCount(skipped)} skipped (${formatCounts(skips)})` : "there was none to fetch";
}

/** Tells the person why a crawl did not end well, and returns the program's exit code. */
export function exitCodeOf(
  summary: CrawlSummary,
  { allowance, lines, notices, firstFailure, hasDefaultLimit }: CrawlEnd,
): number {
  const { state, error, progress } = summary;
  if (state === "cancelled") {
    if (lines?.isClosed) return 0;
    notices.error("interrupted");
    return FAILURE_OUTCOMES.cancelled.exitCode;
  }
  if (state === "failed") {
    notices.error(error?.message ?? "the crawl could not go on");
    return FAILURE_OUTCOMES[error?.code ?? "internal"].exitCode;
  }
  const { successful, failed } = progress;
  if (successful === 0) {
    notices.error(`no page was stored: ${whyNothing(summary, firstFailure)}`);
    return NOTHING_STORED;
  }
  const isAllowed = isWithin(allowance, failed, successful + failed);
  if (!isAllowed)
    notices.error(
      `${failed} of ${successful + failed} pages failed; --max-failures allows ${showAllowance(allowance)}`,
    );
  const left = hasDefaultLimit ? (summary.skips.max_pages ?? 0) : 0;
  if (left > 0)
    notices.error(
      `${pageCount(left)} that the seeds and sitemaps name are left: nobody set a limit, and the default is ${progress.fetched}; --max-pages ${progress.fetched + left} takes them`,
    );
  return isAllowed && left === 0 ? 0 : INCOMPLETE;
}
