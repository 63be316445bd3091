import type { FailureRecord } from "../../base/failure.ts";
import type { Validators } from "../../fetching/index.ts";
import type { PageUrl } from "../../urls/index.ts";
import type { CrawlProgress, CrawlSummary, LinkRefusal, PageOutcome, SkipReason } from "../types.ts";

/** A URL to crawl, or to skip at once. */
export type FrontierEntry = {
  readonly url: PageUrl;
  readonly source: "seed" | "sitemap";
  readonly lastModified: string | null;
  /** Why it is recorded as skipped; null queues it. */
  readonly refusal: SkipReason | null;
};

/**
 * A page handed out for crawling; nobody else gets it before it is settled or released, or before its process failed to
 * renew its claims in time.
 */
export type ClaimedPage = {
  readonly id: number;
  /** The number of the claim, where several processes share the crawl: an older one changes nothing any more. */
  readonly fence: number;
  /** Whether an earlier claim ended without a result; its process may have asked for the page and stored it. */
  readonly isTakenOver: boolean;
  readonly url: PageUrl;
  /** The host whose requests are delayed: name and port, whatever the scheme. */
  readonly host: string;
  readonly depth: number;
  readonly parent: PageUrl | null;
  /** `memory`: stored by an earlier crawl, and not yet met by this one. */
  readonly source: "seed" | "sitemap" | "link" | "memory";
  readonly lastModified: string | null;
  /** The number of tries so far; 0 for the first claim. */
  readonly tries: number;
  /** The time that the tries so far took, in ms. */
  readonly spentMs: number;
  /** The last crawl's copy of the page; null when it stored none. */
  readonly known: KnownPage | null;
  /** Whether an earlier crawl stored it and a later one found that it is gone. */
  readonly wasGone: boolean;
};

/** An earlier crawl's record of a page that it stored. */
export type KnownPage = {
  readonly validators: Validators;
  readonly lastModified: string | null;
  /** The links within the scope, for a page that has not changed. */
  readonly links: readonly PageUrl[];
  /** The content hash when the last crawl finished; null when none has finished since the page was stored. */
  readonly toldHash: string | null;
  /** Whether an earlier crawl got HTTP 404 and none has got the page since. */
  readonly wasMissed: boolean;
  /** Whether its status was 404 or 410 when it was stored, as for a page that a script fills. */
  readonly isTransient404: boolean;
  readonly outcome: Pick<
    PageOutcome,
    "filePath" | "title" | "wordCount" | "contentHash" | "warnings" | "fetcher"
  >;
};

export type ClaimOptions = {
  /** The maximum number of pages, at least 1. */
  readonly count: number;
  /** Hands out one page of a host, and no other until `freeHost` names that page. */
  readonly isHostExclusive: boolean;
};

export type Claims = {
  readonly pages: readonly ClaimedPage[];
  /** How long to wait for more, in ms; null means until this process has settled or released a page. */
  readonly waitMs: number | null;
  /** Whether nothing is left: no process has a page under way, and `maxPages` admits none that waits. */
  readonly isOver: boolean;
  /** The origins that other processes have added since this one opened the frontier or claimed last. */
  readonly origins: readonly string[];
};

/** When and how a page is tried again. */
export type NextTry = {
  /** How long the page waits from now on, in ms. */
  readonly waitMs: number;
  /** Tries made so far. */
  readonly tries: number;
  /** Whether the site may have been asked without a result: then the page keeps its place in `maxPages`. */
  readonly isAsked?: boolean;
  readonly spentMs: number;
};

/** The result of a claimed page, recorded in one transaction. */
export type Settlement = {
  readonly page: ClaimedPage;
  readonly outcome: Omit<PageOutcome, "url" | "depth" | "parent">;
  readonly isFetched: boolean;
  readonly validators: Validators | null;
  /** The links within the scope, one level deeper than the page. */
  readonly links: readonly PageUrl[];
  /** Links that are too deep are kept for a larger limit. */
  readonly follow: "now" | "too_deep" | "never";
  readonly skippedLinks: ReadonlyMap<LinkRefusal, number>;
};

/** `queued` counts the pages that wait to be claimed, for their first or for another try. */
export type FrontierCounts = Pick<
  CrawlProgress,
  "successful" | "failed" | "skipped" | "fetched" | "queued"
> & {
  /** The number of pages under way, in all processes. */
  readonly underway: number;
  /** How many of them do not count as fetched: what `maxPages` keeps free for them. */
  readonly untried: number;
};

/** The counts that a summary names. */
export type FrontierTallies = Pick<
  CrawlSummary,
  "failures" | "skips" | "skippedLinks" | "changes" | "transient404"
>;

/** The crawl that a frontier holds. */
export type CrawlRecord = {
  readonly jobId: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly mode: "new" | "resumed" | "repeated";
  /** The crawl's time in ms since 1970, from its start on and never backwards; the database's for one that is shared. */
  readonly now: () => number;
};

/** How a crawl stands, as far as this process knows; a shared frontier learns it with each heartbeat. */
export type CrawlState = {
  /**
   * Whether this process leads: it seeds, tells outcomes, asks for unmet pages, drops what is left, writes the manifest
   * and finishes. The others claim and settle. The lead passes on when its process leaves or is lost.
   */
  readonly leads: boolean;
  /** Whether every seed and sitemap has been added. */
  readonly isSeeded: boolean;
  /** The end of the crawl: finished, or stopped for all processes with the reason; null while it continues. */
  readonly end: "finished" | FailureRecord | null;
};

export type RecordedOutcome = {
  readonly outcome: PageOutcome;
  /** Whether the process that settled the page has logged and counted it. */
  readonly isLogged: boolean;
};

/**
 * The URLs of one crawl with their outcomes, the hosts' times and the counters; it outlives the process. One process
 * works on it at a time, or several if it is shared; memory does not grow with it. It keeps to the plan's `maxPages`:
 * fetched pages and pages under way without a try never exceed it, in all processes together. Pages that a lost process
 * had under way count as fetched, and are handed out again before anything else.
 *
 * Each method is one transaction. Methods of the leader change nothing once the process leads no longer. Failures are
 * `unwritable_output` (the disk) and `internal`; a shared frontier waits while its database cannot be reached.
 */
export interface Frontier extends AsyncDisposable {
  readonly crawl: CrawlRecord;
  /** Whether several processes may work on the crawl. */
  readonly isShared: boolean;
  state(): CrawlState;
  /** Calls back when the state has changed or claims were lost. */
  watch(onChange: () => void): void;
  /** Tells, by a clock that does not jump, whether the page is still this process's. */
  holds(page: ClaimedPage): boolean;
  /** Queues unknown URLs, in order; known ones get the smaller depth. */
  add(entries: readonly FrontierEntry[]): Promise<number>;
  /** Notes that every seed and sitemap has been added. */
  finishSeeding(): Promise<void>;
  /**
   * Hands out pages of hosts whose time has come. Pages whose next try is due go first. Then, for each host, the
   * shallowest page goes, the first found first, and none while a shallower page of the same host is under way; among
   * hosts the one with the shallowest page goes, then the one that has waited longest.
   */
  claim(options: ClaimOptions): Promise<Claims>;
  /**
   * Releases the next page of the page's host after this rest, in ms: after an exclusive claim, or for a pause. It may be
   * called before or after the page is settled or released.
   */
  freeHost(page: ClaimedPage, restMs: number): Promise<void>;
  /**
   * Gives a claimed page back, to be claimed again after its wait. The first try counts as a fetch; a page without a
   * try returns to its place in the queue at once.
   */
  retry(page: ClaimedPage, next: NextTry): Promise<void>;
  /**
   * Records the page's other URLs (redirects, canonical) as the same page. Those that are queued become duplicates of
   * it, and so do those found later.
   * @returns false when one of them is another page already, under way or stored: this one is the duplicate; also when
   *   the page is no longer this claim's
   */
  identify(page: ClaimedPage, others: readonly PageUrl[]): Promise<boolean>;
  /**
   * Records the outcome of a page, adds its links and updates the counts, all or nothing.
   * @returns false, with nothing recorded, when the page is no longer this claim's
   */
  settle(settlement: Settlement): Promise<boolean>;
  /** Turns queued seeds and sitemap URLs into entries (`max_pages`), and counts queued links as skipped. */
  dropQueued(): Promise<void>;
  /**
   * Queues what an earlier run of the program left out and the limits admit now: pages left over, and links that were
   * too deep. If it is interrupted, the next call continues.
   */
  requeueLeft(maxDepth: number): Promise<void>;
  /** Leaves over the pages of this crawl whose files are not there; absent where several processes share it. */
  leaveLost?(isThere: (url: PageUrl) => Promise<boolean>): Promise<void>;
  /** Queues stored pages that this crawl has not met, up to this depth. */
  queueUnmet(options: { readonly maxDepth: number; readonly count: number }): Promise<number>;
  counts(): Promise<FrontierCounts>;
  tallies(): Promise<FrontierTallies>;
  /**
   * Takes outcomes that were not taken yet, in one order for all processes: outcomes recorded since the frontier was
   * opened, or in a shared crawl, outcomes that no leader has taken. Only the leader receives any.
   */
  takeRecorded(limit: number): Promise<readonly RecordedOutcome[]>;
  /** Yields the outcomes of this crawl in the order in which the pages were found, read as they are taken. */
  outcomes(): AsyncIterable<PageOutcome>;
  /** Yields the new, changed and gone pages since the last finished crawl, in the order of recording. */
  changes(): AsyncIterable<PageOutcome>;
  /** Returns the origins of seeds and sitemap URLs, and of what seeds redirected to. */
  origins(): Promise<readonly string[]>;
  /** Adds a sentence for the summary, unless it is there already. */
  addWarning(warning: string): Promise<void>;
  warnings(): Promise<readonly string[]>;
  /** Marks the crawl as over: the next one into this place starts anew, and knows what this one stored. */
  finish(): Promise<void>;
  /** Ends the crawl for all processes, which learn why; it is resumed when it is opened again. */
  stop(why: FailureRecord): Promise<void>;
  /** Copies everything to a new file, which `openSqliteFrontier` continues; absent if several processes share it. */
  copyTo?(path: string): Promise<void>;
}
