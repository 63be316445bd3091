import type { FailureCode } from "../../base/failure.ts";
import type { Validators } from "../../fetching/index.ts";
import type { PageUrl } from "../../urls/index.ts";
import type { LinkRefusal, PageChange, PageOutcome, SkipReason } from "../types.ts";

/** A URL to crawl, or one that is skipped at once. */
export type FrontierEntry = {
  readonly url: PageUrl;
  readonly source: "seed" | "sitemap";
  readonly lastModified: string | null;
  /** Why it is recorded as skipped instead of queued; null queues it. */
  readonly refusal: SkipReason | null;
};

/** A page handed out for crawling: nobody else gets it before it is settled or given back. */
export type ClaimedPage = {
  readonly id: number;
  readonly url: PageUrl;
  /** Whose requests are spaced: name and port, whatever the scheme. */
  readonly host: string;
  readonly depth: number;
  readonly parent: PageUrl | null;
  /** `memory`: stored by an earlier crawl, and not met by this one. */
  readonly source: "seed" | "sitemap" | "link" | "memory";
  readonly lastModified: string | null;
  /** Tries so far, 0 for the first claim. */
  readonly tries: number;
  /** What the tries so far took, in ms. */
  readonly spentMs: number;
  /** What the last crawl stored for it, null when it stored nothing. */
  readonly known: KnownPage | null;
  /** Whether an earlier crawl stored it and a later one found that it is gone. */
  readonly wasGone: boolean;
};

/** What an earlier crawl remembers of a page that it stored. */
export type KnownPage = {
  readonly validators: Validators;
  readonly lastModified: string | null;
  /** The links within the scope, for a page that has not changed. */
  readonly links: readonly PageUrl[];
  /** Of the content when the last crawl finished; null when none has finished since the page is stored. */
  readonly toldHash: string | null;
  /** Whether an earlier crawl was answered HTTP 404, and none has had the page since. */
  readonly wasMissed: boolean;
  /** Whether its status was 404 or 410 when it was stored: a page that a script fills. */
  readonly isTransient404: boolean;
  readonly outcome: Pick<PageOutcome, "filePath" | "title" | "wordCount" | "contentHash" | "warnings">;
};

export type ClaimOptions = {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Pages wanted at most. */
  readonly count: number;
  /** Of these, pages that were not tried yet at most: what is left of `maxPages`. */
  readonly untried: number;
  /** Hands out one page of a host and no other until `freeHost` names it. */
  readonly isHostExclusive: boolean;
};

export type Claims = {
  readonly pages: readonly ClaimedPage[];
  /** When the next page may be had without anything else happening, in ms since 1970; null: never. */
  readonly nextReadyAt: number | null;
};

/** When and how a page is tried again. */
export type NextTry = {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Tries made so far. */
  readonly tries: number;
  readonly spentMs: number;
};

/** What becomes of a claimed page, recorded in one transaction. */
export type Settlement = {
  readonly page: ClaimedPage;
  readonly outcome: Omit<PageOutcome, "url" | "depth" | "parent">;
  /** Whether it counts as fetched. */
  readonly isFetched: boolean;
  readonly validators: Validators | null;
  /** Links within the scope, one deeper than the page. */
  readonly links: readonly PageUrl[];
  /** Links that are too deep are kept for a larger limit. */
  readonly follow: "now" | "too_deep" | "never";
  readonly skippedLinks: ReadonlyMap<LinkRefusal, number>;
};

export type FrontierCounts = {
  readonly successful: number;
  readonly failed: number;
  readonly skipped: number;
  readonly fetched: number;
  /** Waiting to be claimed, at once or for another try. */
  readonly queued: number;
};

/** The counts that a summary names. */
export type FrontierTallies = {
  readonly failures: Readonly<Partial<Record<FailureCode, number>>>;
  readonly skips: Readonly<Partial<Record<SkipReason, number>>>;
  readonly skippedLinks: Readonly<Partial<Record<LinkRefusal, number>>>;
  readonly changes: Readonly<Partial<Record<PageChange, number>>>;
  /** Successes whose status was 404 or 410. */
  readonly transient404: number;
};

/** The crawl that a frontier holds. */
export type CrawlRecord = {
  readonly jobId: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly mode: "new" | "resumed" | "repeated";
  /** Whether every seed and sitemap has been added. */
  readonly isSeeded: boolean;
};

/**
 * The URLs of one crawl with what became of them, the hosts' times and the counters; it outlives the
 * process. One process works on it at a time; memory does not grow with it. Each method is one
 * transaction. Failures are `unwritable_output` (the disk) and `internal`.
 */
export interface Frontier extends AsyncDisposable {
  readonly crawl: CrawlRecord;
  /** Queues what is not known yet, in order; what is known gets the smaller depth. @returns how many are new */
  add(entries: readonly FrontierEntry[]): Promise<number>;
  /** Notes that every seed and sitemap has been added. */
  finishSeeding(): Promise<void>;
  /**
   * Hands out pages of hosts whose time has come. Pages whose next try is due go first. Then, of each host, the
   * shallowest, first found first, and none while a shallower page of the same host is under way; among hosts
   * the shallowest page, then the host that has waited longest.
   */
  claim(options: ClaimOptions): Promise<Claims>;
  /** Lets the host's next page out at that time, in ms since 1970, after an exclusive claim or for a pause. */
  freeHost(host: string, nextAt: number): Promise<void>;
  /**
   * Gives a claimed page back, to be claimed again from then on. Its first try counts it as fetched; a page
   * that was not tried goes back to its place in the queue, whatever the time.
   */
  retry(page: ClaimedPage, next: NextTry): Promise<void>;
  /**
   * Takes the page's other URLs (redirects, canonical) for the same page. Those that are queued become
   * duplicates of it; those found later will be.
   * @returns false when one of them is another page already, under way or stored: this one is the duplicate
   */
  identify(page: ClaimedPage, others: readonly PageUrl[]): Promise<boolean>;
  /**
   * Records what became of a page, adds its links and counts, all or nothing.
   * @returns false, with nothing recorded, when the page is not claimed
   */
  settle(settlement: Settlement): Promise<boolean>;
  /** Makes entries (`max_pages`) of queued seeds and sitemap URLs, and counts queued links as skipped. */
  dropQueued(): Promise<void>;
  /**
   * Queues what an earlier run of the program left out and the limits admit now: pages left over, and links that were
   * too deep. Cut off in between, it goes on at the next call.
   */
  requeueLeft(maxDepth: number): Promise<void>;
  /** Queues pages that are stored and that this crawl has not met, at most so deep. @returns how many */
  queueUnmet(options: { readonly maxDepth: number; readonly count: number }): Promise<number>;
  counts(): Promise<FrontierCounts>;
  tallies(): Promise<FrontierTallies>;
  /** Outcomes recorded since the frontier was opened that were not taken yet, oldest first. */
  takeRecorded(limit: number): Promise<readonly PageOutcome[]>;
  /** The outcomes of this crawl in the order in which the pages were found, read as they are taken. */
  outcomes(): AsyncIterable<PageOutcome>;
  /** New, changed and gone pages since the last crawl that finished, in the order of recording. */
  changes(): AsyncIterable<PageOutcome>;
  /** Origins of seeds and sitemap URLs, and of what seeds redirected to. */
  origins(): Promise<readonly string[]>;
  /** Sentences for the summary, each once. */
  addWarning(warning: string): Promise<void>;
  warnings(): Promise<readonly string[]>;
  /** The crawl is over: the next one into this place begins anew, with what this one knows. */
  finish(): Promise<void>;
}
