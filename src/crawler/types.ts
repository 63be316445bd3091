import type { FetchedArticle } from "../articles/index.ts";
import type { FailureCode, FailureRecord } from "../base/failure.ts";
import type { Article } from "../extraction/index.ts";
import type { BeforeRequest } from "../fetching/index.ts";
import type { Page, PicturePlace } from "../pages/index.ts";
import type { PageUrl } from "../urls/index.ts";

/** Why a page was skipped (docs/crawl.md, "Outcomes"). */
export type SkipReason =
  | "robots"
  | "out_of_scope"
  | "duplicate"
  | "trap"
  | "noindex"
  /** The site has the page in the wanted language or version, too. */
  | "other_language"
  | "other_version"
  /** The page is from before `since`. */
  | "older"
  /** A link or a sitemap led to a document of an unsupported type: a PDF, an image, an archive. */
  | "content_type"
  /** The page was stored by an earlier crawl and is gone: HTTP 410, or 404 in two crawls. */
  | "gone"
  /** The page was left over when `maxPages` was reached. */
  | "max_pages";

/** How a page has changed since the last finished crawl, judged by the extracted text. */
export type PageChange = "new" | "changed" | "unchanged" | "gone";

/** Why a link was not followed; such links are counted and make no entry. */
export type LinkRefusal =
  | "not_allowed"
  | "denied"
  | "foreign_origin"
  | "too_deep"
  | "trap"
  /** The link leads to a copy of a page's source, which a generator of documentation puts beside the pages. */
  | "source_copy"
  | "nofollow"
  | "other_language"
  | "other_version"
  /** The link was found, and left over when `maxPages` was reached. */
  | "max_pages";

/** The outcome of one page, which is an entry of the manifest. */
export type PageOutcome = {
  readonly url: PageUrl;
  readonly status: "success" | "failed" | "skipped";
  /** The file's path relative to the output; null unless the page was stored in a file or moved away. */
  readonly filePath: string | null;
  readonly wordCount: number | null;
  readonly title: string | null;
  /** The status of the last answer; null when there was none. */
  readonly httpStatus: number | null;
  /** The URL that answered after redirects; null when none did. */
  readonly finalUrl: PageUrl | null;
  readonly depth: number;
  /** The page whose link led here; null for seeds and sitemap URLs. */
  readonly parent: PageUrl | null;
  /** The time for fetching (without waits for the host's turn) and extraction, over all tries, in ms. */
  readonly durationMs: number | null;
  /** `sha256:` and the hexadecimal digest of title and Markdown; null unless the page was extracted. */
  readonly contentHash: string | null;
  readonly warnings: readonly string[];
  readonly error: FailureRecord | null;
  readonly reason: SkipReason | null;
  /** The change of an extracted page, or of a page that is gone. */
  readonly change: PageChange | null;
  /** The fetcher that got the page's content, or its last answer; null when no answer came. */
  readonly fetcher: "http" | "browser" | null;
};

/** The progress of a crawl. At its end it equals the counters of the manifest. */
export type CrawlProgress = {
  /** `successful` + `failed` + `skipped`. */
  readonly progress: number;
  /** `progress` + pages in flight + known pages within `maxPages`; it never shrinks. */
  readonly total: number;
  readonly successful: number;
  readonly failed: number;
  readonly skipped: number;
  /** The number of pages being fetched or extracted. */
  readonly inFlight: number;
  /** The number of known pages that wait, for their first or for another try. */
  readonly queued: number;
  /** The number of fetched pages, which `maxPages` limits. */
  readonly fetched: number;
  /** The decompressed bytes of the pages fetched in this run of the program. */
  readonly bytes: number;
};

/** How a crawl ended. It is `completed` even when pages failed. */
export type CrawlSummary = {
  readonly jobId: string;
  readonly state: "completed" | "failed" | "cancelled";
  /** Why it could not continue; `cancelled` when somebody cancelled it; null when completed. */
  readonly error: FailureRecord | null;
  /** ISO 8601, UTC; for a resumed crawl, the time of its first start. */
  readonly startedAt: string;
  readonly completedAt: string;
  readonly progress: CrawlProgress;
  /** The number of failed pages by failure code; codes without pages are left out. */
  readonly failures: Readonly<Partial<Record<FailureCode, number>>>;
  readonly skips: Readonly<Partial<Record<SkipReason, number>>>;
  readonly skippedLinks: Readonly<Partial<Record<LinkRefusal, number>>>;
  readonly changes: Readonly<Partial<Record<PageChange, number>>>;
  /** The number of extracted pages whose status was 404 or 410. */
  readonly transient404: number;
  /** Sentences for a person, for example of a sitemap that could not be read. */
  readonly warnings: readonly string[];
  /** The path of the manifest; null when none was wanted or it could not be written. */
  readonly manifestPath: string | null;
};

/** The events of a running crawl job, for a progress line, a log or an event stream. */
export type CrawlEvent =
  | {
      readonly kind: "started";
      readonly jobId: string;
      /** ISO 8601, UTC. */
      readonly startedAt: string;
      /** `resumed` continues an interrupted crawl; `repeated` checks stored pages again. */
      readonly mode: "new" | "resumed" | "repeated";
      readonly progress: CrawlProgress;
    }
  | {
      readonly kind: "page";
      readonly outcome: PageOutcome;
      /** Whether this process has recorded it; of a shared crawl, the leader's job reports those of others too. */
      readonly isOwn: boolean;
      readonly progress: CrawlProgress;
    }
  | { readonly kind: "notice"; readonly notice: CrawlNotice }
  /** The last event of a job. */
  | {
      readonly kind: "finished";
      readonly summary: CrawlSummary;
      /**
       * Yields the outcome of every page in the order in which the pages were found, including those of earlier runs
       * of an interrupted crawl. They are read from the disk, and only until the loop over the events is left.
       */
      readonly outcomes: () => AsyncIterable<PageOutcome>;
    };

/** Why a host waits: its answer names a time, or says that it cannot answer now; its robots.txt; this crawl's own pace. */
export type PauseReason = "retry_after" | "errors" | "crawl_delay" | "rate_limit";

/** Something that a person should know while a crawl runs. */
export type CrawlNotice =
  | { readonly kind: "low_disk"; readonly directory: string; readonly freeBytes: number }
  /** The plan ignores robots.txt. */
  | { readonly kind: "robots_ignored" }
  /** No page of the host is requested until this time (ms since 1970). */
  | {
      readonly kind: "host_paused";
      readonly host: string;
      readonly untilMs: number;
      readonly reason: PauseReason;
    }
  | { readonly kind: "sitemap_read"; readonly sitemap: string; readonly pageCount: number }
  | { readonly kind: "sitemap_failed"; readonly sitemap: string; readonly failure: FailureRecord };

/** A page with its article, as it is handed to the sink. */
export type CrawledPage = {
  readonly page: Page;
  readonly article: FetchedArticle;
  readonly depth: number;
  readonly parent: PageUrl | null;
};

/**
 * Extracts a page elsewhere that failed here; null when that extractor has no article either.
 * @throws Failure, which is logged: the page fails as it did before
 */
export type FallbackExtractor = (url: PageUrl, signal: AbortSignal) => Promise<Article | null>;

/** Stores extracted pages; calls may overlap. A page is put before its outcome is recorded. */
export interface PageSink {
  /**
   * Stores one page. The same URL may come again, after a crash or in a later crawl, and replaces the first.
   * @param signal aborts when the page is another process's by now, whose text a late write would replace, or when the
   *   crawl ends
   * @returns its file name for the manifest, null where there is none
   * @throws Failure, which ends the crawl unless the signal has aborted
   */
  put(page: CrawledPage, signal: AbortSignal): Promise<string | null>;
  /** Tells whether the page of an earlier put is still there, so that "unchanged" can be trusted. */
  has(url: PageUrl): Promise<boolean>;
  /**
   * Moves the page of an earlier put away because it is gone. After a crash it is called again, and returns the same.
   * Without this method no page is reported as gone.
   * @returns where it is now, null where nothing was there
   */
  retire?(url: PageUrl): Promise<string | null>;
  /** Removes a page that `retire` has left in its place, because the last manifest listed it, when there is a new one. */
  removeRetired?(url: PageUrl): Promise<void>;
  /**
   * Removes what an earlier put of this URL has left, if anything: its process lost the page before it could record an
   * outcome, and the page has none with a file.
   */
  remove?(url: PageUrl): Promise<void>;
}

/** The place for a crawl's pages and its memory. */
export type CrawlOutput =
  /** Pages are Markdown files beside `manifest.json`; the frontier is in `.article-extractor/` below. */
  | { readonly kind: "directory"; readonly path: string }
  /**
   * Pages are objects beside `manifest.json`. The frontier of a crawl that no other process shares is a local file, of
   * which the store gets a copy when the crawl ends or is cancelled.
   */
  | {
      readonly kind: "store";
      readonly url: string;
      readonly open: (options: OutputOptions & { readonly directory: string }) => Promise<OutputPlace>;
      /** The local directory for the frontier; null keeps it in the store alone, between crawls. */
      readonly stateDirectory: string | null;
    }
  | {
      readonly kind: "sink";
      readonly sink: PageSink;
      /** The directory of the frontier, for resuming and asking only for changes; null keeps nothing. */
      readonly stateDirectory: string | null;
      /** The path of the manifest; null writes none. */
      readonly manifestPath: string | null;
    };

/** How a crawl uses the place for its pages. */
export type OutputOptions = {
  /** Whether nothing is wanted that is remembered of earlier crawls. */
  readonly isFresh: boolean;
  /** Whether several processes share the frontier, which then is in no file. */
  readonly isShared: boolean;
  /** Calls off what the sink waits for. */
  readonly signal: AbortSignal;
};

/** An opened place for a crawl's pages and manifest. */
export type OutputPlace = {
  readonly sink: PageSink;
  /** Where pictures go beside the pages; null where they cannot. */
  readonly pictures: PicturePlace | null;
  /** Null when no manifest is wanted. */
  readonly manifest: ManifestPlace | null;
  /** The name of the place in messages. */
  readonly place: string;
  /**
   * Keeps the frontier where the next crawl finds it, if it is not there already; called when it has its last state.
   * @throws Failure `unwritable_output`, `store_unavailable`
   */
  readonly save: (frontier: { copyTo?(path: string): Promise<void> }) => Promise<void>;
};

/** A place for a manifest: a reader finds the old manifest or the complete new one. */
export type ManifestPlace = {
  readonly path: string;
  /** @throws Failure `unwritable_output`, `store_unavailable` */
  readonly write: (pieces: AsyncIterable<string>) => Promise<void>;
};

/** The options that a shell adds to a plan. */
export type CrawlJobOptions = {
  readonly output: CrawlOutput;
  /** The job's name in the manifest; null generates one, or keeps that of the resumed crawl. */
  readonly jobId: string | null;
  /**
   * The destination of JSON lines about pages that are new, changed or gone since the last finished crawl, written
   * when this crawl is complete. The crawl only counts as finished after that, so if the program ends before, the
   * lines are written again.
   */
  readonly changes?: ChangesOutput | null;
  /** Forgets what an earlier crawl into the same place remembers; its files stay until they are replaced. */
  readonly isFresh: boolean;
  /**
   * Requests the pages that failed in the crawl of this place, and pages that they link to, but nothing else that its
   * limits left out. Only for a crawl that is not shared.
   */
  readonly retriesFailed?: boolean;
  /** The name of `isFresh` in the shell's messages; `--fresh` by default. */
  readonly freshName?: string;
  /**
   * Settings of the shell that the manifest's `config` shows besides the plan and these options, under their names
   * there; it includes `output_dir` when callers may not see the real path.
   */
  readonly shellSettings?: Readonly<Record<string, unknown>>;
  /** Values of Authorization headers by origin. */
  readonly authorizations: ReadonlyMap<string, string>;
  /** Crawls together with the processes that run the same crawl into the same place; null or absent crawls alone. */
  readonly shared?: SharedCrawl | null;
};

/** This process's part in a crawl that several processes share through a database. */
type SharedCrawl = {
  /** Whether this process may lead the crawl; otherwise it only helps. */
  readonly canLead: boolean;
  /** Ends this process's part: its pages are released to the others; the crawl's signal ends it for all. */
  readonly leave: AbortSignal;
  /** If this process leads, resolves once told outcomes are kept; another leader would tell them again. */
  readonly keepTold?: () => Promise<void>;
};

/** Receives the lines about the changes of a complete crawl. Each call throws `Failure` like `PageSink`. */
export interface ChangesOutput {
  write(text: string): Promise<void>;
  /** Called after the last line. */
  finish(): Promise<void>;
}

/** The options that a shell adds to a plan for a dry run. */
export type PreviewOptions = Pick<CrawlJobOptions, "authorizations"> & {
  /** Called for each sitemap that cannot be read; the others are still read, as in a crawl. */
  readonly onSitemapFailure: (failure: FailureRecord) => void;
};

/** The options that a shell adds to a plan for a map of a site. */
export type MapOptions = PreviewOptions & {
  /** Called for each seed that cannot be read. */
  readonly onPageFailure: (failure: FailureRecord) => void;
};

/** An address of a site, and from where it is known. */
export type MappedPage = {
  readonly url: PageUrl;
  readonly source: "seed" | "sitemap" | "link";
  /** The title of a seed, or the text of a link to the page; null where neither is known. */
  readonly title: string | null;
  /** As a sitemap says; ISO 8601, UTC. */
  readonly lastModified: string | null;
  /** Why a crawl would leave it out; null where it would not. */
  readonly refusal: SkipReason | LinkRefusal | null;
};

/** A URL that a dry run found. */
export type PlannedPage = {
  readonly url: PageUrl;
  readonly source: "seed" | "sitemap";
  /** Why it would be skipped, or would fail without being asked for; null when it would be fetched. */
  readonly refusal: SkipReason | FailureRecord | null;
};

/** A page that a sitemap names. */
export type SitemapUrl = {
  readonly url: PageUrl;
  /** ISO 8601, UTC. */
  readonly lastModified: string | null;
};

/** The results of reading sitemaps, in order; each sitemap ends with `read` or `failed`. */
export type SitemapNews =
  /** Pages in the order of the sitemap, a few hundred at a time; they stay valid when it fails halfway. */
  | { readonly kind: "pages"; readonly pages: readonly SitemapUrl[] }
  | {
      readonly kind: "read";
      /** The URL without credentials, or the path. */
      readonly sitemap: string;
      readonly pageCount: number;
      /** The number of sitemaps that it names, when it is an index. */
      readonly sitemapCount: number;
      /** The number of entries that were skipped because they are not http or https URLs. */
      readonly invalidCount: number;
    }
  | { readonly kind: "failed"; readonly sitemap: string; readonly failure: FailureRecord };

/**
 * Reads sitemaps piece by piece; a sitemap that cannot be read is news, not an error.
 * @param options.beforeRequest as `FetchOptions.beforeRequest`: waits for the host's turn
 */
export type ReadSitemaps = (
  sitemaps: readonly string[],
  options: {
    readonly signal: AbortSignal;
    readonly beforeRequest: BeforeRequest;
    readonly authorizations: ReadonlyMap<string, string>;
  },
) => AsyncIterable<SitemapNews>;
