import { closeSync, existsSync, openSync, type PathLike, readSync } from "node:fs";
import type { Log } from "../base/log.ts";
import { systemFailure } from "../base/system-error.ts";
import { CRAWL, EXTRACTION, shownOptions } from "../options/index.ts";
import type { Frontier } from "./frontier/frontier.ts";
import type { CrawlPlan } from "./plan.ts";
import type {
  ChangesOutput,
  CrawlJobOptions,
  CrawlNotice,
  CrawlOutput,
  CrawlSummary,
  PageOutcome,
} from "./types.ts";
import { textHash } from "./visit.ts";

type ManifestOptions = {
  /** The settings of the crawl without secrets; see `configEcho`. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly summary: Omit<CrawlSummary, "manifestPath">;
};

/** The number of characters that are given out at once. */
const PIECE_CHARACTERS = 256 * 1024;

/** Yields the text of the manifest (docs/crawl.md, "Files") entry by entry, so that its size does not matter. */
export async function* manifestOf(frontier: Frontier, options: ManifestOptions): AsyncGenerator<string> {
  let piece = "";
  for await (const text of manifestText(frontier, options)) {
    piece += text;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = "";
  }
  yield piece;
}

async function* manifestText(frontier: Frontier, options: ManifestOptions): AsyncGenerator<string> {
  const head = JSON.stringify(manifestHead(options), null, 2);
  yield `${head.slice(0, head.lastIndexOf("\n}"))},\n  "results": [`;
  let isFirst = true;
  for await (const outcome of frontier.outcomes()) {
    yield `${isFirst ? "\n    " : ",\n    "}${JSON.stringify(manifestEntry(outcome))}`;
    isFirst = false;
  }
  yield isFirst ? "]\n}\n" : "\n  ]\n}\n";
}

/** The beginning of every manifest that this program writes. */
export const MANIFEST_START = '{\n  "job_id": ';

/**
 * When the crawl of a manifest began, in ISO 8601; null where it did not finish, and where there is none.
 * @throws Failure `unreadable_input`
 */
export function lastCrawl(path: PathLike): string | null {
  if (!existsSync(path)) return null;
  let file: number | null = null;
  try {
    file = openSync(path, "r");
    const head = Buffer.alloc(MANIFEST_HEAD);
    const text = head.toString("utf8", 0, readSync(file, head));
    const found = /"status": "completed",\n {2}"started_at": "([^"]+)"/.exec(text);
    return text.startsWith(MANIFEST_START) ? (found?.[1] ?? null) : null;
  } catch (error) {
    throw systemFailure(error, "unreadable_input", "the manifest of the last crawl could not be read");
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** Bytes that hold the first fields of a manifest. */
const MANIFEST_HEAD = 300;

function manifestHead({ config, summary }: ManifestOptions) {
  const { progress } = summary;
  const seconds = (Date.parse(summary.completedAt) - Date.parse(summary.startedAt)) / 1000;
  return {
    job_id: summary.jobId,
    status: summary.state,
    started_at: summary.startedAt,
    completed_at: summary.completedAt,
    config,
    total_pages: progress.progress,
    successful: progress.successful,
    failed: progress.failed,
    skipped: progress.skipped,
    duration_seconds: Math.max(0, seconds),
    new: summary.changes.new ?? 0,
    changed: summary.changes.changed ?? 0,
    unchanged: summary.changes.unchanged ?? 0,
    gone: summary.changes.gone ?? 0,
    skipped_links: summary.skippedLinks,
    warnings: summary.warnings.length > 0 ? summary.warnings : null,
    error: summary.error,
  };
}

/** The number of characters of changes that are written at once. */
const CHANGES_CHARACTERS = 64 * 1024;

/**
 * Writes a JSON line for each page that is new, changed or gone since the last finished crawl, in the order in which
 * the crawl found that out.
 * @throws Failure as the output does
 */
export async function writeChanges(frontier: Frontier, output: ChangesOutput): Promise<void> {
  let piece = "";
  for await (const outcome of frontier.changes()) {
    piece += `${JSON.stringify(changeLine(outcome))}\n`;
    if (piece.length < CHANGES_CHARACTERS) continue;
    await output.write(piece);
    piece = "";
  }
  if (piece !== "") await output.write(piece);
  await output.finish();
}

// The file of a gone page is where it was moved to, relative to the output like all others.
function changeLine(outcome: PageOutcome) {
  const { change, ...entry } = manifestEntry(outcome);
  return { change, ...entry, file_path: outcome.filePath };
}

/** Settings under the names that they have in the manifest. */
type Shown = Readonly<Record<string, unknown>>;

type ConfigParts = {
  readonly plan: CrawlPlan;
  readonly options: Pick<CrawlJobOptions, "output" | "isFresh" | "shellSettings">;
  /** The network options without secrets. */
  readonly network: Shown;
};

/** The manifest's `config`: every setting of a crawl but secrets (credentials, values of headers). */
export const configEcho = ({ plan, options, network }: ConfigParts): Shown => ({
  ...shownOptions(CRAWL, plan),
  fetcher_preference: plan.preference,
  options: shownOptions(EXTRACTION, plan.extraction),
  output_dir: directoryOf(options.output),
  fresh: options.isFresh,
  ...options.shellSettings,
  network,
});

function directoryOf(output: CrawlOutput): string | null {
  if (output.kind === "store") return output.url;
  return output.kind === "directory" ? output.path : null;
}

/** An entry of the manifest's `results` (docs/crawl.md, "Files"). */
export type ManifestEntry = ReturnType<typeof manifestEntry>;

/** Translates an outcome to its form in the manifest and on the wire; every field is always there. */
export function manifestEntry(outcome: PageOutcome) {
  return {
    url: outcome.url,
    // The file of a gone page was moved, and is not a page of the crawl.
    file_path: outcome.status === "success" ? outcome.filePath : null,
    status: outcome.status,
    word_count: outcome.wordCount,
    title: outcome.title,
    http_status: outcome.httpStatus,
    final_url: outcome.finalUrl,
    depth: outcome.depth,
    parent: outcome.parent,
    fetcher: outcome.fetcher,
    duration_ms: outcome.durationMs,
    content_hash: outcome.contentHash && textHash(outcome.contentHash),
    warnings: outcome.warnings.length > 0 ? [...outcome.warnings] : null,
    error: outcome.error,
    reason: outcome.reason,
    unchanged: outcome.change === "unchanged",
    change: outcome.change,
    transient_404: isTransient404(outcome),
  } as const;
}

/** Tells whether the page was extracted although its status says that it is gone (see `articleOfVisit`). */
export const isTransient404 = ({ status, httpStatus }: Pick<PageOutcome, "status" | "httpStatus">): boolean =>
  status === "success" && (httpStatus === 404 || httpStatus === 410);

/** The sentence that manifest and job keep of a notice; null for one that is outdated at once. */
export function warningOf(notice: CrawlNotice): string | null {
  if (notice.kind === "low_disk") return "Less than 100 MB are free in the output directory";
  return notice.kind === "sitemap_failed" ? sitemapWarning(notice) : null;
}

export const sitemapWarning = ({
  sitemap,
  failure,
}: Extract<CrawlNotice, { kind: "sitemap_failed" }>): string =>
  `The sitemap ${sitemap} could not be read: ${failure.message}`;

export function logNotice(notice: CrawlNotice, log: Log): void {
  const { kind } = notice;
  if (kind === "low_disk") {
    log.warning("low disk", { directory: notice.directory, free_bytes: notice.freeBytes });
  } else if (kind === "robots_ignored") {
    log.warning("robots.txt ignored");
  } else if (kind === "sitemap_failed") {
    const { code, message } = notice.failure;
    log.warning("sitemap failed", { url: notice.sitemap, code, reason: message });
  } else if (kind === "sitemap_read") {
    log.info("sitemap read", { url: notice.sitemap, pages: notice.pageCount });
  } else {
    const { host, untilMs, reason } = notice;
    log.info("host paused", { host, until: new Date(untilMs).toISOString(), reason });
  }
}
