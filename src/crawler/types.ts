import type { FetchedArticle, FetcherPreference } from "../articles/index.ts";
import type { FailureCode, FailureRecord } from "../base/failure.ts";
import type { Article, ExtractionOptions } from "../extraction/index.ts";
import type { Page } from "../pages/index.ts";
import type { PageUrl } from "../urls/index.ts";

/**
 * What to crawl and how, checked by `createCrawlPlan`. It holds no secret: it is kept beside the pages and
 * echoed in the manifest.
 */
export type CrawlPlan = {
  /** Depth 0, each once. */
  readonly seeds: readonly PageUrl[];
  /** URLs without credentials, or paths as the shell resolved them. */
  readonly sitemaps: readonly string[];
  /** In the form of `parseUrlPrefix`; empty admits the origins of the seeds, and sitemap URLs of any. */
  readonly allowPrefixes: readonly string[];
  readonly denyPrefixes: readonly string[];
  /** Pages fetched at most, 1–1 000 000; what is skipped without a request uses up nothing. */
  readonly maxPages: number;
  /** Links away from a seed or sitemap URL at most, 0–100. */
  readonly maxDepth: number;
  /** Pages under way at most, 1–256. With a delay, one of them at a time is of one host. */
  readonly concurrency: number;
  /** Between the starts of two requests to one host, in ms; robots.txt may ask for more. */
  readonly hostDelayMs: number;
  /** Lengthens a host's delay while it answers slowly, up to a minute. */
  readonly hasAdaptiveDelay: boolean;
  readonly followsLinks: boolean;
  readonly obeysRobots: boolean;
  /** Whether `noindex`, `nofollow` of pages (also of X-Robots-Tag) and of links count. */
  readonly respectsMetaRobots: boolean;
  /** Reads the sitemaps that the robots.txt of the seeds' origins name. */
  readonly discoversSitemaps: boolean;
  /** Leaves a stored page unasked where its sitemap's lastmod is the one of the last crawl. */
  readonly trustsLastModified: boolean;
  readonly preference: FetcherPreference;
  readonly extraction: ExtractionOptions;
};

/** A plan as a shell read it, before it is checked. */
export type CrawlRequest = Omit<CrawlPlan, "seeds" | "allowPrefixes" | "denyPrefixes"> & {
  /** URLs without credentials. */
  readonly seeds: readonly string[];
  readonly allowPrefixes: readonly string[];
  readonly denyPrefixes: readonly string[];
};

/** Why a page was skipped (docs/crawl.md, "Outcomes"). */
export type SkipReason =
  | "robots"
  | "out_of_scope"
  | "duplicate"
  | "trap"
  | "noindex"
  /** A link or a sitemap led to a document of another type: a PDF, an image, an archive. */
  | "content_type"
  /** Stored by an earlier crawl and not there any more: HTTP 410, or 404 in two crawls. */
  | "gone"
  /** Left over when the plan's pages were fetched. */
  | "max_pages";

/** What a page is since the last crawl that finished, judged by the text that was extracted. */
export type PageChange = "new" | "changed" | "unchanged" | "gone";

/** Why a link was not followed; such links are counted and make no entry. */
export type LinkRefusal =
  | "not_allowed"
  | "denied"
  | "foreign_origin"
  | "too_deep"
  | "trap"
  | "nofollow"
  /** Found, and left over when the plan's pages were fetched. */
  | "max_pages";

/** What became of one page: an entry of the manifest. */
export type PageOutcome = {
  readonly url: PageUrl;
  readonly status: "success" | "failed" | "skipped";
  /** Relative to the output; null unless a success that the sink gave a name, or a page that it has moved away. */
  readonly filePath: string | null;
  readonly wordCount: number | null;
  readonly title: string | null;
  /** Of the last answer; null when there was none. */
  readonly httpStatus: number | null;
  /** The URL that answered, after redirects; null when none did. */
  readonly finalUrl: PageUrl | null;
  readonly depth: number;
  /** The page whose link led here; null for seeds and sitemap URLs. */
  readonly parent: PageUrl | null;
  /** Fetching (waits for the host's turn left out) and extraction, all tries together, in ms. */
  readonly durationMs: number | null;
  /** `sha256:` and the hexadecimal digest of title and Markdown; null unless a success. */
  readonly contentHash: string | null;
  readonly warnings: readonly string[];
  /** Of a failed page. */
  readonly error: FailureRecord | null;
  /** Of a skipped page. */
  readonly reason: SkipReason | null;
  /** Of a success, and of a page that is gone. */
  readonly change: PageChange | null;
};

/** Where a crawl stands. Equal to the counters of the manifest when the crawl is over. */
export type CrawlProgress = {
  /** `successful` + `failed` + `skipped`. */
  readonly progress: number;
  /** `progress` + in flight + what is known and still within `maxPages`; it never shrinks. */
  readonly total: number;
  readonly successful: number;
  readonly failed: number;
  readonly skipped: number;
  /** Pages being fetched or extracted now. */
  readonly inFlight: number;
  /** Pages known and not begun, those waiting for another try included. */
  readonly queued: number;
  /** Pages fetched, which `maxPages` bounds. */
  readonly fetched: number;
  /** Bytes of the pages fetched in this run of the program, decompressed. */
  readonly bytes: number;
};

/** How a crawl ended. Pages that failed leave it `completed`. */
export type CrawlSummary = {
  readonly jobId: string;
  readonly state: "completed" | "failed" | "cancelled";
  /** Why it could not go on; `cancelled` when it was called off. Null when completed. */
  readonly error: FailureRecord | null;
  /** ISO 8601, UTC; of a resumed crawl when it first started. */
  readonly startedAt: string;
  readonly completedAt: string;
  readonly progress: CrawlProgress;
  /** Failed pages by the code of their failure, codes without pages left out. */
  readonly failures: Readonly<Partial<Record<FailureCode, number>>>;
  readonly skips: Readonly<Partial<Record<SkipReason, number>>>;
  readonly skippedLinks: Readonly<Partial<Record<LinkRefusal, number>>>;
  readonly changes: Readonly<Partial<Record<PageChange, number>>>;
  /** Successes whose status was 404 or 410. */
  readonly transient404: number;
  /** Sentences for a person, for example of a sitemap that could not be read. */
  readonly warnings: readonly string[];
  /** Where the manifest was written; null where none was asked for or the disk took none. */
  readonly manifestPath: string | null;
};

/** What a crawl job tells while it runs: for a progress line, a log, an event stream. */
export type CrawlEvent =
  | {
      readonly kind: "started";
      readonly jobId: string;
      /** ISO 8601, UTC. */
      readonly startedAt: string;
      /** `resumed` goes on with a crawl that was cut off; `repeated` asks again for what is stored. */
      readonly mode: "new" | "resumed" | "repeated";
      readonly progress: CrawlProgress;
    }
  | { readonly kind: "page"; readonly outcome: PageOutcome; readonly progress: CrawlProgress }
  | { readonly kind: "notice"; readonly notice: CrawlNotice }
  /** The last event. */
  | {
      readonly kind: "finished";
      readonly summary: CrawlSummary;
      /**
       * What became of every page, those included that were crawled before the crawl was cut off, in the order in which
       * they were found. Read from the disk as they are taken, and only until the loop over the events is left.
       */
      readonly outcomes: () => AsyncIterable<PageOutcome>;
    };

/** What a person should know while a crawl runs. */
export type CrawlNotice =
  /** The disk has little room left for pages. */
  | { readonly kind: "low_disk"; readonly directory: string; readonly freeBytes: number }
  /** The plan ignores robots.txt. */
  | { readonly kind: "robots_ignored" }
  /** The host asked to be left alone until then (ms since 1970). */
  | { readonly kind: "host_paused"; readonly host: string; readonly untilMs: number }
  | { readonly kind: "sitemap_read"; readonly sitemap: string; readonly pageCount: number }
  | { readonly kind: "sitemap_failed"; readonly sitemap: string; readonly failure: FailureRecord };

/** A page with its article, on its way to where pages are kept. */
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

/** Takes extracted pages in; calls may overlap. A page is put before its outcome is recorded. */
export interface PageSink {
  /**
   * Takes one page; the same URL may come again, after a crash or in a later crawl, and replaces the first.
   * @returns its file name for the manifest, null where there is none
   * @throws Failure, which ends the crawl
   */
  put(page: CrawledPage): Promise<string | null>;
  /** Whether the page of an earlier put is still there, so that "unchanged" may be believed. */
  has(url: PageUrl): Promise<boolean>;
  /**
   * Moves the page of an earlier put away, because it is gone; again after a crash, with the same answer. Without it,
   * no page is called gone.
   * @returns where it is now, null where nothing was there
   */
  retire?(url: PageUrl): Promise<string | null>;
}

/** Where a crawl's pages and its memory go. */
export type CrawlOutput =
  /** Markdown files and `manifest.json`; the frontier in `.article-extractor/` below it. */
  | { readonly kind: "directory"; readonly path: string }
  | {
      readonly kind: "sink";
      readonly sink: PageSink;
      /** Keeps the frontier, for resuming and for asking only for what changed; null: nothing is kept. */
      readonly stateDirectory: string | null;
      /** Where the manifest goes; null writes none. */
      readonly manifestPath: string | null;
    };

/** What a shell adds to a plan. */
export type CrawlJobOptions = {
  readonly output: CrawlOutput;
  /** The job's name in the manifest; null makes one up, or keeps that of the crawl that is resumed. */
  readonly jobId: string | null;
  /**
   * Where JSON lines about pages that are new, changed or gone since the last finished crawl go when this one is
   * complete. Only then is it finished: whatever ends the program before that, the lines come again.
   */
  readonly changes?: ChangesOutput | null;
  /** Forgets what an earlier crawl into the same place remembers; its files stay until they are replaced. */
  readonly isFresh: boolean;
  /** What the shell's messages call `isFresh`; `--fresh` where it does not say. */
  readonly freshName?: string;
  /**
   * Settings of the shell that the manifest's `config` shows besides the plan and these options, under the names
   * that they have there; `output_dir` where callers are not told the real path.
   */
  readonly shellSettings?: Readonly<Record<string, unknown>>;
  /** Values of Authorization headers by origin. */
  readonly authorizations: ReadonlyMap<string, string>;
};

/** Takes the lines about changes of a crawl that is complete. Each call throws `Failure` as `PageSink` does. */
export interface ChangesOutput {
  write(text: string): Promise<void>;
  /** All of them are written. */
  finish(): Promise<void>;
}

/** What a shell adds to a plan for a dry run. */
export type PreviewOptions = Pick<CrawlJobOptions, "authorizations"> & {
  /** Told of each sitemap that cannot be read; the others go on, as in a crawl. */
  readonly onSitemapFailure: (failure: FailureRecord) => void;
};

/** A URL that a dry run found. */
export type PlannedPage = {
  readonly url: PageUrl;
  readonly source: "seed" | "sitemap";
  /** Null when it would be fetched. */
  readonly refusal: SkipReason | null;
};

/** A page that a sitemap names. */
export type SitemapUrl = {
  readonly url: PageUrl;
  /** ISO 8601, UTC. */
  readonly lastModified: string | null;
};

/** What reading sitemaps brings, in order; each sitemap ends with `read` or `failed`. */
export type SitemapNews =
  | { readonly kind: "pages"; readonly pages: readonly SitemapUrl[] }
  | {
      readonly kind: "read";
      readonly sitemap: string;
      readonly pageCount: number;
      /** Sitemaps that it names. */
      readonly sitemapCount: number;
    }
  | { readonly kind: "failed"; readonly sitemap: string; readonly failure: FailureRecord };

/**
 * Reads sitemaps piece by piece; one that cannot be read is news, not an error.
 * @param options.beforeRequest as `FetchOptions.beforeRequest`: waits for the host's turn
 */
export type ReadSitemaps = (
  sitemaps: readonly string[],
  options: {
    readonly signal: AbortSignal;
    readonly beforeRequest: (url: URL, signal: AbortSignal) => Promise<void>;
    readonly authorizations: ReadonlyMap<string, string>;
  },
) => AsyncIterable<SitemapNews>;
